/** Messages in a row that share a fate, as one: so that a long history stays readable. */
import type { NextMessage } from "./next.js";

export interface Run {
  messages: NextMessage[];
  tokens: number;
  isNew: boolean;
  /** What they share; of a run of several fates, of all of them. */
  fates: Set<string>;
}

/** Runs of one fate each; where they are more than `most`, the smallest join their neighbours. */
export function runsOf(messages: readonly NextMessage[], most: number): Run[] {
  const runs: Run[] = [];
  for (const message of messages) {
    const fate = fateOf(message);
    const last = runs.at(-1);
    const { tokens, isNew } = message;
    if (last?.fates.has(fate)) {
      last.messages.push(message);
      last.tokens += tokens;
    } else runs.push({ messages: [message], tokens, isNew, fates: new Set([fate]) });
  }
  while (runs.length > most) {
    let cheapest = 0;
    for (let at = 1; at + 1 < runs.length; at += 1) {
      if (price(runs, at) < price(runs, cheapest)) cheapest = at;
    }
    const [first, second] = runs.slice(cheapest, cheapest + 2);
    if (first === undefined || second === undefined) break;
    runs.splice(cheapest, 2, joined(first, second));
  }
  return runs;
}

/** What is lost where a run joins the one after it; what happens now is kept apart from what happened before. */
function price(runs: readonly Run[], at: number): number {
  const first = runs[at];
  const second = runs[at + 1];
  if (first === undefined || second === undefined) return Number.POSITIVE_INFINITY;
  const apart = first.isNew === second.isNew ? 1 : 1000;
  return apart * (1 + Math.min(first.tokens, second.tokens));
}

function joined(first: Run, second: Run): Run {
  return {
    messages: [...first.messages, ...second.messages],
    tokens: first.tokens + second.tokens,
    isNew: first.isNew || second.isNew,
    fates: new Set([...first.fates, ...second.fates]),
  };
}

function fateOf({ state, rule, since, isNew }: NextMessage): string {
  return `${state} ${rule} ${since?.call ?? ""} ${isNew}`;
}
