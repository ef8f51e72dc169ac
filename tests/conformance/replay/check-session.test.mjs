// @ts-check
/** The carrying-out is itself tested: a manager that sends everything passes, and each way to be wrong is named. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { carryOut, requestsOf } from "./check-session.mjs";

const text = (/** @type {string} */ value) => ({ type: "text", text: value });
const long = "please look at the file src/main.rs and tell me what it does";

/** A session of three calls and a question, with signed thinking. */
const session = () => ({
  messageFormat: "anthropic",
  calls: [{ sent: 1, at: 1_000 }, { sent: 3 }, { sent: 5 }, { sent: 7 }],
  messages: [
    { role: "user", content: long },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "t", signature: "s" },
        { type: "tool_use", id: "a", name: "read", input: {} },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "fn main() {}" }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "u", signature: "s" },
        { type: "tool_use", id: "b", name: "read", input: {} },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "b", content: "mod a;" }] },
    { role: "assistant", content: [text("it is empty")] },
    { role: "user", content: [text("thanks, and now the tests in tests/ please, all of them")] },
    { role: "assistant", content: [text("ok")] },
  ],
});

/** A package whose manager sends all, after `change` had its hand on the view. @param {(view: any, history: any[], state: any) => any} [change] */
function fake(change = (view) => view) {
  return {
    estimateRequest: (/** @type {any} */ { messages }) => ({
      tokens: JSON.stringify(messages).length,
    }),
    ContextManager: class {
      state = /** @type {any} */ ({ asked: 0 });
      /** @param {any[]} history */
      request(history) {
        this.state.asked += 1;
        const view = {
          messages: [...history],
          source: history.map((_, at) => at),
          fits: true,
          repairs: [],
          cacheBreakpoints: [],
          epoch: 0,
          firstChanged: null,
          tokens: 10,
          tokensSource: "estimate",
          edits: [],
          compaction: null,
          hints: {},
        };
        return change(view, history, this.state) ?? view;
      }
    },
  };
}

/** From the third request on, the first result is a stub. @param {any} view @param {any} [more] */
function stubbed(view, more = {}) {
  if (view.messages.length < 5) return view;
  view.messages[2] = {
    role: "user",
    content: [{ type: "tool_result", tool_use_id: "a", content: "[stub]" }],
  };
  view.epoch = 1;
  if (view.messages.length === 5) {
    view.firstChanged = 2;
    view.edits = [{ index: 2, ops: [], rule: "x", tokensBefore: 9, tokensAfter: 1 }];
  }
  view.hints = { body: { drop: true } };
  return Object.assign(view, more);
}

const carry = (/** @type {any} */ api) => carryOut(api, session(), { contextTokens: 32_000 });

test("the checks accept requests that send all messages", async () => {
  const report = await carry(fake());
  assert.deepEqual(report.failures, []);
  assert.equal(report.calls, 4);
});

test("the checks accept a batch of edits in a new epoch", async () => {
  const report = await carry(fake((view) => stubbed(view)));
  assert.deepEqual(report.failures, []);
  assert.deepEqual([report.epochs, report.edits], [1, 1]);
});

/** @type {Array<[string, string, (view: any, history: any[], state: any) => any]>} */
const wrong = [
  [
    "a manager that throws",
    "threw",
    () => {
      throw new Error("no");
    },
  ],
  [
    "a manager that mutates",
    "threw",
    (_, history) => {
      history[0].content = "x";
    },
  ],
  [
    "a call left without its result",
    "I1",
    (view, history) => {
      if (history.length === 5) drop(view, 4);
    },
  ],
  [
    "a result left without its call",
    "I2",
    (view, history) => {
      if (history.length > 3) drop(view, 1);
    },
  ],
  [
    "an assistant at the end",
    "I8",
    (view) => {
      add(view, { role: "assistant", content: "ack" });
    },
  ],
  [
    "an emptied result",
    "I6",
    (view) => {
      const own = stubbed(view);
      if (own.messages[2])
        own.messages[2] = {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "a", content: own.epoch ? "" : "fn main() {}" },
          ],
        };
    },
  ],
  [
    "a made message with other fields",
    "shape",
    (view) => {
      view.messages.unshift({ role: "user", content: "summary", kind: "head" });
      view.source.unshift(null);
    },
  ],
  [
    "a copy of an unedited message",
    "identity",
    (view) => {
      view.messages[0] = { ...view.messages[0] };
    },
  ],
  ["an edit that is not announced", "edits", (view) => stubbed(view, { edits: [] })],
  [
    "a lying source",
    "source",
    (view) => {
      view.source[0] = 99;
    },
  ],
  [
    "sources out of order",
    "source",
    (view) => {
      view.source.reverse();
    },
  ],
  ["a change within an epoch", "epoch", (view) => stubbed(view, { epoch: 0, firstChanged: null })],
  [
    "an epoch for nothing",
    "epoch",
    (view, history) => {
      view.epoch = history.length;
    },
  ],
  [
    "a wrong firstChanged",
    "firstChanged",
    (view) => {
      if (stubbed(view).firstChanged === 2) view.firstChanged = 1;
    },
  ],
  [
    "a firstChanged within an epoch",
    "firstChanged",
    (view) => {
      view.firstChanged = 0;
    },
  ],
  [
    "too many tokens",
    "tokens",
    (view) => {
      view.tokens = 31_000;
    },
  ],
  [
    "too many tokens, measured again",
    "tokens",
    (view) => {
      add(view, { role: "user", content: "x".repeat(40_000) });
    },
  ],
  [
    "another answer when asked again",
    "again",
    (view, _, state) => {
      view.epoch = state.asked % 2;
    },
  ],
  ["bound thinking behind an edit", "I12", (view) => stubbed(view, { hints: {} })],
  [
    "a changed thought",
    "I10",
    (view) => {
      if (view.messages[1])
        view.messages[1] = {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "x", signature: "s" },
            view.messages[1].content[1],
          ],
        };
    },
  ],
  [
    "a message that is gone",
    "lost",
    (view, history) => {
      if (history.length === 7) drop(view, 5);
    },
  ],
  [
    "a lost question",
    "verbatim",
    (view, history) => {
      if (history.length === 7) drop(view, 6);
    },
  ],
  [
    "a question twice",
    "verbatim",
    (view) => {
      add(view, { role: "user", content: long });
    },
  ],
];

