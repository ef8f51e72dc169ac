// @ts-check
/** An instance that is lost costs one call; memory stays flat. In processes of their own, which may collect at will. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { unbundledPath } from "../support/package.mjs";
import { skip } from "../support/small-history.mjs";

const entry = unbundledPath();
const beside = (/** @type {string} */ name) => pathToFileURL(join(dirname(entry ?? ""), name)).href;
const without = skip || (entry ? false : "skipped: the package is not a folder");

/** What a script of these tests prints, as JSON. @param {string} script */
function run(script) {
  const start = `
    const { api, ask, gave, grow, manager, say, use, words, work } = await import(${JSON.stringify(new URL("../support/small-history.mjs", import.meta.url).href)});
    const { core } = await import(${JSON.stringify(beside("core/main.js"))});
    const { sessions } = await import(${JSON.stringify(beside("session-files/wasm.js"))});
    const { default: assert } = await import("node:assert/strict");
    const tick = () => new Promise((resolve) => setTimeout(resolve, 1));
    const settled = async () => { for (let at = 0; at < 5; at += 1) { gc(); await tick(); } };`;
  const args = ["--expose-gc", "--input-type=module", "--eval", `${start}\n${script}`];
  const output = execFileSync(process.execPath, args, {
    encoding: "utf8",
    env: { ...process.env, PLIMSOLL: entry },
    stdio: ["ignore", "pipe", "pipe"],
  });
  return JSON.parse(output.trim().split("\n").at(-1) ?? "null");
}

test("the request after a lost instance is rebuilt under a higher epoch", { skip: without }, () => {
  const output = run(`
    const context = manager();
    const history = work(30);
    const before = grow(context, history).at(-1);
    assert.equal(core.lose(), true);
    const view = context.request(history);
    const first = before.messages.findIndex((message, at) => message !== view.messages[at]);
    const again = context.request(history);
    console.log(JSON.stringify({
      epochs: [before.epoch, view.epoch, again.epoch, context.status().epoch],
      changed: [view.firstChanged, first, again.firstChanged],
      sources: view.source, fits: view.fits, stubbed: before.edits.length,
    }));`);
  const [before, after, again, status] = output.epochs;
  assert.ok(after > before, `${after} after ${before}`);
  assert.deepEqual([again, status], [after, after]);
  assert.deepEqual(output.changed, [output.changed[1], output.changed[1], null]);
  assert.deepEqual([output.sources.length, output.fits], [61, true]);
});

test("any method may be the first one called after a lost instance", { skip: without }, () => {
  const output = run(`
    const asked = {
      status: (context) => context.status().used,
      counters: (context) => context.counters().bytesMeasured,
      dispose: (context) => context[Symbol.dispose]() ?? 0,
      request: (context) => context.request([ask("go")]).messages.length,
    };
    const answers = {};
    for (const [name, call] of Object.entries(asked)) {
      const context = manager();
      context.request(work(2));
      core.lose();
      answers[name] = call(context);
    }
    console.log(JSON.stringify(answers));`);
  assert.deepEqual(output, { status: 0, counters: 0, dispose: 0, request: 1 });
});

test("a stored session continues from its last save after a lost instance", {
  skip: without,
}, () => {
  const output = run(`
    const { memoryStore } = await import(${JSON.stringify(beside("store/memory.js"))});
    const store = memoryStore();
    const open = () => api.ContextManager.open(store, "one", { window: { contextTokens: 30_000 } });
    const context = await open();
    const history = work(30);
    const before = grow(context, history).at(-1);
    const ids = [context.pin({ index: 0 })];
    await context.save();
    ids.push(context.pin({ index: 1 }));
    core.lose();
    const saved = await context.save();
    const after = context.request(history);
    core.lose();
    const again = context.request(history);
    const next = await context.save();
    const other = await open();
    console.log(JSON.stringify({
      saved, next, epochs: [before.epoch, after.epoch, again.epoch],
      pins: ids.map((id) => other.unpin(id)), fits: after.fits,
    }));`);
  assert.deepEqual(output.saved, { revision: 2, rebased: false });
  assert.deepEqual(output.next, { revision: 3, rebased: false });
  assert.deepEqual(output.pins, [true, false]);
  assert.equal(output.fits, true);
  const [before, after, again] = output.epochs;
  assert.ok(before < after && after < again, `${output.epochs}`);
});

test("handles of a lost instance are never freed in its successor", { skip: without }, () => {
  const output = run(`
    const frees = [];
    const { Instance } = WebAssembly;
    WebAssembly.Instance = function (...given) {
      const instance = new Instance(...given);
      const exports = { ...instance.exports };
      for (const name of Object.keys(exports).filter((name) => /_free$/.test(name) && /manager|replay|recording/.test(name)))
        exports[name] = (address, ...rest) => { frees.push(name); return instance.exports[name](address, ...rest); };
      return { exports };
    };
    const make = () => { for (let at = 0; at < 20; at += 1) manager().request([ask("go")]); };
    make();
    await tick();
    gc(); // collected, and their finalizers wait: the instance goes before they run
    core.lose();
    const context = manager();
    context.request([ask("go")]);
    await settled();
    const late = frees.length;
    make();
    await settled();
    const collected = frees.length - late;
    context[Symbol.dispose]();
    console.log(JSON.stringify({ late, collected, disposed: frees.length - late - collected, works: manager().request([ask("a")]).messages.length }));`);
  assert.equal(output.late, 0, "frees in an instance that does not hold them");
  assert.ok(output.collected >= 15, `${output.collected} of 20 collected handles were freed`);
  assert.deepEqual([output.disposed, output.works], [1, 1]);
});

test("replay and readSession work after a lost instance", { skip: without }, () => {
  const output = run(`
    const session = api.readSession(JSON.stringify(work(10)));
    const options = { window: { contextTokens: 32_000 } };
    const run = api.replay(session, options);
    const before = [run.totals, run.composition(), run.messages(3)];
    assert.equal(sessions.lose(), true);
    assert.deepEqual([run.totals, run.composition(), run.messages(3)], before);
    assert.equal(sessions.lose(), true);
    assert.deepEqual(run.changes(), api.replay(session, options).changes());
    assert.equal(sessions.lose(), true);
    assert.deepEqual(api.replay(session, options).totals, run.totals);
    assert.equal(sessions.lose(), true);
    assert.deepEqual(api.readSession(JSON.stringify(work(10))), session);
    run[Symbol.dispose]();
    await settled();
    console.log(JSON.stringify(run.calls.length));`);
  assert.ok(output > 5);
});

test("2,000 disposed managers and replays leave memory unchanged", {
  skip: without,
}, () => {
  const output = run(`
    const history = work(10);
    const session = api.readSession(JSON.stringify(history));
    const once = () => {
      const context = manager();
      context.request(history);
      context[Symbol.dispose]();
      api.replay(session, { window: { contextTokens: 32_000 } })[Symbol.dispose]();
    };
    const size = () => core.memory.buffer.byteLength + sessions.memory.buffer.byteLength;
    for (let at = 0; at < 50; at += 1) once();
    const before = size();
    for (let at = 0; at < 2_000; at += 1) once();
    console.log(JSON.stringify([before, size()]));`);
  assert.equal(output[1], output[0]);
});
