/** `plimsoll list FILE` and `plimsoll detail KEY FILE`: the report as the core draws it, as `/context` in a chat. */
import { renderDetail, renderList } from "../index.js";
import type { InspectReport } from "../types.js";
import { usage } from "./errors.js";
import { type Facts, facts, header } from "./header.js";
import { type Given, inWords } from "./options.js";
import type { Setting } from "./setting.js";
import { callOf, play, reportAt, type Source } from "./source.js";
import { type Screen, spans } from "./style.js";

/** The report of one call, and of which file it is. */
export interface Looked {
  facts: Facts;
  source: Setting["source"];
  report: InspectReport;
}

export function look(source: Source, given: Given, key?: string): Looked {
  using played = play(source);
  const call = callOf(given, played);
  const all = facts(source, played);
  const report = reportAt(source, played, call, key);
  // A bucket has no text, but messages in it.
  const isBucket = report.buckets.some(({ bucket }) => bucket === key);
  if (report.nearestKeys !== undefined && !isBucket) {
    const near = inWords(report.nearestKeys.map(quoted), "and");
    const close = near === "" ? "" : `; close to it: ${near}`;
    throw usage(`there is no ${quoted(key ?? "")} at call ${call}${close}`);
  }
  return { facts: all, source: source.setting.source, report };
}

const quoted = (text: string): string => JSON.stringify(text);

export function listText(screen: Screen, { facts, source, report }: Looked): string[] {
  const assumed = source === "assumed" ? ["the window is assumed; --window sets it"] : [];
  // The header names the file already.
  const list = renderList({ ...report, sessionId: "" }, screen.options);
  return [
    ...header(screen, facts),
    ...screen.flow(spans("faint", assumed)),
    "",
    ...list.trimEnd().split("\n"),
  ];
}

export function detailText(screen: Screen, { report }: Looked, key: string): string[] {
  return [renderDetail(report, key, screen.options).trimEnd()];
}
