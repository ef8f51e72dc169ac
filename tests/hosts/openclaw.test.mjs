/**
 * The packed package in the real OpenClaw: installed as a user installs it, and played with over the gateway's HTTP endpoint, while the
 * model checks and counts each request. `PLIMSOLL_OPENCLAW_TURNS` sets the turns of a run (at least 14, default 16),
 * `PLIMSOLL_OPENCLAW` the folder in whose `node_modules` OpenClaw is, `PLIMSOLL_OPENCLAW_WINDOW` the model's window in tokens. With
 * `PLIMSOLL_OPENCLAW_COMPARE` OpenClaw's own engine plays the same turns, and the bills are compared.
 */
import assert from "node:assert/strict";
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { emptyFolder, root, skip, tarball, write } from "../support/project.mjs";
import {
  baseConfig,
  Gateway,
  lockDatabase,
  openclaw,
  openclawMissing,
  readConfig,
  writeConfig,
} from "./openclaw/gateway.mjs";
import { startModel } from "./openclaw/model.mjs";

const TURNS = Math.max(14, Number(process.env.PLIMSOLL_OPENCLAW_TURNS ?? 16));
const WINDOW = Number(process.env.PLIMSOLL_OPENCLAW_WINDOW ?? 32_000);
/** Tool calls of the last turn. */
const LONG_TURN = 25;
const compares = !!process.env.PLIMSOLL_OPENCLAW_COMPARE;
const FACT = "ZX-4471-QUARTZ";
const missing = openclawMissing();

/** The page's first block of a language: what a user is asked to do. */
const page = readFileSync(join(root, "docs/hosts/openclaw.md"), "utf8");
const block = (language) => page.split(`\`\`\`${language}\n`)[1].split("```")[0];
const installation = /^openclaw (.+)$/m.exec(block("sh"))[1].split(" ");
const { plugins: documented } = JSON.parse(block("json"));

/** A folder with a configuration, and the package installed by the page's command. */
async function installedFolder(more = {}) {
  const folder = emptyFolder();
  writeConfig(folder, { ...(await baseConfig()), ...more });
  openclaw(
    folder,
    installation.map((word) => (word.endsWith(".tgz") ? tarball() : word)),
  );
  return folder;
}

test("`openclaw plugins install` of the package sets the slot of the context engine", async (t) => {
  if (missing) return skip(t, missing);
  const folder = await installedFolder();
  const { plugins } = readConfig(folder);
  assert.equal(plugins.slots.contextEngine, "plimsoll");
  assert.deepEqual(plugins.slots, documented.slots);
  assert.equal(plugins.entries.plimsoll.enabled, true);
});

/** A workspace to look at: some files of code. */
function workspace(folder) {
  const files = {};
  for (let file = 0; file < 6; file += 1) {
    const lines = Array.from(
      { length: 90 },
      (_, line) =>
        `export const berth${file}_${line} = (tide) => tide * ${line + 1} > ${file * 37 + line};`,
    );
    files[`ws/src/berth${file}.js`] = lines.join("\n");
  }
  write(folder, files);
  return join(folder, "ws");
}

/** Commands of a turn, in calls of one or two. */
function callsOf(turn) {
  const one = (at) => {
    const start = ((turn * 7 + at * 11) % 40) + 1;
    return `sed -n '${start},${start + 45}p' src/berth${(turn + at) % 6}.js`;
  };
  const calls = Array.from({ length: 1 + (turn % 3) }, (_, at) => [one(at)]);
  return turn % 4 === 0 ? [...calls, [one(7), one(8)]] : calls;
}

const APIS = { openai: "openai-completions", anthropic: "anthropic-messages" };
const at = (share) => Math.round(TURNS * share);

