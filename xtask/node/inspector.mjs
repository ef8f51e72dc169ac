// Assembles the inspector: one HTML file with its script, its worker and its Wasm inside.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import zopfli from "../../js/node_modules/@gfx/zopfli/dist/index.js";
import { build } from "../../js/node_modules/esbuild/lib/main.js";
import { minify } from "../../js/node_modules/terser/main.js";

const [js, wasm, out] = process.argv.slice(2);

/** The page has no estimators of its own, so it needs no glue of the Wasm that runs them. */
const withoutCounters = {
  name: "without-counters",
  setup(build) {
    build.onLoad({ filter: /session[\\/]counter\.ts$/ }, () => ({
      contents:
        "export const counterOf = () => undefined; export const countsOf = () => undefined;",
    }));
  },
};

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
    plugins: [withoutCounters],
    target: "es2022",
    write: false,
  });
  // A thousand bytes less of the page than by esbuild alone.
  const { code } = await minify(outputFiles[0].text, {
    compress: { ecma: 2022 },
    format: { ecma: 2022 },
  });
  // A closing tag in a string would end the element.
  return code.replaceAll("</script", "<\\/script");
};
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** The Wasm, compressed as far as gzip goes: in ten seconds, so the result is kept for the next time. */
const compressed = async (bytes) => {
  // As many blocks as pay: a thousand bytes less than with the usual fifteen.
  const options = { numiterations: 15, blocksplittingmax: 0 };
  const name = createHash("sha256").update(JSON.stringify(options)).update(bytes).digest("hex");
  const kept = `build/inspector-${name.slice(0, 16)}.gz`;
  if (!existsSync(kept)) writeFileSync(kept, await zopfli.gzipAsync(bytes, options));
  return readFileSync(kept).toString("base64");
};

const [page, worker] = [await bundled("main.tsx"), await bundled("worker.ts")];
const { code: style } = await import("../../js/node_modules/esbuild/lib/main.js").then((it) =>
  it.transform(readFileSync(`${js}/inspector/style.css`, "utf8"), { loader: "css", minify: true }),
);
const parts = {
  page,
  worker,
  style: style.trim(),
  wasm: await compressed(readFileSync(wasm)),
  "script-hash": hash(page),
  "style-hash": hash(style.trim()),
};
const template = readFileSync(`${js}/inspector/page.html`, "utf8");
writeFileSync(
  out,
  template.replace(/\{\{([a-z-]+)\}\}/g, (_, name) => parts[name]),
);
