/** Workers in workerd, the runtime of Cloudflare Workers. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { tools, write } from "./project.mjs";

/** A configuration of workerd that serves these modules, the first of them being the program. */
function workerdConfig(files) {
  const kind = (file) => (file.endsWith(".wasm") ? "wasm" : "esModule");
  const modules = files.map((file) => `(name = "${file}", ${kind(file)} = embed "${file}")`);
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [${modules.join(", ")}],
    compatibilityDate = "2026-01-01",
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);`;
}

/**
 * What a worker answers to `GET /`.
 * @param {string} served the folder of its files
 * @param {string} main its program
 * @param {string[]} files that it may import
 */
export function askWorkerd(served, main, files) {
  return withWorkerd(served, main, files, async (origin) => {
    const response = await fetch(origin);
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return text;
  });
}

/**
 * Runs a worker as long as `ask` takes, and returns what that returns; an error has what the worker printed.
 * @template T
 * @param {string} served the folder of its files
 * @param {string} main its program
 * @param {string[]} files that it may import
 * @param {(origin: string) => Promise<T>} ask
 */
export async function withWorkerd(served, main, files, ask) {
  const modules = [main, ...files.filter((file) => file !== main)];
  write(served, { "config.capnp": workerdConfig(modules) });
  const args = ["serve", "config.capnp", "--control-fd=3"];
  const stdio = ["ignore", "ignore", "pipe", "pipe"];
  const worker = spawn(join(tools, ".bin/workerd"), args, { cwd: served, stdio });
  let errors = "";
  worker.stderr.on("data", (text) => {
    errors += text;
  });
  const gone = new Promise((done) => worker.on("exit", done));
  try {
    const listens = new Promise((resolve) => {
      worker.stdio[3].on("data", (text) => resolve(JSON.parse(String(text).split("\n")[0]).port));
    });
    const port = await Promise.race([listens, gone]);
    if (port === undefined || worker.exitCode !== null) throw new Error("the worker has ended");
    return await ask(`http://127.0.0.1:${port}/`);
  } catch (error) {
    error.message += `\n${errors}`;
    throw error;
  } finally {
    worker.kill();
    await gone;
  }
}
