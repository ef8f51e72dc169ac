/** The files of a workspace: which there may be, and what they hold now. */
import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Watched } from "./watch.js";

/** A file that was read; `name` is what it is known by, `path` where it stands. */
export interface WorkspaceFile {
  name: string;
  path: string;
  content: string;
}

/** A file that was not taken, and why. */
export interface Skipped {
  path: string;
  reason: string;
}

/** What a workspace held at one moment. */
export interface Snapshot {
  files: WorkspaceFile[];
  rules: WorkspaceFile[];
  skipped: Skipped[];
  /** Of all that was read: the same content, the same hash. */
  hash: string;
}

/** A file of more bytes is skipped. */
const LARGEST = 4 * 1024 * 1024;
/** Files of a folder of rules beyond this number are skipped. */
const MOST_RULES = 10_000;

const ROOT = [
  "AGENTS.md",
  "SOUL.md",
  "TOOLS.md",
  "IDENTITY.md",
  "USER.md",
  "HEARTBEAT.md",
  "BOOTSTRAP.md",
  "MEMORY.md",
  "ACECLAW.md",
  "ACECLAW.local.md",
];
const OWN = ["SOUL.md", "ACECLAW.md", "MEMORY.md"];
const HOME = ["SOUL.md", "ACECLAW.md", "managed-policy.md"];

/** Where a workspace's files stand. */
export interface Places {
  root: string;
  /** The user's own folder, `~/.aceclaw`. */
  home: string | undefined;
}

/** The folders in which a change matters, whether they are there or not. */
export function foldersOf({ root, home }: Places): Watched[] {
  const own = join(root, ".aceclaw");
  const named =
    (...names: string[]) =>
    (name: string) =>
      name.endsWith(".md") || names.includes(name);
  const above = (path: string): Watched => {
    return { path: dirname(path), matters: (name) => name === basename(path), gate: true };
  };
  return [
    above(root),
    { path: root, matters: named("memory", basename(own)) },
    { path: join(root, "memory"), matters: named() },
    { path: own, matters: named("rules") },
    { path: join(own, "rules"), matters: named() },
    ...(home ? [above(home), { path: home, matters: named() }] : []),
  ];
}

/** Reads what there is; `days`: the daily notes that count, newest first, as `YYYY-MM-DD`. */
export async function take(places: Places, days: readonly string[]): Promise<Snapshot> {
  const { root, home } = places;
  const skipped: Skipped[] = [];
  const own = join(root, ".aceclaw");
  const wanted: Array<[name: string, path: string]> = [
    ...ROOT.map((name): [string, string] => [name, join(root, name)]),
    ...OWN.map((name): [string, string] => [`.aceclaw/${name}`, join(own, name)]),
    ...(home ? HOME.map((name): [string, string] => [`~/${name}`, join(home, name)]) : []),
    ...days.map((day): [string, string] => ["memory", join(root, "memory", `${day}.md`)]),
  ];
  const rules = await rulesIn(join(own, "rules"), skipped);
  const read = (list: Array<[string, string]>): Promise<WorkspaceFile[]> => all(list, skipped);
  const [files, ruleFiles] = [await read(wanted), await read(rules)];
  const hash = createHash("sha256");
  for (const { name, path, content } of [...files, ...ruleFiles]) {
    hash.update(`${name}\0${path}\0${content.length}\0`).update(content);
  }
  return { files, rules: ruleFiles, skipped, hash: hash.digest("hex") };
}

/** The rules of a folder, by name. */
async function rulesIn(folder: string, skipped: Skipped[]): Promise<Array<[string, string]>> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") skipped.push({ path: folder, reason: error.message });
    return [] as string[];
  });
  const files = names.filter((name) => name.endsWith(".md")).sort();
  if (files.length > MOST_RULES) {
    const reason = `${files.length} rules: the first ${MOST_RULES} by name count`;
    skipped.push({ path: folder, reason });
  }
  return files.slice(0, MOST_RULES).map((name) => [basename(name, ".md"), join(folder, name)]);
}

/** Those that are there and can be read, in their order; so many at a time that no system runs out of handles. */
async function all(
  list: ReadonlyArray<[string, string]>,
  skipped: Skipped[],
): Promise<WorkspaceFile[]> {
  const found: WorkspaceFile[] = [];
  for (let at = 0; at < list.length; at += 64) {
    const some = list.slice(at, at + 64).map(([name, path]) => one(name, path));
    for (const file of await Promise.all(some)) {
      if (file && "content" in file) found.push(file);
      else if (file) skipped.push(file);
    }
  }
  return found;
}

async function one(name: string, path: string): Promise<WorkspaceFile | Skipped | undefined> {
  try {
    const { size } = await stat(path);
    if (size > LARGEST) return { path, reason: `${size} bytes: at most ${LARGEST} are read` };
    return { name, path, content: await readFile(path, "utf8") };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? undefined : { path, reason: message };
  }
}
