/** Session files in workerd. */
import { readSession as read, sessions } from "../session.js";
import wasm from "../sessions.wasm";

export const readSession: typeof read = (bytes, options) => {
  sessions.from(() => wasm);
  return read(bytes, options);
};
