// A command without a file: the newest session of an agent, which is told on standard error.
import assert from "node:assert/strict";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { AUDIT, checkRefusal, folder, spawned } from "./command.mjs";

/** A home, a folder to work in, and what stands where. */
function place() {
  const home = realpathSync(mkdtempSync(join(folder, "home-")));
  const cwd = join(home, "my work.d", "v_2");
  mkdirSync(cwd, { recursive: true });
  const slug = cwd.replace(/[^A-Za-z0-9]/g, "-");
  const put = (path, minutes, content) => {
    const fullPath = join(home, path);
    mkdirSync(dirname(fullPath), { recursive: true });
    if (content === undefined) copyFileSync(AUDIT, fullPath);
    else writeFileSync(fullPath, content);
    const at = Date.now() / 1000 - 60 * minutes;
    utimesSync(fullPath, at, at);
    return fullPath;
  };
  const env = { HOME: home, USERPROFILE: home };
  const run = (args, more = {}) => spawned(args, { cwd, env: { ...env, ...more } });
  return { cwd, slug, put, run };
}

test("commands without a file use the newest session of this folder, or else of an agent", () => {
  const { cwd, slug, put, run } = place();
  const announced = (args, more) => {
    const { code, err } = run(args, more);
    assert.equal(code, 0, err);
    return /^plimsoll: using the newest session: (.*)\n$/.exec(err)?.[1];
  };
  const openclaw = put(".openclaw/agents/main/sessions/a.jsonl", 9);
  assert.equal(announced(["map"]), openclaw);
  const cline = put(".cline/data/sessions/1796_x/1796_x.messages.json", 9 - 1 / 4);
  put(".cline/data/sessions/1796_x/1796_x.json", 1, "{}");
  assert.equal(announced(["map"]), cline);
  const copilot = put(".copilot/session-state/0422900f/events.jsonl", 9 - 1 / 3);
  put(".copilot/session-state/0422900f/workspace.yaml", 1, "x");
  assert.equal(announced(["map"]), copilot);
  const kimi = put(".kimi-code/sessions/wd_a/session_b/agents/main/wire.jsonl", 8);
  put(".kimi-code/sessions/wd_a/session_b/agents/agent-1/wire.jsonl", 1);
  assert.equal(announced(["map"]), kimi);
  const gemini = put(".gemini/tmp/work/chats/session-2026-01-02T03-04-a1b2c3d4.jsonl", 7);
  put(".gemini/tmp/work/logs.json", 6, "[]");
  assert.equal(announced(["map"]), gemini);
  const older = put(".qwen/tmp/3b1f/chats/session-2025-11-02T03-04-a1b2c3d4.json", 6);
  assert.equal(announced(["map"]), older);
  const codex = put(".codex/sessions/2026/01/02/rollout-a.jsonl", 5);
  assert.equal(announced(["inspect", "--chat"]), codex);
  const qwen = put(`.qwen/projects/${slug}/chats/8eb724b5-e1d1-47f9-aa60-b6034fda5b60.jsonl`, 90);
  put(`.qwen/projects/${slug}-other/chats/8eb724b5-e1d1-47f9-aa60-b6034fda5b60.jsonl`, 1);
  assert.equal(announced(["turns"]), qwen);
  assert.equal(announced(["turns"], { QWEN_HOME: join(cwd, "none") }), codex);
  const pi = put(`.pi/agent/sessions/--${cwd.slice(1).replaceAll("/", "-")}--/old.jsonl`, 60);
  assert.equal(announced(["turns"]), pi);
  const claude = put(`.claude/projects/${slug}/b.jsonl`, 30);
  put(`.claude/projects/${slug}/agent-b.jsonl`, 1);
  put(`.claude/projects/${slug}/empty.jsonl`, 1, "");
  put(`.claude/projects/${slug}/notes.txt`, 1, "x");
  put(`.claude/projects/${slug}-other/c.jsonl`, 1);
  mkdirSync(join(dirname(claude), "folder.jsonl"));
  for (const args of [
    ["inspect"],
    ["next"],
    ["check"],
    ["find", "harbour"],
    ["detail", "message:0"],
  ])
    assert.equal(announced([...args, "--window", "1m"]), claude);
  const elsewhere = put("elsewhere/projects/x/d.jsonl", 1);
  const config = dirname(dirname(dirname(elsewhere)));
  put(`elsewhere/projects/${slug}/e.jsonl`, 1);
  assert.equal(
    announced(["map"], { CLAUDE_CONFIG_DIR: config }),
    join(config, "projects", slug, "e.jsonl"),
  );
  const { err, out } = run(["inspect", "--chat", "--json"]);
  assert.equal(JSON.parse(out).sessionId, claude, err);
});

test("commands ask for a file if no agent session exists or they need one by name", () => {
  checkRefusal(["inspect"], assert, /FILE is missing: no agent session was found for this folder/);
  const { put, run } = place();
  put(".codex/sessions/2026/01/02/rollout-a.jsonl", 5);
  for (const args of [["rpc"], ["replay"], ["detail"], ["find"]]) {
    const { code, err } = run(args);
    assert.equal(code, 2);
    assert.match(err, /^plimsoll: .* is missing: .*\n$/);
  }
});
