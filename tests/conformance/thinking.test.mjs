// @ts-check
/** Reasoning goes back as it came: what the two checks of it find. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  answer,
  ask,
  assistant,
  valid as host,
  think,
  use,
  user,
} from "./strict/cases/anthropic.mjs";
import { replaced, text } from "./strict/cases/shared.mjs";
import { carriedThinking, unchangedThinking } from "./strict.mjs";

test("I10: the newest thinking is the host's, as it was", () => {
  const source = host.map((_, at) => at);
  assert.deepEqual(unchangedThinking(host, host, source), []);
  assert.deepEqual(unchangedThinking(structuredClone(host), host, source), []);
  const cases = /** @type {Array<[string, any[]]>} */ ([
    ["a changed thought", replaced(host, [5, "content", 0, "thinking"], "x")],
    ["a changed signature", replaced(host, [5, "content", 0, "signature"], "x")],
    ["a changed neighbour", replaced(host, [5, "content", 1, "input", "path"], "x")],
  ]);
  for (const [name, sent] of cases) {
    assert.equal(unchangedThinking(sent, host, source)[0]?.rule, "I10", name);
  }
  assert.equal(
    unchangedThinking(
      host,
      host,
      host.map((_, at) => (at === 5 ? null : at)),
    )[0]?.rule,
    "I10",
    "made by nobody",
  );
});

test("I10: removing the newest promotes the one before", () => {
  const kept = host.slice(0, 5);
  const source = kept.map((_, at) => at);
  assert.deepEqual(unchangedThinking(kept, host, source), []);
  const without = kept.with(1, assistant(kept[1]?.content.slice(0, 3)));
  assert.equal(unchangedThinking(without, host, source)[0]?.index, 1);
});

test("I10: a run of assistant messages is one", () => {
  const own = [
    ask,
    assistant([think()]),
    assistant([text("x")]),
    assistant([use("a")]),
    user([answer("a")]),
  ];
  const source = [0, 1, 3, 4];
  const sent = source.map((at) => own[at]);
  assert.match(unchangedThinking(sent, own, source)[0]?.message ?? "", /neighbour/);
});

test("I10: a thinking block is never made up", () => {
  const source = host.map((_, at) => at);
  assert.deepEqual(carriedThinking(structuredClone(host), host, source), []);
  assert.equal(
    carriedThinking(replaced(host, [1, "content", 0, "thinking"], "x"), host, source)[0]?.index,
    1,
  );
});

test("I10: where roles alternate, neighbours go out as one message, with the newest whole", () => {
  const own = [
    ask,
    assistant([think(), text("x")]),
    assistant([think({ thinking: "then" }), use("a")]),
    user([answer("a")]),
  ];
  const source = [0, null, 3];
  const joined = [...own[1].content, ...own[2].content];
  const find = (/** @type {any[]} */ content) => {
    const sent = [ask, assistant(content), own[3]];
    return [
      ...unchangedThinking(sent, own, source, true),
      ...carriedThinking(sent, own, source, true),
    ].map((one) => one.message);
  };
  assert.deepEqual(find(joined), []);
  const never = "thinking in a message that the host never had";
  assert.deepEqual(find(joined.slice(0, -1)), [never], "its end is missing");
  assert.deepEqual(find([...joined].reverse()), [never], "in another order");
  const changed = joined.with(0, think({ thinking: "other" }));
  assert.deepEqual(find(changed), ["a thinking block that the host never had"]);
});
