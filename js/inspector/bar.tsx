/** The bar that adds up: used, reserve and free are the window. */
import type { JSX } from "preact";
import { type Category, categoryOf, letterOf, NAMES, ORDER } from "./categories.js";
import * as state from "./state.js";
import { count, percent, short } from "./words.js";

/** Tokens of each category, in their order. */
export function byCategory(
  buckets: readonly { bucket: string; sentTokens: number }[],
): Array<{ category: Category; tokens: number }> {
  const sums = new Map<Category, number>();
  for (const { bucket, sentTokens } of buckets) {
    const category = categoryOf(bucket);
    sums.set(category, (sums.get(category) ?? 0) + sentTokens);
  }
  return ORDER.flatMap((category) => {
    const tokens = sums.get(category) ?? 0;
    return tokens === 0 ? [] : [{ category, tokens }];
  });
}

export function Bar(): JSX.Element | null {
  const figures = state.figures.value;
  const standing = state.standing.value;
  if (!figures) return null;
  const { used, reserve, free, total } = figures;
  const parts = byCategory(standing?.buckets ?? []);
  const sum = parts.reduce((all, { tokens }) => all + Math.max(0, tokens), 0);
  // Over the window, or if the file holds more than was counted, the bar is as long as what it shows.
  const length = Math.max(total, used + reserve, sum + reserve, 1);
  const width = (tokens: number) => `${(100 * Math.max(0, tokens)) / length}%`;
  // Shares are of what is shown: of another figure they could pass 100 %.
  const excess = Math.max(0, sum - used);
  return (
    <section class="bar-block" aria-label="The window">
      <p class="sum">
        used <b>{count(used)}</b> + reserve <b>{count(reserve)}</b> + free{" "}
        <b class={free < 0 ? "bad" : ""}>{free < 0 ? `−${count(-free)}` : count(free)}</b> = window{" "}
        <b>{count(total)}</b> tokens
      </p>
      <div class="bar">
        {parts.map(({ category, tokens }) => (
          <span
            key={category}
            class={`segment c${category}`}
            style={{ width: width(tokens) }}
            title={`${NAMES[category]}: ${count(tokens)} tokens, ${percent(Math.max(0, tokens), Math.max(sum, 1))} of what is used`}
          >
            {tokens > length / 70 ? <b>{letterOf(category)}</b> : null}
            {tokens > length / 18 ? ` ${short(tokens)}` : null}
          </span>
        ))}
        {reserve > 0 ? (
          <span
            class="segment reserve"
            style={{ width: width(reserve) }}
            title="Kept free for the answer"
          >
            reserve {short(reserve)}
          </span>
        ) : null}
        <span class="segment free" style={{ width: width(free) }}>
          {free > 0 ? `free ${short(free)}` : ""}
        </span>
      </div>
      <ul class="legend">
        {parts.map(({ category, tokens }) => (
          <li key={category}>
            <i class={`swatch c${category}`}>{letterOf(category)}</i> {NAMES[category]}{" "}
            <span class="dim">{percent(Math.max(0, tokens), Math.max(sum, 1))}</span>
          </li>
        ))}
      </ul>
      {excess > 1 ? (
        <p class="dim">
          The file holds {count(sum)} tokens by our estimate, the provider counted {count(used)}:
          what was left out is not told.
        </p>
      ) : null}
    </section>
  );
}
