/** The compaction provider, for those who keep OpenClaw's own engine: its compaction gets a checked summary, or a digest. */
import { compact } from "../../functions/compact.js";
import type { HostMessage, Llm } from "./host.js";
import { summarizer } from "./summaries.js";

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

/** A window so small that all that the host wants summarized is folded. */
const WINDOW = { contextTokens: 4_000 };
/** Tokens that a call of the summarizer may have: what the host passes is at most its own window. */
const CALL_TOKENS = 24_000;

/** @param llm the host's model, if it lends one to plugins */
export function compactionProvider(llm: Llm | undefined, model?: string): CompactionProvider {
  return {
    id: "plimsoll",
    label: "Plimsoll",
    async summarize({ messages, signal, customInstructions, previousSummary }) {
      const { outcome } = await compact(messages, {
        ...{ window: WINDOW, format: "pi", force: true },
        ...(llm && { summarize: summarizer(() => llm, model) }),
        summary: {
          // The headings that the host looks for in a summary.
          template: "openclaw",
          contextTokens: CALL_TOKENS,
          minimumTokens: 0,
          ...(customInstructions && { instructions: customInstructions.slice(0, 4_000) }),
        },
        ...(signal && { signal }),
      });
      const { record } = outcome;
      return [previousSummary, record?.summary || record?.head].filter(Boolean).join("\n\n");
    },
  };
}
