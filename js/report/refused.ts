/** Errors of requests over JSON-RPC. */

/** Thrown on the way to an answer. */
export class Refused extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** A parameter is not as it must be. */
export function wrong(param: string, expected: string, data?: object): Refused {
  return new Refused(-32_602, `Invalid params: ${param}: expected ${expected}`, {
    param,
    ...data,
  });
}
