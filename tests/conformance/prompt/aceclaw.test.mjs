// @ts-check
/** AceClaw's system prompt through the package: its order and priorities, its section on the task, its rules, its tools; and prompts as blocks. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
const skip = api ? false : why;
const section = (/** @type {string} */ key, more = {}) => ({ key, content: `${key};`, ...more });

/** AceClaw's sections with its base priorities, in its order for a request that lifts nothing. */
const ACECLAW = [
  ["memory:soul", 100],
  ["memory:policy", 90],
  ["memory:workspace", 80],
  ["memory:user", 70],
  ["memory:local", 65],
  ["memory:auto", 60],
  ["base", 95],
  ["task-focus", 89],
  ["rules:ts", 88],
  ["tool-guidance", 82],
  ["environment", 72],
  ["git", 40],
  ["memory:markdown", 55],
  ["memory:journal", 50],
  ["skills", 58],
  ["candidates", 54],
];

/** The same list in another order, by a fixed step through it. */
const shuffled = (/** @type {any[]} */ list, step = 7) =>
  list.map((_, at) => list[(at * step + 3) % list.length]);

const keysOf = (/** @type {any} */ plan) =>
  plan.sections.map((/** @type {any} */ one) => [one.key, one.basePriority]);

test("sections are ordered as in AceClaw, with its base priorities (F041)", {
  skip,
}, () => {
  for (const step of [1, 3, 5, 7, 9, 15]) {
    const sections = shuffled(ACECLAW, step).map(([key]) => section(key));
    assert.notDeepEqual(
      sections.map(({ key }) => key),
      ACECLAW.map(([key]) => key),
    );
    assert.deepEqual(keysOf(api.assemblePrompt(sections, { order: "aceclaw" })), ACECLAW);
  }
});

test("a tier that the focus lifts to priority 60 moves before the base (F041)", {
  skip,
}, () => {
  const focus = api.requestFocus("continue to plan, fix and verify `parseLine` in src/a.ts");
  const sections = shuffled(ACECLAW).map(([key]) => section(key));
  const plan = api.assemblePrompt(sections, { order: "aceclaw", focus });
  const of = (/** @type {any} */ one) => `${one.key} ${one.priority}`;
  assert.deepEqual(plan.sections.map(of), [
    "memory:soul 100",
    "memory:policy 90",
    "memory:workspace 80",
    "memory:user 70",
    "memory:local 65",
    "memory:auto 68",
    "memory:markdown 65",
    "memory:journal 62",
    "base 95",
    "task-focus 99",
    "rules:ts 97",
    "tool-guidance 84",
    "environment 72",
    "git 48",
    "skills 70",
    "candidates 66",
  ]);
  assert.deepEqual(plan.sections[10].evidence, [
    "+4 active file src/a.ts",
    "+3 code change requested",
    "+2 verification requested",
  ]);
});

test("other keys follow the base in the order passed, and need a priority (F041)", { skip }, () => {
  const sections = [
    section("git"),
    section("zebra", { priority: 10 }),
    section("base"),
    section("apple", { priority: 99 }),
  ];
  const plan = api.assemblePrompt(sections, { order: "aceclaw" });
  assert.equal(plan.prompt, "base;zebra;apple;git;");
  assert.throws(
    () => api.assemblePrompt([section("base"), section("zebra")], { order: "aceclaw" }),
    /sections\[1\]\.priority: expected a priority, 0 to 100 .*zebra/,
  );
  assert.throws(
    () => api.assemblePrompt([], { order: "claw" }),
    /order: expected "insertion", "stable-first" or "aceclaw", got "claw"/,
  );
});

test("a focus becomes a section, and an empty focus none (F042)", { skip }, () => {
  const focus = api.requestFocus("fix `parseLine` in src/a.ts");
  const made = api.focusSection(focus);
  assert.equal(
    made.content,
    "# Task Focus\n\nWhat the current request is about:\n\n- Query: fix `parseLine` in src/a.ts\n- Active files: src/a.ts\n- Active symbols: parseLine\n- Signals: code change requested\n\n",
  );
  assert.deepEqual([made.key, made.priority, made.scope], ["task-focus", 89, "task-local"]);
  assert.ok(api.assemblePrompt([made], { focus }).prompt.startsWith("# Task Focus"));
  assert.equal(api.focusSection(api.requestFocus(" ")), null);
  assert.throws(() => api.focusSection("fix it"), /focus: expected an object/);
});

