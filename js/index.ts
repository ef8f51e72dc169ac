/** The main entry: the Wasm is inside, and starts at the first call. */
import { wasm } from "./glue/inline.js";
import { lazily } from "./loader.js";

lazily(() => decode(wasm));

export * from "./api.js";

/** Each character's low byte is a byte of the Wasm. */
function decode(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}
