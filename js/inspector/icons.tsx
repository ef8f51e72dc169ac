/** Small parts that several views share. */
import type { ComponentChildren, JSX } from "preact";
import { type Category, categoryOf, letterOf, NAMES } from "./categories.js";

/** A category's colour with its letter in it. */
export function Swatch({ category }: { category: Category }): JSX.Element {
  return (
    <i class={`swatch c${category}`} aria-hidden="true">
      {letterOf(category)}
    </i>
  );
}

export function BucketSwatch({ bucket }: { bucket: string }): JSX.Element {
  return <Swatch category={categoryOf(bucket)} />;
}

/** A bar in a row: what it was, and of that what is sent. */
export function Share({
  category,
  part,
  of,
  whole,
}: {
  category: Category;
  part: number;
  of: number;
  whole?: number;
}): JSX.Element {
  const width = (value: number) =>
    `${of > 0 ? Math.max(0, Math.min(100, (100 * value) / of)) : 0}%`;
  return (
    <span class="share" aria-hidden="true">
      {whole === undefined ? null : (
        <s class={`c${category} was`} style={{ width: width(whole) }} />
      )}
      <s class={`c${category}`} style={{ width: width(part) }} />
    </span>
  );
}

export function Source({ children }: { children: ComponentChildren }): JSX.Element {
  return <span class="source">{children}</span>;
}

export function Legend({ shown }: { shown: readonly Category[] }): JSX.Element {
  return (
    <ul class="legend">
      {shown.map((category) => (
        <li key={category}>
          <Swatch category={category} /> {NAMES[category]}
        </li>
      ))}
    </ul>
  );
}
