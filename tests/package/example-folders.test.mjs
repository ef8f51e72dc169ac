/** The folders of examples/ run as their READMEs say, with the packed package, each in its own runtime. */
import assert from "node:assert/strict";
import { cpSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as esbuild from "esbuild";
import { withPage } from "../support/chromium.mjs";
import { HOSTS } from "../support/matrix.mjs";
import { serve } from "../support/page.mjs";
import { emptyFolder, project, root, run, skip, tools } from "../support/project.mjs";
import { withWorkerd } from "../support/workerd.mjs";

const folder = project();
for (const name of ["deno", "worker", "browser", "sessions"]) {
  cpSync(join(root, "examples", name), join(folder, name), {
    recursive: true,
    filter: (path) => !path.includes("node_modules"),
  });
}

// Where `npm install` in the folder would put it.
symlinkSync(join(folder, "node_modules"), join(folder, "browser/node_modules"), "dir");

/** A test that is left out, with a line, if its host is not on this machine. */
const testOn = (host, name, work) =>
  test(name, (t) => {
    const missing = HOSTS[host].missing();
    return missing ? skip(t, missing) : work(t);
  });

testOn("deno", "examples/deno inspects a session file and compacts it", () => {
  const args = ["run", "--no-prompt", `--allow-read=${folder}`, "main.mjs"];
  const printed = run(join(tools, ".bin/deno"), args, join(folder, "deno"));
  assert.match(printed, /538 messages, 235 model calls/);
  assert.match(printed, /^Window +200,000 .*\n/m);
  const [, before, after] = printed.match(/^(\d+) tokens before, (\d+) after$/m).map(Number);
  assert.ok(after < before / 2 && after > 1_000, `${before} tokens, then ${after}`);
  const [, sent] = printed.match(/^538 messages before, (\d+) after$/m).map(Number);
  assert.ok(sent > 0 && sent < 538);
});

testOn("workerd", "examples/worker makes chat requests fit, and shows the session", async () => {
  const out = emptyFolder();
  await esbuild.build({
    entryPoints: [join(folder, "worker/worker.mjs")],
    bundle: true,
    format: "esm",
    conditions: ["workerd"],
    loader: { ".wasm": "copy" },
    outdir: out,
    logLevel: "error",
  });
  const messages = JSON.parse(
    readFileSync(join(folder, "sessions/harbour-exports.openai.json"), "utf8"),
  );
  await withWorkerd(out, "worker.js", readdirSync(out), async (origin) => {
    const ask = (path, init) => fetch(new URL(path, origin), init);
    const chat = async (body) => {
      const answer = await ask("chat?session=ada", { method: "POST", body });
      return [answer.status, await answer.json()];
    };
    const body = { model: "gpt-5-mini", temperature: 0, messages };
    const [status, sent] = await chat(JSON.stringify(body));
    assert.equal(status, 200);
    assert.deepEqual([sent.model, sent.temperature], ["gpt-5-mini", 0]);
    assert.ok(JSON.stringify(sent).length < JSON.stringify(body).length / 2);
    const called = sent.messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
    const answered = sent.messages.flatMap(({ tool_call_id = [] }) => tool_call_id);
    assert.deepEqual(answered.toSorted(), called.toSorted(), "every call has its result");
    assert.deepEqual(await chat(JSON.stringify(body)), [status, sent], "a retry sends the same");

    const shown = await ask("inspect?session=ada");
    assert.match(await shown.text(), /^Window +16,000 /m);
    assert.equal((await ask("inspect?session=bob")).status, 404);
    assert.equal((await ask("other")).status, 404);

    assert.equal((await chat("{"))[1].error.code, "NOT_JSON");
    assert.equal((await chat("null"))[1].error.code, "INVALID_ARGUMENT");
    const huge = [{ role: "user", content: "Read all of it. ".repeat(20_000) }];
    const [refused, { error }] = await chat(
      JSON.stringify({ model: "gpt-5-mini", messages: huge }),
    );
    assert.deepEqual([refused, error.code], [413, "TOO_LARGE"]);
    assert.match(error.message, /model with a larger window/);
  });
});

testOn("chromium", "examples/browser counts what is typed, and reports a session", async () => {
  const server = await serve(folder);
  const phone = { viewport: { width: 400, height: 800 } };
  try {
    await withPage(`${server.origin}/browser/index.html`, phone, async (view, complaints) => {
      const shown = (id) => view.textContent(`#${id}`);
      const asked = [];
      view.on("request", (request) => asked.push(new URL(request.url())));
      await view.reload();

      await view.fill("#input", "Where is the pilot?");
      assert.match(await shown("count"), /^\d tokens in 19 characters$/);
      await view.fill("#input", "[1");
      await view.waitForFunction(() => /^Not read as a session/.test(note.textContent));
      assert.ok(await view.isHidden("#report"));

      await view.click("#sample");
      await view.waitForSelector("#report:not([hidden])");
      assert.equal(await shown("note"), "harbour-audit.pi.jsonl: pi, 538 messages, 235 calls");
      assert.match(await shown("place"), /^Call 235 of 235/);
      const sent = () => view.textContent("#figures div:nth-child(2) dd").then(numberOf);
      const last = await sent();
      assert.ok(last > 10_000 && last < 64_000, `${last} tokens`);
      await view.selectOption("#preset", "economy");
      const less = await sent();
      assert.ok(less > 0 && less < last, `${less} tokens`);
      await view.$eval("#call", (slider) => {
        slider.value = 1;
        slider.dispatchEvent(new Event("input"));
      });
      assert.match(await shown("place"), /^Call 1 of 235/);
      assert.equal(await sent(), 26);

      await view.click("#inside > summary");
      const inspector = view.frameLocator("#inspector");
      const used = inspector.locator("[data-figure=used]");
      await used.waitFor();
      assert.equal(numberOf(await used.textContent()), less, "the last call, in the inspector");

      await view.click("#messages summary");
      await view.waitForFunction(() => document.querySelector("#messages pre")?.textContent);
      const wide = await view.evaluate(() => document.documentElement.scrollWidth);
      assert.equal(wide, 400, "nothing is wider than the page");
      assert.deepEqual(complaints, []);
      assert.deepEqual([...new Set(asked.map(({ origin }) => origin))], [server.origin]);
    });
  } finally {
    server.close();
  }
});

const numberOf = (text) => Number(text.replaceAll(",", ""));
