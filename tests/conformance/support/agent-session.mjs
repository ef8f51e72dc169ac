// @ts-check
/** A talk with an agent that is long enough to be compacted, and a manager of it. */
import assert from "node:assert/strict";
import { loadPackage } from "./package.mjs";

const { api, why } = await loadPackage();

export { api };
export const skip = api ? false : why;
export const WINDOW = { contextTokens: 20_000, maxOutputTokens: 1_000 };

/** A summary as a good summarizer writes it: the headings that are asked for, and under the first of them these words. */
export const good = (
  /** @type {any} */ job,
  words = "They look for Zebra_One and keep src/f3.rs.",
) =>
  job.requiredHeadings
    .map(
      (/** @type {string} */ name, /** @type {number} */ at) =>
        `## ${name}\n${at === 0 ? words : "fine"}\n`,
    )
    .join("") || words;

export const prose = (/** @type {number} */ count) =>
  Array.from({ length: count }, (_, at) => ["alpha", "river", "stone", "cloud"][at % 4]).join(" ");

export const user = (/** @type {any} */ content) => ({ role: "user", content });
export const reply = (/** @type {any} */ content) => ({ role: "assistant", content });

/** @param {number} at */
export const step = (at) => [
  { role: "user", content: `step ${at}: ${prose(60)}` },
  {
    role: "assistant",
    content: [
      { type: "tool_use", id: `c${at}`, name: "edit", input: { file_path: `src/f${at}.rs` } },
    ],
  },
  {
    role: "user",
    content: [
      { type: "tool_result", tool_use_id: `c${at}`, content: prose(80), is_error: at % 2 === 1 },
    ],
  },
  { role: "assistant", content: prose(300) },
];
/** A talk of so many steps that ends with what a person says. @param {number} steps */
export const talk = (steps) => [
  ...Array.from({ length: steps }, (_, at) => step(at)).flat(),
  { role: "user", content: "and now finish it" },
];

/** @param {unknown} summarize @param {object} [more] */
export function manager(summarize, more = {}) {
  /** @type {any[]} */
  const events = [];
  let now = 1_000_000;
  const context = new api.ContextManager({
    window: WINDOW,
    format: "anthropic",
    estimator: "chars/4",
    summary: { minimumTokens: 0, contextTokens: 200_000 },
    clock: () => now,
    on: (/** @type {any} */ event) => events.push(event.type === "epoch" ? "epoch" : event),
    ...(summarize ? { summarize } : {}),
    ...more,
  });
  const types = () => events.map((event) => event.type ?? event);
  const pass = (/** @type {number} */ ms) => {
    now += ms;
  };
  return { context, events, types, pass };
}

/** A promise, and what settles it. */
export function gate() {
  /** @type {(value?: any) => void} */
  let open = () => {};
  const opened = new Promise((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** A session whose summarizer answers once `open` is called. */
export function pausedSession() {
  const { open, opened } = gate();
  const { context } = manager(async (/** @type {any} */ job) => {
    await opened;
    return good(job);
  });
  return { context, open };
}

/** Until nothing is under way any more. @param {any} context */
export async function idle(context) {
  for (let tries = 0; tries < 500 && context.status().blocked?.reason === "running"; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.notEqual(context.status().blocked?.reason, "running");
}

export const sentText = (/** @type {any} */ prepared) => JSON.stringify(prepared.messages);
export const count = (/** @type {string} */ text, /** @type {string} */ part) =>
  text.split(part).length - 1;