/** The configuration of a run: the model, a workspace, and the engine. */
async function configured(wire, api, base, engine) {
  const model = {
    ...{ id: "mock", name: "Mock", reasoning: false, input: ["text"] },
    ...{ contextWindow: WINDOW, maxTokens: 2_048 },
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  };
  const baseUrl = wire === "openai" ? `${base}/v1` : base;
  const mock = { baseUrl, apiKey: "none", api, models: [model] };
  const models = { mode: "merge", providers: { mock } };
  const isOurs = engine === "plimsoll";
  const folder = isOurs ? await installedFolder({ models }) : emptyFolder();
  const config = isOurs ? readConfig(folder) : { ...(await baseConfig()), models };
  config.agents = {
    defaults: {
      workspace: workspace(folder),
      model: { primary: "mock/mock" },
      heartbeat: { every: "0m" },
    },
  };
  if (isOurs) config.plugins = documented;
  writeConfig(folder, config);
  return folder;
}

/** Has OpenClaw's own engine answer a turn. Returns a word of it, or nothing if it was not answered. */
async function playElsewhere(gateway, model) {
  const choose = async (contextEngine) => {
    await gateway.stop();
    const config = readConfig(gateway.folder);
    config.plugins.slots = { contextEngine };
    writeConfig(gateway.folder, config);
    await gateway.start();
  };
  await choose("legacy");
  Object.assign(model.state, { calls: callsOf(1), say: "Done without Plimsoll.", fact: null });
  const { status, answer } = await gateway.turn("Look at BERTH-ELSEWHERE.");
  await choose("plimsoll");
  return status === 200 && answer.includes("Done without Plimsoll.") ? "BERTH-ELSEWHERE" : "";
}

/**
 * Plays the turns, with everything that goes wrong.
 * @returns what the model saw, what went wrong, the bill of each turn that was answered, and the gateway's log
 */
async function play(wire, api, engine) {
  const model = await startModel(WINDOW);
  const folder = await configured(wire, api, `http://127.0.0.1:${model.port}`, engine);
  const gateway = await new Gateway(folder).start();
  const failed = [];
  const bills = new Map();
  try {
    for (let turn = 1; turn <= TURNS; turn += 1) {
      Object.assign(model.state, {
        calls: callsOf(turn),
        say: `Turn ${turn} is done.`,
        fact: turn > 3 ? FACT : null,
        refuseNext: turn === at(0.4),
        isDown: turn >= at(0.6) && turn <= at(0.75),
      });
      // Locked before the turn, and while the host writes down what came of it.
      const isLocked = turn === at(0.85);
      const isLockedLate = turn === at(0.3);
      let lock = isLocked ? lockDatabase(folder, 15) : null;
      await lock?.locked;
      model.state.onSay = () => {
        if (!isLockedLate || lock) return undefined;
        lock = lockDatabase(folder, 8);
        return lock.locked;
      };
      const text =
        turn === 3
          ? `PIN: the access phrase of the harbour office is ${FACT}. Look at the tides.`
          : `Step ${turn}: look at berth ${turn * 37}, and keep BERTH-${1_000 + turn}.`;
      const before = model.seen.bill;
      const { status: code, answer } = await gateway.turn(text);
      await lock?.released;
      const isAnswered = code === 200 && answer.includes(`Turn ${turn} is done.`);
      if (turn % 50 === 0)
        console.log(
          `  turn ${turn}: ${model.seen.requests} requests, ${model.seen.invalid.length} invalid, ${model.seen.overflows} overflows, peak ${model.seen.peak}, ${model.seen.epochs} epochs`,
        );
      if (isAnswered) bills.set(turn, model.seen.bill - before);
      // What the host cannot write while its database is locked is its own affair: the next turn must be answered.
      if (!isAnswered && !isLocked && !isLockedLate)
        failed.push(`turn ${turn}: ${code} ${answer.slice(0, 300)}`);
      if (turn === at(0.5)) {
        await gateway.stop("SIGKILL");
        await gateway.start();
      }
    }
    const seen = { ...model.seen, invalid: [...model.seen.invalid] };
    // A turn of OpenClaw's own engine, and then ours again.
    const other = engine === "plimsoll" && (await playElsewhere(gateway, model));
    const { length } = model.seen.invalid;
    Object.assign(model.state, { calls: [], say: "A short turn is done.", fact: other || null });
    await gateway.turn("Is all well?");
    const isMissing = model.seen.factMissing > seen.factMissing;
    // A turn that may fill the window by itself.
    const calls = Array.from({ length: LONG_TURN }, (_, call) => callsOf(call)[0]);
    Object.assign(model.state, { calls, say: "The long turn is done.", fact: null });
    const { status: code, answer } = await gateway.turn(
      "Read all of it, one part after the other.",
    );
    const isAnswered = code === 200 && answer.includes("The long turn is done.");
    const overflows = model.seen.overflows - seen.overflows;
    const long = { isAnswered, overflows, invalid: model.seen.invalid.slice(length) };
    const { crashes } = gateway;
    return {
      ...{ seen, failed, bills, crashes, log: gateway.log() },
      ...{ long, other: { text: other, isMissing } },
    };
  } finally {
    await gateway.stop();
    model.close();
  }
}

