// One report whoever is asked: API, `context.inspect` of a handler, `plimsoll rpc` and `plimsoll inspect`, recorded and under a preset, for a file of each format.
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../conformance/support/package.mjs";
import { sessionFiles } from "../conformance/support/session-files.mjs";
import { sized } from "../support/size.mjs";
import { file, json, spawned } from "./command.mjs";

const { api } = await loadPackage();
const WINDOW = { contextTokens: 64_000, maxOutputTokens: 4000 };
const AT = ["--window", "64k", "--reserve", "4000"];
/** The smallest files of each format that made a call. */
const chosen = new Map();
for (const { name, bytes } of sessionFiles().map((one) => ({ ...one, bytes: one.bytes() }))) {
  const format = name.split("/")[0];
  const known = chosen.get(format);
  if (known && known.bytes.length <= bytes.length) continue;
  try {
    if (api.readSession(bytes).calls.length > 0) chosen.set(format, { name, bytes });
  } catch {
    // What is no session is another test's.
  }
}
const FILES = [...chosen.values()];
assert.ok(FILES.length > 0);

const ask = (params, id) => ({ jsonrpc: "2.0", id, method: "context.inspect", params });

for (const preset of [undefined, "balanced"]) {
  const more = preset === undefined ? [] : ["--preset", preset];
  const views = FILES.map(({ name, bytes }) => {
    const session = api.readSession(bytes);
    const view =
      preset === undefined
        ? api.recordedView(session, { window: WINDOW })
        : api.replay(session, { window: WINDOW, preset });
    const last = view.calls.length - 1;
    const calls = [...new Set([0, Math.floor(last / 2), last])];
    const path = file(name.replaceAll("/", "-"), bytes);
    return { name, path, view, calls };
  });

  test(`RPC and API give the same report of every call (${preset ?? "recorded"})`, async () => {
    const asked = views.flatMap(({ path, calls }) =>
      calls.map((call) =>
        ask({ sessionId: path, call, include: ["messages", "sections", "calls"] }, 1),
      ),
    );
    const input = asked.map((one) => `${JSON.stringify(one)}\n`).join("");
    const ran = spawned(["rpc", ...views.map(({ path }) => path), ...AT, ...more], { input });
    assert.deepEqual([ran.code, ran.err], [0, ""]);
    const answers = ran.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).result);
    const handle = api.createInspectHandler({
      get: (id) => views.find(({ path }) => path === id)?.view,
    });
    for (const { name, path, view, calls } of views) {
      for (const call of calls) {
        const own = JSON.parse(
          JSON.stringify({ ...view.report(call), sessionId: path, calls: view.calls }),
        );
        assert.deepEqual(answers.shift(), own, `${name} at call ${call}`);
        const { params } = asked.shift();
        assert.deepEqual((await handle(ask(params, 1))).result, { ...own }, name);
      }
    }
  });

  test(`command line and API give the same report (${preset ?? "recorded"})`, () => {
    for (const { name, path, view, calls } of views.slice(
      0,
      sized({ short: 4, ci: 99, long: 99 }),
    )) {
      const [, middle = 0] = calls;
      const shown = json(["inspect", "--chat", path, "--call", `${middle + 1}`, ...AT, ...more]);
      const own = JSON.parse(JSON.stringify({ ...view.report(middle), sessionId: path }));
      assert.deepEqual(shown, own, name);
    }
  });
}

test("an inspect handler returns the parts of a report that were asked for, and pages of messages", async () => {
  const session = api.readSession(FILES[0].bytes);
  const view = api.recordedView(session);
  const context = new api.ContextManager({ window: WINDOW });
  context.request([{ role: "user", content: "go" }]);
  const handle = api.createInspectHandler({ get: (id) => (id === "live" ? context : view) });
  const result = async (params) => (await handle(ask({ sessionId: "s", ...params }, 1))).result;
  const error = async (params) => {
    const { code, message } = (await handle(ask({ sessionId: "s", ...params }, 1))).error;
    assert.equal(code, -32_602);
    return message;
  };
  const full = JSON.parse(JSON.stringify({ ...view.report(), sessionId: "s" }));
  assert.deepEqual(await result({}), full);
  const { messages, sections, ...bare } = full;
  assert.deepEqual(await result({ include: [] }), bare);
  assert.deepEqual(await result({ include: ["sections"] }), { ...bare, sections });
  const pieces = [];
  let cursor = null;
  do {
    const piece = await result({ include: ["messages"], limit: 2, ...(cursor ? { cursor } : {}) });
    assert.ok(piece.messages.length <= 2);
    pieces.push(...piece.messages);
    cursor = piece.nextCursor;
  } while (cursor !== null);
  assert.deepEqual(pieces, messages);
  assert.deepEqual((await result({ include: ["calls"], limit: 1 })).calls, view.calls.slice(0, 1));

  const last = view.calls.length - 1;
  assert.equal(await error({ call: last + 1 }), `Invalid params: call: expected 0 to ${last}`);
  assert.match(await error({ call: -1 }), /call: expected 0 to/);
  assert.match(
    await error({ include: "calls" }),
    /include: expected a list of messages, calls, sections/,
  );
  assert.match(await error({ include: ["text"] }), /include: expected a list/);
  assert.match(await error({ limit: 0 }), /limit: expected a whole number from 1/);
  assert.match(await error({ cursor: "0" }), /limit: expected a whole number, beside a cursor/);
  assert.match(await error({ cursor: "x", limit: 1 }), /cursor: expected a nextCursor/);
  assert.match(
    await error({ sessionId: "live", call: 0 }),
    /call: expected none: this session shows its last request/,
  );
  assert.match(
    await error({ sessionId: "live", include: ["calls"] }),
    /include: expected no calls/,
  );
});
