// @ts-check
/** The laws of the generated transcripts are themselves tested: a package that is wrong in each way is found out. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sized } from "../../support/size.mjs";
import { pairs, strictFor } from "../providers/pairs.mjs";
import { history } from "./histories.mjs";
import { play } from "./play.mjs";
import { shrink } from "./shrink.mjs";

/** @typedef {(view: any, asked: { prefix: any[], window: number, count: number }) => void} Change */

/**
 * A package that finds what the strict provider finds, mends nothing, and sends the longest start of a history that is
 * valid; `change` had its hand on what it sends where there is a window.
 * @param {Change} [change] @param {object} [more]
 */
function fake(change = () => {}, more = {}) {
  const validate = (
    /** @type {any[]} */ messages,
    /** @type {string} */ provider,
    /** @type {any} */ { format },
  ) => strictFor(format, provider)(messages);
  return {
    validate,
    repair: (/** @type {any[]} */ messages) => ({ messages, repairs: [] }),
    ...more,
    ContextManager: class {
      /** @param {any} options */
      constructor(options) {
        this.options = options;
        this.count = 0;
      }
      /** @param {any[]} prefix */
      request(prefix) {
        this.count += 1;
        const { format, provider, window } = this.options;
        let end = prefix.length;
        while (end > 0 && validate(prefix.slice(0, end), provider, { format }).length > 0) end -= 1;
        const view = {
          messages: prefix.slice(0, end),
          source: prefix.slice(0, end).map((_, at) => at),
          fits: true,
          epoch: 0,
          firstChanged: null,
          tokens: 1,
          edits: [],
          repairs: [],
          compaction: null,
          hints: {},
        };
        change(view, { prefix, window: window.contextTokens, count: this.count });
        return view;
      }
      [Symbol.dispose]() {}
    },
  };
}

const clean = Array.from({ length: 60 }, (_, at) => history(at + 1)).filter(
  (own) => own.clean && own.turns[0]?.role === "user",
);
const copy = (/** @type {any} */ value) => JSON.parse(JSON.stringify(value));
const pair = (format = "anthropic", provider = format) => ({ format, provider, why: "" });

/** The laws that are broken over the clean histories. @param {any} api @param {any} of */
function lawsBroken(api, of, histories = clean) {
  return new Set(histories.flatMap((own, at) => play(api, of, own, at).problem?.law ?? []));
}

for (const of of pairs) {
  test(`a manager that sends everything keeps all laws: ${of.format} x ${of.provider}`, () => {
    for (const [at, own] of clean.slice(0, sized({ short: 2, ci: 8, long: 8 })).entries())
      assert.equal(play(fake(), of, own, at).problem, null);
  });
}

/** Changes the first message that `edit` has something to change in. @param {(message: any) => boolean | undefined} edit @returns {Change} */
const edited =
  (edit) =>
  (view, { window }) => {
    if (window === 0) return;
    for (const [at, message] of view.messages.entries()) {
      const own = copy(message);
      if (!edit(own)) continue;
      view.messages[at] = own;
      return;
    }
  };
const blocks = (/** @type {any} */ message) =>
  Array.isArray(message.content) ? message.content : [];
const first = (/** @type {any} */ message, /** @type {string} */ type) =>
  blocks(message).find((/** @type {any} */ block) => block.type === type);

