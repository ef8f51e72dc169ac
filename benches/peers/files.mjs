/** Times of a session file: read, seen as it was recorded, played under a policy; beside `JSON.parse` of its lines. */
import { readFileSync } from "node:fs";
import { readSession, recordedView, replay } from "../../npm/dist/entry/sessions.node.js";
import { sessionFiles } from "../../tests/conformance/support/session-files.mjs";

const ROUNDS = 5;
/** Where there are no others, the largest that the project has recorded itself. */
const OWN = "../../examples/sessions/harbour-audit.pi.jsonl";
const WINDOW = { contextTokens: 200_000, maxOutputTokens: 8_192 };

/** The largest session file of each of three agents, and the project's own. */
function sources() {
  const own = {
    name: "harbour-audit.pi (examples)",
    bytes: readFileSync(new URL(OWN, import.meta.url)),
  };
  const shared = ["claude-code", "codex", "pi"].flatMap((folder) => {
    const files = sessionFiles().filter(({ name }) => name.startsWith(`${folder}/`));
    const loaded = files.map(({ name, bytes }) => ({ name, bytes: bytes() }));
    return loaded.toSorted((a, b) => b.bytes.length - a.bytes.length).slice(0, 1);
  });
  return [own, ...shared];
}

function timed(work) {
  globalThis.gc?.();
  const begun = performance.now();
  const made = work();
  return { made, ms: performance.now() - begun };
}

/** One round: each step on what the step before gave. */
function round(bytes) {
  const lines = timed(() =>
    new TextDecoder().decode(bytes).split("\n").filter(Boolean).map(parsed),
  );
  const read = timed(() => readSession(bytes));
  const view = timed(() => playedToEnd(recordedView(read.made)));
  const played = timed(() => playedToEnd(replay(read.made, { window: WINDOW })));
  const { calls } = played.made;
  view.made[Symbol.dispose]?.();
  played.made[Symbol.dispose]?.();
  return { calls: calls.length, ms: [lines, read, view, played].map(({ ms }) => ms) };
}

/** Played to its last call. */
function playedToEnd(view) {
  if (view.calls.length === 0) throw new Error("a session without calls");
  return view;
}

function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** Prints the medians of each file, and gives the rows. */
export function bench(median) {
  console.log(
    `\nsession files, ms, median of ${ROUNDS}: JSON.parse, read, recorded view, replay\n`,
  );
  return sources().map(({ name, bytes }) => {
    round(bytes);
    const rounds = Array.from({ length: ROUNDS }, () => round(bytes));
    const ms = [0, 1, 2, 3].map((step) => median(rounds.map((one) => one.ms[step])));
    const row = { name, bytes: bytes.length, calls: rounds[0].calls, ms };
    const shown = ms.map((time) => time.toFixed(0).padStart(6)).join("");
    console.log(`${name.padEnd(44)} ${(bytes.length / 1e6).toFixed(1)} MB ${shown}`);
    return row;
  });
}
