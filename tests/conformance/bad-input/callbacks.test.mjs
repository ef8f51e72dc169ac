// @ts-check
/**
 * Functions of the host's that throw: its turn goes on with what stands in for their answer, and one event says so for each kind
 * of function. What a message itself throws (a getter, a proxy) is thrown, see `throwing.test.mjs`.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { api, good, prose, skip, talk } from "../support/agent-session.mjs";

const NOW = 1_700_000_000_000;
const boom = (/** @type {string} */ name) => () => {
  throw new Error(`${name} is broken`);
};
const copy = (/** @type {any} */ it) => JSON.parse(JSON.stringify(it));

/** @param {any} more */
function manager(more) {
  /** @type {any[]} */
  const events = [];
  const context = new api.ContextManager({
    window: { contextTokens: 6_000, maxOutputTokens: 500 },
    format: "anthropic",
    clock: () => NOW,
    on: (/** @type {any} */ event) => events.push(event),
    ...more,
  });
  const failures = () => events.filter(({ type }) => type === "callback-failed");
  return { context, events, failures };
}

/** The requests of a talk that grows, each checked; the host passes other objects each time. @param {any} context @param {number} steps */
function played(context, steps = 24) {
  /** @type {any[]} */
  const requests = [];
  const fullHistory = talk(steps);
  for (let end = 1; end <= fullHistory.length; end += 4) {
    const { messages, epoch, fits, tokens } = context.request(copy(fullHistory.slice(0, end)));
    const sent = messages.map((/** @type {any} */ it) => JSON.stringify(it));
    const last = requests.at(-1);
    if (last?.epoch === epoch) assert.deepEqual(sent.slice(0, last.sent.length), last.sent);
    assert.deepEqual(api.validate(messages, "anthropic"), []);
    requests.push({ sent, epoch, fits, tokens });
  }
  assert.ok(requests.at(-1).epoch > 1, "the history was edited or folded");
  return requests;
}

test("a token counter that throws is replaced by the generic estimate for that text, with one event", {
  skip,
}, () => {
  const { context, failures } = manager({ estimator: boom("the tokenizer") });
  const generic = manager({ estimator: "generic" });
  assert.deepEqual(played(context), played(generic.context));
  assert.equal(failures().length, 1);
  const [{ callback, error, reason }] = failures();
  assert.equal(callback, "estimator");
  assert.equal(error.message, "the tokenizer is broken");
  assert.match(reason, /"estimator" threw: the tokenizer is broken/);
  assert.match(reason, /generic estimate/);
  assert.deepEqual(generic.failures(), []);
});

test("estimate functions fall back to the generic estimate when a token counter throws", {
  skip,
}, () => {
  const estimator = (/** @type {string} */ text) => {
    if (text.includes("river")) throw new Error("a special token");
    return 7;
  };
  const text = prose(50);
  assert.equal(api.estimateTokens(text, estimator), api.estimateTokens(text));
  assert.equal(api.estimateTokens("abc", estimator), 7);
  const request = { messages: [{ role: "user", content: text }] };
  assert.deepEqual(
    api.estimateRequest(request, { estimator }).byKind,
    api.estimateRequest(request).byKind,
  );
  const window = { contextTokens: 100 };
  assert.deepEqual(
    api.checkBudget(request, window, { estimator }),
    api.checkBudget(request, window),
  );
});

test("a token counter that returns no number is refused by name", {
  skip,
}, () => {
  const refused = { code: "INVALID_ARGUMENT", message: /^estimator: expected a function/ };
  const { context, failures } = manager({ estimator: async () => 5 });
  assert.throws(() => context.request(talk(2)), refused);
  assert.deepEqual(failures(), []);
});

for (const name of ["key", "isSummary"]) {
  test(`an asynchronous ${name} is refused by name`, { skip }, () => {
    const refused = { code: "INVALID_ARGUMENT", message: new RegExp(`^${name}: .*got a promise$`) };
    const { context, failures } = manager({ [name]: async () => "a" });
    assert.throws(() => context.request(talk(2)), refused);
    assert.deepEqual(failures(), []);
  });
}

for (const [name, throws] of /** @type {Array<[string, (call: number) => boolean]>} */ ([
  ["always", () => true],
  ["at its first call", (call) => call === 1],
  ["now and then", (call) => call % 7 === 3],
])) {
  test(`a message whose key callback throws ${name} is identified by its content, with one event`, {
    skip,
  }, () => {
    let calls = 0;
    const key = (/** @type {any} */ message, /** @type {number} */ index) => {
      calls += 1;
      if (throws(calls)) throw new Error("key is broken");
      return `${index}: ${JSON.stringify(message).length}`;
    };
    const { context, failures } = manager({ key });
    assert.deepEqual(played(context), played(manager({}).context));
    assert.ok(calls > 10);
    assert.deepEqual(
      failures().map(({ callback, error }) => [callback, error.message]),
      [["key", "key is broken"]],
    );
  });
}

/** Requests of messages that `create` marks; it throws at some of its calls. @param {(call: number) => boolean} throws */
function created(throws) {
  let calls = 0;
  const { context, failures } = manager({
    create: ({ role, content }) => {
      calls += 1;
      if (throws(calls)) throw new Error("create is broken");
      return { role, content, made: true };
    },
  });
  return { requests: played(context), failures, calls: () => calls };
}

