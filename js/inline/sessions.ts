/** Session files by the Wasm inside the JavaScript: a bundle that does not read any leaves it out. */
import { wasm } from "../glue/sessions_text.js";
import * as own from "../session-files/functions.js";

function here<A extends unknown[], R>(work: (...args: A) => R, args: A): R {
  own.sessions.from(wasm);
  return work(...args);
}

export const readSession: typeof own.readSession = (...args) => here(own.readSession, args);
export const recordedView: typeof own.recordedView = (...args) => here(own.recordedView, args);
export const redact: typeof own.redact = (...args) => here(own.redact, args);
export const redactSession: typeof own.redactSession = (...args) => here(own.redactSession, args);
export const replay: typeof own.replay = (...args) => here(own.replay, args);

export class SessionReader extends own.SessionReader {
  constructor(...args: ConstructorParameters<typeof own.SessionReader>) {
    own.sessions.from(wasm);
    super(...args);
  }
}
