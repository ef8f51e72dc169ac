/** Helpers for the adapter tests: a project with a host's packages in it, the snippet of the host's page, the printed row. */
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { project, root, tools, write } from "./project.mjs";

const compilerOptions = {
  ...{ module: "nodenext", target: "es2022", lib: ["es2024", "esnext.disposable", "dom"] },
  ...{ strict: true, skipLibCheck: true, noEmit: true, types: [] },
};

/**
 * A project with the packed package, packages of a host, and a program to be compiled against the types of both.
 * @param {string} name of the entry: `plimsoll/NAME` @param {string[]} packages folders of `node_modules`
 * @param {string} program TypeScript @param {string} [from] where the packages are
 */
export function hostProject(name, packages, program, from = tools) {
  const folder = project({
    "program.mts": program,
    "tsconfig.json": JSON.stringify({ compilerOptions, files: ["program.mts"] }),
  });
  const modules = join(folder, "node_modules");
  for (const one of packages) {
    mkdirSync(dirname(join(modules, one)), { recursive: true });
    symlinkSync(join(from, one), join(modules, one));
  }
  return { folder, entry: join(modules, `plimsoll/dist/entry/${name}.js`) };
}

/** A snippet of `docs/hosts/NAME.md`; it begins with the first. @param {string} name @param {number} [number] */
export function example(name, number = 1) {
  const page = readFileSync(join(root, `docs/hosts/${name}.md`), "utf8");
  const begins = /^# [^\n]*\n+```/.test(page);
  const [, code = ""] = [...page.matchAll(/^```(?:js|ts)\n(.*?)^```$/gms)][number - 1] ?? [];
  const lines = code.trim().split("\n").length;
  if (!begins || code === "" || lines > 12)
    throw new Error(`${name}.md: no short snippet ${number}`);
  return code;
}

/**
 * Runs a snippet of `docs/hosts/NAME.md` in a small window, and returns its constants.
 * @param {string} folder of the project @param {string} name @param {object} host values of the names that the snippet uses
 * @param {number} [number] of the snippet
 */
export async function snippet(folder, name, host, number = 1) {
  const code = example(name, number);
  if (!code.includes("200_000")) throw new Error(`${name}.md: a window of 200_000 tokens`);
  const names = [...code.matchAll(/^(?:export )?const (?:(\w+)|\{ (\w+) \})/gm)];
  const exported = names.map(([, one, taken]) => one ?? taken);
  const small = code
    .replaceAll("200_000", "16_000")
    .replaceAll("8_192", "1_000")
    .replaceAll("export const", "const");
  const passed = `const { ${Object.keys(host).join(", ")} } = globalThis.host;\n`;
  write(folder, {
    [`${name}-${number}.mjs`]: `${passed}${small}\nexport { ${exported.join(", ")} };\n`,
  });
  globalThis.host = host;
  return import(pathToFileURL(join(folder, `${name}-${number}.mjs`)).href);
}

/**
 * Prints what a run of a host came to.
 * @param {string} name @param {string} host its package @param {any} seen @param {number} [epochs] @param {string} [from] where it is
 */
export function row(name, host, { calls, refused, broken, peak }, epochs, from = tools) {
  const { version } = JSON.parse(readFileSync(join(from, host, "package.json"), "utf8"));
  const changed = epochs === undefined ? "" : `, ${epochs} epochs`;
  const what = `${calls} calls, ${broken.length} invalid, ${refused} refused as too long`;
  console.log(`${host} ${version}, ${name}: ${what}, at most ${peak} tokens${changed}`);
}