test("a create callback that throws is replaced by a plain message for the epoch, with one event", {
  skip,
}, () => {
  const fullHistory = created(() => false);
  assert.ok(fullHistory.requests.some(({ sent }) => sent.some((it) => it.includes('"made"'))));
  assert.ok(fullHistory.calls() > 3);
  assert.deepEqual(fullHistory.failures(), []);
  let plain = 0;
  for (let at = 1; at <= fullHistory.calls(); at += 1) {
    // Requests are compared within their epochs where they are made.
    const { requests, failures } = created((call) => call === at);
    assert.equal(failures().length, 1);
    assert.equal(failures()[0].callback, "create");
    const bare = (/** @type {any} */ list) =>
      list.map(({ sent, epoch }) => ({
        epoch,
        sent: sent.map((/** @type {string} */ it) => it.replace(',"made":true', "")),
      }));
    assert.deepEqual(bare(requests), bare(fullHistory.requests));
    if (JSON.stringify(requests) !== JSON.stringify(fullHistory.requests)) plain += 1;
  }
  assert.ok(plain > 0, "some plain message was sent");
  assert.equal(created(() => true).failures().length, 1);
});

test("a create callback that returns no message, or a promise of one, counts as one that threw", {
  skip,
}, () => {
  const plain = played(manager({}).context);
  for (const made of [
    5,
    "a message",
    true,
    Promise.resolve({ role: "user", content: "a message" }),
  ]) {
    const { context, failures } = manager({ create: () => made });
    assert.deepEqual(played(context), plain);
    const [{ callback, reason }, ...more] = failures();
    assert.deepEqual([callback, more], ["create", []]);
    assert.match(reason, /it returned no message/);
  }
});

test("a create callback that throws for class instances causes a typed error", {
  skip,
}, () => {
  class Message {
    constructor(/** @type {any} */ own) {
      Object.assign(this, own);
    }
  }
  const history = talk(24).map((own) => new Message(own));
  let isBroken = true;
  const { context, failures } = manager({
    create: (/** @type {any} */ made) => {
      if (isBroken) throw new Error("no such class");
      return new Message(made);
    },
  });
  const isTyped = (/** @type {any} */ error) => {
    assert.equal(error.code, "INVALID_ARGUMENT");
    assert.equal(error.info.argument, "create");
    assert.match(error.message, /class/);
    assert.equal(error.cause.message, "no such class");
    return true;
  };
  assert.throws(() => context.request(history), isTyped);
  isBroken = false;
  const { messages } = context.request(history);
  assert.ok(messages.every((/** @type {any} */ it) => it instanceof Message));
  assert.deepEqual(failures(), []);
});

test("a clock that throws is replaced by the last time it gave, with one event", {
  skip,
}, async () => {
  let now = NOW;
  let isBroken = false;
  const { context, failures } = manager({
    clock: () => {
      if (isBroken) throw new Error("no clock");
      return now;
    },
    summarize: async (/** @type {any} */ job) => good(job),
    summary: { minimumTokens: 0 },
  });
  context.request(talk(3));
  isBroken = true;
  now += 86_400_000;
  assert.equal(
    (await context.compact(talk(5), { force: true })).record.timestamp.slice(0, 10),
    "2023-11-14",
  );
  assert.equal(context.request(talk(5)).fits, true);
  context.status();
  context.inspect();
  context.flushPrompt();
  assert.deepEqual(
    failures().map(({ callback, error }) => [callback, error.message]),
    [["clock", "no clock"]],
  );
});

test("a clock that never worked is replaced by the system's time", { skip }, async () => {
  const { context, failures } = manager({ clock: boom("the clock") });
  const before = Date.now();
  const { record } = await context.compact(talk(5), { force: true });
  assert.ok(Date.parse(record.timestamp) >= before);
  assert.equal(failures().length, 1);
});

for (const [how, listener] of Object.entries({
  throws: "() => {",
  "returns a promise that rejects": "async () => {",
})) {
  test(`a listener that ${how} at every event is reported on the console once`, { skip }, () => {
    const script = `
    const { api } = await import(${JSON.stringify(new URL("../support/agent-session.mjs", import.meta.url).href)});
    let events = 0;
    const on = ${listener} events += 1; throw new Error("of the host's own"); };
    const context = new api.ContextManager({ window: { contextTokens: 400 }, format: "anthropic", on });
    const messages = [];
    for (let at = 0; at < 6; at += 1) {
      messages.push({ role: "user", content: "word ".repeat(300) }, { role: "assistant", content: "word ".repeat(100) });
      context.request([...messages, { role: "user", content: "go on" }]);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
    console.log("events", events > 1);`;
    const args = [
      "--input-type=module",
      "--eval",
      `console.error = (...all) => console.log("error:", ...all.map(String));${script}`,
    ];
    const lines = execFileSync(process.execPath, args, { encoding: "utf8" }).trim().split("\n");
    assert.equal(lines.at(-1), "events true");
    assert.equal(lines.length, 2);
    assert.match(lines[0] ?? "", /^error: .*"on".* Error: of the host's own/);
  });
}

test("a listener may call the session that sent the event", { skip }, () => {
  /** @type {any} */
  let own;
  /** @type {any[]} */
  const reported = [];
  const { context } = manager({
    estimator: boom("the tokenizer"),
    on: ({ type }) => reported.push([type, own.status().used > 0]),
  });
  own = context;
  context.request(talk(3));
  assert.deepEqual(reported[0], ["callback-failed", true]);
});
