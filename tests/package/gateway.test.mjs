/** examples/node-gateway as a user would copy it: a process of its own, a model server that refuses invalid requests, SSE and JSON-RPC. */
import assert from "node:assert/strict";
import { createServer, get } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { programFor, skip } from "../stores/stores.mjs";
import {
  asked,
  exampleFolder,
  gateway,
  inspect,
  modelServer,
  session,
  storeOf,
  turn,
} from "../support/gateway.mjs";

const folder = exampleFolder();
/** A window that twenty turns do not fit into. */
const SMALL = ["--window", "6000", "--answer", "500"];
/** A window whose folds are large enough for a summary, and questions with long answers. */
const LARGER = ["--window", "32000", "--answer", "1000"];
const asking = (at) => `why? ${at}: say it at length`;
const names = ({ events }) => events.map(({ event }) => event);
const textOf = (at) =>
  at % 2 ? `read long.md ${at}` : `question ${at}: ${"how deep? ".repeat(20)}`;

/** The messages of every request so far. */
const requestsOf = ({ seen }) => seen.bodies.map(({ messages }) => JSON.stringify(messages));

/** Sends turns one after another; all must succeed. Returns their events. */
async function talk(url, id, from, to) {
  const all = [];
  for (let at = from; at < to; at += 1) {
    const { error, events } = await turn(url, id, textOf(at), at);
    assert.equal(error, undefined, `turn ${at}`);
    all.push(...events);
  }
  return all;
}

test("a turn with a tool call is streamed as events and stored completely", async (t) => {
  const model = await modelServer(t);
  const { url } = await gateway(t, folder, { store: "memory:", model: model.url });
  const answer = await turn(url, "one", "read short.md");
  assert.deepEqual(names(answer), ["tool", "result", "text", "text", "done"]);
  const [tool, result] = answer.events.map(({ data }) => data);
  assert.deepEqual([tool.name, JSON.parse(tool.arguments)], ["read", { path: "short.md" }]);
  assert.match(result.text, /The crane lifts 40 tons/);
  assert.deepEqual(answer.done, { turns: 1, text: "done: read short.md" });
  const { turns, messages } = await session(url, "one");
  assert.equal(turns, 1);
  const roles = messages.map(({ role }) => role);
  assert.deepEqual(roles, ["user", "assistant", "tool", "assistant"]);
  assert.deepEqual(model.seen.refused, []);
});

test("a long session gets summaries, visible in its events and over JSON-RPC", async (t) => {
  const model = await modelServer(t);
  const options = { store: "memory:", model: model.url, args: LARGER };
  const { url, complaint } = await gateway(t, folder, options);
  const answers = [];
  for (let at = 0; at < 30; at += 1) answers.push(await turn(url, "long", asking(at)));
  const changes = answers.flatMap(({ events }) => events.filter((it) => it.event === "context"));
  assert.ok(model.seen.summaries > 0, "the summarizer was called");
  assert.ok(
    changes.some(({ data }) => data.status === "summarized"),
    JSON.stringify(changes),
  );
  assert.deepEqual(model.seen.refused, []);
  assert.equal(complaint(), "");
  const { result } = await inspect(url, "long", { detailKey: "system" });
  assert.deepEqual([result.schema, result.sessionId], ["context.inspect/1", "long"]);
  assert.equal(result.window.used + result.window.reserve + result.window.free, 32_000);
  assert.ok(result.compactions.length > 0);
  assert.equal(result.messages.length, (await session(url, "long")).messages.length);
  assert.match(result.detail.content, /answer questions about the files/);
  assert.equal((await inspect(url, "nobody")).error.code, -32_001);
  const page = await fetch(`${url}/inspector`);
  assert.equal(page.headers.get("content-type"), "text/html; charset=utf-8");
  assert.match(await page.text(), /<title>Plimsoll inspector</);
  console.log(
    `30 turns: ${model.seen.requests} requests, none refused, ${model.seen.summaries} summaries, ${changes.length} changes of the context`,
  );
});

test("inspecting a session does not change its next request", async (t) => {
  const model = await modelServer(t);
  const { url } = await gateway(t, folder, { store: "memory:", model: model.url, args: SMALL });
  const alone = await talk(url, "alone", 0, 20);
  const expected = requestsOf(model);
  const seen = [];
  for (let at = 0; at < 20; at += 1) {
    seen.push(...(await talk(url, "seen", at, at + 1)));
    await Promise.all([inspect(url, "seen"), session(url, "seen")]);
  }
  assert.deepEqual(requestsOf(model).slice(expected.length), expected);
  assert.deepEqual(seen, alone);
  assert.ok(Math.max(...seen.map(({ data }) => data.epoch ?? 0)) > 0, "room was made");
});

