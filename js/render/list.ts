/** `/context list`: a session on one screen. */
import { sparkline } from "./bar.js";
import { entry, type Row, span, titledTable } from "./entry.js";
import { count, most, tokensInShort } from "./numbers.js";
import { lettered, partOf, windowSegments } from "./parts.js";
import type { Fields } from "./read.js";
import type { Role, Screen, Span } from "./screen.js";
import type { Column } from "./table.js";

/** Entries that are named before the rest is counted. */
const PATHS = 3;
const NAMES = 6;
/** Rows of buckets, and of messages: the largest. */
const BUCKETS = 12;
const MESSAGES = 10;
const FIRST = 10;

/** Entries that a session file may tell nothing of. */
export type Unknown = "prompt" | "plan";

/** A report without the entries of which nothing is known. */
export function list(screen: Screen, report: Fields, unknown: readonly Unknown[] = []): string[] {
  const id = report.text("sessionId");
  return [
    ...(id.trim() === "" ? [] : entry(screen, "Session", [span(id)])),
    ...window(screen, report),
    ...(unknown.includes("plan") ? [] : planned(screen, report)),
    ...(unknown.includes("prompt") ? [] : prompt(screen, report)),
    ...live(screen, report),
    ...focus(screen, report),
    ...buckets(screen, report),
    ...sections(screen, report),
    ...messages(screen, report),
  ];
}

function window(screen: Screen, report: Fields): string[] {
  const [window, status] = [report.object("window"), report.object("status")];
  const total = report.number("contextWindowTokens");
  const used = `used ${count(window.number("used"))}`;
  if (total <= 0) return entry(screen, "Window", [span("not known"), span(used)]);
  const usedPct = status.number("usedPct");
  const usable = count(status.number("usable"));
  const [free, reserve] = [window.number("free"), window.number("reserve")];
  const filled = `${cells(screen, usedPct * 10)} ${usedPct}% of ${usable} usable`;
  const [trigger, target] = [window.maybe("trigger"), window.maybe("target")];
  return [
    ...entry(screen, "Window", [
      span(count(total)),
      span(filled, fullness(usedPct)),
      span(used),
      span(`reserve ${count(reserve)} (${screen.sign("reserve")})`),
      span(`free ${count(free)} (${screen.sign("free")})`, free < 0 ? "bad" : "plain"),
      span(`pressure ${status.text("pressure").toUpperCase()}`, pressure(status)),
      span(`trend ${status.text("trend")}`),
    ]),
    lettered(screen, windowSegments(screen, fillings(report), { free, reserve })),
    ...(trigger === undefined || target === undefined
      ? []
      : entry(screen, "Trigger", [span(count(trigger)), span(`target ${count(target)}`)])),
  ];
}

/** The next edit and the next compaction. */
function planned(screen: Screen, report: Fields): string[] {
  if (report.number("contextWindowTokens") <= 0) return [];
  return [
    ...nextEdit(screen, report.object("status").object("nextEdit")),
    ...next(screen, report.object("next")),
  ];
}

function fillings(report: Fields): Array<{ bucket: string; sentTokens: number }> {
  return report.objects("buckets").map((one) => {
    return { bucket: one.words("bucket"), sentTokens: Math.max(0, one.number("tokens")) };
  });
}

function pressure(status: Fields): Role {
  const level = status.words("pressure");
  return level === "low" ? "good" : level === "medium" ? "warn" : "bad";
}

/** The colour of a bar: it is beside the figure and decides nothing. */
function fullness(percent: number): Role {
  return percent < 60 ? "good" : percent <= 85 ? "warn" : "bad";
}

function nextEdit(screen: Screen, edit: Fields): string[] {
  const tokens = edit.number("tokens");
  if (tokens <= 0) return [];
  return entry(screen, "Next edit", [
    span(`at about ${count(tokens)} tokens, because ${edit.text("reason")}`),
  ]);
}

/** The next compaction; the sizes where it has some. */
function next(screen: Screen, plan: Fields): string[] {
  const [before, after] = [plan.number("tokensBefore"), plan.number("tokensAfterEstimate")];
  const outcome = plan.text("outcome");
  const isChange = outcome === "prune" || outcome === "summarize";
  const sizes = isChange ? `, ${count(before)} -> ${count(after)}` : "";
  return entry(screen, "Next", [span(outcome + sizes), span(plan.text("reason"), "faint")]);
}

function prompt(screen: Screen, report: Fields): string[] {
  const budget = report.object("budget");
  const [each, all] = [budget.number("maxPerTierChars"), budget.number("maxTotalChars")];
  const cut = someOf(report.texts("truncatedSectionKeys"), NAMES);
  return [
    ...entry(screen, "Prompt", [
      span(`${count(report.number("totalChars"))} chars`),
      span(`~${tokensInShort(report.number("estimatedTokens"))} tokens`),
      ...(report.number("contextWindowTokens") > 0
        ? [span(`${percent(report.tenths("systemPromptSharePct"))} of window`)]
        : []),
      ...(report.has("budget")
        ? [span(`budget ${count(all)} in all, ${count(each)} a section`)]
        : []),
    ]),
    ...(cut === "" ? [] : entry(screen, "Cut", [span(cut, "warn")])),
  ];
}

