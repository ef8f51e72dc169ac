/** Categories of content: a letter and a colour for each, because colour alone is not seen by everybody. */
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

/** A tool without the server it comes from, which is long and the same for many. */
function toolName(name: string): string {
  return name.replace(/^mcp__.+?__(?=.)/, "");
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
