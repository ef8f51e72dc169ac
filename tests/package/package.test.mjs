/** The package as it is published: its files, its entries, its types, and what it does after a trap. */
import assert from "node:assert/strict";
import { readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { listTarball, project, root, run, tarball } from "../support/project.mjs";

const CONSUMER = `import { ContextManager, estimateTokens, PlimsollError, type Estimator } from "plimsoll";
import { init, initSync } from "plimsoll/slim";
import { storeConformance } from "plimsoll/store/conformance";
import { fileStore } from "plimsoll/store/file";
import { type RedisClient, redisStore } from "plimsoll/store/redis";
import { sqliteStore } from "plimsoll/store/sqlite";
import { Workspace, type WorkspaceOptions } from "plimsoll/workspace";

const estimator: Estimator = "o200k";
export const tokens: number = estimateTokens("text", estimator);
export const started: [typeof init, typeof initSync] = [init, initSync];
const options: WorkspaceOptions = { poll: 0, home: false };
export const sections: Promise<object[]> = Workspace.open(".", options).then((one) => one.sections());
export const stores = (client: RedisClient): object[] => [fileStore("."), sqliteStore("sessions.db"), redisStore(client)];
export const checks: AsyncIterable<{ name: string; ok: boolean }> = storeConformance(async () => fileStore("."));
const window = { contextTokens: 1000 };
export const managers = (preset: "balanced" | "aceclaw"): object[] => [
  new ContextManager({ window, preset }),
  new ContextManager({ window, retention: 0.7, ingestCap: 0.1, keep: "lines" }),
  new ContextManager({ window, preset: "hermes", stubChars: 100 }),
  // @ts-expect-error another system's preset has no \`retention\`
  new ContextManager({ window, preset: "hermes", retention: 0.7 }),
  // @ts-expect-error another system's preset has no \`keep\`
  new ContextManager({ window, preset: "hermes", keep: "lines" }),
  // @ts-expect-error ours has no \`strategy\`
  new ContextManager({ window, preset: "capacity", strategy: "discard" }),
];
export function size(error: PlimsollError): number {
  // @ts-expect-error \`size\` is known only after a look at the code
  error.info.size;
  return error.info.code === "TOO_LARGE" ? error.info.size : 0;
}
`;
const NODENEXT = {
  compilerOptions: { module: "nodenext", target: "es2022", strict: true, noEmit: true, types: [] },
  files: ["consumer.mts", "consumer.cts"],
};
const BUNDLER = {
  compilerOptions: { ...NODENEXT.compilerOptions, module: "esnext", moduleResolution: "bundler" },
  files: ["consumer.mts"],
};

/** The clients of `redis`, by that package's own types. */
const CLIENTS = `import { createClient, createCluster, createClientPool } from "redis";
import { redisStore } from "plimsoll/store/redis";
import type { Store } from "plimsoll";

export const stores: Store[] = [
  redisStore(createClient({ url: "redis://127.0.0.1:6379" }), { prefix: "tests:" }),
  redisStore(createCluster({ rootNodes: [] })),
  redisStore(createClientPool()),
];
`;

const folder = project({
  "consumer.mts": CONSUMER,
  "consumer.cts": CONSUMER,
  "clients.mts": CLIENTS,
  "nodenext.json": JSON.stringify(NODENEXT),
  "bundler.json": JSON.stringify(BUNDLER),
  "one.cjs": `const required = require("plimsoll");
import("plimsoll").then((imported) => console.log(required.PlimsollError === imported.PlimsollError));`,
  "shared.mjs": `import { estimateTokens } from "plimsoll";
import * as slim from "plimsoll/slim";
console.log(slim.estimateTokens("text") === estimateTokens("text"));`,
  "early.mjs": `import { estimateTokens } from "plimsoll/slim";
try { estimateTokens("text"); } catch (error) { console.log(error.message); }`,
  "half.mjs": `import { readFileSync, symlinkSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as slim from "plimsoll/slim";
const bytes = (name) => readFileSync(fileURLToPath(import.meta.resolve(\`plimsoll/\${name}.wasm\`)));
const read = () => slim.readSession('[{"role":"user","content":"go"}]').messages.length;
const message = (work) => { try { return work(); } catch (error) { return error.message; } };
slim.initSync(bytes("plimsoll"));
const before = [slim.estimateTokens("text"), message(read)];
slim.initSync(bytes("sessions"));
slim.initSync(bytes("sessions"));
const another = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
console.log(JSON.stringify([...before, read(), message(() => slim.initSync(another))]));`,
  "hidden.mjs": `delete globalThis.TextDecoder;
delete globalThis.TextEncoder;
const { estimateTokens } = await import("plimsoll");
console.log(estimateTokens("text", "chars/4"));`,
  "bare.mjs": `delete globalThis.TextDecoder;
delete globalThis.TextEncoder;
const { getBuiltinModule } = process;
process.getBuiltinModule = (name) => (name === "node:util" ? undefined : getBuiltinModule(name));
const { estimateTokens } = await import("plimsoll");
try { estimateTokens("text"); } catch (error) { console.log(error.message); }`,
  "sealed.mjs": `process.getBuiltinModule = undefined;
const { estimateTokens } = await import("plimsoll");
try { estimateTokens("text"); } catch (error) { console.log(error.message); }
const slim = await import("plimsoll/slim");
const { readFileSync } = await import("node:fs");
slim.initSync(readFileSync(new URL(import.meta.resolve("plimsoll/plimsoll.wasm"))));
console.log(slim.estimateTokens("text", "chars/4"));`,
});
const installed = join(folder, "node_modules/plimsoll");

test("the package contains the published files and nothing else", () => {
  const listed = listTarball(tarball());
  assert.ok(listed.includes("package/dist/plimsoll.wasm"), listed.join());
  const meant =
    /^package\/((package|openclaw\.plugin)\.json|README\.md|CHANGELOG\.md|LICENSE-(MIT|APACHE)|dist\/.+\.(js|d\.ts|json|wasm)|dist\/inspector\.html)$/;
  assert.deepEqual(
    listed.filter((path) => !meant.test(path)),
    [],
  );
  for (const path of listed) {
    const text = readFileSync(join(installed, path.replace("package/", "")), "latin1");
    assert.ok(!text.includes(root), `${path} names a folder of the machine that built it`);
    // Its compiled form throws where `Symbol.dispose` is missing: Safari, jsdom, older Chrome. The programs run in Node.
    const isOfProgram = /\/dist\/(cli|workspace)\//.test(path);
    assert.ok(isOfProgram || !text.includes("__using("), `${path} has a \`using\` declaration`);
  }
  const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  assert.equal(manifest.dependencies, undefined);
  assert.match(
    readFileSync(join(root, "Cargo.toml"), "utf8"),
    new RegExp(`version = "${manifest.version}"`),
  );
});

test("in Node an import of the main entry reads two files, and finds them all", () => {
  const files = new Set([join(installed, "dist/index.node.js")]);
  for (const file of files) {
    const code = readFileSync(file, "utf8");
    for (const [, path] of code.matchAll(/\b(?:from|import) ?["'](\.[^"']+)["']/g))
      files.add(join(dirname(file), path));
  }
  assert.equal(files.size, 2, [...files].join("\n"));
});

test("require and import share one instance", () => {
  assert.equal(run(process.execPath, ["one.cjs"], folder), "true");
});

test("plimsoll and plimsoll/slim share one instance", () => {
  assert.equal(run(process.execPath, ["shared.mjs"], folder), "true");
});

test("plimsoll/slim names the function to call if it was not initialized", () => {
  assert.match(
    run(process.execPath, ["early.mjs"], folder),
    /init\(source\).* or `initSync\(bytes\)` first/,
  );
});

test("plimsoll/slim accepts each Wasm separately and names the missing one", () => {
  const [tokens, missing, messages, another] = JSON.parse(
    run(process.execPath, ["half.mjs"], folder),
  );
  assert.ok(tokens > 0);
  assert.match(missing, /`initSync\(bytes\)` first, with plimsoll\/sessions\.wasm/);
  assert.equal(messages, 1);
  assert.match(
    another,
    /source: expected plimsoll\/plimsoll\.wasm or plimsoll\/sessions\.wasm or plimsoll\/prompt\.wasm or plimsoll\/compact\.wasm or plimsoll\/candidates\.wasm/,
  );
});

test("the package finds Node's text coders if the globals are hidden", () => {
  assert.equal(run(process.execPath, ["hidden.mjs"], folder), "1");
});

test("an environment without text coders gets an error that names them", () => {
  assert.match(run(process.execPath, ["bare.mjs"], folder), /needs TextEncoder and TextDecoder/);
});

test("an environment that hides Node's modules gets an error that names plimsoll/slim, which works there", () => {
  const [error, tokens] = run(process.execPath, ["sealed.mjs"], folder).split("\n");
  assert.match(error, /needs process\.getBuiltinModule, .*: import plimsoll\/slim/);
  assert.equal(tokens, "1");
});

for (const config of ["nodenext.json", "bundler.json"]) {
  test(`the package has types for ${config.replace(".json", "")}`, () => {
    run(join(root, "js/node_modules/.bin/tsc"), ["--project", config], folder);
  });
}

test("redisStore accepts clients as the redis package types them", () => {
  const modules = join(root, "tests/node_modules");
  for (const name of ["redis", "@redis"]) {
    symlinkSync(join(modules, name), join(folder, "node_modules", name));
  }
  const types = join(root, "js/node_modules/@types");
  const options = ["--module", "nodenext", "--strict", "--noEmit", "--skipLibCheck"];
  const node = ["--typeRoots", types, "--types", "node", "--target", "es2022"];
  run(join(root, "js/node_modules/.bin/tsc"), [...options, ...node, "clients.mts"], folder);
});

test("a trap fails one call, and the next call has a new instance", async () => {
  const inner = (path) => import(pathToFileURL(join(installed, "dist", path)).href);
  const [{ estimateTokens, PlimsollError }, { core }, glue] = await Promise.all(
    ["index.js", "core/main.js", "glue/plimsoll_bg.js"].map(inner),
  );
  const text = "上下文 window ".repeat(1000);
  const before = estimateTokens(text);
  const { generation } = core;
  const silent = console.error;
  console.error = () => {};
  try {
    // More than there can be: the allocation panics.
    assert.throws(
      () => core.call("input", () => glue.input(4_000_000_000)),
      (error) =>
        error instanceof PlimsollError &&
        error.code === "INSTANCE_LOST" &&
        error.info.during === "input",
    );
  } finally {
    console.error = silent;
  }
  assert.equal(estimateTokens(text), before);
  assert.equal(core.generation, generation + 1);
});

test("a long ASCII text takes memory once, not three times", async () => {
  const inner = (path) => import(pathToFileURL(join(installed, "dist", path)).href);
  const [{ estimateTokens }, { core }] = await Promise.all(["index.js", "core/main.js"].map(inner));
  const length = 20_000_000;
  estimateTokens("x");
  const before = core.memory.buffer.byteLength;
  estimateTokens("x".repeat(length));
  assert.ok(core.memory.buffer.byteLength - before < length * 1.2);
});