/** The session so far: sizes, compactions, requests. */
function live(screen: Screen, report: Fields): string[] {
  const [status, monitor] = [report.object("status"), report.object("monitor")];
  return [
    ...entry(screen, "Peak", [
      span(count(status.number("peakTokens"))),
      ...history(screen, monitor.numbers("samples")),
    ]),
    ...compacted(screen, monitor.object("compactions"), status.number("compactions")),
    ...requests(screen, monitor),
  ];
}

/** The sizes of requests against the largest of them. */
function history(screen: Screen, samples: readonly number[]): Span[] {
  if (samples.length < 2) return [];
  const size = { ceiling: most(samples), width: samples.length, height: 1 };
  return [span(`requests so far ${sparkline(screen, samples, size).join("")}`)];
}

/** Compactions: those that the monitor has seen; of an agent's own only the number is known. */
function compacted(screen: Screen, made: Fields, known: number): string[] {
  const total = Math.max(made.number("total"), known);
  const [saved, last] = [made.number("tokensSaved"), made.object("last")];
  const [before, after] = [last.number("tokensBefore"), last.number("tokensAfter")];
  const sizes = [before, after, Math.max(0, before - after)].map(tokensInShort);
  const average = tokensInShort(Math.trunc(saved / Math.max(1, total)));
  return entry(screen, "Compacted", [
    span(count(total)),
    ...named(made.counts("byPhase")),
    ...(total > 0 && saved > 0
      ? [span(`saved ${tokensInShort(saved)}, ${average} on average`)]
      : []),
    ...(made.has("last")
      ? [span(`last ${last.text("phase")} ${sizes[0]} -> ${sizes[1]}, saved ${sizes[2]}`)]
      : []),
  ]);
}

function requests(screen: Screen, monitor: Fields): string[] {
  const requests = monitor.object("requests");
  const total = requests.number("total");
  if (total <= 0) return [];
  const [sent, received] = [monitor.number("inputTokens"), monitor.number("outputTokens")];
  return entry(screen, "Requests", [
    span(count(total)),
    ...named(requests.counts("bySource")),
    span(`${tokensInShort(sent)} tokens in, ${tokensInShort(received)} out`),
  ]);
}

function named(counts: ReadonlyArray<[string, number]>): Span[] {
  return counts.map(([name, number]) => span(`${name} ${number}`));
}

/** The first of a list, and how many more there are. */
function someOf(all: readonly string[], shown: number): string {
  const more = all.length - shown;
  return all.slice(0, shown).join(", ") + (more > 0 ? ` +${more} more` : "");
}

function focus(screen: Screen, report: Fields): string[] {
  if (!report.has("budget") && report.objects("sections").length === 0) return [];
  const focus = report.object("requestFocus");
  const query = focus.text("querySummary");
  const lists = [
    ["files", someOf(focus.texts("activeFilePaths"), PATHS)],
    ["symbols", someOf(focus.texts("activeSymbols"), NAMES)],
    ["plan", someOf(focus.texts("planSignals"), NAMES)],
  ].filter(([, texts]) => texts !== "");
  const spans = [
    ...(query.trim() === "" ? [] : [span(`"${query}"`)]),
    ...lists.map(([name, texts]) => span(`${name}: ${texts}`)),
  ];
  const none = span("No request-local focus signals detected.", "faint");
  return entry(screen, "Focus", spans.length === 0 ? [none] : spans);
}

const BUCKET_COLUMNS: readonly Column[] = [
  { head: "BUCKET", shrink: FIRST },
  { head: "", drop: 2 },
  { head: "~TOKENS", right: true },
  { head: "SHARE", right: true, drop: 1 },
  { head: "RETAINED", right: true, drop: 3 },
  { head: "", drop: 4 },
];

function buckets(screen: Screen, report: Fields): string[] {
  const all = report.objects("buckets");
  const rows = all.slice(0, BUCKETS).map((bucket): Row => {
    const share = bucket.tenths("sharePct");
    const { letter, role } = partOf(bucket.words("bucket"));
    return [
      span(bucket.text("bucket")),
      span(letter, role),
      span(tokensInShort(bucket.number("tokens"))),
      span(percent(share)),
      span(retained(bucket)),
      span(cells(screen, share)),
    ];
  });
  const title = largest("What fills it", all.length, BUCKETS);
  return [...titledTable(screen, title, BUCKET_COLUMNS, rows), ...memory(screen, report)];
}

/** Share of a bucket that is left; messages that Plimsoll has added have none. */
export function retained(bucket: Fields): string {
  const tenths = bucket.tenths("retainedPct");
  return tenths === 0 && bucket.number("tokens") > 0 ? "-" : percent(tenths);
}

function largest(name: string, all: number, shown: number): string {
  return all > shown ? `${name}, the largest ${shown} of ${all}` : name;
}

