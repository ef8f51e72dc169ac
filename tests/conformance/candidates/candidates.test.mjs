// @ts-check
/** The store of candidates through the package, by the rows of the feature table (F131 and on). What a single gate does stands beside it in src/candidate. */
import assert from "node:assert/strict";
import { createHash, createHmac, getRandomValues, randomBytes, webcrypto } from "node:crypto";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { loadPackage, unbundledPath } from "../support/package.mjs";

const { api, why } = await loadPackage(unbundledPath());
const skip = api ? false : why;

/** A file of the package. @param {string} path */
const inside = (path) => new URL(path, pathToFileURL(String(unbundledPath()))).href;

const DAY = 86_400_000;
const NOW = 1_000 * DAY;
const key = new Uint8Array(32).map((_, at) => at + 100);

/** An observation. @param {string} content */
const seen = (content, more = {}) => ({
  kind: "WORKFLOW",
  category: "tests",
  content,
  toolTag: "bash",
  score: 0.9,
  source: "user",
  trusted: true,
  at: NOW,
  success: true,
  ...more,
});

const store = (more = {}) => new api.CandidateStore({ sign: { key }, ...more });

/** A store with two that are promoted, and what is in its file. */
async function filled(own = store()) {
  for (const content of ["Run the unit tests first", "Answer in French, always"]) {
    own.upsert(seen(content));
    own.upsert(seen(content));
  }
  own.upsert(
    seen('Quote "paths"\n学习 \u{1f600}', { trusted: false, toolTag: undefined, tags: ["a", "é"] }),
  );
  own.evaluateAll(NOW);
  return { own, file: await own.save() };
}

/** The error that a call ends with. @param {() => unknown} call */
async function refusal(call) {
  try {
    await call();
  } catch (error) {
    assert.ok(error instanceof api.PlimsollError, String(error));
    return /** @type {Error} */ (error).message;
  }
  return assert.fail("it was taken");
}

/** Signs a file as its documentation says, with nothing of the package. @param {string[]} texts @param {string} scope */
function signed(texts, scope = "") {
  const part = (/** @type {Buffer | string} */ bytes) => {
    const own = Buffer.from(bytes);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(own.length);
    return Buffer.concat([length, own]);
  };
  const none = Buffer.alloc(0);
  let [head, before] = [none, none];
  return texts
    .map((text) => {
      const parts = ["plimsoll candidates 1", scope, head, before, text].map(part);
      const mac = createHmac("sha256", key).update(Buffer.concat(parts)).digest();
      head = head.length ? head : mac;
      before = mac;
      return `${text},"mac":"${mac.toString("hex")}"}\n`;
    })
    .join("");
}

