/** Categories of content: a letter and a colour for each, because colour alone is not seen by everybody. */
import { computed } from "@preact/signals";
import * as state from "./state.js";

export type Category = "S" | "T" | "Q" | "F" | "P" | "U" | "A" | "H" | "C" | "R" | "I";

/** In the order in which they are stacked and lined up: what stays the longest first. */
export const ORDER: readonly Category[] = ["Q", "S", "T", "F", "P", "U", "A", "H", "C", "R", "I"];

export const NAMES: Record<Category, string> = {
  Q: "Not in the file",
  S: "System prompt",
  T: "Tool definitions",
  F: "Summary",
  P: "Pins",
  U: "User",
  A: "Assistant",
  H: "Thinking",
  C: "Tool calls",
  R: "Tool results",
  I: "Images",
};

const BUCKETS: Record<string, Category> = {
  ...{ tools: "T", user: "U", assistant: "A", thinking: "H", image: "I", pins: "P" },
  ...{ head: "F", made: "F", unseen: "Q" },
};

export function categoryOf(bucket: string): Category {
  if (bucket.startsWith("result ")) return "R";
  if (bucket.startsWith("call ")) return "C";
  return BUCKETS[bucket] ?? "S";
}

export function letterOf(category: Category): string {
  return category === "Q" ? "?" : category;
}

const SERVER = /^mcp__(.+?)__(?=.)/;

/** Names that tools of several servers have, or one of a server and one of the agent. */
const ambiguous = computed(() => {
  const tools = new Map<string, string>();
  const found = new Set<string>();
  for (const bucket of state.layers.value.names) {
    const tool = bucket.replace(/^(result|call) /, "");
    const name = tool.replace(SERVER, "");
    if ((tools.get(name) ?? tool) !== tool) found.add(name);
    tools.set(name, tool);
  }
  return found;
});

/** A tool without the server it comes from, which is long and the same for many; with it, if that alone tells it from another. */
function toolName(tool: string): string {
  const name = tool.replace(SERVER, "");
  const server = ambiguous.value.has(name) ? SERVER.exec(tool)?.[1] : undefined;
  return server ? `${name} (${server})` : name;
}

/** A bucket in words. */
export function partName(bucket: string): string {
  if (bucket.startsWith("result ")) return `${toolName(bucket.slice(7))} results`;
  if (bucket.startsWith("call ")) return `${toolName(bucket.slice(5))} calls`;
  const names: Record<string, string> = {
    unseen: "Not in the file",
    head: "Summary of earlier messages",
    made: "Added for validity",
  };
  return names[bucket] ?? bucket.charAt(0).toUpperCase() + bucket.slice(1);
}
