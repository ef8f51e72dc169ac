/** Pages served from a folder on 127.0.0.1. */
import { createReadStream, existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const TYPES = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
};

/** Has a page post what it sets `globalThis.answer` to, for browsers that are not steered. */
const REPORTER = `<script>
const post = (kind, text) => fetch("/" + kind, { method: "POST", body: text });
addEventListener("error", (event) => post("complaint", event.message));
addEventListener("unhandledrejection", (event) => post("complaint", String(event.reason)));
const looking = setInterval(() => {
  if (!globalThis.answer) return;
  clearInterval(looking);
  post("answer", globalThis.answer);
}, 20);
</script>`;

/**
 * Serves a folder; `answer` and `complaints` are what pages with a reporter have posted.
 * @param {string} folder what is served
 * @param {{ headers?: Record<string, string>, report?: boolean }} options headers of every answer; whether pages report
 */
export async function serve(folder, { headers = {}, report = false } = {}) {
  const complaints = [];
  let answered = (_text) => {};
  const answer = new Promise((resolve) => {
    answered = resolve;
  });
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://page");
    if (request.method === "POST") {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      if (pathname === "/answer") answered(text);
      else complaints.push(text);
      return response.writeHead(204).end();
    }
    const path = join(folder, normalize(pathname));
    if (!existsSync(path)) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "text/plain", ...headers });
    if (report && path.endsWith(".html")) {
      return response.end(
        readFileSync(path, "utf8").replace("<!doctype html>", (it) => it + REPORTER),
      );
    }
    return createReadStream(path).pipe(response);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const origin = `http://127.0.0.1:${server.address().port}`;
  return { origin, answer, complaints, close: () => server.close() };
}
