/** Files of a workspace: their names, and reading them. */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open, readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import type { Watched } from "./watch.js";

/** A file that was read; `name` is what it is known by, `path` where it stands. */
export interface WorkspaceFile {
  name: string;
  path: string;
  content: string;
}

/** A file that was left out. */
export interface Skipped {
  /** Its path. */
  path: string;
  /** Why, in words. */
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
/** Bytes that are read at a time: most files take one. */
const CHUNK = 64 * 1024;
/** A pipe that was put in the place of a file is not waited for, nor is a link followed; Windows knows neither. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);
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
  // A repository may hold links, and whoever made it is not the user: they stay in it. The user's own folder is the user's.
  const within = await realpath(root).catch(() => root);
  const wanted: Wanted[] = [
    ...ROOT.map((name): Wanted => ({ name, path: join(root, name), within })),
    ...OWN.map((name): Wanted => ({ name: `.aceclaw/${name}`, path: join(own, name), within })),
    ...(home ? HOME.map((name): Wanted => ({ name: `~/${name}`, path: join(home, name) })) : []),
    ...days.map((day): Wanted => {
      return { name: "memory", path: join(root, "memory", `${day}.md`), within };
    }),
  ];
  const rules = await rulesIn(join(own, "rules"), within, skipped);
  const [files, ruleFiles] = [await all(wanted, skipped), await all(rules, skipped)];
  const hash = createHash("sha256");
  for (const { name, path, content } of [...files, ...ruleFiles]) {
    hash.update(`${name}\0${path}\0${content.length}\0`).update(content);
  }
  return { files, rules: ruleFiles, skipped, hash: hash.digest("hex") };
}

/** A file to be read; `within`: the folder, without links, that it must stand in. */
interface Wanted {
  name: string;
  path: string;
  within?: string;
}

/** The rules of a folder, by name. */
async function rulesIn(folder: string, within: string, skipped: Skipped[]): Promise<Wanted[]> {
  let names: string[] = [];
  try {
    names = await readdir(await resolved({ path: folder, within }));
  } catch (error) {
    if (!isMissing(error)) skipped.push({ path: folder, reason: (error as Error).message });
  }
  const files = names.filter((name) => name.endsWith(".md")).sort();
  if (files.length > MOST_RULES) {
    const reason = `${files.length} rules: the first ${MOST_RULES} by name count`;
    skipped.push({ path: folder, reason });
  }
  return files.slice(0, MOST_RULES).map((name) => {
    return { name: basename(name, ".md"), path: join(folder, name), within };
  });
}

/** Those that are there and can be read, in their order; so many at a time that no system runs out of handles. */
async function all(list: readonly Wanted[], skipped: Skipped[]): Promise<WorkspaceFile[]> {
  const found: WorkspaceFile[] = [];
  for (let at = 0; at < list.length; at += 64) {
    for (const file of await Promise.all(list.slice(at, at + 64).map(one))) {
      if (file && "content" in file) found.push(file);
      else if (file) skipped.push(file);
    }
  }
  return found;
}

async function one(wanted: Wanted): Promise<WorkspaceFile | Skipped | undefined> {
  const { name, path } = wanted;
  try {
    return { name, path, content: await contentOf(await resolved(wanted)) };
  } catch (error) {
    return isMissing(error) ? undefined : { path, reason: (error as Error).message };
  }
}

/** Where a path leads once links are followed. */
async function resolved({ path, within }: Omit<Wanted, "name">): Promise<string> {
  const real = await realpath(path);
  if (within === undefined) return real;
  const inner = relative(within, real);
  const isOutside = inner === ".." || inner.startsWith(`..${sep}`) || isAbsolute(inner);
  if (isOutside) throw new Error(`leads out of the workspace, to ${real}`);
  return real;
}

/** The text of a regular file, however much it says it holds: what the system makes up as it is read says 0. */
async function contentOf(path: string): Promise<string> {
  const mustBeFile = (found: { isFile(): boolean }): void => {
    if (!found.isFile()) throw new Error("no regular file");
  };
  // Before it is opened, too: to open a pipe or a device is to act on it.
  const found = await stat(path);
  mustBeFile(found);
  const { size } = found;
  if (size > LARGEST) throw new Error(`${size} bytes: at most ${LARGEST} are read`);
  const file = await open(path, READ);
  try {
    mustBeFile(await file.stat());
    const chunks: Buffer[] = [];
    let length = 0;
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK), 0, CHUNK, null);
      if (bytesRead === 0) return textOf(Buffer.concat(chunks));
      chunks.push(buffer.subarray(0, bytesRead));
      length += bytesRead;
      if (length > LARGEST) throw new Error(`more than ${LARGEST} bytes: at most so many are read`);
    }
  } finally {
    await file.close();
  }
}

function textOf(bytes: Buffer): string {
  if (bytes.includes(0)) throw new Error("no UTF-8 text: it contains a zero byte");
  // Some editors begin a file with a mark of the byte order, which is no text.
  return bytes.toString("utf8").replace(/^\ufeff/, "");
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ENOTDIR";
}