/** Prints what a run came to. */
function report(name, { seen, failed, crashes, log, long }) {
  const lines = (pattern) => log.split("\n").filter((line) => pattern.test(line)).length;
  console.log(
    `${name}: ${TURNS - failed.length} of ${TURNS} turns, ${seen.requests} requests, ${seen.invalid.length} invalid, ` +
      `${seen.overflows} overflows (${seen.forced} forced), peak ${seen.peak}, ${seen.epochs} epochs, ${seen.tokens} input tokens, ` +
      `billed as ${Math.round(seen.bill)}, fact missing in ${seen.factMissing}, ${seen.summaries} summaries (${seen.summariesDown} refused) ` +
      `of ${seen.summaryTokens} tokens, ${seen.flushes} memory flushes, ${lines(/skipped accepted turn advancement/)} commits delivered again, ` +
      `${lines(/degraded to .?.?legacy/)} turns given to legacy, ${crashes} crashes of Node; ` +
      `a turn of ${LONG_TURN} calls: ${long.isAnswered ? "answered" : "not answered"}, ${long.overflows} requests too long`,
  );
}

for (const [wire, api] of Object.entries(APIS)) {
  test(`OpenClaw survives ${TURNS} turns with tools at ${WINDOW / 1000}k over ${api} with restarts, refusals and failures`, async (t) => {
    if (missing) return skip(t, missing);
    const ours = await play(wire, api, "plimsoll");
    const { seen, failed, log } = ours;
    report(api, ours);
    if (process.env.PLIMSOLL_OPENCLAW_LOG) appendFileSync(process.env.PLIMSOLL_OPENCLAW_LOG, log);
    const complaints = log.split("\n").filter((line) => /plimsoll: /.test(line));
    console.log(`${api}: ${complaints.length} lines of ours in the log`);
    for (const line of complaints.slice(0, 5)) console.log(`  ${line.slice(0, 300)}`);
    assert.deepEqual(failed, []);
    assert.deepEqual(seen.invalid, []);
    assert.equal(seen.forced, 1);
    assert.equal(seen.overflows, 0, "a request was too long");
    assert.equal(seen.factMissing, 0, "a request without the fact");
    assert.ok(seen.tools.has("context_recall"), `tools: ${[...seen.tools]}`);
    assert.ok(seen.peak <= WINDOW);
    assert.ok(ours.long.isAnswered, "the long turn");
    assert.deepEqual(ours.long.invalid, []);
    console.log(
      `${api}: the turn of OpenClaw's own engine was ${ours.other.text ? "" : "not "}answered`,
    );
    assert.ok(!ours.other.isMissing, "a request without the turn of OpenClaw's own engine");
    if (!compares) return;
    const theirs = await play(wire, api, "legacy");
    report(`${api}, OpenClaw's own engine`, theirs);
    const both = [...ours.bills.keys()].filter((turn) => theirs.bills.has(turn));
    const sum = ({ bills }) => both.reduce((all, turn) => all + bills.get(turn), 0);
    const ratio = sum(ours) / sum(theirs);
    console.log(
      `${api}: ${both.length} turns that both answered are billed as ${Math.round(sum(ours))} and ${Math.round(sum(theirs))}: ${ratio.toFixed(2)}`,
    );
    assert.ok(ratio <= 0.85, `${ratio} of what OpenClaw's own engine costs`);
    assert.ok(seen.summaryTokens <= theirs.seen.summaryTokens, "tokens of summaries");
  });
}
