/** Tool results that are cut before the host keeps them. */

/** A tool's result on its way to the host's transcript. */
export interface ToolResult {
  result: { content?: unknown; details?: unknown };
}

/** The result with every text cut to so many characters; nothing if none is longer. */
export async function capped(
  { result }: ToolResult,
  most: number,
): Promise<ToolResult | undefined> {
  const content: unknown[] = Array.isArray(result?.content) ? result.content : [];
  const isLong = (block: unknown): block is { text: string } => {
    const { text } = Object(block) as { text?: unknown };
    return typeof text === "string" && text.length > most;
  };
  if (!content.some(isLong)) return undefined;
  // Loaded with the first long result: few users set the cap.
  const { truncateText } = await import("../../inline/prompt.js");
  const cut = content.map((block) =>
    isLong(block) ? { ...block, text: truncateText(block.text, most).text } : block,
  );
  return { result: { ...result, content: cut } };
}
