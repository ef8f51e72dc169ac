/** Session files by the Wasm inside the JavaScript: a bundle that does not read any leaves it out. */
import * as inlined from "../glue/sessions_text.js";
import { unpacked } from "../inline.js";
import { readSession as read, sessions } from "../session.js";

export const readSession: typeof read = (bytes, options) => {
  sessions.from(() => unpacked(inlined));
  return read(bytes, options);
};