for (const [name, rule, change] of wrong) {
  test(`the checks find ${name}`, async () => {
    const { failures } = await carry(fake(change));
    assert.ok(
      failures.some((one) => one.rule === rule),
      `${rule} is named: ${JSON.stringify(failures)}`,
    );
  });
}

test("the checks see a mutation after freezing was undone", async () => {
  const own = session();
  const toJSON = { value: 0 };
  own.messages[0] = /** @type {any} */ ({
    role: "user",
    content: long,
    toJSON: () => ({ role: "user", content: `${long} ${toJSON.value}` }),
  });
  const report = await carryOut(
    fake(() => {
      toJSON.value += 1;
    }),
    own,
    { contextTokens: 32_000 },
  );
  assert.ok(report.failures.some((one) => one.rule === "mutated"));
});

/** The words of the finding matter where two findings of one rule stand close. @type {Array<[string, RegExp, (view: any, history: any[], state: any) => any]>} */
const worded = [
  ["a source too short", /lists of one length/, (view) => void view.source.pop()],
  ["a source that is nowhere", /no position in the history/, (view) => void view.source.fill(-1)],
  [
    "other messages when asked again",
    /twice, the messages differ/,
    (view, _, state) => {
      if (state.asked % 2 === 0) add(view, { role: "user", content: "again" });
    },
  ],
  [
    "other sources when asked again",
    /twice, the sources differ/,
    (view, _, state) => {
      if (state.asked % 2 === 0) view.source[0] = null;
    },
  ],
  [
    "thinking in a made message",
    /the host never had/,
    (view) => {
      if (view.source.length > 3) view.source[3] = null;
    },
  ],
];
for (const [name, words, change] of worded) {
  test(`the checks find ${name}`, async () => {
    const { failures } = await carry(fake(change));
    assert.ok(
      failures.some((one) => words.test(one.message)),
      JSON.stringify(failures),
    );
  });
}

test("the checks refuse the removal of a neighbour of the newest thinking", async () => {
  const own = session();
  own.messages.splice(4, 0, { role: "assistant", content: [text("and now")] });
  own.calls = [{ sent: 1 }, { sent: 3 }, { sent: 6 }];
  const without = fake((view, history) => {
    if (history.length === 6) drop(view, 4);
  });
  const { failures } = await carryOut(without, own, { contextTokens: 32_000 });
  assert.ok(
    failures.some((one) => /a neighbour of kept thinking/.test(one.message)),
    JSON.stringify(failures),
  );
});

test("the checks accept a history that the host ends with an assistant message", async () => {
  const own = session();
  own.calls = [{ sent: 6 }];
  const report = await carryOut(fake(), own, { contextTokens: 32_000 });
  assert.deepEqual([report.violations, report.inherited], [0, 1]);
});

test("the checks report a difference between tokens and a second measurement", async () => {
  const report = await carry(fake((view) => Object.assign(view, { tokens: 5 })));
  assert.ok(report.drift > 50);
});

test("the checks count requests that do not fit", async () => {
  const report = await carry(fake((view) => Object.assign(view, { tokens: 99_000, fits: false })));
  assert.deepEqual([report.unfit, report.violations], [4, 0]);
});

test("requests without times are placed ten seconds per message apart", () => {
  assert.deepEqual(
    requestsOf({ messages: [{}, {}, {}], calls: [{ sent: 1, at: 500 }, { sent: 1 }, { sent: 3 }] }),
    [
      { sent: 1, at: 500 },
      { sent: 3, at: 20_500 },
    ],
  );
});

/** @param {any} view @param {number} at */
function drop(view, at) {
  view.messages.splice(at, 1);
  view.source.splice(at, 1);
}

/** @param {any} view @param {any} message */
function add(view, message) {
  view.messages.push(message);
  view.source.push(null);
}
