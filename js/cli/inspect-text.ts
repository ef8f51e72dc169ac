/** The report of `plimsoll inspect` as text. */
import { count, most, percent } from "../render/numbers.js";
import { partOf } from "../render/parts.js";
import type { Screen } from "../render/screen.js";
import { type Cell, type Column, table } from "../render/table.js";
import type { Bucket, ListedMessage } from "../types.js";
import { header } from "./header.js";
import type { Inspection } from "./inspect.js";
import { type Filled, windowBar } from "./parts.js";
import { pressureLines } from "./pressure.js";
import { where, windowLines } from "./window.js";

export function inspectText(screen: Screen, report: Inspection): string[] {
  return [
    ...header(screen, report),
    "",
    ...filled(screen, report, [where(report.call, report.calls)]),
    "",
    ...bucketTable(screen, report),
    "",
    ...pressureLines(screen, report.pressure, report.window),
    ...(report.largest.length === 0 ? [] : ["", ...messageTable(screen, report)]),
  ];
}

/** The window: its size, sums that add up to it, a bar of them. */
export function filled(screen: Screen, report: Filled, notes: readonly string[]): string[] {
  return [...windowLines(screen, report.window, notes), ...windowBar(screen, report)];
}

const BUCKETS: readonly Column[] = [
  { head: "" },
  { head: "WHAT FILLS IT", shrink: 10 },
  { head: "TOKENS", right: true },
  { head: "%", right: true, drop: 0 },
  { head: "", bar: true, drop: 3, spare: true },
  { head: "BEFORE", right: true, drop: 1 },
  { head: "STATE", shrink: 10 },
];

function bucketTable(screen: Screen, { buckets, window }: Inspection): string[] {
  const top = most(buckets.map((one) => one.sentTokens)) || 1;
  const rows = buckets.map((one): Cell[] => {
    const { letter, role } = partOf(one.bucket);
    return [
      { text: letter, role },
      one.bucket,
      count(one.sentTokens),
      percent(one.sentTokens, window.used),
      one.sentTokens / top,
      count(one.tokens),
      states(one),
    ];
  });
  const before = buckets.reduce((sum, one) => sum + one.tokens, 0);
  const saved = before > window.used ? `${count(before - window.used)} fewer` : "";
  const share = percent(window.used, window.used);
  const total = ["", "total", count(window.used), share, "", count(before), saved];
  return table(screen, BUCKETS, rows, total);
}

/** "79 kept", "61 stubbed", "9 stubbed, 62 gone of 82": what is not said is kept. */
function states({ blocks, kept, capped, stubbed, gone }: Bucket): string {
  const words = [
    [stubbed, "stubbed"],
    [capped, "capped"],
    [gone, "gone"],
  ] as const;
  const changed = words.filter(([amount]) => amount > 0);
  if (changed.length === 0) return `${count(kept)} kept`;
  const list = changed.map(([amount, word]) => `${count(amount)} ${word}`).join(", ");
  return changed.length === 1 && kept === 0 ? list : `${list} of ${count(blocks)}`;
}

const MESSAGES: readonly Column[] = [
  { head: "LARGEST", right: true },
  { head: "TURN", right: true, drop: 2 },
  { head: "WHAT", shrink: 6 },
  { head: "TOKENS", right: true },
  { head: "SENT", right: true },
  { head: "STATE" },
  { head: "RULE", shrink: 10, drop: 1 },
];

function messageTable(screen: Screen, { largest }: Inspection): string[] {
  const rows = largest.map((one) => [
    `#${one.index}`,
    String(one.turn),
    what(one),
    count(one.tokens),
    count(one.sentTokens),
    one.state,
    one.rule || "-",
  ]);
  return table(screen, MESSAGES, rows);
}

/** What a message is, in a few words. */
export function what({
  role,
  kind,
  tool,
}: Pick<ListedMessage, "role" | "kind"> & { tool?: string | undefined }): string {
  // As the buckets are named: "result read", "call edit"; anything else by who said it.
  return tool === undefined
    ? `${role} ${kind}`
    : `${kind.replace(/^tool/, "").toLowerCase()} ${tool}`;
}
