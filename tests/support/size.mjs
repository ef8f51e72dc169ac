// @ts-check
/**
 * Size of a run: `short` by default, `ci` with `cargo xtask test --ci`, `long` with `--long`. A suite names its figure for each.
 */
export const size =
  process.env.PLIMSOLL_LONG === "1" ? "long" : process.env.PLIMSOLL_CI === "1" ? "ci" : "short";

/**
 * The figure for this run's size.
 * @template T
 * @param {{ short: T, ci: T, long: T }} figures
 */
export const sized = (figures) => figures[size];
