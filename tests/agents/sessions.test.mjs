/**
 * Recorded views against what agents really send: each agent works with a model on this machine that keeps its requests, compacts, and
 * goes on in another process. Each part that a view shows as sent is in the request, and each part of a request is in the view, in what
 * stands for messages that are gone, or in the system prompt.
 */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { root, skip } from "../support/project.mjs";
import { AGENTS, NODE } from "./agents.mjs";
import { startModel } from "./model-server.mjs";

const STEPS = 25;
const FILES = 60;
const PROMPTS = ["Read every berth.", "Once more."];
/** Letters of a request that may be nowhere in a file: what an agent says of its summary, and tags around texts. */
const FRAME = 600;
const TIMEOUT = 300_000;

const { readSession, recordedView } = process.env.PLIMSOLL
  ? await import(join(dirname(process.env.PLIMSOLL), "entry/sessions.node.js"))
  : {};

/** Installs an agent if it is not; returns where, or why it cannot be. */
function installed({ wanted, program }) {
  const home = join(root, "build/agents", wanted.replace(/[^a-z\d]+/gi, "-"));
  const path = join(home, "node_modules", program);
  if (existsSync(path)) return { path };
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "package.json"), '{ "private": true }\n');
  const args = ["install", wanted, "--ignore-scripts", "--no-audit", "--no-fund"];
  const { stderr } = spawnSync("npm", args, { cwd: home, encoding: "utf8", shell: true });
  if (existsSync(path)) return { path };
  return {
    missing: `${wanted} cannot be installed: ${stderr.trim().split("\n").slice(0, 3).join("; ")}`,
  };
}

/** Runs a program to its end; returns what it printed. To a pipe some print no more than what fits it at once. */
async function run(program, args, options) {
  const folder = mkdtempSync(join(tmpdir(), "plimsoll-printed-"));
  const [out, err] = ["out", "err"].map((name) => join(folder, name));
  const stdio = ["ignore", openSync(out, "w"), openSync(err, "w")];
  const child = spawn(program, args, { ...options, stdio, timeout: TIMEOUT });
  await new Promise((resolve) => child.on("close", resolve));
  for (const file of stdio.slice(1)) closeSync(file);
  return { out: readFileSync(out, "utf8"), err: readFileSync(err, "utf8") };
}

/** The session that an agent has written, as text. */
async function sessionOf(agent, place, start) {
  if (agent.exported) {
    const listed = await start(["session", "list"]);
    const [id] = /ses_\w+/.exec(listed.out) ?? [];
    return (await start([...agent.exported, id])).out;
  }
  const names = readdirSync(place.home, { recursive: true }).filter((name) =>
    agent.session.test(name),
  );
  assert.equal(names.length, 1, `${agent.name} writes one session: ${names}`);
  return readFileSync(join(place.home, names[0]), "utf8");
}

const textOf = (content) =>
  typeof content === "string" ? [content] : (content ?? []).map(({ text }) => text).filter(Boolean);
/** The parts of a message in any of the wires: texts, calls, results. */
function partsOf(message) {
  const { type, role, content, sections, call_id: item } = message;
  if (type === "function_call") return [{ call: item }];
  if (type === "function_call_output") return [{ result: item }];
  if (type === "reasoning") return [];
  if (role === "tool" || role === "toolResult")
    return [{ result: message.tool_call_id ?? message.toolCallId }];
  const blocks = Array.isArray(content) ? content : [];
  const calls = blocks.filter(({ type }) => type === "tool_use" || type === "toolCall");
  const results = blocks.filter(({ type }) => type === "tool_result");
  return [
    ...[...textOf(content), ...Object.values(sections ?? {})].map((text) => ({ text })),
    ...[...(message.tool_calls ?? []), ...calls].map(({ id }) => ({ call: id })),
    ...results.map(({ tool_use_id: result }) => ({ result })),
  ];
}
const ids = (parts, kind) =>
  parts
    .map((part) => part[kind])
    .filter(Boolean)
    .sort();