test("an observation becomes a candidate, enters a prompt and is demoted again (F131 to F138, F144)", {
  skip,
}, () => {
  const own = store();
  const first = own.upsert(seen("Run the unit tests before the slow ones"));
  assert.deepEqual(first, {
    id: first.id,
    kind: "WORKFLOW",
    category: "tests",
    content: "Run the unit tests before the slow ones",
    toolTag: "bash",
    tags: [],
    score: 0.9,
    source: "user",
    trusted: true,
    at: NOW,
    state: "SHADOW",
    evidenceCount: 1,
    successes: 1,
    failures: 0,
    firstSeen: NOW,
    lastSeen: NOW,
    cooldownUntil: null,
    sources: ["user"],
  });
  assert.match(first.id, /^[0-9a-f]{16}$/);
  const again = own.upsert(
    seen("Always run the unit tests before the slow ones", {
      score: 0.8,
      source: "docs",
      at: NOW + 1,
    }),
  );
  assert.deepEqual(
    [again.id, again.evidenceCount, again.score, again.content, again.sources],
    [first.id, 2, 0.85, first.content, ["user", "docs"]],
  );
  assert.deepEqual(own.evaluateAll(NOW + 2), [
    {
      id: first.id,
      from: "SHADOW",
      to: "PROMOTED",
      reason: "PROMOTION_GATE_PASS",
      code: "PROMOTION_GATE_PASS",
      at: NOW + 2,
    },
  ]);
  const focus = api.requestFocus("run the tests of `parseLine`");
  const { section, ids } = own.section(focus, { at: NOW + 3 });
  assert.deepEqual(ids, [first.id]);
  assert.equal(
    section.content,
    "## Learned Strategies (Promoted Candidates)\n\n### bash\n- Run the unit tests before the slow ones (confidence: 0.85, evidence: 2)\n\n",
  );
  const base = { key: "base", priority: 95, content: "x".repeat(300) };
  const plan = api.assemblePrompt([base, section], { focus });
  assert.ok(plan.prompt.endsWith(section.content));
  assert.deepEqual(
    plan.sections
      .map((/** @type {any} */ it) => [it.key, it.priority, it.sourceType, it.scopeType])
      .at(-1),
    ["candidates", 63, "candidates", "task-local"],
  );
  const tight = api.assemblePrompt([base, section], {
    focus,
    budget: { maxPerTierChars: 400, maxTotalChars: 350 },
  });
  assert.deepEqual(tight.truncatedSectionKeys, ["candidates"]);
  assert.deepEqual(own.injected(ids, tight, NOW + 4), [], "what was cut is attributed to nobody");
  assert.equal(own.list()[0].state, "PROMOTED");
  assert.deepEqual(own.injected(ids, plan, NOW + 4), ids);
  assert.equal(own.list({ state: "IN_USE" })[0].id, first.id);
  const done = own.recordOutcome(first.id, { success: true, at: NOW + 5 });
  assert.deepEqual([done.score, done.successes], [0.856666, 3]);
  for (let at = 6; at < 12; at += 1) {
    own.recordOutcome(first.id, { success: false, severe: at === 6, at: NOW + at });
  }
  assert.equal(own.evaluateAll(NOW + 12)[0].reason, "DEMOTION_REGRESSION");
  assert.equal(own.list()[0].cooldownUntil, NOW + 12 + 3 * DAY);
  assert.deepEqual(own.section(focus, { at: NOW + 13 }), { section: null, ids: [] });
  assert.deepEqual(
    own.audit().map((/** @type {any} */ it) => [it.from, it.to]),
    [
      ["SHADOW", "PROMOTED"],
      ["PROMOTED", "IN_USE"],
      ["IN_USE", "DEMOTED"],
    ],
  );
  own[Symbol.dispose]();
});

test("promotion by hand passes the gates, or skips them with force (F145)", { skip }, async () => {
  const own = store();
  const { id } = own.upsert(seen("curl x | sh", { trusted: false }));
  const change = { reason: "I looked at it", at: NOW };
  assert.equal(
    await refusal(() => own.transition(id, "PROMOTED", change)),
    "to: expected PROMOTED where every gate is passed, or `force`, got trusted",
  );
  assert.equal(own.transition(id, "PROMOTED", { ...change, force: true }).state, "PROMOTED");
  own.transition(id, "DEMOTED", { reason: "", at: NOW, force: true });
  assert.deepEqual(
    own.audit().map((/** @type {any} */ it) => [it.code, it.reason]),
    [
      ["MANUAL_FORCE", "I looked at it"],
      ["MANUAL_ROLLBACK", "auto"],
    ],
  );
  assert.equal(
    await refusal(() => own.transition(id, "IN_USE", change)),
    "to: expected one of SHADOW, PROMOTED, ARCHIVED, REJECTED, got IN_USE",
  );
});

test("a key and a signing callback give the same signature as node:crypto (F140)", {
  skip,
}, async () => {
  const raw = await filled(store({ scope: "tenant é" }));
  const texts = raw.file
    .trimEnd()
    .split("\n")
    .map((line) => line.slice(0, line.indexOf(',"mac":"')));
  assert.equal(raw.file, signed(texts, "tenant é"));
  const head = JSON.parse(`${texts[0]}}`);
  const digest = createHash("sha256");
  for (const text of texts.slice(1)) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(Buffer.byteLength(text));
    digest.update(length).update(text);
  }
  assert.deepEqual(head, {
    kind: "head",
    version: 1,
    revision: 1,
    lines: texts.length - 1,
    maintained: NOW,
    digest: digest.digest("hex"),
  });
  const crypto = await webcrypto.subtle.importKey(
    "raw",
    key,
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  const callbacks = {
    WebCrypto: (/** @type {Uint8Array} */ bytes) =>
      webcrypto.subtle.sign("HMAC", crypto, /** @type {any} */ (bytes)),
    node: (/** @type {Uint8Array} */ bytes) => createHmac("sha256", key).update(bytes).digest(),
  };
  for (const [name, hmac] of Object.entries(callbacks)) {
    const own = store({ sign: { hmac }, scope: "tenant é" });
    assert.equal((await filled(own)).file, raw.file, name);
    assert.deepEqual(await own.load(raw.file), { loaded: 3, rejected: [] });
  }
  assert.equal((await store({ scope: "another" }).load(raw.file)).loaded, 0);
});

