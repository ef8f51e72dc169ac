/** Session files in edge runtimes. */
import { readSession as read, sessions } from "../session.js";
import wasm from "../sessions.wasm?module";

export const readSession: typeof read = (bytes, options) => {
  sessions.from(() => wasm);
  return read(bytes, options);
};
