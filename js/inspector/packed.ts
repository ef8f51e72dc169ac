/** A session in bytes, as a page to share carries it: JSON of `SessionFile`, compressed. */
import { MARK, marked } from "../session-files/carried.js";
import type { SessionFile } from "../types.js";

export async function packed(session: SessionFile): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([marked(session)]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The session in such bytes, uncompressed; `undefined` if they are a session file. */
export async function unpackedSession(file: Blob): Promise<SessionFile | undefined> {
  if ((await file.slice(0, MARK.length).text()) !== MARK) return undefined;
  const { plimsollSession: _, ...session } = JSON.parse(await file.text()) as SessionFile & {
    plimsollSession: 1;
  };
  // The one branch that was read is inside: there is no other to choose.
  session.receipt.branches = [];
  return session;
}

/** Bytes of a Base64 text. Node and older browsers have no `Uint8Array.fromBase64`. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> })
    .fromBase64;
  if (native) return native.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/** Base64 of bytes, in parts that are not too long for a call. */
export function toBase64(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += 0x6000)
    parts.push(btoa(String.fromCharCode(...bytes.subarray(at, at + 0x6000))));
  return parts.join("");
}

export async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return await new Response(stream).arrayBuffer();
}
