/** `plimsoll prompt`: the system prompt that a workspace gives for a request. The figures. */
import { statSync } from "node:fs";
import { assemblePrompt, promptBudget, requestFocus } from "../index.js";
import type { PromptPlan } from "../types.js";
import { type Skipped, Workspace } from "../workspace/index.js";
import { unreadable, usage } from "./errors.js";
import { type Arguments, size } from "./options.js";
import { checked } from "./setting.js";

/** The report, the same as text and as JSON. */
export interface PromptReport extends PromptPlan {
  schema: "plimsoll.prompt/1";
  workspace: string;
  query: string | null;
  /** What the budget is a quarter of; null: the most that a budget is. */
  window: { contextTokens: number; maxOutputTokens: number } | null;
  skipped: Skipped[];
}

export async function prompt(args: Arguments): Promise<PromptReport> {
  if (args.files.length > 0)
    throw usage("plimsoll prompt takes no file: --workspace DIR and --query TEXT");
  const folder = folderOf(args.text("workspace") ?? ".");
  const query = args.text("query") ?? null;
  const window = windowOf(args);
  await using workspace = await Workspace.open(folder, { watch: false, poll: 0 });
  const focus = query === null ? undefined : requestFocus(query, { projectRoot: workspace.folder });
  const budget = window ? promptBudget(window) : promptBudget();
  const plan = assemblePrompt(await workspace.sections(focus), {
    budget,
    order: "stable-first",
    ...(focus ? { focus } : {}),
  });
  const skipped = await workspace.skipped();
  return {
    schema: "plimsoll.prompt/1",
    workspace: workspace.folder,
    query,
    window,
    skipped,
    ...plan,
  };
}

function folderOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw unreadable(path, "no such folder");
  if (!found.isDirectory()) throw unreadable(path, "is no folder");
  return path;
}

function windowOf(args: Arguments): PromptReport["window"] {
  const contextTokens = size("window", args.text("window"));
  const reserve = size("reserve", args.text("reserve"));
  if (contextTokens === undefined) {
    if (reserve !== undefined) throw usage("--reserve: of which --window?");
    return null;
  }
  return checked(contextTokens, reserve ?? 0);
}
