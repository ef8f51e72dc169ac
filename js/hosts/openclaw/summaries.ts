/** Summaries by the model that the host lends. */
import type { Summarizer } from "../../types.js";
import type { Llm } from "./host.js";

/**
 * A summarizer that asks the host's model.
 *
 * @param lent the model, as long as the host lends it
 * @param model another model than the session's, as `provider/model`
 */
export function summarizer(lent: () => Llm | undefined, model?: string): Summarizer {
  return async ({ system, prompt, maxOutputTokens }, { signal }) => {
    const llm = lent();
    if (!llm) throw new Error("the host lends its model only to maintain and compact");
    const { text, stopReason, usage } = await llm.complete({
      messages: [{ role: "user", content: prompt }],
      systemPrompt: system,
      maxTokens: maxOutputTokens,
      purpose: "compaction",
      signal,
      ...(model && { model }),
    });
    return { text, finishReason: stopReason, usage };
  };
}