/** @type {Array<[string, string, Change, { format: string, provider: string, why: string }?]>} */
const wrongs = [
  [
    "opaque",
    "a signature is cut",
    edited((message) => {
      const block = first(message, "thinking");
      if (block) block.signature = block.signature.slice(0, -2);
      return block !== undefined;
    }),
  ],
  [
    "opaque",
    "signed thinking is shortened",
    edited((message) => {
      const block = first(message, "thinking");
      if (block) block.thinking = "…";
      return block !== undefined;
    }),
  ],
  [
    "opaque",
    "a signature moves to another call",
    edited((message) => {
      const signed = message.parts?.filter((/** @type {any} */ part) => part.functionCall) ?? [];
      if (signed.length < 2 || !signed[0].thoughtSignature) return false;
      signed[0].thoughtSignature = signed[0].thoughtSignature.replace(/opq-\d+-\d+/, "opq-0-99");
      return true;
    }),
    pair("gemini"),
  ],
  [
    "honest",
    "a result is made up",
    (view, { window }) => {
      if (window > 0) return;
      const at = view.messages.findIndex((/** @type {any} */ message) =>
        first(message, "tool_result"),
      );
      if (at < 0) return;
      view.messages[at] = copy(view.messages[at]);
      first(view.messages[at], "tool_result").content = "all tests pass";
    },
  ],
  [
    "atomic",
    "one call of several goes",
    (view, { window }) => {
      if (window === 0) return;
      const at = view.messages.findIndex(
        (/** @type {any} */ message) =>
          blocks(message).filter((/** @type {any} */ block) => block.type === "tool_use").length >
          1,
      );
      if (at < 0) return;
      const { id } = first(view.messages[at], "tool_use");
      for (const where of [at, at + 1]) {
        const message = copy(view.messages[where]);
        message.content = blocks(message).filter(
          (/** @type {any} */ block) => block.id !== id && block.tool_use_id !== id,
        );
        view.messages[where] = message;
      }
    },
  ],
  [
    "atomic",
    "the reasoning of a call goes",
    edited((message) => {
      if (!message.tool_calls || message.reasoning_content === undefined) return false;
      delete message.reasoning_content;
      return true;
    }),
    pair("openai-chat", "deepseek"),
  ],
  [
    "strict I20",
    "a call loses its signature",
    edited((message) => {
      const part = message.parts?.find((/** @type {any} */ own) => own.thoughtSignature);
      if (part) delete part.thoughtSignature;
      return part !== undefined;
    }),
    pair("gemini"),
  ],
  [
    "atomic",
    "a reasoning item goes alone",
    (view, { window }) => {
      if (window === 0) return;
      const at = view.messages.findIndex((/** @type {any} */ item) => item.type === "reasoning");
      if (at < 0) return;
      view.messages.splice(at, 1);
      view.source.splice(at, 1);
    },
    pair("openai-responses"),
  ],
  [
    "verbatim",
    "the user's last words are cut",
    (view, { window }) => {
      const last = view.messages.length - 1;
      if (window === 0 || last < 0) return;
      const message = copy(view.messages[last]);
      if (message.role !== "user" || typeof message.content !== "string") return;
      view.messages[last] = { ...message, content: `${message.content[0]}…` };
    },
  ],
  [
    "epoch",
    "a message changes within an epoch",
    (view, { window, prefix }) => {
      if (window > 0 && view.messages[0])
        view.messages[0] = {
          role: "user",
          content: [...asBlocks(view.messages[0]), { type: "text", text: `seen ${prefix.length}` }],
        };
    },
  ],
  [
    "again",
    "asked twice, another answer",
    (view, { window, count }) => {
      if (window > 0 && count % 2 === 0) view.tokens = 2;
    },
  ],
  [
    "tokens",
    "more than the window takes",
    (view, { window }) => {
      if (window > 0) view.tokens = window;
    },
  ],
  [
    "size",
    "a request grows",
    (view, { window }) => {
      if (window > 0 && view.messages[0])
        view.messages[0] = {
          role: "user",
          content: [...asBlocks(view.messages[0]), { type: "text", text: "x".repeat(2000) }],
        };
    },
  ],
  [
    "strict I6",
    "a text is emptied",
    edited((message) => {
      if (message.role !== "user" || typeof message.content !== "string") return false;
      message.content = "";
      return true;
    }),
  ],
  [
    "threw",
    "the host's message is changed",
    (view) => {
      if (view.messages[0]) view.messages[0].role = "user!";
    },
  ],
];
const asBlocks = (/** @type {any} */ { content }) =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;

for (const [law, name, change, of = pair()] of wrongs) {
  test(`the law "${law}" finds a package that breaks it: ${name}`, () => {
    const found = lawsBroken(fake(change), of);
    assert.ok(found.has(law), `found: ${[...found]}`);
  });
}

test("the checks compare validate and repair with the strict provider", () => {
  const dirty = Array.from({ length: 30 }, (_, at) => history(at + 1)).filter((own) => !own.clean);
  assert.ok(
    [...lawsBroken(fake(undefined, { validate: () => [] }), pair(), dirty)].some((law) =>
      law.startsWith("missed"),
    ),
  );
  const alarm = { rule: "I3", index: 0, path: "", message: "no" };
  // Where no cache markers are added: a host's own fifth is one more thing to find.
  const plain = pair("gemini");
  assert.deepEqual(
    [...lawsBroken(fake(undefined, { validate: () => [alarm] }), plain)],
    ["false alarm I3"],
  );
  const copies = {
    repair: (/** @type {any[]} */ messages) => ({ messages: copy(messages), repairs: [] }),
  };
  assert.deepEqual([...lawsBroken(fake(undefined, copies), plain)], ["no-op"]);
  let asked = 0;
  const again = {
    repair: (/** @type {any[]} */ messages) => ({
      messages,
      repairs: asked++ % 2 === 1 ? [alarm] : [],
    }),
  };
  assert.deepEqual([...lawsBroken(fake(undefined, again), plain)], ["idempotent"]);
});

test("a failing history is shrunk to the turns that show the failure", () => {
  const original = history(1);
  const has = (/** @type {any} */ own) =>
    own.turns.some((/** @type {any} */ turn) => turn.role === "tool");
  assert.ok(has(original));
  const small = shrink(original, has);
  assert.deepEqual(
    small.turns.map((turn) => [turn.role, turn.parts.length]),
    [["tool", 0]],
  );
});
