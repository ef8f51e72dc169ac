import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Agent, StepClock, wallClock } from "./agent.mjs";
import { createOpenAi } from "./openai.mjs";
import { createPlanner } from "./planner.mjs";
import { anthropicRequest, openaiMessages, piLines } from "./record.mjs";
import { SESSIONS, SYSTEM } from "./sessions.mjs";
import { Tools } from "./tools.mjs";

const HARBOUR = fileURLToPath(new URL("./harbour", import.meta.url));
const START = Date.UTC(2026, 2, 2, 8, 0, 0);

/** A fresh copy of the project to work on, with a history that has the same hashes everywhere. */
function workspace() {
  const folder = join(mkdtempSync(join(tmpdir(), "gateway-")), "harbour");
  cpSync(HARBOUR, folder, { recursive: true });
  const who = { NAME: "Harbour", EMAIL: "harbour@example.org", DATE: "2026-02-01T12:00:00Z" };
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
  };
  for (const [key, value] of Object.entries(who))
    Object.assign(env, { [`GIT_AUTHOR_${key}`]: value, [`GIT_COMMITTER_${key}`]: value });
  const git = (...args) =>
    execFileSync("git", ["-c", "core.autocrlf=false", "-c", "core.fileMode=false", ...args], {
      cwd: folder,
      env,
      stdio: "pipe",
    });
  git("init", "-q", "-b", "main");
  const commits = [
    ["Rules and decisions", "README.md", "docs", "data", "package.json"],
    ["Time, intervals, tide", "src/clock.js", "src/interval.js", "src/tide.js"],
    ["Vessels, berths and pilots", "src/vessel.js", "src/berth.js", "src/pilot.js"],
    ["The planner and its simulation", "src"],
    ["Tests", "."],
  ];
  for (const [message, ...paths] of commits) {
    git("add", ...paths);
    git("commit", "-q", "-m", message);
  }
  return folder;
}

/** Takes out of a command's output what differs from machine to machine: the folder, times taken, Node's own lines. */
function steady(output, root) {
  return output
    .replaceAll(`file://${root}`, "/workspace/harbour")
    .replaceAll(root, "/workspace/harbour")
    .replace(/duration_ms:? [\d.]+/g, "duration_ms 1")
    .replace(/^.*\(?node:internal.*\)?\n?/gm, "")
    .replace(/^# Subtest: .*\n/gm, "")
    .replace(/Node\.js v[\d.]+/g, "Node.js v20");
}

async function contextManager(window) {
  const { ContextManager } = await import("plimsoll");
  return new ContextManager({ window: { contextTokens: window }, format: "pi" });
}

function modelFromEnvironment() {
  const { MODEL_URL: url, MODEL_NAME: model, MODEL_KEY: key } = process.env;
  return url && model ? createOpenAi({ url, model, key }) : createPlanner();
}

const { values } = parseArgs({
  options: {
    session: { type: "string" },
    record: { type: "string" },
    window: { type: "string" },
    quiet: { type: "boolean" },
  },
});

const chosen = SESSIONS.filter(({ file }) =>
  file.includes(values.session ?? (values.record === undefined ? "plan" : "")),
);
for (const { file, form, asks } of chosen) {
  const folder = workspace();
  const recording = values.record !== undefined;
  const clock = recording ? new StepClock(START) : wallClock;
  const context = values.window === undefined ? null : await contextManager(Number(values.window));
  const tools = new Tools(folder, recording ? { steady } : {});
  const agent = new Agent({
    model: modelFromEnvironment(),
    tools,
    system: SYSTEM,
    context,
    clock,
    onRequest: values.quiet ? undefined : report,
  });
  for (const { text, after } of asks) {
    clock.tick(after);
    const answer = await agent.turn(text);
    if (!values.quiet) console.log(`\n> ${text}\n\n${answer}\n`);
  }
  console.log(
    `${file}: ${asks.length} turns, ${agent.calls} model calls, ${agent.history.length} messages`,
  );
  if (recording) {
    mkdirSync(values.record, { recursive: true });
    const parts = {
      system: SYSTEM,
      tools: tools.definitions,
      id: file.split(".")[0],
      cwd: "/workspace/harbour",
    };
    const json = (value) => `${JSON.stringify(value, null, 1)}\n`;
    const forms = {
      pi: () => piLines(agent.history, parts),
      anthropic: () => json(anthropicRequest(agent.history, parts)),
      openai: () => json(openaiMessages(agent.history, parts)),
    };
    writeFileSync(join(values.record, file), forms[form]());
  }
  rmSync(join(folder, ".."), { recursive: true, force: true });
}

function report({ call, messages, prepared }) {
  const sent =
    prepared === undefined
      ? ""
      : `, ${prepared.tokens} tokens, epoch ${prepared.epoch}${prepared.edits.length > 0 ? `, ${prepared.edits.length} edits` : ""}`;
  console.error(`call ${call}: ${messages.length} messages${sent}`);
}
