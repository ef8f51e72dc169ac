// @ts-check
/** The package under test: `PLIMSOLL` is the path of its entry, or a name to import; default the assembled one. */
import { existsSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const named = process.env.PLIMSOLL;
const assembled = fileURLToPath(new URL("../../../npm/dist/index.node.js", import.meta.url));

/** The entries beside the main one. */
const ENTRIES = ["sessions", "candidates", "inspect", "openclaw", "oneclaw"];
/** What these modules export together. @param {string[]} urls */
const all = async (urls) =>
  Object.assign({}, ...(await Promise.all(urls.map((url) => import(url)))));

/** Where the package's entry is; nothing if it is imported by name. */
export function packagePath() {
  const path = resolve(named ?? assembled);
  return existsSync(path) ? path : undefined;
}

/** The entry that is no bundle, as bundlers read it: the files that it is made of, which no entry exports, are beside it. */
export function unbundledPath() {
  return packagePath()?.replace(/\.node\.js$/, ".js");
}

/**
 * @param {string} [path] of the entry
 * @returns {Promise<{ api: any, why: string }>} `api` is null when there is none, and `why` says what is missing
 */
export async function loadPackage(path = packagePath()) {
  if (path) {
    const ending = basename(path).replace("index", "");
    const entries = ENTRIES.map((name) => `${dirname(path)}/entry/${name}${ending}`);
    return { api: await all([path, ...entries].map((it) => pathToFileURL(it).href)), why: "" };
  }
  if (named && !/^[./]/.test(named)) {
    return { api: await all([named, ...ENTRIES.map((name) => `${named}/${name}`)]), why: "" };
  }
  return {
    api: null,
    why: `skipped: the package is not built (${named ?? "npm/dist/index.node.js"})`,
  };
}
