// @ts-check
/**
 * Native and Wasm give the same bytes. The native side is a command that prints one JSON line a call with the raw
 * items of the view; the Wasm side is the package's own `rawViews`.
 *
 *     PLIMSOLL_NATIVE="cargo run -q --example dump --" node --test tests/conformance/determinism.test.mjs
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { strictFor } from "./carry.mjs";
import { loadPackage } from "./package.mjs";
import { sessionFiles } from "./sessions.mjs";

const { api, why } = await loadPackage();
const native = process.env.PLIMSOLL_NATIVE?.split(" ").filter((word) => word !== "") ?? [];
const only = new RegExp(process.env.PLIMSOLL_SESSIONS ?? "");
const windows = process.env.PLIMSOLL_WINDOWS?.split(",").map(Number) ?? [32_000, 128_000];

const reason = !api
  ? why
  : native.length === 0
    ? "skipped: PLIMSOLL_NATIVE names no native dump"
    : typeof api.rawViews !== "function"
      ? "skipped: the package has no rawViews"
      : "";

if (reason) {
  console.log(reason);
  test("native and Wasm agree", { skip: reason }, () => {});
} else {
  for (const { name, bytes } of sessionFiles()) {
    if (!only.test(name)) continue;
    test(name, (t) => {
      const data = bytes();
      if (!strictFor[api.readSession(data).messageFormat])
        return t.skip("a format of a later release");
      for (const contextTokens of windows) {
        const window = {
          contextTokens,
          maxOutputTokens: Math.min(8_192, Math.floor(contextTokens / 16)),
        };
        const wasm = lines(api.rawViews(api.readSession(data), { window }));
        const own = dump(data, contextTokens);
        const differs = own.findIndex((line, at) => line !== wasm[at]);
        assert.equal(
          differs,
          -1,
          `@${contextTokens} call ${differs}\nnative ${own[differs]}\nwasm   ${wasm[differs]}`,
        );
        assert.equal(wasm.length, own.length, `@${contextTokens}: one line a call on both sides`);
        console.log(`${name} @${contextTokens / 1000}k: ${own.length} views, the same bytes`);
      }
    });
  }
}

/** @param {unknown} views @returns {string[]} */
function lines(views) {
  const all = typeof views === "string" ? views.split("\n") : /** @type {any[]} */ (views);
  return all
    .map((view) => (typeof view === "string" ? view : JSON.stringify(view)))
    .filter((line) => line !== "");
}

/** @param {Uint8Array} data @param {number} contextTokens */
function dump(data, contextTokens) {
  const folder = mkdtempSync(join(tmpdir(), "plimsoll-"));
  try {
    const file = join(folder, "session");
    writeFileSync(file, data);
    const [command = "", ...words] = native;
    const run = spawnSync(command, [...words, file, String(contextTokens)], {
      encoding: "utf8",
      maxBuffer: 1 << 30,
    });
    assert.equal(run.status, 0, run.stderr || String(run.error));
    return lines(run.stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