/** What the request of a call holds that is neither in the view nor in what stands for the rest; throws if the view shows more. */
function restOf(session, view, call, request) {
  const kept = new Set(
    view
      .messages(call)
      .filter(({ state }) => state === "kept")
      .map(({ index }) => index),
  );
  const shown = [...kept].flatMap((index) => partsOf(session.messages[index]));
  const isCompared = ({ role }) => role !== "system" || !session.receipt.absent.includes("system");
  const sent = request.messages.filter(isCompared).flatMap(partsOf);
  for (const kind of ["call", "result"]) assert.deepEqual(ids(shown, kind), ids(sent, kind));
  const fold = session.compactions.findLast((record) => record.call <= call);
  const { system, instructions } = request.body;
  const systems = [session.system, instructions, ...textOf(system)].filter(Boolean);
  const plain = (text) => text.replace(/<\/?system-reminder>/g, "").trim();
  let rest = sent
    .map(({ text }) => text && plain(text))
    .filter(Boolean)
    .join("\n");
  for (const { text } of shown) {
    if (!text) continue;
    assert.ok(rest.includes(plain(text)), `shown, and not sent: ${text.slice(0, 200)}`);
  }
  const known = [...shown.map(({ text }) => text), ...systems, ...[fold?.head, fold?.summary]];
  const pieces = known
    .filter(Boolean)
    .flatMap((text) => [text, ...text.split("\n\n")])
    .map(plain);
  for (const piece of pieces.sort((a, b) => b.length - a.length)) {
    if (piece) rest = rest.replaceAll(piece, "");
  }
  return rest.replace(/\s+/g, " ").trim();
}

for (const agent of AGENTS) {
  test(`${agent.name}: what the reader says was sent is what was sent`, async (t) => {
    if (!readSession) return skip(t, "there is no package to test");
    const { path, missing } = installed(agent);
    const without = missing ?? (agent.needsNode && !existsSync(NODE) ? `${NODE} is not there` : "");
    if (without) return skip(t, without);
    const folder = mkdtempSync(join(tmpdir(), "plimsoll-agent-"));
    const [home, work] = [join(folder, "home"), join(folder, "work")];
    for (const one of [home, work]) mkdirSync(one);
    const file = (at) => join(work, `berth${at}.txt`);
    for (let at = 0; at < FILES; at += 1) {
      writeFileSync(file(at), `berth ${at} holds ship number ${at}\n`.repeat(90));
    }
    const { read, summary } = agent;
    const of = (step) => file(step % FILES);
    const model = await startModel({ read, summary, path: of, steps: STEPS });
    t.after(model.stop);
    const place = { home, work, url: model.url };
    for (const [name, content] of Object.entries(agent.files?.(place) ?? {}))
      writeFileSync(join(home, name), content);
    const env = { ...process.env, HOME: home, ...agent.env(place) };
    const start = (args) =>
      agent.needsNode
        ? run(NODE, [path, ...args], { cwd: work, env })
        : run(path, args, { cwd: work, env });
    let printed;
    for (const [at, prompt] of (agent.prompts ?? PROMPTS).entries()) {
      printed = await start(agent.args(prompt, at === 0, place));
    }
    const requests = model.requests.filter((one) => !one.isSummary);
    assert.ok(requests.length > STEPS, `${printed.out.slice(-500)}${printed.err.slice(-500)}`);
    const session = readSession(await sessionOf(agent, place, start));
    const view = recordedView(session);
    // The summary of a compaction may be written as a call.
    const all = session.calls.length === requests.length ? requests : model.requests;
    const { unknown, broken } = session.receipt;
    assert.deepEqual({ unknown, broken }, { unknown: 0, broken: [] });
    assert.equal(session.calls.length, all.length);
    let most = 0;
    for (const [call, request] of all.entries()) {
      assert.equal(session.calls[call].usage?.inputTokens, request.tokens, `usage of call ${call}`);
      if (request.isSummary) continue;
      const rest = restOf(session, view, call, request);
      most = Math.max(most, rest.length);
      assert.ok(
        rest.length <= FRAME,
        `call ${call}: sent, and not in the file: ${rest.slice(0, 600)}`,
      );
    }
    const folds = session.compactions.length;
    assert.ok(folds > 0, "it compacts");
    console.log(
      `${agent.wanted}: ${all.length} calls, ${folds} compactions, ${session.messages.length} messages; at most ${most} letters of a request are not in the file`,
    );
    view.free?.();
  });
}
