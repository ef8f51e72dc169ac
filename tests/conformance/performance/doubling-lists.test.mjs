// @ts-check
/**
 * Twice as many items, twice the work: sessions with many turns, edits and pins, prompts of many sections, stores of many candidates,
 * arguments that are deep or wide, and reports of it all.
 */
import { test } from "node:test";
import { longSession } from "../../support/long.mjs";
import { checkDoublings } from "../support/doubling.mjs";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
if (!api) console.log(why);

const user = (/** @type {any} */ content) => ({ role: "user", content });
const model = (/** @type {any} */ content) => ({ role: "assistant", content });
const call = (/** @type {string} */ id, /** @type {any} */ input) =>
  model([{ type: "tool_use", id, name: "write", input }]);
const result = (/** @type {string} */ id, /** @type {any} */ content) =>
  user([{ type: "tool_result", tool_use_id: id, content }]);
const manager = (more = {}) =>
  new api.ContextManager({ window: { contextTokens: 2_000_000 }, format: "anthropic", ...more });
/** @template T @param {number} count @param {(at: number) => T} make */
const many = (count, make) => Array.from({ length: count }, (_, at) => make(at));
const talk = (/** @type {number} */ count) =>
  many(count, (at) => [user(`question ${at}`), model(`answer ${at}`)]).flat();
/** A call that reads a file, and a result of some 60 tokens, over and over. */
const reads = (/** @type {number} */ count) => [
  user("go"),
  ...many(count, (at) => [
    call(`c${at}`, { path: `src/f${100_000 + at}.rs` }),
    result(`c${at}`, `the file f${100_000 + at} has words in it `.repeat(8)),
  ]).flat(),
];
const nested = (/** @type {number} */ levels) => {
  /** @type {any} */
  let value = "leaf";
  for (let level = 0; level < levels; level++) value = level % 2 ? [value] : { a: value };
  return value;
};
const tools = (/** @type {number} */ count) =>
  many(count, (at) => ({
    name: `tool_${at}`,
    description: `Reads the file number ${at} and says what is in it, in a few words.`,
    input_schema: { type: "object", properties: { path: { type: "string" } } },
  }));
const sections = (/** @type {number} */ count, /** @type {object} */ more = {}) =>
  many(count, (at) => ({
    key: `section-${at}`,
    content: `text ${at} of a section. `.repeat(4),
    priority: (at * 7) % 100,
    ...more,
  }));
/** @param {number} count */
const focus = (count) => ({
  querySummary: "change it",
  activeFilePaths: many(count, (at) => `src/file${at}.ts`),
  activeSymbols: many(count, (at) => `makeThing${at}`),
  planSignals: [],
});
/** @param {number} count */
const learned = (count) =>
  many(count, (at) => ({
    kind: "WORKFLOW",
    category: "tests",
    content: `check${at} runs${at} before${at} step${at} of${at} area${at}`,
    score: 0.9,
    source: "user",
    trusted: true,
    at: 1_700_000_000_000 + at,
  }));
const store = () => new api.CandidateStore({ sign: { key: new Uint8Array(32).fill(7) } });

