/** `/context detail KEY`: one section, message or bucket, with its text if the report has it. */
import { closest } from "../core/nearest.js";
import { entry, span, titledTable } from "./entry.js";
import { MESSAGE_COLUMNS, messageRow, percent, priority, retained, stateOf } from "./list.js";
import { count, tokensInShort } from "./numbers.js";
import { type Fields, oneLine } from "./read.js";
import type { Screen } from "./screen.js";
import { harmlessLines } from "./text.js";

/** UTF-16 code units of a text that are shown, and what follows them if there are more. */
const LONGEST = 12_000;
const CUT = "...[truncated]";
/** Lines of evidence, and messages of a bucket. */
const EVIDENCE = 6;
const MESSAGES = 10;

export function detail(screen: Screen, report: Fields, key: string): string[] {
  const found = entryOf(screen, report, key);
  const detail = report.object("detail");
  if (!report.has("detail") || detail.words("key") !== key)
    return found ?? missing(screen, report, key);
  const text = textLines(detail.words("content"));
  if (found === undefined) return text;
  return [...found, screen.paint("faint", screen.sign("line").repeat(screen.width)), ...text];
}

/** What is known of a key without its text; undefined: there is no such key. */
function entryOf(screen: Screen, report: Fields, key: string): string[] | undefined {
  const head = screen.paint("strong", screen.fit(oneLine(key))).trimEnd();
  const find = (name: string, of: (one: Fields) => string): Fields | undefined =>
    report.objects(name).find((one) => of(one) === key);
  const section = find("sections", (one) => one.words("key"));
  if (section) return [head, ...sectionLines(screen, section)];
  const message = find("messages", (one) => `message:${one.number("index")}`);
  if (message) return [head, ...messageLines(screen, message)];
  const bucket = find("buckets", (one) => one.words("bucket"));
  if (bucket) return [head, ...bucketLines(screen, report, bucket)];
  return key === "system" && report.number("totalChars") > 0 ? [] : undefined;
}

function sectionLines(screen: Screen, section: Fields): string[] {
  const [original, now] = [section.number("originalChars"), section.number("finalChars")];
  const evidence = section.texts("evidence").slice(0, EVIDENCE);
  const uncut = section.maybe("wholeFromTotalChars");
  return [
    ...entry(screen, "State", [
      stateOf(section),
      span(`${count(original)} -> ${count(now)} chars`),
      span(`~${tokensInShort(section.number("estimatedTokens"))} tokens`),
    ]),
    ...entry(screen, "Priority", [span(priority(section))]),
    ...entry(screen, "Source", [span(section.text("sourceType"))]),
    ...entry(screen, "Scope", [span(section.text("scopeType"))]),
    ...entry(screen, "Why", [span(section.text("inclusionReason"))]),
    ...(evidence.length === 0
      ? []
      : entry(
          screen,
          "Evidence",
          evidence.map((one) => span(one)),
        )),
    ...(uncut === undefined || now >= original
      ? []
      : entry(screen, "Whole", [span(`from a total of ${count(uncut)} chars on`)])),
  ];
}

function messageLines(screen: Screen, message: Fields): string[] {
  const state = message.text("state");
  const [tokens, sent] = [message.number("tokens"), message.number("sentTokens")];
  const rows = [
    ["Rule", message.text("rule")],
    ["Role", message.text("role")],
    ["Kind", message.text("kind")],
    ["Tool", message.text("tool")],
    ["Turn", String(message.number("turn"))],
    ["Group", String(message.number("group"))],
  ] as const;
  return [
    ...entry(screen, "State", [
      span(state, state === "kept" ? "good" : "warn"),
      span(`~${count(tokens)} -> ${count(sent)} tokens`),
    ]),
    ...rows.flatMap(([name, text]) => (text === "" ? [] : entry(screen, name, [span(text)]))),
  ];
}

function bucketLines(screen: Screen, report: Fields, bucket: Fields): string[] {
  const rows = report
    .objects("messages")
    .filter(holds(bucket.words("bucket")))
    .sort((a, b) => b.number("sentTokens") - a.number("sentTokens"))
    .slice(0, MESSAGES)
    .map(messageRow);
  return [
    ...entry(screen, "Size", [
      span(`~${count(bucket.number("tokens"))} tokens`),
      span(`${percent(bucket.tenths("sharePct"))} of what is used`),
      span(`${retained(bucket)} retained`),
    ]),
    ...titledTable(screen, "The largest messages of it", MESSAGE_COLUMNS, rows),
  ];
}

/** Whether a message is of a bucket, by the names of buckets: `result read`, `call read`, `thinking`, `user`. */
function holds(bucket: string): (message: Fields) => boolean {
  const [, what, tool] = /^(call|result) (.*)$/s.exec(bucket) ?? [];
  if (what !== undefined) {
    const kind = what === "call" ? "toolCall" : "toolResult";
    return (one) => one.words("kind") === kind && one.words("tool") === tool;
  }
  if (bucket === "thinking") return (one) => one.words("kind") === bucket;
  return (one) => one.words("kind") === "text" && one.words("role") === bucket;
}

function textLines(content: string): string[] {
  if (content.length <= LONGEST) return harmlessLines(content).map((line) => line.trimEnd());
  // Not within a surrogate pair.
  const isPair = /[\ud800-\udbff]$/.test(content.slice(0, LONGEST));
  const shown = content.slice(0, isPair ? LONGEST - 1 : LONGEST);
  return [...harmlessLines(shown).map((line) => line.trimEnd()), CUT];
}

function missing(screen: Screen, report: Fields, key: string): string[] {
  const keys = [
    ...report.objects("sections").map((one) => one.text("key")),
    ...report.objects("buckets").map((one) => one.text("bucket")),
    ...report
      .objects("messages")
      .slice(-1)
      .map((one) => `message:${one.number("index")}`),
  ];
  const near = closest(key, keys).join(", ");
  const [before, after] = ['Nothing under "', '".'];
  const room = screen.width - before.length - after.length;
  return [
    before + screen.fit(oneLine(key), room) + after,
    ...(near === "" ? [] : entry(screen, "Close", [span(near)])),
  ];
}
