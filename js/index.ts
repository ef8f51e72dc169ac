/** The main entry: the Wasm is inside, and starts at the first call. */
import { base64 } from "./glue/inline.js";
import { lazily } from "./loader.js";

lazily(() => decode(base64));

export * from "./api.js";

/** The fastest way there is: built in, Node's, or by hand. */
function decode(text: string): Uint8Array<ArrayBuffer> {
  const built = Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };
  if (built.fromBase64) return built.fromBase64(text);
  if (globalThis.Buffer) return globalThis.Buffer.from(text, "base64");
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}
