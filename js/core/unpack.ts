/** Reads a Wasm from the text in which it stands inside the JavaScript; `xtask/src/inline.rs` writes it. */

/** Bytes of one character. */
const SINGLE = 90;

/** The Wasm's bytes: so many, from their text, with the bytes by rank as hexadecimal. */
export function unpacked(size: number, ranks: string, text: string): Uint8Array<ArrayBuffer> {
  const bytes = Uint8Array.from({ length: 256 }, (_, at) =>
    Number.parseInt(ranks.slice(2 * at, 2 * at + 2), 16),
  );
  const place = new Uint8Array(128);
  let places = 0;
  for (let code = 32; code < 127; code += 1) {
    if (!'"\\<'.includes(String.fromCharCode(code))) place[code] = places++;
  }
  const wasm = new Uint8Array(size);
  let written = 0;
  let page = 0;
  for (let at = 0; at < text.length; at += 1) {
    const found = place[text.charCodeAt(at)] as number;
    if (page === 0 && found >= SINGLE) {
      page = SINGLE + (found - SINGLE) * places;
    } else {
      wasm[written++] = bytes[page + found] as number;
      page = 0;
    }
  }
  return wasm;
}
