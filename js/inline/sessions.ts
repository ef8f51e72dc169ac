/** Session files by the Wasm inside the JavaScript: a bundle that does not read any leaves it out. */
import { wasm } from "../glue/sessions_text.js";
import * as own from "../session-files/read.js";

export const readSession: typeof own.readSession = (bytes, options) => {
  own.sessions.from(wasm);
  return own.readSession(bytes, options);
};