test("a saved file loads completely, and each tampered line is reported by number (F140)", {
  skip,
}, async () => {
  const { own, file } = await filled();
  const reader = store();
  assert.deepEqual(await reader.load(file), { loaded: 3, rejected: [] });
  assert.deepEqual(reader.list(), own.list());
  assert.deepEqual(reader.audit(), own.audit());
  assert.equal(reader.revision, 1);
  const lines = file.trimEnd().split("\n");
  const [head = "", one = "", two = "", three = "", ...rest] = lines;
  const reported = async (/** @type {string[]} */ ...fileLines) => {
    const { loaded, rejected } = await reader.load(fileLines.join("\n"));
    return [loaded, rejected.map((/** @type {any} */ it) => it.line)];
  };
  assert.deepEqual(await reported(head, one.replace("first", "never"), two, three, ...rest), [
    2,
    [2],
  ]);
  assert.deepEqual(await reported(head, two, three, ...rest), [1, [2, lines.length]]);
  assert.deepEqual(await reported(head, two, one, three, ...rest), [0, [2, 3, 4]]);
  assert.deepEqual(await reported(head, one, one, two, three, ...rest), [3, [3, lines.length + 1]]);
  assert.deepEqual(await reported(...lines.slice(0, -1)), [3, [lines.length]]);
  const { rejected } = await reader.load(lines.slice(0, -1).join("\n"));
  assert.match(rejected[0].reason, /^the file ends here: 5 lines were signed, and 4 stand here$/);
  assert.deepEqual(await reported(head.replace(/"revision":1/, '"revision":2'), one), [0, [1]]);
  // Half a character, a line without end, lines that are none.
  assert.deepEqual(await reported(head, one.replace("Run", "Ru\ud800"), two, three, ...rest), [
    2,
    [2],
  ]);
  assert.deepEqual(await reported(head, "x".repeat(5_000_000), two, three, ...rest), [1, [2, 3]]);
  for (const broken of [
    "",
    "\n\n",
    "null",
    "{",
    "[]",
    '{"at":NaN}',
    "\ud800",
    `${"[".repeat(99_999)}`,
  ]) {
    assert.deepEqual(await reported(broken), [0, [1]], broken.slice(0, 20));
  }
});

test("an old file is refused by its revision, and a new key replaces the old one (F140)", {
  skip,
}, async () => {
  const { own, file } = await filled();
  const newer = await own.save();
  assert.equal(own.revision, 2);
  assert.equal((await own.load(newer, { revision: own.revision })).loaded, 3);
  assert.deepEqual(await own.load(file, { revision: own.revision }), {
    loaded: 0,
    rejected: [{ line: 1, reason: "it is revision 1, and 2 was there before" }],
  });
  assert.equal(own.list().length, 3, "what it held it holds");
  const next = store({ sign: { key: randomBytes(64) } });
  assert.equal((await next.load(newer)).loaded, 0);
  assert.equal((await next.load(newer, { sign: { key } })).loaded, 3);
  const rotated = await next.save();
  assert.equal((await next.load(rotated)).loaded, 3);
  assert.equal((await own.load(rotated)).loaded, 0);
});

test("time that passes between processes counts for a candidate's age (F139)", {
  skip,
}, async () => {
  const own = store();
  own.upsert(seen("Run the unit tests first", { score: 1 }));
  own.evaluateAll(NOW);
  const later = store();
  await later.load(await own.save());
  later.evaluateAll(NOW + 37 * DAY);
  assert.equal(later.list()[0].score, 0.5);
  assert.equal(later.evaluateAll(NOW + 91 * DAY)[0].reason, "RETENTION");
});

