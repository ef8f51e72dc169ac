// @ts-check
/**
 * Native and Wasm give the same bytes: of every session file, of every step of every call at several windows and
 * presets, of replays, of token estimates. The native side is examples/dump.rs; the Wasm side is the package, carried
 * out by its own ContextManager, heard at the seam.
 *
 * PLIMSOLL_NATIVE    the dump, built; default: cargo builds it
 * PLIMSOLL_SESSIONS  a regular expression over the names, e.g. ^pi/
 * PLIMSOLL_WINDOWS   32000,64000,128000 by default. Each preset is played at one of them, and at all with --ci
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { size } from "../../support/size.mjs";
import { isReadable } from "../providers/convert/session.mjs";
import { requestsOf } from "../replay/check-session.mjs";
import { someSessionFiles } from "../support/session-files.mjs";
import { loadRaw } from "./core-answers.mjs";
import { native } from "./native.mjs";

const only = new RegExp(process.env.PLIMSOLL_SESSIONS ?? "");
const windows = process.env.PLIMSOLL_WINDOWS?.split(",").map(Number) ?? [32_000, 64_000, 128_000];
const presets = ["economy", "balanced", "retention", "aceclaw", "hermes"];
const ESTIMATORS = [
  "generic",
  "qwen",
  "llama3",
  "cl100k",
  "o200k",
  "mistral",
  "deepseek",
  "claude",
  "gemini",
  "gemma3",
  "chars/4",
  "chars/2.1",
  "cjk",
];
/** At most so many texts of a session are estimated. */
const TEXTS = 200;
/** What texts hold that sessions seldom do. */
const ODD = [
  "",
  " ".repeat(100),
  "─".repeat(60),
  "😀🇻🇳👩‍👩‍👧",
  "Đường dẫn, 文脈, контекст, سياق",
  "\u0000\u001f\u007f",
  '}{]["\\'.repeat(30),
];

const { raw, why } = await loadRaw();
const dump = raw ? native() : undefined;
const reason = raw
  ? dump
    ? ""
    : "skipped: there is no cargo, and PLIMSOLL_NATIVE names no dump"
  : why;
const total = { sessions: 0, steps: 0, replays: 0, estimates: 0, bytes: 0 };

if (reason || !raw || !dump) {
  console.log(reason);
  test("native code and Wasm give the same bytes", { skip: reason }, () => {});
} else {
  for (const [number, { name, bytes }] of someSessionFiles(3)) {
    if (!only.test(name)) continue;
    test(`native code and Wasm give the same bytes for ${name}`, (t) => {
      const data = bytes();
      const why = unread(data);
      if (!why) return checkSession(number, name, data);
      console.log(`skipped: ${name}: ${why}`);
      return t.skip(why);
    });
  }
  after(() => console.log(`native = Wasm, byte for byte: ${counted(total)}`));
}

/** Why the package does not read a file, if it does not. @param {Uint8Array} data */
function unread(data) {
  try {
    raw.session(data);
    return "";
  } catch (error) {
    // A core that refuses a file throws JSON; anything else is a defect of this test.
    if (typeof error !== "string" && !(/** @type {any} */ (error).code)) throw error;
    return String(error);
  }
}

/** @param {number} number @param {string} name @param {Uint8Array} data */
async function checkSession(number, name, data) {
  const json = raw.session(data);
  await checkSame(name, "session", [], data, () => [json]);
  const session = JSON.parse(json);
  const texts = sample(session.messages);
  const estimates = await checkSame(name, "estimate", [], JSON.stringify(texts), () =>
    ESTIMATORS.map((estimator) => {
      const tokens = texts.map((text) => raw.estimateTokens(text, estimator));
      return `${estimator} ${JSON.stringify(tokens)}`;
    }),
  );
  total.estimates += estimates * texts.length;
  total.sessions += 1;
  if (!isReadable(session.messageFormat)) return;
  const played = { ...session, calls: requestsOf(session) };
  const settings = settingsOf(number).map(([contextTokens, preset]) => ({
    window: {
      contextTokens,
      maxOutputTokens: Math.min(8_192, Math.floor(contextTokens / 16)),
    },
    format: session.messageFormat,
    preset,
  }));
  const options = settings.map((setting) => JSON.stringify(setting));
  const input = JSON.stringify(played);
  /** @param {(session: any, setting: any) => void} work */
  const recorded = (work) => () =>
    settings.flatMap((setting) => raw.listen(() => work(played, setting)));
  total.steps += await checkSame(name, "views", options, input, recorded(carry));
  total.replays += (await checkSame(name, "replay", options, input, recorded(replay))) / 5;
}

/** Windows and presets of a session. @param {number} number @returns {Array<[number, string]>} */
function settingsOf(number) {
  const all = presets.flatMap((preset, at) =>
    windows.map((contextTokens, which) => ({
      setting: /** @type {[number, string]} */ ([contextTokens, preset]),
      isChosen: size !== "short" || (number + at) % windows.length === which,
    })),
  );
  return all.filter(({ isChosen }) => isChosen).map(({ setting }) => setting);
}

/** Every request of a session, as a host makes them. @param {any} session @param {any} setting */
function carry(session, setting) {
  let now = 0;
  const manager = new raw.ContextManager({ ...setting, clock: () => now });
  // Objects that no session has seen: those of the one before are not read again.
  const { messages, system, tools } = structuredClone(session);
  let known = 0;
  for (const { sent, at } of session.calls) {
    now = at;
    manager.request(messages.slice(0, sent), { system, tools });
    known = sent;
  }
  for (let index = 0; index < known; index += 25) manager.explain(index);
  manager.status();
  manager.counters();
  manager[Symbol.dispose]();
}

/** @param {any} session @param {any} setting */
function replay(session, setting) {
  const run = raw.replay(session, setting);
  run.composition();
  run.messages();
  run.report(undefined, { detailKey: "system" });
  run[Symbol.dispose]();
}

/**
 * Holds what the native dump prints against our answers, which are found meanwhile; how many they are.
 *
 * @param {string} name @param {string} what @param {string[]} options @param {string | Uint8Array} input
 * @param {() => string[]} answers
 */
async function checkSame(name, what, options, input, answers) {
  const run = spawn(/** @type {string} */ (dump), [what, ...options]);
  const done = Promise.all([text(run.stdout), text(run.stderr), once(run, "close")]);
  run.stdin.end(input);
  // Lets the input go before our own work begins.
  await once(run.stdin, "finish");
  const ours = answers();
  const [own, complaint, [status]] = await done;
  assert.equal(status, 0, `${what}: ${complaint}`);
  const wasm = ours.map((line) => `${line}\n`).join("");
  if (own !== wasm) {
    let at = 0;
    while (own[at] === wasm[at]) at += 1;
    const part = (/** @type {string} */ all) => all.slice(Math.max(at - 60, 0), at + 60);
    const line = wasm.slice(0, at).split("\n").length;
    assert.fail(`${name} ${what}, line ${line}\nnative …${part(own)}…\nwasm   …${part(wasm)}…`);
  }
  total.bytes += own.length;
  return ours.length;
}

/** Texts from all over a session, and odd ones. @param {any[]} messages */
function sample(messages) {
  /** @type {string[]} */
  const all = [];
  JSON.stringify(messages, (_, value) => {
    if (typeof value === "string") all.push(value.toWellFormed());
    return value;
  });
  const every = Math.max(Math.ceil(all.length / TEXTS), 1);
  return [...ODD, ...all.filter((_, at) => at % every === 0)];
}

/** @param {Record<string, number>} counts */
function counted(counts) {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count.toLocaleString("en")}`)
    .join(" · ");
}
