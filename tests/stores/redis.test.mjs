// @ts-check
/** Redis over a line that breaks: an answer that is lost, a server that restarts, a client that is closed. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { test } from "node:test";
import { clientOf, redis, skip, subpath } from "./stores.mjs";

/** A line to the server that breaks when it brings the answer to a commit, as often as it is told. @param {import("node:test").TestContext} t @param {number} port */
async function line(t, port) {
  const breaks = { answers: 0, requests: 0 };
  const sockets = new Set();
  const server = createServer((socket) => {
    const up = connect(port, "127.0.0.1");
    let isCommit = false;
    const end = () => {
      socket.destroy();
      up.destroy();
    };
    for (const one of [socket, up]) {
      sockets.add(one);
      one.on("error", end).on("close", end);
    }
    socket.on("data", (chunk) => {
      isCommit ||= chunk.includes("HINCRBY");
      if (isCommit && breaks.requests > 0) {
        breaks.requests -= 1;
        return end();
      }
      return up.write(chunk);
    });
    up.on("data", (chunk) => {
      if (isCommit && breaks.answers > 0) {
        breaks.answers -= 1;
        return end();
      }
      isCommit = false;
      return socket.write(chunk);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { breaks, url: `redis://127.0.0.1:${address.port}` };
}

test("redisStore asks again after a lost answer and commits once", {
  skip: skip("redis"),
}, async (t) => {
  const { url, port } = await redis(t);
  const { redisStore } = await subpath("store/redis");
  const { breaks, url: broken } = await line(t, port);
  const store = redisStore(await clientOf(broken), { prefix: "tests:" });
  const straight = redisStore(await clientOf(url), { prefix: "tests:" });
  const bytes = new Uint8Array([0, 255, 13, 10, 36]);
  for (let revision = 1; revision <= 12; revision += 1) {
    breaks[revision % 3 ? "answers" : "requests"] = revision % 2 ? 1 : 2;
    assert.equal(await store.commit("s", bytes, revision === 1 ? null : revision - 1), revision);
    assert.equal((await straight.load("s")).revision, revision);
  }
  // Given up after three: made once all the same, and a conflict for whoever tries again.
  breaks.answers = 3;
  await assert.rejects(store.commit("s", bytes, 12));
  assert.equal((await straight.load("s")).revision, 13);
  assert.equal(await store.commit("s", bytes, 12), null);
});

test("redisStore passes on errors for foreign keys and closed clients", {
  skip: skip("redis"),
}, async (t) => {
  const { url } = await redis(t);
  const { redisStore } = await subpath("store/redis");
  const client = await clientOf(url);
  const store = redisStore(client);
  await client.set("plimsoll:s", "a text");
  await assert.rejects(store.load("s"), /WRONGTYPE/);
  await assert.rejects(store.commit("s", new Uint8Array(1), null), /WRONGTYPE/);
  assert.equal(await client.get("plimsoll:s"), "a text");
  client.destroy();
  await assert.rejects(store.load("s"));
});
