import type { PlimsollError } from "../core/errors.js";
import { harmless } from "../render/text.js";

/** How a command ends: 0 done, 1 past a limit or nothing found, 2 asked for wrongly, 3 the file cannot be read. */
export const OK = 0;
export const PAST = 1;
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

/** Says something beside the output. */
export function note(text: string): void {
  process.stderr.write(`plimsoll: ${harmless(text)}\n`);
}

/** The command line is wrong: what was given, and what is allowed. */
export function usage(message: string): Exit {
  return new Exit(USAGE, message);
}

/** The file is wrong: which, what, and where. */
export function unreadable(file: string, message: string): Exit {
  return new Exit(UNREADABLE, `${file}: ${message}`);
}

/** Whether an error of the package speaks of an option of ours, and not of what stands in the file. */
export function isOption(error: PlimsollError): boolean {
  const { info } = error;
  return info.code === "INVALID_ARGUMENT" && info.argument !== "session";
}
