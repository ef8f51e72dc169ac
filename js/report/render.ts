/** A report as text. */
import { textOf } from "../core/arguments.js";
import { invalid, unknownOption } from "../core/errors.js";
import { argumentJson } from "../core/json.js";
import { detail } from "../render/detail.js";
import { list } from "../render/list.js";
import { Fields } from "../render/read.js";
import { Screen } from "../render/screen.js";
import type { InspectReport } from "../types.js";

/** Report of `inspect`, also of an older version that has no `monitor`. */
export type ShownReport = Omit<InspectReport, "monitor"> & Partial<Pick<InspectReport, "monitor">>;

/** Options of `renderList` and `renderDetail`. */
export interface RenderOptions {
  /** Columns of a line, 20 to 500. Default 100. */
  width?: number | undefined;
  /** Adds terminal colors. Everything is also said in words. Default false. */
  color?: boolean | undefined;
  /** Uses only ASCII characters; in names from the session others are replaced by `?`. Default false. */
  ascii?: boolean | undefined;
}

const WIDTH = { default: 100, least: 20, most: 500 };

/**
 * Renders a report as text, as `/context list` shows it: the window and what fills it, the sections of the prompt, the largest messages,
 * and what would be removed next. Control characters, terminal escapes and direction marks from the session are written out as `\u{1b}`.
 *
 * @throws {PlimsollError} `INVALID_ARGUMENT`.
 * @example
 * console.log(renderList(context.inspect(), { width: process.stdout.columns, color: true }));
 */
export function renderList(report: ShownReport, options: RenderOptions = {}): string {
  const screen = screenOf(options);
  return asText(list(screen, fieldsOf(report)));
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
  textOf("key", key);
  const screen = screenOf(options);
  return asText(detail(screen, fieldsOf(report), key));
}

const asText = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

function screenOf(options: RenderOptions): Screen {
  const read: unknown = JSON.parse(argumentJson(options, "options"));
  if (typeof read !== "object" || read === null || Array.isArray(read))
    throw invalid("options", "{ width, color, ascii }", options);
  const { width, color, ascii, ...others } = read as Record<string, unknown>;
  for (const [name, value] of Object.entries(others))
    throw unknownOption(`options.${name}`, ["width", "color", "ascii"], value);
  const columns = width ?? WIDTH.default;
  if (!Number.isSafeInteger(columns)) throw invalid("options.width", "a whole number", width);
  return new Screen({
    width: Math.min(WIDTH.most, Math.max(WIDTH.least, columns as number)),
    color: flag("color", color),
    ascii: flag("ascii", ascii),
  });
}

function flag(name: string, value: unknown): boolean {
  if (typeof (value ?? false) !== "boolean") throw invalid(`options.${name}`, "a boolean", value);
  return value === true;
}

/** The report as JSON has it: no getter or prototype of the host is seen while it is drawn. */
function fieldsOf(report: ShownReport): Fields {
  if (typeof report !== "object" || report === null)
    throw invalid("report", "a report of `inspect`", report);
  return new Fields(JSON.parse(argumentJson(report, "report")));
}