test("a signing key appears in no error, printout or file, and leaves the Wasm input", {
  skip,
}, async () => {
  const { candidates } = await import(inside("candidates/store.js"));
  const secret = randomBytes(40);
  // What is written next may stand over its first bytes.
  const isInMemory = () => Buffer.from(candidates.memory.buffer).includes(secret.subarray(8));
  const own = store({ sign: { key: secret } });
  assert.ok(!isInMemory());
  candidates.sendBytes(secret);
  assert.ok(isInMemory(), "what is in the input is found");
  const { file } = await filled(own);
  const short = await refusal(() => store({ sign: { key: secret.subarray(0, 31) } }));
  assert.equal(short, "sign.key: expected 32 bytes or more, got 31");
  const shown = inspect(own, { depth: 9, showHidden: true });
  const all = [file, short, shown, JSON.stringify(own)].join();
  for (const form of ["hex", "base64", "latin1"]) {
    assert.ok(!all.includes(secret.toString(/** @type {BufferEncoding} */ (form))));
  }
  assert.ok(!all.includes([...secret].join()));
  own[Symbol.dispose]();
  // A copy was taken: what the host does with its own changes nothing.
  const fileLines = new Uint8Array(key);
  const copied = store({ sign: { key: fileLines } });
  getRandomValues(fileLines);
  assert.equal((await copied.load((await filled()).file)).loaded, 3);
});

test("a signing callback that fails fails only its call", { skip }, async () => {
  let fails = false;
  const hmac = async (/** @type {Uint8Array} */ bytes) => {
    if (fails) throw new Error("the KMS is down");
    return createHmac("sha256", key).update(bytes).digest();
  };
  const { own, file } = await filled(store({ sign: { hmac } }));
  const before = own.list();
  fails = true;
  await assert.rejects(() => own.save(), /^Error: the KMS is down$/);
  await assert.rejects(() => own.load(file), /^Error: the KMS is down$/);
  fails = false;
  assert.deepEqual(own.list(), before);
  assert.equal((await own.load(await own.save())).loaded, 3);
  const bad = async (/** @type {unknown} */ fileLines) =>
    refusal(() => store({ sign: { hmac: () => fileLines } }).save());
  const wanted = "sign.hmac: expected an HMAC-SHA256: 32 bytes, got";
  assert.equal(await bad(new Uint8Array(31)), `${wanted} 31`);
  assert.equal(await bad("a".repeat(64)), `${wanted} a string`);
  assert.equal(await bad(undefined), `${wanted} undefined`);
});

test("a save contains the state at its start, and a load rejects if its store changes meanwhile", {
  skip,
}, async () => {
  const { own, file } = await filled();
  const saving = own.save();
  own.upsert(seen("Something else altogether"));
  assert.equal((await store().load(await saving)).loaded, 3);
  const loading = own.load(file);
  own.upsert(seen("One more of those things"));
  assert.equal(
    await refusal(() => loading),
    "load: expected a store that nothing changes while it loads, got a change",
  );
  assert.equal(own.list().length, 5);
});

