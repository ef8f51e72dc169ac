/** The package's declarations in programs that have neither a browser's types nor Node's, and in programs that have one of them. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { project, root, run, write } from "../support/project.mjs";

const folder = project();
const tsc = join(root, "js/node_modules/.bin/tsc");
const manifest = readFileSync(join(folder, "node_modules/plimsoll/package.json"), "utf8");
/** Every entry that has types. */
const entries = Object.entries(JSON.parse(manifest).exports)
  .filter(([, { import: esm }]) => esm?.types)
  .map(([name]) => name.replace(".", "plimsoll"));
const everything = entries.map((name, at) => `export * as entry${at} from "${name}";\n`).join("");

/** The host passes a signal of its own, and passes ours on to its `fetch`. */
const SIGNALS = `import { compact, type Summarizer } from "plimsoll";
import { init } from "plimsoll/slim";

export const summarize: Summarizer = async ({ prompt }, { signal }) => {
  const own: AbortSignal = signal;
  // @ts-expect-error the type of a signal is the host's own, not \`any\`
  const wrong: number = signal;
  return (await fetch("https://example.org", { body: prompt, method: "POST", signal: own })).text();
};
export const done = compact([], { window: { contextTokens: 1_000 }, summarize, signal: new AbortController().signal });
export const loaded = [init(new URL("https://example.org")), init(fetch("https://example.org")), init(new Uint8Array(8))];
// @ts-expect-error a number is no signal
compact([], { window: { contextTokens: 1_000 }, signal: 3 });
// @ts-expect-error there is no Wasm
init(null);
`;

/** Compiles a program without `skipLibCheck`; throws with what the compiler printed. */
function compile(file, text, options) {
  const compilerOptions = {
    target: "es2022",
    module: "nodenext",
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    typeRoots: [join(root, "js/node_modules/@types")],
    ...options,
  };
  const config = { compilerOptions, files: [file] };
  write(folder, { [file]: text, "tsconfig.json": JSON.stringify(config) });
  run(tsc, [], folder);
}

for (const lib of ["es2022", "es2024"]) {
  for (const [file, system] of Object.entries({ "all.mts": "import", "all.cts": "require" })) {
    test(`every entry, loaded by ${system}, compiles with \`lib: ["${lib}"]\` alone`, () => {
      assert.ok(entries.length >= 18, `${entries.length} entries have types`);
      compile(file, everything, { lib: [lib], types: [] });
    });
  }
}

test("with a browser's types, signals, addresses and responses are the browser's", () => {
  compile("signals.mts", SIGNALS, { lib: ["es2022", "dom"], types: [] });
});

test("with Node's types, signals, addresses and responses are Node's", () => {
  compile("signals.mts", SIGNALS, { lib: ["es2022"], types: ["node"] });
});

/** What a program reads from its settings may be missing: it is passed as it is. */
const UNSET = `import { ContextBudget, ContextManager, assemblePrompt, type Summarizer } from "plimsoll";
import { renderList } from "plimsoll/inspect";
import { readSession, recordedView, replay } from "plimsoll/sessions";
import { openaiCompatible } from "plimsoll/summarizers";

declare const size: number | undefined, text: string | undefined, summarize: Summarizer | undefined;
const window = { contextTokens: 200_000, maxOutputTokens: size };
const context = new ContextManager({
  ...{ window, summarize, trigger: size, economy: undefined, summary: { maxTokens: size, language: text } },
  ...{ create: undefined, key: undefined, preset: undefined, strategy: undefined, models: { gpt: { target: size } } },
});
context.setModel({ model: text, margin: size });
context.note({ source: "planner", requests: size });
renderList(context.inspect({ detailKey: text }), { width: size });
new ContextBudget({ contextTokens: size });
assemblePrompt([], { budget: undefined, focus: undefined });
openaiCompatible({ baseUrl: "http://127.0.0.1:11434", model: "qwen3", apiKey: text });
const session = readSession(new Uint8Array(), { leaf: text });
recordedView(session, { window });
replay(session, { window, preset: "hermes", retention: undefined, calls: size });
`;

test("with `exactOptionalPropertyTypes` an option may be `undefined`", () => {
  compile("unset.mts", UNSET, { lib: ["es2022"], types: [], exactOptionalPropertyTypes: true });
});
