/**
 * What the scripted model can do, each a generator: it yields a turn of the assistant and is resumed with the results of its calls.
 * A routine decides by what the tools answered; nothing is assumed of a file that was not read.
 */
const TESTS = "node --test --test-reporter=tap";
const call = (name, args) => ({ name, args });
const read = (path, range = {}) => call("read", { path, ...range });
const run = (command) => call("run", { command });
const grep = (pattern, path = "src") => call("grep", { pattern, path });
const lines = (result) => (result.text === "no match" ? [] : result.text.split("\n"));
const sources = (listing) =>
  lines(listing)
    .map((line) => line.trim().split(/ +/)[1])
    .filter((file) => /^src\/.*\.js$/.test(file));
const exportsOf = (source) =>
  [...source.matchAll(/^export (?:async )?(?:function|class|const) (\w+)/gm)].map(
    (match) => match[1],
  );
const importsOf = (source) =>
  [...source.matchAll(/^import .* from "(\.[^"]+)"/gm)].map((match) => match[1]);
const pairs = (list) =>
  list.flatMap((item, index) => (index % 2 === 0 ? [list.slice(index, index + 2)] : []));

function longFunctions(path, source) {
  const found = [];
  const rows = source.split("\n");
  for (const [index, row] of rows.entries()) {
    const head = /^(\s*)(?:export )?(?:static )?(?:function )?(#?\w+)\(.*\) \{$/.exec(row);
    if (head === null || ["if", "for", "while", "switch", "catch"].includes(head[2])) continue;
    const end = rows.findIndex((other, at) => at > index && other === `${head[1]}}`);
    if (end - index > 24) found.push({ path, name: head[2], from: index + 1, to: end + 1 });
  }
  return found;
}

function* audit() {
  const [listing, history] = yield {
    thinking: "First the lie of the land: what files there are, and how the project came to be.",
    text: "I will look at the tree and its history first.",
    calls: [call("list", { path: "." }), run("git log --oneline | head -n 20")],
  };
  const files = sources(listing);
  const [sizes, todos, decisions] = yield {
    calls: [
      run(`wc -l ${files.join(" ")}`),
      grep("TODO|FIXME|HACK"),
      call("list", { path: "docs" }),
    ],
  };
  const documents = lines(decisions).map((line) => line.trim().split(/ +/)[1]);
  yield {
    text: `${files.length} source files, ${lines(todos).length} notes to self. Next what the project says about itself.`,
    calls: [read("README.md"), ...documents.map((path) => read(path))],
  };
  const long = [];
  const imports = new Map();
  for (const batch of pairs(files)) {
    const results = yield { calls: batch.map((path) => read(path)) };
    for (const [index, result] of results.entries()) {
      long.push(...longFunctions(batch[index], result.text));
      imports.set(batch[index], importsOf(result.text));
    }
  }
  for (const { path, name, from, to } of long) {
    yield {
      thinking: `${name} in ${path} spans ${to - from + 1} lines. I want to see whether it can be told in parts.`,
      calls: [read(path, { offset: from, limit: to - from + 1 })],
    };
  }
  const used = (path) =>
    [...imports.values()].flat().filter((target) => target.endsWith(path.split("/")[1])).length;
  const ranked = [...imports.keys()].sort((a, b) => used(b) - used(a)).slice(0, 4);
  return {
    text: [
      `The project has ${lines(history).length} commits and ${lines(sizes).at(-1).trim()} of source.`,
      "",
      "Most imported:",
      ...ranked.map((path) => `- ${path}, by ${used(path)} modules`),
      "",
      "Long functions:",
      ...long.map((f) => `- \`${f.name}\` in ${f.path}, lines ${f.from} to ${f.to}`),
      "",
      "Notes left in the code:",
      ...lines(todos).map((line) => `- ${line}`),
    ].join("\n"),
  };
}

/** What a failing test says, where the fault then is, and what mends it. */
const REMEDIES = [
  {
    test: /stays that only touch/,
    path: "src/interval.js",
    guess: "return a.from <= b.to && b.from < a.to;",
    old: "return a.from <= b.to && b.from <= a.to;",
    new: "return a.from < b.to && b.from < a.to;",
    because:
      "Both comparisons must be strict: the intervals are half open (D2), so an end that meets a start is no collision.",
  },
  {
    test: /each started day|tanker pays/,
    path: "src/tariff.js",
    guess: "return Math.floor(minutes / MINUTES_PER_DAY);",
    old: "return Math.round(minutes / MINUTES_PER_DAY);",
    new: "return Math.ceil(minutes / MINUTES_PER_DAY);",
    because: "Rule 6 charges each started day. Rounding lets the first half of a day go free.",
  },
  {
    test: /quoted cell may hold a comma|read whole/,
    path: "src/manifest.js",
    guess: 'return line.split(",").map((cell) => cell.trim());',
    old: `  return line.split(",").map((cell) => cell.trim().replace(/^"(.*)"$/, "$1").replaceAll('""', '"'));`,
    new: [
      '  const cells = [""];',
      "  let quoted = false;",
      "  for (let i = 0; i < line.length; i += 1) {",
      "    const sign = line[i];",
      "    if (sign === '\"' && quoted && line[i + 1] === '\"') cells[cells.length - 1] += line[(i += 1)];",
      "    else if (sign === '\"') quoted = !quoted;",
      '    else if (sign === "," && !quoted) cells.push("");',
      "    else cells[cells.length - 1] += sign;",
      "  }",
      "  return cells.map((cell) => cell.trim());",
    ].join("\n"),
    because:
      "Splitting at every comma cuts through quoted cells; D6 wants a walk that knows whether it is inside quotes.",
  },
  {
    test: /every move has a pilot/,
    path: "src/schedule.js",
    guess: 'this.#log.add(stay.to, "leaves", vessel, berth.id, "");',
    old: '    this.#log.add(stay.to, "leaves", vessel, berth.id);',
    new: [
      "    const outbound = this.#pilots.free(stay.to);",
      "    if (outbound !== null) this.#pilots.assign(outbound, stay.to, vessel);",
      '    this.#log.add(stay.to, "leaves", vessel, berth.id, outbound === null ? "pilot none free" : `pilot ${outbound}`);',
    ].join("\n"),
    because: "Only the way in had a pilot. D8 says that moves have pilots, and leaving is a move.",
  },
];

function* mend(view) {
  let [suite] = yield { text: "Running the tests to see where we stand.", calls: [run(TESTS)] };
  const told = [];
  for (let round = 0; round < 8 && suite.isError; round += 1) {
    const failing = [...suite.text.matchAll(/^\s*not ok \d+ - (.+)$/gm)].map((match) => match[1]);
    const remedy = REMEDIES.find((candidate) => failing.some((name) => candidate.test.test(name)));
    if (remedy === undefined)
      return { text: `I do not know what to do about: ${failing.join("; ")}.` };
    const name = failing.find((candidate) => remedy.test.test(candidate));
    const [where] = yield {
      thinking: `${failing.length} fail. I take "${name}" first and look for its test.`,
      calls: [grep(name.slice(0, 24).replace(/[()]/g, "."), "test")],
    };
    const testFile = lines(where)[0].split(":")[0];
    yield { calls: [read(testFile), read(remedy.path)] };
    // The first try is often from memory; the tool says that the text is not there, and then one looks.
    const [first] = yield {
      text: `I think that the fault is in ${remedy.path}.`,
      calls: [call("edit", { path: remedy.path, old: remedy.guess, new: remedy.new })],
    };
    if (first.isError) {
      const needle = remedy.old
        .trim()
        .split("\n")[0]
        .replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
      yield {
        thinking: "That is not how the line reads. I look it up instead of guessing again.",
        calls: [grep(needle, remedy.path)],
      };
      if (!view.shows(remedy.old)) yield { calls: [read(remedy.path)] };
      yield {
        text: remedy.because,
        calls: [call("edit", { path: remedy.path, old: remedy.old, new: remedy.new })],
      };
    }
    const [alone] = yield { calls: [run(`${TESTS} ${testFile}`)] };
    told.push(
      `- ${name}: ${remedy.because}${alone.isError ? " (its file still has other failures)" : ""}`,
    );
    [suite] = yield { calls: [run(TESTS)] };
  }
  yield { calls: [run("git diff --stat"), run("git diff")] };
  return {
    text: [suite.isError ? "Some tests still fail." : "All tests pass.", "", ...told].join("\n"),
  };
}

function* unusedExports() {
  const [listing] = yield {
    text: "I will look at every export and search for each name.",
    calls: [call("list", { path: "src" })],
  };
  const unused = [];
  for (const path of sources(listing)) {
    const [declared] = yield { calls: [grep("^export ", path)] };
    const names = lines(declared).flatMap((line) => exportsOf(line.replace(/^[^ ]+ /, "")));
    for (const batch of pairs(names)) {
      const hits = yield {
        calls: batch.map((name) => call("grep", { pattern: `\\b${name}\\b`, path: "." })),
      };
      for (const [index, result] of hits.entries()) {
        const elsewhere = lines(result).filter(
          (line) => !line.startsWith(`${path}:`) && /\.js:/.test(line),
        );
        if (elsewhere.length === 0) unused.push({ path, name: batch[index] });
      }
    }
  }
  return {
    text: [
      "Exported and used nowhere else:",
      ...unused.map(({ path, name }) => `- \`${name}\` in ${path}`),
    ].join("\n"),
  };
}

function* modules() {
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
    const told = [...source.text.matchAll(/^\/\*\* (.+?) \*\/$/gm)].map((match) => match[1]);
    const section = [
      `## ${path.replace(/^src\/|\.js$/g, "")}`,
      "",
      ...told.slice(0, 3),
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
  const [whole] = yield { calls: [read("docs/modules.md")] };
  return { text: `docs/modules.md is written: ${whole.text.split("\n## ").length - 1} sections.` };
}

function* play(_view, request) {
  const days = /(\d+) days/.exec(request)?.[1] ?? "7";
  const reasons = new Map();
  const waits = [];
  for (const seed of [7, 21, 99]) {
    const [log] = yield {
      text: `Seed ${seed}.`,
      calls: [run(`node src/cli.js simulate --days ${days} --seed ${seed}`)],
    };
    for (const row of lines(log).filter((line) => / refused /.test(line))) {
      const reason = row.split(/ {2,}/).at(-1).replace(/^- /, "");
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
    waits.push(
      ...lines(log)
        .filter((line) => /waited [2-9]d/.test(line) || /waited 1d [12]\d/.test(line))
        .map((line) => line.slice(0, 50).trimEnd()),
    );
    yield {
      calls: [run(`node src/cli.js simulate --days ${days} --seed ${seed} --table | tail -n 30`)],
    };
  }
  const worst = [...reasons].sort((a, b) => b[1] - a[1]);
  const [code] = yield {
    thinking: `Most refusals say "${worst[0]?.[0]}". I want to see where that reason is made.`,
    calls: [
      grep(`"${worst[0]?.[0] ?? "no room"}"`),
      read("src/schedule.js", { offset: 28, limit: 60 }),
    ],
  };
  yield { calls: [grep("busyUntil|shiftStart", "src/pilot.js"), read("src/pilot.js")] };
  return {
    text: [
      `Over three seeds of ${days} days ${waits.length} vessels waited long. Refusals:`,
      ...worst.map(([reason, count]) => `- ${reason}: ${count}`),
      "",
      `The reason comes from ${lines(code)[0]?.split(":").slice(0, 2).join(" line ") ?? "the planner"}.`,
    ].join("\n"),
  };
}

function* rename(view, request) {
  const [, from, to] = /rename `(\w+)` to `(\w+)`/i.exec(request) ?? [];
  const [hits] = yield {
    text: `Where \`${from}\` stands now:`,
    calls: [call("grep", { pattern: `\\b${from}\\b`, path: "." })],
  };
  let edits = 0;
  for (const hit of lines(hits).filter(
    (line) => /\.js:\d+:/.test(line) && !/^[^:]+:\d+: (?:\/\/|\*|\/\*)/.test(line),
  )) {
    const [, path, row, content] = /^([^:]+):(\d+): (.*)$/.exec(hit);
    const wanted = content.replace(new RegExp(`\\b${from}\\b`, "g"), to);
    if (!view.shows(content)) yield { calls: [read(path)] };
    const [done] = yield { calls: [call("edit", { path, old: content, new: wanted })] };
    if (done.isError) {
      const [around] = yield {
        thinking:
          "The same text stands there more than once, or has moved. I take the lines around it.",
        calls: [read(path, { offset: Math.max(1, Number(row) - 1), limit: 3 })],
      };
      const exact = around.text.replace(/\n\[\d+ more lines\]$/, "");
      yield {
        calls: [
          call("edit", {
            path,
            old: exact,
            new: exact.replace(new RegExp(`\\b${from}\\b`, "g"), to),
          }),
        ],
      };
    }
    edits += 1;
  }
  const [left, suite] = yield {
    calls: [call("grep", { pattern: `\\b${from}\\b`, path: "src" }), run(TESTS)],
  };
  return {
    text: `\`${from}\` is now \`${to}\`: ${edits} lines changed, ${lines(left).length} mentions left, tests ${suite.isError ? "fail" : "pass"}.`,
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

function* tests() {
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

function* recall(_view, request) {
  const [, word = "vessels"] = /about (\w+)/i.exec(request) ?? [];
  const stem = word.replace(/s$/, "").slice(1);
  const topic = `[${word[0].toUpperCase()}${word[0].toLowerCase()}]${stem}`;
  const [missing] = yield {
    thinking:
      "I remember rules of the port, but not their wording; the wording is what was asked for.",
    calls: [read("docs/RULES.md")],
  };
  const [hits] = yield {
    text: missing.isError ? "That is not its name." : "",
    calls: [call("grep", { pattern: topic, path: "docs" })],
  };
  const [path] = lines(hits)[0]?.split(":") ?? ["docs/rules.md"];
  const [code] = yield { calls: [grep(topic), read(path)] };
  return {
    text: [
      "Word for word:",
      ...lines(hits).map((line) => `> ${line}`),
      "",
      `The code speaks of it in ${new Set(lines(code).map((line) => line.split(":")[0])).size} files.`,
    ].join("\n"),
  };
}

function* plan() {
  const [out] = yield {
    calls: [
      run("node src/cli.js plan data/vessels.csv"),
      read("data/vessels.csv"),
      read("data/berths.json"),
    ],
  };
  const faults = lines(out).filter((line) => line.startsWith("line "));
  if (faults.length > 0)
    yield {
      thinking: `A row is not read: ${faults[0]}. The reader of the list is the place to look.`,
      calls: [read("src/manifest.js"), grep("D6", ".")],
    };
  const [berths, pilots] = yield { calls: [read("src/berth.js"), read("src/pilot.js")] };
  yield { calls: [read("src/schedule.js"), run("node src/cli.js simulate --days 4 --seed 3")] };
  return {
    text: [
      `The plan places ${lines(out).filter((line) => /^[NES]\d /.test(line)).length} vessels.`,
      ...faults.map((line) => `- not read: ${line}`),
      `- berths are tried smallest first (${exportsOf(berths.text).join(", ")}), pilots least used first (${exportsOf(pilots.text).join(", ")}).`,
    ].join("\n"),
  };
}

export const ROUTINES = [
  { name: "mend what fails", when: /mend|fix/i, run: mend },
  { name: "rename `a` to `b`", when: /rename `/i, run: rename },
  { name: "unused exports", when: /exports?.*(nowhere|unused)/i, run: unusedExports },
  { name: "write about the modules", when: /modules\.md/i, run: modules },
  { name: "play N days", when: /play|simulat/i, run: play },
  { name: "tests for what has none", when: /tests? for/i, run: tests },
  { name: "what the rules say about X", when: /say about/i, run: recall },
  { name: "plan the list", when: /plan/i, run: plan },
  { name: "look round", when: /look (round|around)|audit/i, run: audit },
];
