/** Where agents keep their sessions on this machine, and the newest of them: for a command that no file was named to. */
import { readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** A path as its parts: one that is named, or each that matches. */
type Parts = ReadonlyArray<string | RegExp>;

const ANY = /^[^.]/;
/** What agents of an agent wrote stands beside its own. */
const SESSION = /^(?!agent-).+\.jsonl$/;
/** Older versions of Gemini CLI and Qwen Code wrote one object. */
const GEMINI = /^session-.+\.jsonl?$/;
const QWEN = /\.jsonl?$/;
const CLINE = /\.messages\.json$/;

/**
 * The newest session of this folder, by Claude Code, pi or Qwen Code, which sort them so; else the newest of Cline, Codex, Copilot CLI,
 * Gemini CLI, Kimi Code, OpenClaw or an older Qwen Code, which do not. Undefined where there is none.
 */
export function newest(folder: string, env: NodeJS.ProcessEnv): string | undefined {
  // Whoever has no home has its folders here.
  const home = looked(homedir) ?? "";
  const own = (name: string, ...usual: string[]): string => env[name] || join(home, ...usual);
  const claude = folder.replace(/[^a-z\d]/gi, "-");
  const qwen = env.QWEN_RUNTIME_DIR || own("QWEN_HOME", ".qwen");
  const pi = `--${folder.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-")}--`;
  const places: Parts[][] = [
    [
      [own("CLAUDE_CONFIG_DIR", ".claude"), "projects", claude, SESSION],
      [own("PI_CODING_AGENT_DIR", ".pi", "agent"), "sessions", pi, SESSION],
      [qwen, "projects", claude, "chats", SESSION],
    ],
    [
      [own("CLINE_DATA_DIR", ".cline", "data"), "sessions", ANY, CLINE],
      [own("CODEX_HOME", ".codex"), "sessions", ANY, ANY, ANY, SESSION],
      [own("COPILOT_HOME", ".copilot"), "session-state", ANY, "events.jsonl"],
      [home, ".gemini", "tmp", ANY, "chats", GEMINI],
      [own("KIMI_CODE_HOME", ".kimi-code"), "sessions", ANY, ANY, "agents", "main", "wire.jsonl"],
      [qwen, "tmp", ANY, "chats", QWEN],
      [own("OPENCLAW_STATE_DIR", ".openclaw"), "agents", ANY, "sessions", SESSION],
    ],
  ];
  const found = places.map((some) => latest(some.flatMap((parts) => paths("", parts))));
  return found.find((path) => path !== undefined);
}

function paths(above: string, [part, ...more]: Parts): string[] {
  if (part === undefined) return [above];
  const inside = (): string[] => looked(() => readdirSync(above)) ?? [];
  const names = typeof part === "string" ? [part] : inside().filter((name) => part.test(name));
  return names.flatMap((name) => paths(join(above, name), more));
}

function latest(paths: readonly string[]): string | undefined {
  let last = 0;
  let found: string | undefined;
  for (const path of paths) {
    const it = looked(() => statSync(path));
    if (!it?.isFile() || it.size === 0 || it.mtimeMs <= last) continue;
    [last, found] = [it.mtimeMs, path];
  }
  return found;
}

/** Undefined: it is not there, may not be looked at, or is something else. */
function looked<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
