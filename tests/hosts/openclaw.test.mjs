/**
 * The packed package in the real OpenClaw: installed as a user installs it, and played with over the gateway's HTTP endpoint, while the
 * model checks and counts each request. `PLIMSOLL_OPENCLAW_TURNS` sets the turns of a run (at least 14, default 16),
 * `PLIMSOLL_OPENCLAW` the folder in whose `node_modules` OpenClaw is.
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
const WINDOW = 32_000;
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

for (const [wire, api] of Object.entries(APIS)) {
  test(`${TURNS} turns with tools at 32k over ${api}, with everything that goes wrong`, async (t) => {
    if (missing) return skip(t, missing);
    const model = await startModel(WINDOW);
    const base = `http://127.0.0.1:${model.port}`;
    const folder = await installedFolder({
      models: {
        mode: "merge",
        providers: {
          mock: {
            ...{ baseUrl: wire === "openai" ? `${base}/v1` : base, apiKey: "none", api },
            models: [
              {
                ...{ id: "mock", name: "Mock", reasoning: false, input: ["text"] },
                ...{ contextWindow: WINDOW, maxTokens: 2_048 },
                cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
              },
            ],
          },
        },
      },
    });
    const config = readConfig(folder);
    config.agents = {
      defaults: {
        workspace: workspace(folder),
        model: { primary: "mock/mock" },
        heartbeat: { every: "0m" },
      },
    };
    config.plugins = documented;
    writeConfig(folder, config);
    const gateway = await new Gateway(folder).start();
    const failed = [];
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
        const { status: code, answer } = await gateway.turn(text);
        await lock?.released;
        const isAnswered = code === 200 && answer.includes(`Turn ${turn} is done.`);
        // What the host cannot write while its database is locked is its own affair: the next turn must be answered.
        if (!isAnswered && !isLocked && !isLockedLate)
          failed.push(`turn ${turn}: ${code} ${answer.slice(0, 300)}`);
        if (turn === at(0.5)) {
          await gateway.stop("SIGKILL");
          await gateway.start();
        }
      }
    } finally {
      await gateway.stop();
      model.close();
    }
    const { seen } = model;
    const log = gateway.log();
    const lines = (pattern) => log.split("\n").filter((line) => pattern.test(line));
    const degraded = lines(/degraded to .?.?legacy/).length;
    const again = lines(/skipped accepted turn advancement/).length;
    const complaints = lines(/plimsoll: /);
    console.log(
      `${api}: ${TURNS - failed.length} of ${TURNS} turns, ${seen.requests} requests, ${seen.invalid.length} invalid, ` +
        `${seen.overflows} overflows (${seen.forced} forced), peak ${seen.peak}, ${seen.epochs} epochs, ${seen.tokens} input tokens, ` +
        `fact missing in ${seen.factMissing}, ${seen.summaries} summaries (${seen.summariesDown} refused), ` +
        `${seen.flushes} memory flushes, ${again} commits delivered again, ${degraded} turns given to legacy`,
    );
    if (process.env.PLIMSOLL_OPENCLAW_LOG) appendFileSync(process.env.PLIMSOLL_OPENCLAW_LOG, log);
    assert.deepEqual(failed, []);
    assert.deepEqual(seen.invalid, []);
    assert.equal(seen.forced, 1);
    assert.equal(seen.overflows, 0, "a request was too long");
    assert.equal(seen.factMissing, 0, "a request without the fact");
    assert.ok(seen.tools.has("context_recall"), `tools: ${[...seen.tools]}`);
    assert.ok(seen.peak <= WINDOW);
    console.log(`${api}: ${complaints.length} lines of ours in the log`);
    for (const line of complaints.slice(0, 5)) console.log(`  ${line.slice(0, 300)}`);
  });
}
