/** Numbers as words of a report. */

/** 1234567 as 1,234,567, whatever the language of the machine. */
export function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** A share as a percentage with one decimal, for columns that are compared. */
export function percent(part: number, total: number): string {
  return total > 0 ? ((100 * part) / total).toFixed(1) : "0.0";
}

/** "1 call", "2 calls". */
export function plural(value: number, word: string): string {
  return `${count(value)} ${word}${value === 1 ? "" : "s"}`;
}

/** 812 as 812, 64,000 as 64k, 1,200,000 as 1.2m: for axes. */
export function short(value: number): string {
  if (value < 1000) return String(Math.round(value));
  if (value < 999_500) return `${Math.round(value / 1000)}k`;
  return `${Number((value / 1_000_000).toFixed(1))}m`;
}

/** Tokens as `/context list` shows them: 999, 1.0K, 9.9K, 10K, 128K. */
export function tokensInShort(tokens: number): string {
  const size = Math.abs(tokens);
  const sign = tokens < 0 ? "-" : "";
  if (size < 1000) return `${sign}${size}`;
  if (size >= 10_000) return `${sign}${Math.floor((size + 500) / 1000)}K`;
  const tenths = Math.floor((size + 50) / 100);
  return `${sign}${Math.floor(tenths / 10)}.${tenths % 10}K`;
}

/** The largest of any number of values, at least 0. `Math.max(...values)` gives up at some hundred thousand. */
export function most(values: readonly number[]): number {
  return values.reduce((highest, value) => Math.max(highest, value), 0);
}
