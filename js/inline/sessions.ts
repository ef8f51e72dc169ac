/** Session files by the Wasm inside the JavaScript: a bundle that does not read any leaves it out. */
import { wasm } from "../glue/sessions_text.js";
import { readSession as read, sessions } from "../session.js";

export const readSession: typeof read = (bytes, options) => {
  sessions.from(wasm);
  return read(bytes, options);
};
