/** Sizes and shares as people write them, on the command line and in the page. */

/** "64k", "200_000", "1m" as tokens; NaN for anything else. */
export function sizeIn(text: string): number {
  // There is no part of a token: "0.85" is meant as a share.
  const match = /^(\d{1,9}(?:\.\d+(?=[km]))?)([km]?)$/i.exec(text.replaceAll("_", ""));
  const unit = { k: 1000, m: 1_000_000 }[match?.[2]?.toLowerCase() ?? ""] ?? 1;
  const tokens = Math.round(Number(match?.[1]) * unit);
  return tokens > 1_000_000_000 ? Number.NaN : tokens;
}

/** "0.85" or "85%" as a share of 1; NaN for anything else. */
export function shareIn(text: string): number {
  const match = /^(\d{1,4}(?:\.\d{1,6})?)(%?)$/.exec(text);
  const value = Number(match?.[1]);
  if (match?.[2]) return value / 100;
  // "85" means 85 %: as a share it could never be exceeded.
  return value > 1 ? Number.NaN : value;
}
