/** A few runs of `cargo xtask bench agents`: the harness plays, judges and counts; the comparison is in docs/benchmarks.md. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { play } from "../../../benches/agents/agent.mjs";
import { endpoint } from "../../../benches/agents/model.mjs";
import { playAll } from "../../../benches/agents/plan.mjs";
import { none } from "../../../benches/agents/sides/none.mjs";
import { TRUST } from "../../../benches/agents/sight.mjs";
import { tasks } from "../../../benches/agents/tasks/index.mjs";

const WINDOW = 16_000;
const NAMES = ["compare-h1", "audit-e1", "rename-b1"];

let rows;
before(async () => {
  rows = await playAll({
    sides: ["balanced", "prune", "none"],
    names: NAMES,
    windows: [WINDOW],
    levels: ["middling"],
  });
});
const of = (side) => rows.filter((row) => row.side === side);

test("an agent solves its tasks in a small window under our default", () => {
  for (const { task, solved, failure, broken, largest } of of("balanced")) {
    assert.ok(solved, `${task}: ${failure}`);
    assert.equal(broken, 0, `${task}: rules of the user`);
    assert.ok(largest <= WINDOW, `${task}: a request of ${largest} tokens`);
  }
});

test("an agent without context management exceeds the window in the same tasks", () => {
  const over = of("none").filter(({ failure }) => failure === "over the window");
  assert.deepEqual(over.map(({ task }) => task).toSorted(), ["audit-e1", "rename-b1"]);
});

test("an agent with plain pruning is billed for each call of the same tasks", () => {
  assert.equal(of("prune").length, NAMES.length);
  for (const row of of("prune")) {
    assert.ok(row.calls >= row.needed || !row.solved, row.task);
    assert.ok(row.billed > 0 && row.input >= row.cached, row.task);
  }
});

test("an agent breaks a user's rule that is no longer in its request", async () => {
  const task = tasks().find(({ name }) => name === "rename-b1");
  // The rule is cut out of what is sent; the rest of the request is seen.
  const forgets = () => ({
    request: (history) =>
      history.map((message) =>
        message.role === "user"
          ? { ...message, content: message.content.replace("Never touch files under vendor/.", "") }
          : message,
      ),
  });
  const options = { window: 10_000_000, trust: TRUST.careful, level: "careful" };
  assert.equal((await play(task, { ...options, side: none })).broken, 0);
  const { broken, solved } = await play(task, { ...options, side: forgets });
  assert.equal(solved, true);
  assert.equal(broken, 4);
});

test("a repeated run gives the same figures", async () => {
  const again = await playAll({
    sides: ["balanced"],
    names: ["compare-h1"],
    windows: [WINDOW],
    levels: ["middling"],
  });
  assert.deepEqual(
    again,
    rows.filter((row) => row.side === "balanced" && row.task === "compare-h1"),
  );
});

test("a model behind an OpenAI-compatible endpoint can replace the scripted agent", async (t) => {
  const asked = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const part of request) text += part;
    const body = JSON.parse(text);
    asked.push({ url: request.url, key: request.headers.authorization, body });
    const call = {
      name: "read",
      arguments: JSON.stringify({ path: "conf/north.conf", offset: 1, limit: 2 }),
    };
    const message =
      asked.length === 1
        ? {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "x", type: "function", function: call }],
          }
        : { role: "assistant", content: "none of them" };
    response.end(JSON.stringify({ choices: [{ message }] }));
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  after(() => server.close());
  const base = `http://127.0.0.1:${server.address().port}/v1`;
  const [row] = await playAll({
    sides: ["balanced"],
    names: ["compare-h1"],
    windows: [WINDOW],
    levels: ["middling"],
    model: endpoint({ name: "mock", base, key: "k" }),
  });
  t.diagnostic(`${row.calls} calls, ${row.failure}`);
  assert.equal(row.calls, 2);
  assert.equal(row.solved, false);
  assert.deepEqual(
    asked.map(({ url, key }) => [url, key]),
    Array(2).fill(["/v1/chat/completions", "Bearer k"]),
  );
  const [, second] = asked;
  assert.equal(second.body.model, "mock");
  assert.equal(second.body.messages[0].role, "system");
  assert.match(second.body.messages.at(-1).content, /^== conf\/north\.conf lines 1-2 of 240/);
});