/** How much of what was remembered is in the prompt. */
function memory(screen: Screen, report: Fields): string[] {
  const of = (name: string, sources: readonly string[]): Span[] => {
    const mine = report
      .objects("sections")
      .filter((one) => sources.includes(one.words("sourceType")));
    if (mine.length === 0) return [];
    const sum = (member: string): number =>
      mine.reduce((all, one) => all + Math.max(0, one.number(member)), 0);
    const there = mine.filter((one) => one.flag("included")).length;
    const original = sum("originalChars");
    const kept = original > 0 ? Math.floor((1000 * sum("finalChars")) / original) : 0;
    const tokens = tokensInShort(sum("estimatedTokens"));
    const text = `${name} ~${tokens} tokens, ${there} of ${mine.length} sections, ${percent(kept)} kept`;
    return [span(text)];
  };
  const spans = [
    ...of("reused", ["memory", "learned-signals"]),
    ...of("learned", ["learned-signals"]),
  ];
  return spans.length === 0 ? [] : entry(screen, "Memory", spans);
}

const SECTION_COLUMNS: readonly Column[] = [
  { head: "KEY", shrink: FIRST },
  { head: "CHARS", right: true, drop: 3 },
  { head: "SENT", right: true, drop: 2 },
  { head: "~TOKENS", right: true },
  { head: "PRIORITY", right: true, drop: 4 },
  { head: "STATE" },
  { head: "SCOPE / SOURCE", drop: 5 },
  { head: "WHY", drop: 6 },
];

function sections(screen: Screen, report: Fields): string[] {
  const rows = report.objects("sections").map((section): Row => {
    return [
      span(section.text("key")),
      span(count(section.number("originalChars"))),
      span(count(section.number("finalChars"))),
      span(tokensInShort(section.number("estimatedTokens"))),
      span(priority(section)),
      stateOf(section),
      span(`${section.text("scopeType")} / ${section.text("sourceType")}`, "faint"),
      span(section.text("inclusionReason"), "faint"),
    ];
  });
  return titledTable(screen, "Sections of the prompt", SECTION_COLUMNS, rows);
}

/** A priority, and what the request lifted it by. */
export function priority(section: Fields): string {
  const priority = section.number("priority");
  const base = section.maybe("basePriority") ?? priority;
  const lift = priority - base;
  return lift === 0 ? String(priority) : `${base}${lift > 0 ? "+" : ""}${lift}`;
}

/** What became of a section, in words. */
export function stateOf(section: Fields): Span {
  const [original, now] = [section.number("originalChars"), section.number("finalChars")];
  const isProtected = section.flag("protected");
  const more = isProtected ? " protected" : "";
  if (!section.flag("included")) return span(`DROPPED${more}`, "bad");
  if (!section.flag("truncated")) return span(isProtected ? "protected" : "whole", "good");
  const cut = original > 0 ? Math.floor((100 * Math.max(0, original - now)) / original) : 0;
  return span(`cut ${cut}%${more}`, "warn");
}

function messages(screen: Screen, report: Fields): string[] {
  const size = (one: Fields): number => Math.abs(one.number("tokens"));
  const all = report.objects("messages");
  const order = [...all].sort((a, b) => size(b) - size(a) || a.number("index") - b.number("index"));
  const rows = order.slice(0, MESSAGES).map(messageRow);
  return titledTable(screen, largest("Messages", all.length, MESSAGES), MESSAGE_COLUMNS, rows);
}

export const MESSAGE_COLUMNS: readonly Column[] = [
  { head: "KEY", shrink: FIRST },
  { head: "TURN", right: true, drop: 4 },
  { head: "ROLE", drop: 3 },
  { head: "TOOL", drop: 5 },
  { head: "~TOKENS", right: true, drop: 2 },
  { head: "SENT", right: true },
  { head: "STATE" },
  { head: "RULE", drop: 6 },
];

/** A message as a row. */
export function messageRow(one: Fields): Row {
  const state = one.text("state");
  const isGone = state === "dropped" || state === "summarized";
  return [
    span(`message:${one.number("index")}`),
    span(count(one.number("turn"))),
    span(one.text("role")),
    span(one.text("tool")),
    span(tokensInShort(one.number("tokens"))),
    span(tokensInShort(one.number("sentTokens"))),
    span(state, state === "kept" ? "good" : isGone ? "bad" : "warn"),
    span(one.text("rule"), "faint"),
  ];
}

/** Ten cells, as many filled as tens of a percentage (in tenths): what is over 100 % fills all. */
function cells(screen: Screen, tenths: number): string {
  const filled = Math.min(10, Math.max(0, Math.floor((tenths + 50) / 100)));
  return screen.sign("full").repeat(filled) + screen.sign("empty").repeat(10 - filled);
}

/** A percentage (in tenths) with its one place. */
export function percent(tenths: number): string {
  const size = Math.abs(tenths);
  return `${tenths < 0 ? "-" : ""}${Math.floor(size / 10)}.${size % 10}%`;
}
