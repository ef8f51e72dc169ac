/** Reports as text, in a Wasm of their own. */

import { invalid } from "./errors.js";
import * as glue from "./glue/inspect_bg.js";
import { argumentJson } from "./json.js";
import { Seam } from "./seam.js";
import type { InspectReport } from "./types.js";

export const inspections: Seam = new Seam("inspect", glue);

/** Report of `inspect`, also of an older version that has no `monitor`. */
export type ShownReport = Omit<InspectReport, "monitor"> & Partial<Pick<InspectReport, "monitor">>;

/** Options of `renderList` and `renderDetail`. */
export interface RenderOptions {
  /** Columns of a line, 20 to 500. Default 100. */
  width?: number;
  /** Adds terminal colors. Everything is also said in words. Default false. */
  color?: boolean;
  /** Uses only ASCII characters. Default false. */
  ascii?: boolean;
}

/**
 * Renders a report as text, as `/context list` shows it: the window and what fills it, the sections of the prompt, the largest messages,
 * and what would be removed next. Terminal escapes, control characters and direction marks from the session are left out.
 *
 * @throws {PlimsollError} `INVALID_ARGUMENT`.
 * @example
 * console.log(renderList(context.inspect(), { width: process.stdout.columns, color: true }));
 */
export function renderList(report: ShownReport, options: RenderOptions = {}): string {
  const texts = [argumentJson(options, "options"), reportJson(report)];
  return inspections.call("renderList", () => glue.list(inspections.sendAll(texts)));
}

/**
 * Renders one entry of a report as text, as `/context detail KEY` shows it. The text of the entry, at most 12,000 characters, is included if the
 * report has it (`inspect({ detailKey })`). For an unknown key the nearest keys are listed.
 *
 * @param key a section's key, `message:N`, the name of a bucket, or `system`
 * @throws {PlimsollError} `INVALID_ARGUMENT`.
 * @example
 * renderDetail(context.inspect({ detailKey: "memory:soul" }), "memory:soul");
 */
export function renderDetail(
  report: ShownReport,
  key: string,
  options: RenderOptions = {},
): string {
  if (typeof key !== "string") throw invalid("key", "a string", key);
  const texts = [argumentJson(options, "options"), reportJson(report), key];
  return inspections.call("renderDetail", () => glue.detail(inspections.sendAll(texts)));
}

function reportJson(report: ShownReport): string {
  if (typeof report === "object" && report !== null) return argumentJson(report, "report");
  throw invalid("report", "a report of `inspect`", report);
}
