/** Loading of peers: by name from benches/peers, whose lock file pins them, else from the packages of the tests. */
import { existsSync, readFileSync } from "node:fs";

const HOMES = ["../../peers/node_modules/", "../../../tests/node_modules/"].map(
  (path) => new URL(path, import.meta.url),
);

export const peer = (name) => import(resolved(name));

const homeOf = (owner) =>
  HOMES.map((home) => new URL(`${owner}/`, home)).find((home) =>
    existsSync(new URL("package.json", home)),
  );

/** By the condition `import`, which `require.resolve` does not know. */
function resolved(name) {
  const [, owner, rest = ""] = /^((?:@[^/]+\/)?[^/]+)(\/.*)?$/.exec(name);
  const home = homeOf(owner);
  if (!home) throw new Error(`${name} is not installed`);
  const { exports, module, main } = JSON.parse(readFileSync(new URL("package.json", home), "utf8"));
  let entry = exports?.[`.${rest}`] ?? (rest ? `.${rest}` : (module ?? main));
  while (typeof entry === "object") entry = entry.import ?? entry.default;
  return new URL(entry, home).href;
}

/** A file of a package, for one whose exports are patterns. */
export const peerFile = (name, path) => new URL(path, homeOf(name)).href;

/** The version of a package; null: it is not installed. */
export function versionOf(name) {
  const home = homeOf(name);
  return home ? JSON.parse(readFileSync(new URL("package.json", home), "utf8")).version : null;
}

/** Tokens of a summary, the same for all sides. */
export const summaryBudget = (window) => Math.min(1_500, Math.max(600, Math.floor(window * 0.04)));

/** Messages as the text that summarizers read. */
export function transcriptOf(messages) {
  return messages
    .map(({ role, content, tool_calls: calls = [] }) => {
      const who =
        { user: "[User]", assistant: "[Assistant]", tool: "[Tool result]" }[role] ?? "[User]";
      const made = calls.map(
        ({ function: it }) => `[Assistant tool calls]: ${it.name}(${it.arguments})`,
      );
      return [content ? `${who}: ${content}` : "", ...made].filter(Boolean).join("\n");
    })
    .join("\n\n");
}
