export type CoreError =
  | { code: "INVALID_ARGUMENT"; argument: string; expected: string; got: string };
export type Op = { op: "remove"; path: string };
export type Violation = { rule: string; index: number; path?: string; message: string };
