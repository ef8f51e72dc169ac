// The packed command, from outside: PLIMSOLL_BIN, by default npm/dist/cli.js.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { MessageChannel, receiveMessageOnPort, Worker } from "node:worker_threads";
import { build } from "esbuild";

export const here = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const BIN = process.env.PLIMSOLL_BIN ?? here("npm/dist/cli.js");
/** The words that start the command. */
export const start = /\.m?js$/.test(BIN) ? [process.execPath, BIN] : [BIN];

export const AUDIT = here("examples/sessions/harbour-audit.pi.jsonl");
export const PLAN = here("examples/sessions/harbour-plan.anthropic.json");
export const EXPORTS = here("examples/sessions/harbour-exports.openai.json");

export const folder = mkdtempSync(join(tmpdir(), "plimsoll-cli-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** The exports of a file of `js/`: the command's own files are bundled in the package. */
export async function ofSources(path) {
  const outfile = join(folder, `${path.replace("/", "-")}.mjs`);
  const built = { bundle: true, format: "esm", platform: "node", target: "es2022" };
  await build({ ...built, entryPoints: [here(`js/${path}`)], outfile });
  return import(pathToFileURL(outfile).href);
}

export function file(name, content) {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const [command, ...first] = start;
/** At home nobody has a session. */
export const ENV = {
  PATH: process.env.PATH,
  TERM: "xterm-256color",
  HOME: folder,
  USERPROFILE: folder,
};

/** The command while it runs. */
export const started = (args) => spawn(command, [...first, ...args], { env: ENV });

/** The command in a process of its own. */
export function spawned(args, { env = {}, input, cwd } = {}) {
  const ran = spawnSync(command, [...first, ...args], {
    env: { ...ENV, ...env },
    input,
    cwd,
    encoding: "utf8",
    maxBuffer: 1e8,
  });
  return { code: ran.status, out: ran.stdout, err: ran.stderr };
}

/** The command in a thread of this process, which takes a fifth of the time. What needs a process of its own is in `spawned`. */
export function plimsoll(args) {
  thread ??= startThread();
  Atomics.store(thread.answered, 0, 0);
  thread.port.postMessage(args);
  const waited = Atomics.wait(thread.answered, 0, 0, 300_000);
  const ran = receiveMessageOnPort(thread.port)?.message;
  if (!ran) throw new Error(`plimsoll ${args.join(" ")} did not end: ${waited}`);
  return ran;
}

let thread;
function startThread() {
  const { port1, port2 } = new MessageChannel();
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const main = join(dirname(realpathSync(BIN)), "cli/main.js");
  const worker = new Worker(new URL("thread.mjs", import.meta.url), {
    env: ENV,
    workerData: { main, port: port2, answered },
    transferList: [port2],
  });
  worker.unref();
  port1.unref();
  return { port: port1, answered };
}

/** A session whose every text steers a terminal, turns its direction or hides. */
export const EVIL = "rm\u001b[2J\u001b]0;owned\u0007\u009b31m\u202e\u061c\u200d\r\nX";
export function hostile() {
  const call = { type: "tool_use", id: "a", name: EVIL, input: { [EVIL]: EVIL } };
  const result = {
    type: "tool_result",
    tool_use_id: "a",
    content: `${EVIL.repeat(2000)}${"wide ".repeat(20_000)}`,
  };
  const messages = [
    { role: "user", content: EVIL },
    { role: "assistant", content: [call] },
    { role: "user", content: [result] },
    { role: "assistant", content: EVIL },
  ];
  return file(
    "evil \u001b[31m.json",
    JSON.stringify({ system: EVIL, tools: [{ name: EVIL, description: EVIL }], messages }),
  );
}

/** What no output of ours may hold. */
export const STEERS = /(?!\n)[\p{Cc}\p{Cf}]/u;

/** The report of a command that has to succeed. */
export function json(args) {
  const { code, out, err } = plimsoll([...args, "--json"]);
  if (code !== 0) throw new Error(`${args.join(" ")}: ${err}`);
  return JSON.parse(out);
}

/** A command line that is refused: code 2, nothing on stdout, one line without a stack that says what is allowed. */
export function checkRefusal(args, assert, message, code = 2) {
  const ran = plimsoll(args);
  assert.equal(ran.code, code, `${args.join(" ")}: ${ran.err}`);
  assert.equal(ran.out, "");
  assert.match(ran.err, message);
  assert.match(ran.err, /^plimsoll: .*\n$/, "one line, and no stack");
}
