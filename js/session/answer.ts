/** Answer of the core to a request: the messages to send, and what was decided. */
import type { Folded, Room } from "../compaction/outcome.js";
import type { Copied } from "../core/edit.js";
import type { Edit, Op, Prepared, Unfit, Violation } from "../types.js";

/** A message of a view: a host's message by its index, perhaps edited, or one of ours. */
export type Item =
  | { index: number; ops?: Op[] }
  | {
      make: object;
      copies: Copied[];
      ops?: Op[];
      /** Where its content stands. */
      content: string;
      role: "user" | "assistant" | "tool";
      toolCallId?: string;
      toolName?: string;
      /** The core's number of the first of the host's messages that it replaces, and the time of that one. */
      about?: number;
      at?: number;
    };

/** What the core answers to a request. */
export interface Answer {
  /** So many messages of the last view stand at the start of this one; `items` follow. */
  keep: number;
  /** A number: so many messages are those of the last view at the same places. */
  items: Array<Item | number>;
  epoch: number;
  firstChanged: number | null;
  fits: boolean;
  why: Unfit | null;
  tokens: number;
  /** As we count, whatever the provider's own figures say. */
  estimate: number;
  source: Prepared<unknown>["tokensSource"];
  tokensBefore: number;
  cachedTokensLost: number;
  repairs: Violation[];
  edits: Edit[];
  event: "edit" | "fold" | null;
  /** How room was made, or why none was. */
  outcome: Room | null;
  fold: Folded | null;
  foldDue: boolean;
  /** JSON of what the provider must be told. */
  hints: string | null;
  systemNote: string | null;
  /** In which format and by whose rules it is. */
  format: string;
  provider: string;
  /** Cache markers of the host's in its messages. */
  marked: number;
  cacheBreakpoints: number[];
  lastGroup: number;
}

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