test("bad arguments are refused by name, and the store is unchanged", { skip }, async () => {
  const own = store();
  const { id } = own.upsert(seen("Run the unit tests first"));
  const before = own.list();
  const cyclic = seen("x");
  Object.assign(cyclic, { tags: [cyclic] });
  /** @type {Array<[() => unknown, string]>} */
  const rows = [
    [() => new api.CandidateStore(), "options: expected an object"],
    [() => new api.CandidateStore({}), "sign: expected an object"],
    [() => store({ sign: {} }), "sign: expected either a key or hmac"],
    [() => store({ sign: { key, hmac: () => key } }), "sign: expected either a key or hmac"],
    [() => store({ sign: { key: "x".repeat(32) } }), "sign.key: expected a Uint8Array"],
    [() => store({ sign: { hmac: "x" } }), "sign.hmac: expected a function"],
    [() => store({ gates: { minScore: 2 } }), "gates.minScore: expected a share, 0 to 1, got 2"],
    [() => store({ gates: { minScore: Number.NaN } }), "gates.minScore: expected a finite number"],
    [
      () => store({ gates: { minScores: 1 } }),
      'Unknown option "gates.minScores". Did you mean "gates.minScore"?',
    ],
    [() => store({ gate: {} }), 'Unknown option "gate". Did you mean "gates"?'],
    [() => own.upsert(undefined), "observation: expected an observation: {"],
    [
      () => own.upsert(seen("x", { at: Number.NaN })),
      "observation.at: expected a finite number, got NaN",
    ],
    [
      () => own.upsert(seen("x", { score: Number.POSITIVE_INFINITY })),
      "observation.score: expected a finite number",
    ],
    [() => own.upsert(seen("x", { at: 1.5 })), "observation.at: expected a whole number"],
    [() => own.upsert(seen("x", { at: 10n })), "observation.at: expected a whole number"],
    [() => own.upsert(seen(" ")), "observation.content: expected what was learned"],
    [
      () => own.upsert(seen("x".repeat(20_000))),
      "observation.content has 20000 bytes; at most 16384 are taken",
    ],
    [
      () => own.upsert(seen("x", { other: 1 })),
      'Unknown option "observation.other". The options are',
    ],
    [() => own.upsert(cyclic), "observation: expected a value that JSON.stringify can write"],
    [
      () => own.recordOutcome("none", { success: true, at: NOW }),
      "id: expected the id of a candidate",
    ],
    [
      () => own.recordOutcome(id, { success: "yes", at: NOW }),
      "outcome.success: expected a boolean",
    ],
    [() => own.recordOutcome(id, null), "outcome: expected an outcome"],
    [() => own.evaluateAll(Number.NaN), "at: expected whole milliseconds since 1970, got NaN"],
    [() => own.evaluateAll(-1), "at: expected whole milliseconds since 1970, got -1"],
    [() => own.evaluateAll(), "at: expected whole milliseconds since 1970, got undefined"],
    [() => own.list({ state: "NEW" }), "filter.state: expected one of SHADOW,"],
    [() => own.section(null, { at: NOW }), "focus: expected a focus"],
    [
      () => own.section({}, { at: NOW, maxTokens: -1 }),
      "options.maxTokens: expected a whole number, 0 to",
    ],
    [
      () => own.section({}, { at: NOW, maxCount: Number.NaN }),
      "options.maxCount: expected a finite number",
    ],
    [() => own.injected([id], {}, NOW), "plan.sections: expected an array"],
    [() => own.injected(id, { sections: [] }, NOW), "ids: expected an array"],
    [() => own.load(7), "jsonl: expected a string"],
    [() => own.load("", { revision: -1 }), "options.revision: expected a whole number"],
    [() => own.load("", { revison: 1 }), 'Unknown option "revison". Did you mean "revision"?'],
    [() => own.list({ sate: "SHADOW" }), 'Unknown option "sate".'],
  ];
  for (const [call, expected] of rows) {
    const message = await refusal(call);
    assert.ok(message.includes(expected), `${message}\nwas to say: ${expected}`);
  }
  assert.deepEqual(own.list(), before);
  const half = own.upsert(seen("half a \ud83d character"));
  assert.equal(half.content, "half a \ufffd character");
  for (const name of ["__proto__", "constructor", "toString"]) {
    const it = own.upsert(
      seen(`${name} ${name}s`, { category: name, toolTag: name, tags: [name] }),
    );
    assert.deepEqual([it.category, it.tags], [name, [name]]);
  }
  assert.equal(/** @type {any} */ ({}).polluted, undefined);
});

test("a disposed candidate store throws DISPOSED, also during a save", { skip }, async () => {
  const { own } = await filled();
  const over = (/** @type {string} */ during) => ({
    code: "DISPOSED",
    message: `${during}: the store was disposed of; make a new one`,
  });
  const saving = own.save();
  own[Symbol.dispose]();
  own[Symbol.dispose]();
  await assert.rejects(saving, over("sign"));
  assert.throws(() => own.list(), over("list"));
  assert.throws(() => own.revision, over("revision"));
  await assert.rejects(own.save(), over("save"));
  await assert.rejects(own.load("{}"), over("load"));
});

test("a candidate store whose Wasm instance was lost says so and uses no other", {
  skip,
}, async () => {
  const { own, file } = await filled();
  const { candidates } = await import(inside("candidates/store.js"));
  assert.ok(candidates.lose());
  assert.equal(
    await refusal(() => own.list()),
    "the Wasm instance that held the candidates was lost before list: make a new store and load what was saved last",
  );
  await refusal(() => own.save());
  assert.equal((await store().load(file)).loaded, 3);
});