test("a focus shows 6 files, and matches rules and candidates by up to 12 (F053)", {
  skip,
}, async () => {
  const recent = Array.from({ length: 20 }, (_, at) => `see src/f${at}.ts and lib/g${at}.ts`);
  const focus = api.requestFocus("look at a.ts", { recent });
  assert.equal(focus.activeFilePaths.length, 6);
  assert.equal(focus.inferredFilePaths.length, 12);
  assert.deepEqual(focus.inferredFilePaths.slice(0, 6), focus.activeFilePaths);
  const last = String(focus.inferredFilePaths[11]);
  const rule = { path: "rules/last.md", content: `---\npaths: ['${last}']\n---\nBe careful.` };
  assert.deepEqual(api.matchRules([rule], focus.activeFilePaths), []);
  assert.equal(api.matchRules([rule], focus.inferredFilePaths)[0].key, "rules:last");

  const at = 86_400_000_000;
  const store = new api.CandidateStore({ sign: { key: new Uint8Array(32).fill(7) } });
  const seen = { kind: "WORKFLOW", category: "code", source: "user", trusted: true, success: true };
  for (let times = 0; times < 2; times += 1) {
    store.upsert({ ...seen, toolTag: "edit", content: "Answer in French", score: 1, at });
    store.upsert({
      ...seen,
      toolTag: "bash",
      content: `Lint ${/[fg]\d+/.exec(last)} alone`,
      score: 0.9,
      at,
    });
  }
  store.evaluateAll(at);
  const first = (/** @type {any} */ focus) =>
    store.section(focus, { at, maxCount: 1 }).section.content;
  assert.match(first({ ...focus, inferredFilePaths: [] }), /Answer in French/);
  assert.match(first(focus), /Lint .* alone/);
});

test("a prompt has two blocks: a stable one with a cache marker, and the rest", {
  skip,
}, () => {
  const sections = [
    section("git", { priority: 40 }),
    section("base", { priority: 95, stable: true }),
    section("tools", { priority: 80, stable: true }),
  ];
  const plan = api.assemblePrompt(sections, { order: "stable-first" });
  assert.deepEqual(plan.blocks, [
    { text: "base;tools;", stable: true },
    { text: "git;", stable: false },
  ]);
  assert.equal(plan.blocks[0].text.length, plan.stablePrefixChars);
  assert.deepEqual(api.assemblePrompt(sections.slice(0, 1)).blocks, [
    { text: "git;", stable: false },
  ]);
  assert.deepEqual(api.assemblePrompt(sections.slice(1)).blocks, [
    { text: "base;tools;", stable: true },
  ]);
  assert.deepEqual(api.assemblePrompt([]).blocks, []);
});

/** The same two tools in the shape of each provider, and where their definitions are. */
const SHAPES = [
  ["Anthropic", (/** @type {any[]} */ all) => all, (/** @type {any[]} */ all) => all],
  [
    "OpenAI",
    (/** @type {any[]} */ all) => all.map((it) => ({ type: "function", function: it })),
    (/** @type {any[]} */ all) => all.map((it) => it.function),
  ],
  [
    "Gemini",
    (/** @type {any[]} */ all) => [{ functionDeclarations: all }],
    (/** @type {any[]} */ all) => all[0].functionDeclarations,
  ],
];

test("tool descriptions are cut the same way in each provider's shape, longest first (F043)", {
  skip,
}, () => {
  const definitions = () => [
    { name: "read", description: "Reads." },
    { name: "run", description: `Runs.\n\n${"x".repeat(5_000)}`, parameters: { type: "object" } },
  ];
  for (const [name, shape, own] of /** @type {any[]} */ (SHAPES)) {
    const tools = shape(definitions());
    const before = JSON.stringify(tools);
    const [read, run] = own(api.trimToolDescriptions(tools, 500));
    assert.equal(read, own(tools)[0], `${name}: what stays is the same object`);
    assert.equal(run.description.length, 494, name);
    assert.ok(
      run.description.startsWith("Runs.\n\nx") && run.description.endsWith("\n[TRUNCATED]"),
    );
    assert.equal(run.parameters, own(tools)[1].parameters);
    assert.equal(JSON.stringify(tools), before, "the host's own are not changed");
  }
});

test("a tool without a description is refused by name, and unread members may be anything (F043)", {
  skip,
}, () => {
  for (const [, shape] of /** @type {any[]} */ (SHAPES))
    assert.throws(
      () => api.trimToolDescriptions(shape([{ name: "bare", parameters: {} }]), 500),
      /^PlimsollError: tools\[0\].*\.description: expected a description, got a tool without one: "bare"$/,
    );
  /** @type {any} */
  const schema = { run: () => 1, big: 1n };
  schema.self = schema;
  const tools = [{ name: "read", description: "x".repeat(900), inputSchema: schema, execute() {} }];
  const [cut] = api.trimToolDescriptions(tools, 300);
  assert.ok(cut.description.length <= 300 && cut.inputSchema === schema);
});
