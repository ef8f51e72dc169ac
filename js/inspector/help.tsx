/** The keys, and what the words of the page mean. */
import type { JSX } from "preact";
import { Modal } from "./modal.js";

const KEYS: ReadonlyArray<[string, string]> = [
  ["← →", "one call back, forward; with Shift ten"],
  ["Home End", "first, last call"],
  ["e E", "next, previous compaction or edit"],
  ["b", "show fifty calls around this one, or all"],
  ["j k", "next, previous message"],
  ["Enter", "why the message is sent as it is"],
  ["f", "the smallest window that keeps the message whole"],
  ["a", "keep this what-if as A, to compare it with another; again: forget it"],
  ["/", "search; then n, N for the next, previous hit"],
  ["v", "recorded, with Plimsoll, both"],
  ["t", "parts as a table or a treemap"],
  ["c", "only messages that were changed"],
  ["1 – 6", "messages, lost, what if, next, compare, file"],
  ["s", "share"],
  ["o", "open a file"],
  ["Esc", "close"],
];

const WORDS: ReadonlyArray<[string, string]> = [
  ["Call", "One request to the model."],
  ["Window", "The most tokens that the model takes at once, its answer included."],
  ["By the provider’s count", "Counted by whoever ran the model, and recorded in the file."],
  ["Estimated", "Our own count: the provider’s is missing at this call."],
  ["Simulated", "What Plimsoll would have sent without a summarizer. Nothing of it happened."],
  ["Edit", "Messages are sent shortened or not at all, so that later calls are cheaper and fit."],
  [
    "Fold",
    "A compaction by Plimsoll: older messages are replaced by a summary, or by names from them if there is no summarizer.",
  ],
];

export function Help(): JSX.Element {
  return (
    <Modal title="Keys and words">
      <dl class="keys">
        {KEYS.map(([keys, words]) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((key) => (key === "–" ? " – " : <kbd key={key}>{key}</kbd>))}
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      <dl class="keys">
        {WORDS.map(([word, meaning]) => (
          <div key={word}>
            <dt>{word}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Modal>
  );
}
