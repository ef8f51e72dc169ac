// @ts-check
/** The package under test: `PLIMSOLL` is the path of its entry, or a name to import; default the assembled one. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const named = process.env.PLIMSOLL;
const assembled = fileURLToPath(new URL("../../npm/dist/index.js", import.meta.url));

/** Where the package's entry is; nothing if it is imported by name. */
export function packagePath() {
  const path = resolve(named ?? assembled);
  return existsSync(path) ? path : undefined;
}

/**
 * @returns {Promise<{ api: any, why: string }>} `api` is null when there is none, and `why` says what is missing
 */
export async function loadPackage() {
  const path = packagePath();
  if (path) return { api: await import(pathToFileURL(path).href), why: "" };
  if (named && !/^[./]/.test(named)) return { api: await import(named), why: "" };
  return { api: null, why: `skipped: the package is not built (${named ?? "npm/dist/index.js"})` };
}
