/** context-chef: its janitor with a summarizing strategy, fed with the provider's usage, and its tool-result clearing. */

import { sizeOf } from "../provider.mjs";
import { summarize } from "../summarizer.mjs";
import { peer, summaryBudget, transcriptOf } from "./peer.mjs";

export const chef = async ({ window, reserve, provider }) => {
  const { Janitor, ensureValidHistory } = await peer("@context-chef/core");
  const janitor = new Janitor({
    contextWindow: window - reserve - provider.extraTokens,
    tokenizer: sizeOf,
    compressionModel: async (messages) => {
      // The last message is its instruction.
      const text = summarize({
        transcript: transcriptOf(messages.slice(0, -1)),
        budget: summaryBudget(window),
      });
      provider.summary(transcriptOf(messages), text);
      return `<summary>\n${text}\n</summary>`;
    },
    logger: { warn() {}, info() {}, error() {}, debug() {} },
  });
  let kept = [];
  let known = 0;
  const compress = async (history, options) => {
    kept = [...kept, ...history.slice(known)];
    known = history.length;
    const out = await janitor.compress(kept, options);
    kept = Array.isArray(out) ? out : (out.history ?? kept);
    return ensureValidHistory(kept);
  };
  return {
    request: (history) => compress(history),
    overflow: (history) => compress(history, { force: true }),
  };
};
