/** `plimsoll list FILE` and `plimsoll detail KEY FILE`: the report as the core draws it, as `/context` in a chat. */
import { renderDetail, renderList } from "../index.js";
import type { InspectReport } from "../types.js";
import { usage } from "./errors.js";
import { type Facts, facts, header } from "./header.js";
import { type Given, inWords } from "./options.js";
import { callOf, play, reportAt, type Source } from "./source.js";
import type { Screen } from "./style.js";

/** The report of one call, and of which file it is. */
export interface Looked {
  facts: Facts;
  report: InspectReport;
}

export function look(source: Source, given: Given, detailKey?: string): Looked {
  using played = play(source);
  const call = callOf(given, played);
  const all = facts(source, played);
  const report = reportAt(source, played, call, detailKey);
  if (report.nearestKeys !== undefined) {
    const near = report.nearestKeys.map((key) => JSON.stringify(key));
    const close = near.length === 0 ? "" : `; close to it: ${inWords(near, "and")}`;
    throw usage(`there is no ${JSON.stringify(detailKey)} at call ${call}${close}`);
  }
  return { facts: all, report };
}

export function listText(screen: Screen, { facts, report }: Looked): string[] {
  const { color, ascii, width } = screen;
  return [...header(screen, facts), "", renderList(report, { color, ascii, width }).trimEnd()];
}

export function detailText(screen: Screen, { report }: Looked): string[] {
  const { color, width } = screen;
  return [renderDetail(report, report.detail?.key ?? "", { color, width }).trimEnd()];
}