/** Of a list: its first of three sizes, and the work. @type {Record<string, [number, (size: number) => () => unknown]>} */
const LISTS = {
  "a turn late in a session": [
    300,
    (size) => {
      const context = manager();
      context.request(talk(size));
      const history = talk(size + 1);
      return () => context.request(history);
    },
  ],
  "a pruned history with many edits": [
    300,
    (size) => {
      const history = longSession(size);
      // The window grows with the history, so that the share that is edited stays the same.
      return () => api.pruneForRequest(history, { window: { contextTokens: 150 * size } });
    },
  ],
  "a pruned history, of which the window is a small part": [
    300,
    (size) => {
      const history = longSession(size);
      return () => api.pruneForRequest(history, { window: { contextTokens: 16_000 } });
    },
  ],
  "a history shortened in tiers": [
    300,
    (size) => {
      const history = longSession(size);
      return () => api.tierHistory(history);
    },
  ],
  "a history cut to its share": [
    300,
    (size) => {
      const messages = longSession(size);
      return () => api.pruneHistoryForContextShare({ messages, maxContextTokens: 100 * size });
    },
  ],
  "a history cut to its last turns": [
    300,
    (size) => {
      const history = longSession(size);
      return () => api.limitTurns(history, size);
    },
  ],
  "a fold of many messages": [
    200,
    (size) => {
      const history = reads(size);
      return () =>
        manager({ window: { contextTokens: 40 * size } }).compact(history, { force: true });
    },
  ],
  "a summary in chunks": [
    200,
    (size) => {
      const history = reads(size);
      const options = {
        window: { contextTokens: 40 * size },
        summarize: async () => "## Goal\nfind it\n",
        summary: { contextTokens: 8_000, minimumTokens: 0 },
      };
      return () => manager(options).compact(history, { force: true });
    },
  ],
  "a snapshot, and a session that is restored from it": [
    300,
    (size) => {
      const history = longSession(size);
      const window = { contextTokens: 150 * size };
      return () => {
        const context = manager({ window });
        context.request(history);
        const options = { window, format: "anthropic" };
        api.ContextManager.restore(context.snapshot(), options).request(history);
      };
    },
  ],
  "ten turns whose last message differs each time": [
    500,
    (size) => {
      const history = talk(size);
      const context = manager();
      return () => {
        for (let turn = 0; turn < 10; turn++) context.request([...history, user(`now ${turn}`)]);
      };
    },
  ],
  "pins that go out with a request": [
    1_000,
    (size) => {
      const context = manager();
      context.request(talk(10));
      for (let at = 0; at < size; at++) context.pin({ text: `pinned ${at}` });
      return () => context.compact(talk(11), { force: true });
    },
  ],
  "ten pins of a text": [
    300,
    (size) => {
      const context = manager();
      context.request(talk(size));
      return () => {
        for (let at = 0; at < 10; at++) context.pin({ text: `pinned ${at}` });
      };
    },
  ],
  "a report": [
    300,
    (size) => {
      const context = manager();
      context.request(longSession(size));
      return () => context.inspect();
    },
  ],
  "a report as text": [
    300,
    (size) => {
      const context = manager();
      context.request(longSession(size), { system: sections(size), tools: tools(size) });
      const report = context.inspect();
      return () => api.renderList(report);
    },
  ],
  "explanations of all messages": [
    150,
    (size) => {
      const history = longSession(size);
      const context = manager({ window: { contextTokens: 150 * size } });
      context.request(history);
      return () => history.map((_, at) => context.explain(at));
    },
  ],
  "an estimate of many messages": [
    300,
    (size) => {
      const messages = longSession(size);
      return () => api.estimateRequest({ messages });
    },
  ],
  "tools of a request": [
    100,
    (size) => {
      const parts = { tools: tools(size), system: "You are careful." };
      return () => manager().request(talk(4), parts);
    },
  ],
  "descriptions of tools that are trimmed": [
    100,
    (size) => {
      const all = tools(size);
      return () => api.trimToolDescriptions(all, 40 * size);
    },
  ],
  "sections that all fit": [
    100,
    (size) => {
      const all = sections(size);
      return () =>
        api.assemblePrompt(all, {
          budget: { maxPerTierChars: 10_000_000, maxTotalChars: 10_000_000 },
        });
    },
  ],
  "sections of which half must go": [
    100,
    (size) => {
      const all = sections(size);
      const budget = { maxPerTierChars: 1_000, maxTotalChars: Math.max(1_000, 40 * size) };
      return () => api.assemblePrompt(all, { budget });
    },
  ],
  "sections of which all are protected": [
    100,
    (size) => {
      const all = sections(size, { protected: true });
      const budget = { maxPerTierChars: 1_000, maxTotalChars: Math.max(1_000, 40 * size) };
      return () => api.assemblePrompt(all, { budget });
    },
  ],
  "sections and a focus": [
    100,
    (size) => {
      const all = sections(size);
      const budget = { maxPerTierChars: 1_000, maxTotalChars: Math.max(1_000, 40 * size) };
      return () => api.assemblePrompt(all, { budget, focus: focus(6) });
    },
  ],
  "files and names of a focus": [
    100,
    (size) => {
      const all = sections(10);
      return () => api.assemblePrompt(all, { focus: focus(size) });
    },
  ],
  "rules for paths": [
    100,
    (size) => {
      const rules = many(size, (at) => ({
        path: `rules/rule-${at}.md`,
        content: `---\npaths:\n  - "src/**/file${at}*.ts"\n  - "**/*.test.ts"\n---\nRule ${at}.`,
      }));
      return () => api.matchRules(rules, ["src/a/b/file1.ts", "docs/readme.md"]);
    },
  ],
  "files that rules are matched with": [
    100,
    (size) => {
      const rules = [{ path: "a.md", content: '---\npaths: "src/**/*a*b*c*.ts"\n---\nRule.' }];
      const files = many(size, (at) => `src/aaaa/abab/acbabc${at}.js`);
      return () => api.matchRules(rules, files);
    },
  ],
  "memories in a context": [
    100,
    (size) => {
      const memories = many(size, (at) => `memory ${at} of the user`);
      return () => api.buildContext(memories, "what do I like?", 10 * size);
    },
  ],
  "files of a memory tier": [
    100,
    (size) => {
      const files = many(size, (at) => ({ tier: "workspace", content: `text ${at}` }));
      return () => api.memoryTiers(files);
    },
  ],
  "words of a request": [
    300,
    (size) => {
      const query = many(size, (at) => `src/file${at}.ts makeThing${at} \`run_${at}\``).join(" ");
      return () => api.requestFocus(query, { recent: [query, query] });
    },
  ],
  "candidates that are observed": [
    300,
    (size) => {
      const all = learned(size);
      return () => {
        const own = store();
        for (const observation of all) own.upsert(observation);
      };
    },
  ],
  "candidates that are saved and loaded": [
    100,
    (size) => {
      const own = store();
      for (const observation of learned(size)) own.upsert(observation);
      return async () => store().load(await own.save());
    },
  ],
  "candidates in a section": [
    100,
    (size) => {
      const own = store();
      for (const observation of learned(size)) own.upsert(observation);
      return () => {
        own.evaluateAll(1_700_100_000_000);
        own.section(focus(6), { at: 1_700_100_000_000 });
      };
    },
  ],
  "members of the arguments of a call": [
    200,
    (size) => {
      const input = Object.fromEntries(many(size, (at) => [`member${at}`, `value ${at} "x" \\ y`]));
      return () => manager().request([user("go"), call("a", input), result("a", "ok")]);
    },
  ],
  "items in the arguments of a call": [
    200,
    (size) => {
      const input = { list: many(size, (at) => ({ path: `src/f${at}.rs`, at })) };
      return () => manager().request([user("go"), call("a", input), result("a", "ok")]);
    },
  ],
  "arguments that are nested 30, 60 and 120 levels deep": [
    30,
    (size) => {
      const history = many(40, (at) => [call(`a${at}`, nested(size)), result(`a${at}`, "ok")]);
      return () => manager().request([user("go"), ...history.flat()]);
    },
  ],
  "blocks of a result": [
    200,
    (size) => {
      const blocks = many(size, (at) => ({ type: "text", text: `line ${at}` }));
      return () => manager().request([user("go"), call("a", {}), result("a", blocks)]);
    },
  ],
  "calls that changed a file each": [
    200,
    (size) => {
      const history = [
        user("go"),
        ...many(size, (at) => [
          call(`a${at}`, { path: `src/f${at}.rs`, content: "x" }),
          result(`a${at}`, "written"),
        ]).flat(),
        ...talk(8),
      ];
      return () => manager().compact(history, { force: true });
    },
  ],
  "candidates of a digest: identifiers that come once": [
    200,
    (size) => {
      const history = many(size, (at) => user(`see src/part${at}/file${at}.rs and value_${at}_x`));
      return () => manager().compact([...history, ...talk(8)], { force: true });
    },
  ],
};

for (const [name, [size, ready]] of Object.entries(LISTS)) {
  test(`a list twice as long takes at most twice the steps: ${name}`, {
    skip: !api && why,
  }, async () => {
    await ready(10)();
    await checkDoublings([{ name, size, ready }]);
  });
}
