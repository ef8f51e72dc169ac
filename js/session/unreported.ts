/** Decisions that could not be carried out: the next request reports them too. */
import type { Answer } from "./view.js";

/** An answer with what is to be reported of the decisions before it. */
export function withUnreported(before: Answer | undefined, answer: Answer): Answer {
  if (!before) return answer;
  const isEditedAgain = (index: number): boolean =>
    answer.edits.some((edit) => edit.index === index);
  // One outcome is reported: that of the deeper decision, else of the later.
  const room = answer.outcome && (answer.fold || !before.fold) ? answer : before;
  return {
    ...answer,
    firstChanged: first(before.firstChanged, answer.firstChanged),
    tokensBefore: before.tokensBefore,
    cachedTokensLost: Math.max(before.cachedTokensLost, answer.cachedTokensLost),
    edits: [...before.edits.filter(({ index }) => !isEditedAgain(index)), ...answer.edits],
    event: before.event === "fold" ? "fold" : (answer.event ?? before.event),
    outcome: room.outcome,
    fold: room.fold,
  };
}

/** The first message that changed; -1: system or tools; null: none. */
function first(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}
