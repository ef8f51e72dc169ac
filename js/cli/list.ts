/** `plimsoll inspect FILE --chat` and `plimsoll detail KEY FILE`: the report as `/context` shows it in a chat. */
import { nearest } from "../core/nearest.js";
import { detail } from "../render/detail.js";
import { list, type Unknown } from "../render/list.js";
import { Fields } from "../render/read.js";
import { type Screen, spans } from "../render/screen.js";
import { absentOf } from "../session-files/absent.js";
import type { InspectReport } from "../types.js";
import { usage } from "./errors.js";
import { type Facts, header, viewFacts } from "./header.js";
import { type Arguments, inWords } from "./options.js";
import { absentLines } from "./parts.js";
import { sentAt } from "./sent.js";
import type { Setting } from "./setting.js";
import { callOf, reportAt, type Source } from "./source.js";
import { shownText, type View, view } from "./view.js";
import { where } from "./window.js";

/** How the text under a key is told besides: as it stands there, as it is sent, and the one beside the other. */
export const FORMS = ["raw", "sent", "diff"] as const;
type Form = (typeof FORMS)[number];

/** The report of one call, and of which file it is. */
export interface Looked {
  facts: Facts;
  /** From 1. */
  call: number;
  source: Setting["source"];
  /** `sent`: what the request has of the text under the key, if that is asked for; null: nothing. */
  report: InspectReport & { detail?: { sent?: string | null } };
}

export function look(source: Source, args: Arguments, key?: string, form?: Form): Looked {
  using played = view(source);
  const call = callOf(args, played);
  const all = viewFacts(source, played, call);
  const report = reportAt(source, played, call, key);
  // A bucket has no text, but messages in it.
  const isBucket = report.buckets.some(({ bucket }) => bucket === key);
  if (report.nearestKeys !== undefined && !isBucket) {
    const near = inWords(nearKeys(key ?? "", report.nearestKeys).map(quoted), "or");
    const close = near === "" ? "; plimsoll inspect --chat lists keys" : `. Did you mean ${near}?`;
    throw usage(`no key ${quoted(key ?? "")} at call ${call}${close}`);
  }
  const looked = { facts: all, call, source: source.setting.source, report };
  if (form === undefined) return looked;
  const { detail } = report;
  if (detail === undefined) throw usage(`--${form}: ${quoted(key ?? "")} has no text of its own`);
  if (form === "raw") return looked;
  const sent = sentOf(source, played, call, report, detail);
  return { ...looked, report: { ...report, detail: { ...detail, sent } } };
}

function sentOf(
  source: Source,
  { sent: sentOfCall }: View,
  call: number,
  { messages }: InspectReport,
  { key, content }: NonNullable<InspectReport["detail"]>,
): string | null {
  const index = Number(/^message:(\d+)$/.exec(key)?.[1] ?? -1);
  // What goes out beside the messages goes out whole.
  if (index < 0) return content;
  // An agent sends a message whole, or its compaction has taken it.
  const { state } = messages.find((one) => one.index === index) ?? {};
  if (sentOfCall === undefined) return state === "kept" ? content : null;
  const sent = sentAt(source, { sent: sentOfCall }, call);
  return sent.own(index) ?? (sent.carries(index, content) ? content : null);
}

/** Those that a misspelt key probably means. The number of a message is no misspelling. */
function nearKeys(key: string, known: readonly string[]): string[] {
  const word = (text: string): string => text.replace(/\d+$/, "");
  return known.filter((one) => nearest(word(key), [word(one)]) !== undefined);
}

const quoted = (text: string): string => JSON.stringify(text);

export function listText(screen: Screen, { facts, source, report }: Looked): string[] {
  const assumed =
    source === "assumed" || source === "usage" ? ["the window is assumed; --window sets it"] : [];
  // A system prompt may also be among the messages. What an agent sent has no plan of Plimsoll's.
  const unknown: Unknown[] = [
    ...(report.totalChars > 0 ? [] : (["prompt"] as const)),
    ...(facts.view?.shows === "recorded" ? (["plan"] as const) : []),
  ];
  // The header names the file already.
  return [
    ...header(screen, facts),
    ...screen.flow(spans("faint", assumed)),
    ...absentLines(screen, absentOf(report.buckets)),
    "",
    ...list(screen, new Fields({ ...report, sessionId: "" }), unknown),
  ];
}

export function detailText(screen: Screen, looked: Looked, key: string): string[] {
  return [
    ...screen.flow(spans("strong", shownAt(looked)), ", "),
    "",
    ...detail(screen, new Fields(looked.report), key),
  ];
}

/** What is shown, by which count, and at which call. */
export function shownAt({ facts: { view, calls }, call }: Looked): string[] {
  return [...(view === undefined ? [] : shownText(view)), where(call, calls)];
}
