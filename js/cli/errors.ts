/** How a command ends: 0 done, 2 asked for wrongly, 3 the file cannot be read. */
export const OK = 0;
export const USAGE = 2;
export const UNREADABLE = 3;

/** An end with a message for the person at the terminal; never shown with a stack. */
export class Exit extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** The command line is wrong: what was given, and what is allowed. */
export function usage(message: string): Exit {
  return new Exit(USAGE, message);
}

/** The file is wrong: which, what, and where. */
export function unreadable(file: string, message: string): Exit {
  return new Exit(UNREADABLE, `${file}: ${message}`);
}

/** The codes of the package's errors that speak of an option and not of the file. */
export function isArgument(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "INVALID_ARGUMENT";
}
