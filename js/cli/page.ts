/** `plimsoll inspect FILE --html OUT` and `--open`: one HTML file with the inspector and the session in it. No server, no connection. */
import { spawn } from "node:child_process";
import {
  closeSync,
  fchmodSync,
  fstatSync,
  mkdtempSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { redactSession } from "../entry/sessions.js";
import { plural } from "../render/numbers.js";
import { marked, pageCarrying } from "../session-files/carried.js";
import type { RedactedSession, SessionFile } from "../types.js";
import { Exit, note, UNREADABLE, usage } from "./errors.js";
import { type Arguments, OPTIONS } from "./options.js";
import { type Source, source, wantCalls } from "./source.js";

/** What `plimsoll inspect --html` answers. */
export interface Page {
  schema: "plimsoll.page/1";
  /** The file that was written; `-`: standard output. */
  file: string;
  /** Its size. */
  bytes: number;
  /** What was taken out; `null` if everything was kept. */
  redacted: RedactedSession["hits"] | null;
}

/** Options that a page has a use for: it shows every call and every setting. */
const USED = ["html", "open", "unredacted", "leaf", "json", "color", "ascii", "width"];
/** Opens a file as the desktop would. */
const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};
const DESKTOP = ["xdg-open"];

/** Whether a page is asked for. */
export function wantsPage(args: Arguments): boolean {
  return args.has("html") || args.has("open") || args.has("unredacted");
}

/** Writes the page of a session, and opens it if that is asked for. */
export async function page(args: Arguments): Promise<{ page: Page; content: string }> {
  const target = args.text("html");
  if (target === undefined && !args.has("open"))
    throw usage("--unredacted is an option of --html and --open");
  if (target !== undefined && args.has("open")) throw usage("use only one of --html and --open");
  if (target === "") throw usage("--html: the name of a file to write, got an empty one");
  if (target === "-" && args.has("json"))
    throw usage("--html - prints the page: it cannot be used with --json");
  const other = OPTIONS.find(({ name }) => args.has(name) && !USED.includes(name));
  if (other) throw usage(`--${other.name} is not an option of inspect --html: the page has it`);
  const opened = source(args, "inspect");
  if (target !== undefined && isSameFile(opened.file, target))
    throw usage(`--html: ${target} is the session file itself; name another file`);
  wantCalls(opened.file, opened.session);
  const { session, hits } = shown(opened, args);
  const content = pageWith(template(), session, nameOf(opened.file));
  const file = target ?? join(mkdtempSync(join(tmpdir(), "plimsoll-")), "session.html");
  if (file !== "-") write(file, content, args);
  noteRedaction(hits);
  if (args.has("open")) await openFile(file);
  const bytes = Buffer.byteLength(content);
  return { page: { schema: "plimsoll.page/1", file, bytes, redacted: hits }, content };
}

/** What is printed of it: where it is, or the page itself. */
export function pageText({ page, content }: { page: Page; content: string }): string[] {
  return page.file === "-" ? [content] : [page.file];
}

/** A page with a session inside. */
export function pageWith(page: string, session: SessionFile, name: string): string {
  const packed = gzipSync(marked(session)).toString("base64");
  const carrying = pageCarrying(page, packed, name);
  if (carrying === undefined)
    throw new Exit(UNREADABLE, "inspector.html has no place for a session");
  return carrying;
}

/** The session as it is shown to others, with a list of what was taken out. */
function shown(
  { session }: Source,
  args: Arguments,
): { session: SessionFile; hits: Page["redacted"] } {
  if (args.has("unredacted")) return { session, hits: null };
  return redactSession(session);
}

function noteRedaction(hits: Page["redacted"]): void {
  if (hits === null) {
    note("nothing was redacted: the page contains the whole session");
    return;
  }
  for (const { place, kind, length } of hits)
    note(`redacted ${place}: ${kind}, ${plural(length, "character")}`);
  note(
    `${plural(hits.length, "passage")} redacted. Secrets in other forms stay: read the page before you share it`,
  );
}

/** Whether a name, also a link, leads to the file that was read. */
function isSameFile(input: string, output: string): boolean {
  if (output === "-") return false;
  try {
    const read = input === "-" ? fstatSync(0, { bigint: true }) : statSync(input, { bigint: true });
    const written = statSync(output, { bigint: true });
    return read.ino === written.ino && read.dev === written.dev;
  } catch {
    // There is no such file yet.
    return false;
  }
}

function nameOf(file: string): string {
  return file === "-" ? "session" : basename(file);
}

function template(): string {
  try {
    return readFileSync(new URL("../inspector.html", import.meta.url), "utf8");
  } catch {
    throw new Exit(UNREADABLE, "inspector.html is missing from this installation of plimsoll");
  }
}

/** Whoever may read the session may read its page; a page with everything, or in a temporary folder, is its owner's alone. */
function write(file: string, content: string, args: Arguments): void {
  const isPrivate = args.has("open") || args.has("unredacted");
  try {
    const out = openSync(file, "w", isPrivate ? 0o600 : 0o666);
    try {
      // A file that was there before has the mode that it had.
      if (isPrivate && fstatSync(out).isFile()) fchmodSync(out, 0o600);
      writeFileSync(out, content);
    } finally {
      closeSync(out);
    }
  } catch (error) {
    const code = (error as { code?: string }).code ?? "cannot be written";
    throw new Exit(UNREADABLE, `${file}: cannot be written (${code})`);
  }
}

/** Hands the file to the desktop. If there is none, its path is printed all the same. */
function openFile(file: string): Promise<void> {
  const [command = "", ...first] = OPENERS[process.platform] ?? DESKTOP;
  return new Promise((done) => {
    const child = spawn(command, [...first, file], { detached: true, stdio: "ignore" });
    child.once("error", () => {
      note(`${command} could not be started: open the file in a browser`);
      done();
    });
    child.once("spawn", () => {
      child.unref();
      done();
    });
  });
}
