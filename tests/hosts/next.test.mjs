/** The packed package in a Next app without configuration, built by each of its bundlers and served. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cell } from "../support/cells.mjs";
import { openUrl } from "../support/chromium.mjs";
import { hostTools } from "../support/matrix.mjs";
import { expected, linkTools, project, root, run } from "../support/project.mjs";

process.env.NEXT_TELEMETRY_DISABLED = "1";

// Without "type": "module", as Next sets an app up: its own webpack build of an edge route fails with it.
const folder = project({}, {});
linkTools(hostTools, folder);
cpSync(join(root, "tests/hosts/next"), folder, { recursive: true });
const answer = expected(folder);
const next = join(folder, "node_modules/next/dist/bin/next");

/** Serves the built app while `work` asks it. */
async function serving(work) {
  const args = [next, "start", "--hostname", "127.0.0.1", "--port", "0"];
  const server = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const gone = new Promise((done) => server.on("exit", done));
  try {
    const ready = new Promise((resolve) => {
      const listen = (text) => {
        output += text;
        const url = output.match(/http:\/\/127\.0\.0\.1:\d+/)?.[0];
        if (url && output.includes("Ready")) resolve(url);
      };
      server.stdout.on("data", listen);
      server.stderr.on("data", listen);
    });
    const url = await Promise.race([ready, gone]);
    if (typeof url !== "string") throw new Error(output);
    return await work(url);
  } finally {
    server.kill();
    await gone;
  }
}

/** What a path of the app answers. */
const ask = (path) =>
  serving(async (url) => {
    const response = await fetch(url + path);
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return text;
  });

for (const [host, flag] of Object.entries({ turbopack: "--turbopack", nextWebpack: "--webpack" })) {
  let built = false;
  /** A cell on the app as this bundler builds it, once. */
  const onApp = (name, work, needs) => {
    const test = async () => {
      if (!built) {
        rmSync(join(folder, ".next"), { recursive: true, force: true });
        run(process.execPath, [next, "build", flag], folder);
        built = true;
      }
      await work();
    };
    cell(`${host}-${name}`, test, needs);
  };
  onApp("server", async () => {
    const html = await ask("/");
    const text = html.match(/id="server">([^<]*)</)?.[1] ?? "";
    assert.equal(decodeURIComponent(text), answer);
    assert.match(html, /<p>\d+(<!-- -->)? tokens<\/p>/);
  });
  onApp("route", async () => assert.equal(await ask("/node"), answer));
  onApp(
    "client",
    () => serving(async (url) => assert.equal(await openUrl(url), answer)),
    "chromium",
  );
  onApp("edge", async () => assert.equal(await ask("/edge"), answer));
}