test("a request that the model server refuses as too long is sent again, smaller", async (t) => {
  const model = await modelServer(t, { limit: 5_000 });
  const { url } = await gateway(t, folder, { store: "memory:", model: model.url });
  await talk(url, "one", 0, 16);
  assert.ok(model.seen.overflows > 0, "the gateway assumes a larger window");
  assert.deepEqual(model.seen.refused, []);
  assert.equal((await session(url, "one")).turns, 16);
});

for (const kind of ["file", "sqlite", "redis"]) {
  test(`a restarted or killed session on a ${kind} store keeps every committed turn and sends the same requests`, {
    skip: skip(kind),
  }, async (t) => {
    const model = await modelServer(t);
    const program = programFor(kind);
    const options = { store: await storeOf(t, kind), model: model.url, args: SMALL, program };
    const first = await gateway(t, folder, options);
    await talk(first.url, "undisturbed", 0, 16);
    const expected = requestsOf(model);
    await talk(first.url, "one", 0, 8);
    assert.equal(await first.end("SIGTERM"), 0);
    const second = await gateway(t, folder, options);
    await talk(second.url, "one", 8, 12);
    model.pauseFor(60_000);
    const cut = turn(second.url, "one", textOf(12), 12);
    await sleep(100);
    assert.equal(await second.end("SIGKILL"), "SIGKILL");
    assert.equal((await cut).error.code, "BROKEN");
    const unanswered = model.seen.bodies.pop();
    assert.equal(unanswered.messages.at(-1).content, textOf(12));
    model.pauseFor(0);
    const third = await gateway(t, folder, options);
    const texts = (to) => Array.from({ length: to }, (_, at) => textOf(at));
    assert.deepEqual(asked(await session(third.url, "one")), texts(12));
    const { result } = await inspect(third.url, "one");
    assert.equal(result.messages.length, (await session(third.url, "one")).messages.length);
    await talk(third.url, "one", 12, 16);
    assert.deepEqual(asked(await session(third.url, "one")), texts(16));
    assert.deepEqual(requestsOf(model).slice(expected.length), expected);
    assert.deepEqual(model.seen.refused, []);
  });
}

test("two gateways on one store see each other's turns, and one of two simultaneous turns is a conflict", {
  skip: skip("file"),
}, async (t) => {
  const model = await modelServer(t);
  const options = { store: await storeOf(t, "file"), model: model.url, args: SMALL };
  const [one, other] = await Promise.all([0, 1].map(() => gateway(t, folder, options)));
  await talk(one.url, "alone", 0, 20);
  const expected = requestsOf(model);
  for (let at = 0; at < 20; at += 1) await talk((at % 2 ? one : other).url, "s", at, at + 1);
  assert.deepEqual(requestsOf(model).slice(expected.length), expected, "as one gateway would");
  model.pauseFor(150);
  const both = await Promise.all([one, other].map(({ url }, at) => turn(url, "s", `both ${at}`)));
  const late = both.findIndex(({ done }) => !done);
  assert.equal(both.filter(({ done }) => done).length, 1);
  assert.equal(both[late].error.code, "CONFLICT");
  model.pauseFor(0);
  assert.ok((await turn([one, other][late].url, "s", `both ${late}`)).done);
  const [here, there] = await Promise.all([one, other].map(({ url }) => session(url, "s")));
  assert.deepEqual(here, there);
  assert.deepEqual(asked(here).slice(20).sort(), ["both 0", "both 1"]);
  assert.equal(here.turns, 22);
  assert.deepEqual(model.seen.refused, []);
});

test("a summary written by a killed gateway is sent by the other", {
  skip: skip("file"),
}, async (t) => {
  const model = await modelServer(t);
  const options = { store: await storeOf(t, "file"), model: model.url, args: LARGER };
  const [one, other] = await Promise.all([0, 1].map(() => gateway(t, folder, options)));
  assert.ok((await turn(other.url, "s", asking(0))).done);
  let turns = 1;
  for (; model.seen.summaries === 0 && turns < 30; turns += 1)
    assert.ok((await turn(one.url, "s", asking(turns))).done);
  const { summaries } = model.seen;
  assert.ok(summaries > 0, "the summarizer was called between two turns");
  await one.end("SIGKILL");
  assert.doesNotMatch(requestsOf(model).at(-1), /work on the harbour goes on/);
  assert.ok((await turn(other.url, "s", asking(turns), turns)).done);
  assert.match(requestsOf(model).at(-1), /work on the harbour goes on/);
  assert.equal(model.seen.summaries, summaries);
});

