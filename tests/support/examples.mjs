/** The JavaScript examples of the README and of docs/, in the order in which they are read, the README first. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./project.mjs";

const docs = readdirSync(join(root, "docs"), { recursive: true })
  .filter((name) => name.endsWith(".md"))
  .toSorted();

/** @type {Array<{ page: string, number: number, code: string }>} `number`: from 1 on each page */
export const examples = ["README.md", ...docs.map((name) => `docs/${name}`)].flatMap((page) => {
  const text = readFileSync(join(root, page), "utf8");
  const found = [...text.matchAll(/^```(?:js|ts)\n(.*?)^```$/gms)];
  return found.map(([, code], at) => ({ page, number: at + 1, code }));
});

/** The code of an example. @param {string} page @param {number} number */
export function exampleOf(page, number) {
  const found = examples.find((one) => one.page === page && one.number === number);
  if (!found) throw new Error(`${page} has no example ${number}`);
  return found.code;
}

const ENTRIES = [
  ...["", "/ai-sdk", "/langchain", "/openai-agents", "/pi", "/sessions", "/candidates"],
  ...["/inspect", "/openclaw", "/oneclaw"],
];

/** A module that prints the names of each entry, for `imports`. */
export const NAMES = `const named = async (entry) => [entry, Object.keys(await import("plimsoll" + entry))];
console.log(JSON.stringify(await Promise.all(${JSON.stringify(ENTRIES)}.map(named))));`;

/**
 * Imports of what an example uses of the package and an earlier one imported: a reader has seen that line.
 * @param {string} code @param {Array<[string, string[]]>} exported names by entry
 */
export function imports(code, exported) {
  const own = [...code.matchAll(/import \{([^}]*)\} from "plimsoll/g)].join();
  const uses = (/** @type {string} */ name) =>
    new RegExp(`\\b${name}[(<.]`).test(code) && !new RegExp(`\\b${name}\\b`).test(own);
  return exported
    .map(([entry, names]) => /** @type {const} */ ([entry, names.filter(uses)]))
    .map(([entry, used]) =>
      used.length ? `import { ${used.join(", ")} } from "plimsoll${entry}"; ` : "",
    )
    .join("");
}
