// Assembles the inspector: one HTML file with its script, its worker and its Wasm inside.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "../../js/node_modules/esbuild/lib/main.js";

const [js, wasm, out] = process.argv.slice(2);

const bundled = async (entry) => {
  const { outputFiles } = await build({
    bundle: true,
    charset: "utf8",
    entryPoints: [`${js}/inspector/${entry}`],
    format: "iife",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    minify: true,
    platform: "browser",
    target: "es2022",
    write: false,
  });
  // A closing tag in a string would end the element.
  return outputFiles[0].text.trim().replaceAll("</script", "<\\/script");
};
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const [page, worker] = [await bundled("main.tsx"), await bundled("worker.ts")];
const { code: style } = await import("../../js/node_modules/esbuild/lib/main.js").then((it) =>
  it.transform(readFileSync(`${js}/inspector/style.css`, "utf8"), { loader: "css", minify: true }),
);
const parts = {
  page,
  worker,
  style: style.trim(),
  wasm: gzipSync(readFileSync(wasm), { level: 9 }).toString("base64"),
  "script-hash": hash(page),
  "style-hash": hash(style.trim()),
};
const template = readFileSync(`${js}/inspector/page.html`, "utf8");
writeFileSync(
  out,
  template.replace(/\{\{([a-z-]+)\}\}/g, (_, name) => parts[name]),
);
