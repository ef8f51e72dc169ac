/** Sessions inside a page: the element that carries one, which the command line and the inspector write and the inspector reads. */
import type { SessionFile } from "../types.js";

/** First member of a packed session; no session file of an agent begins so. */
export const MARK = '{"plimsollSession":1,';
/** The page's own script; the session comes before it. */
const SCRIPT = '<script id="plimsoll-page"';

/** A session as text, to be compressed. */
export function marked(session: SessionFile): string {
  return `${MARK}${JSON.stringify(session).slice(1)}`;
}

/** A page with a session inside, which is compressed and in Base64; `undefined` if the page has no place for it. */
export function pageCarrying(page: string, packed: string, name: string): string | undefined {
  const at = page.indexOf(SCRIPT);
  if (at < 0) return undefined;
  // Other characters may mean something to HTML or a file system.
  const safe = name.replace(/[^\p{L}\p{M}\p{N}_ .()-]/gu, "_");
  const element =
    `<script type="application/octet-stream;base64" id="plimsoll-session" data-name="${safe}" ` +
    `data-encoding="gzip">${packed}</script>`;
  return page.slice(0, at) + element + page.slice(at);
}
