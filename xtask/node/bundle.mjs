import { relative } from "node:path";
import { build } from "../../js/node_modules/esbuild/lib/main.js";

/**
 * What a bundler makes of these exports of the package in the folder `npm`, minified: the bytes of the files that are loaded
 * at once, and those of the files that are loaded when they are first used.
 */
export async function bundle(npm, ...exports) {
  const { outputFiles, metafile } = await build({
    stdin: { contents: exports.map((it) => `export ${it};`).join("\n"), resolveDir: npm },
    bundle: true,
    format: "esm",
    metafile: true,
    minify: true,
    outdir: "out",
    packages: "external",
    splitting: true,
    write: false,
  });
  const atOnce = new Set(["out/stdin.js"]);
  for (const path of atOnce) {
    for (const it of metafile.outputs[path].imports)
      if (it.kind === "import-statement" && !it.external) atOnce.add(it.path);
  }
  const files = (isWanted) =>
    outputFiles.filter(({ path }) => isWanted(atOnce.has(relative(process.cwd(), path))));
  const bytes = (files) => Buffer.concat(files.map(({ contents }) => contents));
  return { atOnce: bytes(files((is) => is)), later: bytes(files((is) => !is)) };
}
