// @ts-check
/** `context.inspect` over JSON-RPC 2.0: its answers, its errors, and what is no request at all. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
if (!api) test("reports over JSON-RPC", { skip: why }, () => {});
else suite();

function suite() {
  const sections = api.memoryTiers([
    { tier: "soul", content: "be kind" },
    { tier: "journal", content: "SECRET of yesterday" },
  ]);
  const context = new api.ContextManager({ window: { contextTokens: 10_000 }, id: "s1" });
  context.request([{ role: "user", content: "PRIVATE words" }], {
    system: api.assemblePrompt(sections),
  });
  /** @type {any[]} */
  let asked = [];
  const handle = api.createInspectHandler({
    get: async (/** @type {string} */ id, /** @type {string} */ ...hint) => {
      asked.push([id, ...hint]);
      if (id === "broken") throw new Error("the password is 1234");
      const locked = { code: "LOCKED", path: "/srv/sessions/s2", holder: "process 7" };
      if (id === "held") throw new api.PlimsollError(locked, "it is held");
      return id === "s1" ? context : undefined;
    },
  });
  const call = (/** @type {any} */ params, more = {}) =>
    handle({ jsonrpc: "2.0", id: 1, method: "context.inspect", params, ...more });
  const error = (/** @type {number | null} */ id, /** @type {object} */ error) => ({
    jsonrpc: "2.0",
    id,
    error,
  });
  const invalid = error(null, { code: -32600, message: "Invalid Request" });

  test("context.inspect answers with a report without texts (A97, A98)", async () => {
    const answer = await call({ sessionId: "s1" });
    assert.deepEqual(answer, { jsonrpc: "2.0", id: 1, result: context.inspect() });
    assert.equal(answer.result.schema, "context.inspect/1");
    assert.doesNotMatch(JSON.stringify(answer), /be kind|SECRET|PRIVATE/);
    assert.deepEqual(await call({ sessionId: "s1", queryHint: "", detailKey: "" }), answer);
  });

  test("the report over JSON-RPC has the hint for the next prompt (A97)", async () => {
    asked = [];
    await call({ sessionId: "s1", queryHint: "fix the bug" });
    await call({ sessionId: "s1" });
    assert.deepEqual(asked, [["s1", "fix the bug"], ["s1"]]);
  });

  test("context.inspect answers with the text of the requested key (A98)", async () => {
    const { result } = await call({ sessionId: "s1", detailKey: "memory:journal" });
    assert.equal(result.detail.key, "memory:journal");
    assert.match(result.detail.content, /SECRET of yesterday/);
    assert.doesNotMatch(JSON.stringify(result), /be kind|PRIVATE/);
    const message = await call({ sessionId: "s1", detailKey: "message:0" });
    assert.deepEqual(message.result.detail, { key: "message:0", content: "PRIVATE words" });
  });

  test("wrong params are answered with -32602, and an unknown key with the nearest ones (A97, F147)", async () => {
    const wrong = (
      /** @type {any} */ answer,
      /** @type {string} */ message,
      /** @type {any} */ data,
    ) =>
      assert.deepEqual(
        answer,
        error(1, { code: -32602, message: `Invalid params: ${message}`, data }),
      );
    wrong(
      await call({ sessionId: "s1", detailKey: "memory:sol" }),
      "detailKey: expected the key of a section, a message or the prompt",
      { param: "detailKey", validKeys: ["memory:soul", "memory:journal", "message:0"] },
    );
    for (const params of [{}, { sessionId: "" }, { sessionId: " " }, { sessionId: 7 }])
      wrong(await call(params), "sessionId: expected the id of a session", { param: "sessionId" });
    for (const params of [undefined, ["s1"]])
      wrong(await call(params), "params: expected an object with `sessionId`", { param: "params" });
    wrong(await call({ sessionId: "s1", detailKey: 1 }), "detailKey: expected a string", {
      param: "detailKey",
    });
    wrong(await call({ sessionId: "s1", queryHint: {} }), "queryHint: expected a string", {
      param: "queryHint",
    });
    wrong(
      await call({ sessionId: "s1", turn: 1 }),
      "turn: expected one of sessionId, queryHint, detailKey, call, include, cursor, limit",
      { param: "turn" },
    );
  });

  test("an unknown or inactive session is answered with -32001 (A97, F147)", async () => {
    const data = { sessionId: "gone" };
    assert.deepEqual(
      await call(data),
      error(1, { code: -32001, message: "Unknown or inactive session", data }),
    );
  });

  test("errors of the host's code are not sent to the client", async () => {
    for (const sessionId of ["broken", "held"])
      assert.deepEqual(
        await call({ sessionId }),
        error(1, { code: -32603, message: "Internal error" }),
      );
  });

  test("an unknown method of JSON-RPC is refused with -32601", async () => {
    const answer = await handle({ jsonrpc: "2.0", id: "a", method: "context.list" });
    assert.equal(answer.error.code, -32601);
    assert.equal(answer.id, "a");
  });

  test("text that does not parse is answered with -32700, and a value that is no request with -32600", async () => {
    assert.deepEqual(await handle("{"), error(null, { code: -32700, message: "Parse error" }));
    for (const request of [
      null,
      7,
      {},
      [],
      "[]",
      '"x"',
      { jsonrpc: "1.0", id: null, method: "context.inspect" },
      { jsonrpc: "2.0", id: {}, method: "context.inspect" },
      { jsonrpc: "2.0", id: null, method: 1 },
      { jsonrpc: "2.0", id: null, method: "context.inspect", params: "s1" },
      { jsonrpc: "2.0", id: null, method: "context.inspect", params: null },
    ])
      assert.deepEqual(await handle(request), invalid, JSON.stringify(request));
    const kept = await handle({ jsonrpc: "2.0", id: 9, method: null });
    assert.equal(kept.id, 9);
  });

  test("a notification gets no answer", async () => {
    asked = [];
    for (const method of ["context.inspect", "other"])
      assert.equal(
        await handle({ jsonrpc: "2.0", method, params: { sessionId: "broken" } }),
        undefined,
      );
    assert.deepEqual(asked, []);
  });

  test("a batch gets an answer for each request with an id, in order", async () => {
    const one = { jsonrpc: "2.0", id: 1, method: "context.inspect", params: { sessionId: "s1" } };
    const withoutId = { jsonrpc: "2.0", method: "context.inspect", params: { sessionId: "s1" } };
    const answers = await handle(JSON.stringify([one, withoutId, 7, { ...one, id: null }]));
    assert.deepEqual(
      answers.map((/** @type {any} */ it) => it.id),
      [1, null, null],
    );
    assert.deepEqual(answers[0].result, context.inspect());
    assert.deepEqual(answers[1], invalid);
    assert.equal(await handle([withoutId, withoutId]), undefined);
  });

  test("a report without a session id has the requested one", async () => {
    const nameless = new api.ContextManager({ window: { contextTokens: 0 } });
    const answer = await api.createInspectHandler({ get: () => nameless })({
      jsonrpc: "2.0",
      id: 1,
      method: "context.inspect",
      params: { sessionId: "x" },
    });
    assert.equal(answer.result.sessionId, "x");
  });
}
