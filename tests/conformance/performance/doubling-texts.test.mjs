// @ts-check
/**
 * Twice the text, twice the work: every walk over a text, with ordinary texts and with texts made to be bad. Steps are counted, so that
 * nothing depends on the machine. A walk that is quadratic on one text alone fails here.
 */
import { test } from "node:test";
import { sized } from "../../support/size.mjs";
import { checkDoublings } from "../support/doubling.mjs";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
if (!api) console.log(why);

/** Pieces that are repeated until the text has its size; a counter of six digits takes the place of `#`. */
const TEXTS = {
  words: "return the value of this list after each check, then stop. ",
  "different names": "src/area_#/file#.ts imports makeThing# and calls it at line 10#.\n",
  "one word without end": "x",
  digits: "1234567890",
  "hexadecimal digits": "deadbeef0",
  "UUIDs cut short": "123e4567-e89b-12d3-a456-42661417400 ",
  "dashes between digits": "1234-",
  "folders in folders": "src/lib/",
  "dots and names": "a.b.",
  "addresses in addresses": "http://a.b/",
  "schemes alone": "://",
  "users in addresses": "://a:b@",
  ats: "a@",
  "humps of camels": "aB",
  underscores: "a_",
  "words for secrets": "password=",
  "words for secrets in quotes": '"password": "',
  "prefixes of tokens": "ghp_",
  "prefixes of keys": "sk-ant-",
  "first lines of keys": "-----BEGIN PRIVATE KEY-----\n",
  "dashes of keys": "-----BEGIN ",
  "bearers without a token": "bearer ",
  quotes: '"',
  backslashes: "\\",
  "escaped quotes": '\\"',
  backticks: "`",
  "fences of code": "```\n",
  braces: "{",
  "lists in lists": "[[",
  "angle brackets": "<",
  "tags that stay open": "<result>",
  "ends of fences": "</transcript>",
  "calls as text": "<function_calls><invoke name=",
  headings: "## Goal\n",
  "line ends": "\n",
  blanks: " ",
  "carriage returns": "\r\n",
  "control characters": "\u0001",
  "escapes of a terminal": "\u001b[31m",
  "marks on one letter": "e\u0301\u0301",
  "families of emoji": "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}",
  "joiners without an end": "\u{1f468}\u200d",
  "flags of countries": "\u{1f1e9}\u{1f1ea}",
  Chinese: "为每一行检查这个值。",
  "lone surrogates": "\ud83d",
  "marks of a cut": "[TRUNCATED] ",
  "errors of a provider": "maximum context length is ",
  "stack traces": "    at run (/app/src/run#.js:10:#)\n",
  "error codes": "E0308: TypeError# ENOENT ",
};

/** @param {string} piece @param {number} size */
function repeated(piece, size) {
  if (!piece.includes("#")) return piece.repeat(Math.ceil(size / piece.length));
  let text = "";
  for (let count = 0; text.length < size; count++)
    text += piece.replaceAll("#", `${100_000 + count}`);
  return text;
}

const manager = (more = {}) =>
  new api.ContextManager({ window: { contextTokens: 400_000 }, format: "anthropic", ...more });
const user = (/** @type {any} */ content) => ({ role: "user", content });
const model = (/** @type {any} */ content) => ({ role: "assistant", content });
/** A call with the text in its arguments, and the text as its result. @param {string} text @param {string} name */
const turn = (text, name = "bash") => [
  user("go"),
  model([{ type: "tool_use", id: "call-1", name, input: { command: text, path: text } }]),
  user([{ type: "tool_result", tool_use_id: "call-1", content: text }]),
];
const later = Array.from({ length: 12 }, (_, at) => (at % 2 ? user : model)(`then ${at}`));

/** @type {Record<string, { of: (text: string) => () => unknown, size?: number, mayStop?: boolean }>} */
const WALKS = {
  "a message of the user": { of: (text) => () => manager().request([user(text)]) },
  "a call and its result": { of: (text) => () => manager().request(turn(text)) },
  "a failed call": {
    of: (text) => () => {
      const [first, call, result] = turn(text);
      const part = { .../** @type {any} */ (result).content[0], is_error: true };
      manager().request([first, call, user([part])]);
    },
  },
  "a result that is cut": {
    size: 16_000,
    of: (text) => {
      const history = [...turn(text), ...later];
      return () => manager({ window: { contextTokens: 1_500 } }).request(history);
    },
  },
  "a fold without a summarizer": {
    of: (text) => () => manager().compact([...turn(text), ...later], { force: true }),
  },
  "lines that a fold keeps": {
    size: 16_000,
    of: (text) => {
      const history = [...turn(text), model(text), ...later];
      const options = { window: { contextTokens: 1_500 }, keep: "lines" };
      return () => manager(options).compact(history, { force: true });
    },
  },
  "what a summarizer is sent and answers": {
    of: (text) => () =>
      manager({ summarize: async () => `## Goal\n${text}` }).compact(
        [user(text), ...turn(text), ...later],
        { force: true },
      ),
  },
  "secrets in a text": { of: (text) => () => api.redact(text) },
  "what a request is about": { of: (text) => () => api.requestFocus(text), mayStop: true },
  "a section that is cut": {
    of: (text) => () =>
      api.assemblePrompt([{ key: "a", content: text, priority: 50 }], {
        budget: { maxPerTierChars: 1_000, maxTotalChars: 1_000 },
      }),
  },
  "a section that is whole": {
    of: (text) => () =>
      api.assemblePrompt([{ key: "a", content: text, priority: 50 }], {
        budget: { maxPerTierChars: 10_000_000, maxTotalChars: 10_000_000 },
        focus: { files: [text.slice(0, 100)], symbols: [], planSignals: [], query: "x" },
      }),
  },
  "a rule for paths": {
    of: (text) => () =>
      api.matchRules([{ path: "a.md", content: `---\npaths: ${text}\n---\n${text}` }], ["a/b.ts"]),
    mayStop: true,
  },
  "a text that is cut": { of: (text) => () => api.truncateText(text, 1_000) },
  "a text that is compressed": { of: (text) => () => api.compressText(text, 200) },
  "a memory tier": { of: (text) => () => api.memoryTiers([{ tier: "workspace", content: text }]) },
  "an error of a provider": {
    of: (text) => () => api.isContextOverflow({ message: text }),
    mayStop: true,
  },
};

/** Of the texts for a walk, one in so many; ordinary words always. */
const oneIn = sized({ short: 3, ci: 1, long: 1 });

for (const [number, [walk, { of, size = 4_000, mayStop }]] of Object.entries(WALKS).entries()) {
  test(`a text twice as long takes at most twice the steps: ${walk}`, {
    skip: !api && why,
  }, async () => {
    of("warm")();
    const texts = Object.entries(TEXTS).filter(
      ([name], at) => name === "words" || (at + number) % oneIn === 0,
    );
    const rows = texts.map(([name, piece]) => ({
      name: `${walk}, ${name}`,
      size,
      ready: (/** @type {number} */ size) => of(repeated(piece, size)),
      // A text may have an end for a walk (a list that is full); ordinary words have none.
      mayStop: mayStop || name !== "words",
    }));
    await checkDoublings(rows);
  });
}
