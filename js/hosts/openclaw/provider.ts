/** The compaction provider, for those who keep OpenClaw's own engine: its compaction gets a checked summary, or a digest. */
import { ContextManager } from "../../session/context.js";
import type { HostMessage, Llm } from "./host.js";
import { summarizer } from "./summaries.js";
import { textOf } from "./transcript.js";

/** A compaction provider as the host takes it. */
export interface CompactionProvider {
  id: string;
  label: string;
  summarize(params: {
    messages: HostMessage[];
    signal?: AbortSignal;
    customInstructions?: string;
    previousSummary?: string;
  }): Promise<string>;
}

/** A window so small that little stays beside the summary. */
const WINDOW = { contextTokens: 4_000 };
/** Tokens that a call of the summarizer may have: what the host passes is at most its own window. */
const CALL_TOKENS = 24_000;

/** @param llm the host's model, if it lends one to plugins */
export function compactionProvider(llm: Llm | undefined, model?: string): CompactionProvider {
  return {
    id: "plimsoll",
    label: "Plimsoll",
    async summarize({ messages, signal, customInstructions, previousSummary }) {
      const context = new ContextManager<HostMessage>({
        ...{ window: WINDOW, format: "pi" },
        ...(llm && { summarize: summarizer(() => llm, model) }),
        summary: {
          // The headings that the host looks for in a summary.
          template: "openclaw",
          contextTokens: CALL_TOKENS,
          minimumTokens: 0,
          ...(customInstructions && { instructions: customInstructions.slice(0, 4_000) }),
        },
      });
      try {
        const { record } = await context.compact(messages, { force: true, signal });
        // The host removes every message that it passed, so that what the fold keeps goes into its summary too.
        const kept = context.request(messages, { open: true }).messages;
        const lines = kept.map((one) => lineOf(one, record?.head)).filter(Boolean);
        const latest = lines.length > 0 ? ["## Latest messages", ...lines] : [];
        const summary = record?.summary || record?.head;
        return [previousSummary, summary, ...latest].filter(Boolean).join("\n\n");
      } finally {
        context[Symbol.dispose]();
      }
    },
  };
}

/** A message as text: its role, its words and its tool calls. The head of a fold in front of it is left out. */
function lineOf(message: HostMessage, head = ""): string {
  const blocks: unknown[] = Array.isArray(message.content) ? message.content : [];
  const calls = blocks.flatMap((block) => {
    const { type, name, arguments: input } = Object(block) as Record<string, unknown>;
    return type === "toolCall" ? [`${name}(${JSON.stringify(input)})`] : [];
  });
  const parts = [
    textOf(message)
      .replace(head, () => "")
      .trim(),
    ...calls,
  ].filter(Boolean);
  return parts.length > 0 ? `${message.role}: ${parts.join("\n")}` : "";
}