test("a client that disconnects ends its turn and leaves the session unchanged", async (t) => {
  const model = await modelServer(t);
  const { url } = await gateway(t, folder, { store: "memory:", model: model.url });
  await talk(url, "one", 0, 3);
  const before = await session(url, "one");
  model.pauseFor(60_000);
  const body = JSON.stringify({ text: "never mind" });
  const headers = { "content-type": "application/json" };
  const gone = new AbortController();
  const sent = fetch(`${url}/sessions/one/turns`, {
    method: "POST",
    headers,
    body,
    signal: gone.signal,
  });
  const response = await sent;
  const busy = await turn(url, "one", "me too");
  assert.deepEqual([busy.status, busy.error.code], [409, "CONFLICT"]);
  gone.abort();
  await assert.rejects(response.text());
  model.pauseFor(0);
  assert.deepEqual(await session(url, "one"), before);
  const late = await turn(url, "one", "once more", 2);
  assert.deepEqual([late.status, late.error.turns], [409, 3]);
  await talk(url, "one", 3, 5);
});

test("wrong requests are refused with a status and a code", async (t) => {
  const model = await modelServer(t);
  const { url } = await gateway(t, folder, { store: "memory:", model: model.url });
  const json = { "content-type": "application/json" };
  for (const [path, options, status, code] of [
    ["/sessions/nobody", {}, 404, "NOT_FOUND"],
    ["/sessions/a%2Fb/turns", { method: "POST", body: "{}", headers: json }, 404, "NOT_FOUND"],
    ["/sessions/a/turns", { method: "POST", body: '{"text":"x"}' }, 415, "BAD_REQUEST"],
    ["/sessions/a/turns", { method: "POST", body: "{", headers: json }, 400, "BAD_REQUEST"],
    ["/sessions/a/turns", { method: "POST", body: "null", headers: json }, 400, "BAD_REQUEST"],
    [
      "/sessions/a/turns",
      { method: "POST", body: '{"text":"x","after":"0"}', headers: json },
      400,
      "BAD_REQUEST",
    ],
    [
      "/sessions/a/turns",
      { method: "POST", body: "x".repeat(2e6), headers: json },
      413,
      "TOO_LARGE",
    ],
  ]) {
    const response = await fetch(`${url}${path}`, options);
    assert.deepEqual([response.status, (await response.json()).code], [status, code], path);
  }
  // What is no URL is a mistake of the client, not of the gateway.
  const status = await new Promise((done) => {
    get({ port: new URL(url).port, path: "//" }, (response) => done(response.statusCode));
  });
  assert.equal(status, 404);
  const lost = await turn(url, "a", "read ../server.mjs");
  assert.match(lost.events.find(({ event }) => event === "result").data.text, /outside/);
});

test("calls of a model server that names no positions are all in the answer", async (t) => {
  const { createChat } = await import(pathToFileURL(join(folder, "chat.mjs")).href);
  const call = (id, name, json) => ({ id, function: { name, arguments: json } });
  const deltas = [
    { tool_calls: [call("a", "read", '{"path":')] },
    { tool_calls: [{ function: { arguments: '"x"}' } }] },
    { tool_calls: [call("b", "list", "{}"), call("c", "read", "{}")] },
  ];
  const server = createServer((_, response) => {
    for (const delta of deltas)
      response.write(`data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`);
    const choices = [{ delta: {}, finish_reason: "tool_calls" }];
    response.end(`data: ${JSON.stringify({ choices })}\n\ndata: [DONE]\n\n`);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => server.close());
  const chat = createChat({ url: `http://127.0.0.1:${server.address().port}`, model: "m" });
  const { message } = await chat({ messages: [], tools: [], onText: () => {} });
  assert.deepEqual(
    message.tool_calls.map(({ id, function: { name, arguments: json } }) => [id, name, json]),
    [
      ["a", "read", '{"path":"x"}'],
      ["b", "list", "{}"],
      ["c", "read", "{}"],
    ],
  );
});
