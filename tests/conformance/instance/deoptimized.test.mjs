// @ts-check
/**
 * Node 20 and 22 end the process if a function into which a call of the Wasm was compiled is deoptimized during that call. Starting
 * the coverage deoptimizes all functions; here that happens while the Wasm makes its answer.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { packagePath } from "../support/package.mjs";
import { skip } from "../support/small-history.mjs";

const entry = packagePath();
const without = skip || (entry ? false : "skipped: the package is not a folder");

test("code that is deoptimized during a call into the Wasm goes on", { skip: without }, () => {
  const script = `
    import { Session } from "node:inspector";
    const { ContextManager } = await import(${JSON.stringify(pathToFileURL(entry ?? "").href)});
    const context = new ContextManager({ window: { contextTokens: 20_000 }, format: "anthropic" });
    context.request([{ role: "user", content: "hello" }]);
    const session = new Session();
    session.connect();
    session.post("Profiler.enable");
    let calls = -Infinity;
    globalThis.Uint8Array = class extends Uint8Array {
      constructor(...all) {
        super(...all);
        if (calls++ === 0)
          session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
      }
    };
    for (let round = 0; round < 20_000; round++) context.snapshot();
    const before = context.snapshot().length;
    calls = 0;
    console.log(JSON.stringify([before, context.snapshot().length, calls > 0]));`;
  const args = ["--input-type=module", "--eval", script];
  const stdio = /** @type {["ignore", "pipe", "pipe"]} */ (["ignore", "pipe", "pipe"]);
  const printed = execFileSync(process.execPath, args, { encoding: "utf8", stdio });
  const [before, after, isCalled] = JSON.parse(printed);
  assert.deepEqual([after, isCalled], [before, true]);
});
