/** Names of what a session file does not tell of a request. */

const PARTS = [
  ["system", "the system prompt"],
  ["tools", "the tool definitions"],
] as const;

/** What no bucket is of: the file does not tell it. */
export function absentOf(buckets: ReadonlyArray<{ bucket: string }>): string[] {
  const isThere = (name: string): boolean => buckets.some((one) => one.bucket === name);
  return PARTS.filter(([bucket]) => !isThere(bucket)).map(([, what]) => what);
}
