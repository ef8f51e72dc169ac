/** Writes what was missing: a page about the modules, tests for those without. */
import { call, exportsOf, grep, importsOf, pairs, read, run, sources, TESTS } from "./shared.mjs";

export function* modules() {
  const [listing] = yield { calls: [call("list", { path: "src" })] };
  yield {
    calls: [
      call("write", { path: "docs/modules.md", content: "# Modules\n\n<!-- sections -->\n" }),
    ],
  };
  for (const path of sources(listing)) {
    const [source] = yield {
      thinking: `I write about ${path} from its text, not from memory.`,
      calls: [read(path)],
    };
    const descriptions = [...source.text.matchAll(/^\/\*\* (.+?) \*\/$/gm)].map(
      (match) => match[1],
    );
    const section = [
      `## ${path.replace(/^src\/|\.js$/g, "")}`,
      "",
      ...descriptions.slice(0, 3),
      "",
      `Exports: ${exportsOf(source.text).join(", ") || "nothing"}.`,
      `Imports: ${importsOf(source.text).join(", ") || "nothing"}.`,
      "",
      "<!-- sections -->",
    ].join("\n");
    yield {
      calls: [call("edit", { path: "docs/modules.md", old: "<!-- sections -->", new: section })],
    };
  }
  const [document] = yield { calls: [read("docs/modules.md")] };
  return {
    text: `docs/modules.md is written: ${document.text.split("\n## ").length - 1} sections.`,
  };
}

/** Expressions whose values are asked of the module itself before a test is written about them. */
const PROBES = {
  clock: [
    "parseTime('2026-01-02T00:30Z')",
    "formatTime(1470)",
    "formatSpan(59)",
    "formatSpan(450)",
    "formatSpan(3000)",
    "dayOf(2879)",
  ],
  events: [
    "parseLogLine('2026-03-01T11:50Z  enters   Anna Maris         N1  pilot Aune').berth",
    "parseLogLine('nothing')",
  ],
  pilot: ["new Pilots(['B', 'A']).free(0)", "new Pilots([]).free(0)", "rotaLine('Aune', [1, 2])"],
  report: ["table(['a', 'b'], [['x', 1], ['yy', 20]])"],
  rng: ["new Rng(1).next()", "new Rng(5).between(1, 6)", "new Rng(9).pick(['a', 'b', 'c'])"],
  vessel: [
    "windLimit({ kind: 'tanker' })",
    "isDeep({ draught: 8.1 })",
    "describeVessel({ name: 'A', kind: 'tug', length: 28, draught: 3.1, hazard: false })",
  ],
  weather: ["beaufort(0.1)", "beaufort(12)", "beaufort(40)", "new Weather(3, 10).wind(100000)"],
  berth: [
    "new Berths([{ id: 'N1', length: 90 }]).isFree('N1', 0, 10)",
    "new Berths([{ id: 'b', length: 9 }, { id: 'a', length: 9 }]).ids",
  ],
};

export function* tests() {
  const [sourceList, testList] = yield {
    calls: [call("list", { path: "src" }), call("list", { path: "test" })],
  };
  const bare = sources(sourceList)
    .map((path) => path.replace(/^src\/|\.js$/g, ""))
    .filter(
      (name) => !testList.text.includes(`test/${name}.test.js`) && PROBES[name] !== undefined,
    );
  let written = 0;
  for (const name of bare) {
    const [source] = yield {
      thinking: `${name} has no test. What does it promise?`,
      calls: [read(`src/${name}.js`)],
    };
    const names = exportsOf(source.text);
    const cases = [];
    for (const batch of pairs(PROBES[name])) {
      const answers = yield {
        calls: batch.map((expression) =>
          run(
            `node --input-type=module -e "import { ${names.join(", ")} } from './src/${name}.js'; console.log(JSON.stringify(${expression}))"`,
          ),
        ),
      };
      for (const [index, answer] of answers.entries())
        if (!answer.isError) cases.push({ expression: batch[index], value: answer.text });
    }
    const body = (imported) =>
      [
        `import assert from "node:assert/strict";`,
        `import { test } from "node:test";`,
        `import { ${imported.join(", ")} } from "../src/${name}.js";`,
        "",
        ...cases.map(
          ({ expression, value }) =>
            `test(${JSON.stringify(`${name}: ${expression.slice(0, 40)}`)}, () => {\n  assert.deepEqual(${expression}, ${value});\n});\n`,
        ),
      ].join("\n");
    // Imports what the module is called, which is wrong nearly always; the run says so.
    yield { calls: [call("write", { path: `test/${name}.test.js`, content: body([name]) })] };
    const [ran] = yield { calls: [run(`${TESTS} test/${name}.test.js`)] };
    if (ran.isError) {
      yield {
        thinking: "The import is wrong: the module has no export of its own name.",
        calls: [grep("^export ", `src/${name}.js`)],
      };
      yield { calls: [call("write", { path: `test/${name}.test.js`, content: body(names) })] };
      yield { calls: [run(`${TESTS} test/${name}.test.js`)] };
    }
    written += cases.length;
  }
  const [suite] = yield { calls: [run(TESTS)] };
  return {
    text: `${written} tests for ${bare.length} modules; the whole suite ${suite.isError ? "fails" : "passes"}.`,
  };
}
