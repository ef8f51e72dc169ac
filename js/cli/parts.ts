/** The parts of the window bar, and the letter and colour by which a part is known everywhere. */
import { type Segment, stacked } from "./bar.js";
import { type Role, type Screen, type Span, spans } from "./style.js";
import { count } from "./text.js";
import type { WindowFigures } from "./window.js";

export interface Part {
  letter: string;
  role: Role;
  name: string;
}

const PARTS: ReadonlyArray<Part & { of: RegExp }> = [
  { letter: "S", role: "part-system", name: "system", of: /^system$/ },
  { letter: "D", role: "part-tools", name: "tools", of: /^tools$/ },
  { letter: "H", role: "part-head", name: "head", of: /^head$/ },
  { letter: "U", role: "part-user", name: "user", of: /^user$/ },
  { letter: "A", role: "part-assistant", name: "assistant", of: /^assistant$/ },
  { letter: "T", role: "part-thinking", name: "thinking", of: /^thinking$/ },
  { letter: "C", role: "part-call", name: "calls", of: /^call / },
  { letter: "R", role: "part-result", name: "results", of: /^result / },
  { letter: "I", role: "part-image", name: "images", of: /^image$/ },
];

/** Names of the sums that a limit can name. */
export const partNames: readonly string[] = PARTS.map(({ name }) => name);

const OTHER: Part = { letter: "O", role: "part-other", name: "other" };

export function partOf(bucket: string): Part {
  return PARTS.find(({ of }) => of.test(bucket)) ?? OTHER;
}

/** The tool whose results a bucket holds. */
export function resultsOf(bucket: string): string | undefined {
  return /^result (.*)$/s.exec(bucket)?.[1];
}

/** The part of a name. */
export function partNamed(name: string): Part {
  return PARTS.find((part) => part.name === name) ?? OTHER;
}

interface Named extends Segment {
  name: string;
}

/** A window and what fills it. */
export interface Filled {
  buckets: ReadonlyArray<{ bucket: string; sentTokens: number }>;
  window: WindowFigures;
  /** What a request has and the file does not tell. */
  absent: string[];
}

/** The window as a bar, whose parts add up to it, and what its letters mean. */
export function windowBar(screen: Screen, report: Filled): string[] {
  const segments = segmentsOf(screen, report).filter(({ value }) => value > 0);
  return [
    stacked(screen, segments, screen.width),
    ...legend(screen, segments),
    ...absentLines(screen, report.absent),
  ];
}

/** What the figures are without. */
export function absentLines(screen: Screen, absent: readonly string[]): string[] {
  return absent.length === 0
    ? []
    : screen.flow(spans("faint", [`not in this file: ${absent.join(", ")}`]));
}

/** What each part of a request takes, and of how many buckets: the sums of them, nothing left out. */
export function partsOf(
  buckets: Filled["buckets"],
): Array<Part & { sent: number; buckets: number }> {
  return [...PARTS, OTHER].map(({ letter, role, name }) => {
    const mine = buckets.filter(({ bucket }) => partOf(bucket).letter === letter);
    const sent = mine.reduce((sum, one) => sum + one.sentTokens, 0);
    return { letter, role, name, sent, buckets: mine.length };
  });
}

function segmentsOf(screen: Screen, { buckets, window }: Filled): Named[] {
  const parts = partsOf(buckets).map(({ sent, ...part }) => ({ ...part, value: sent }));
  return [
    ...parts,
    { letter: screen.sign("free"), role: "faint", name: "free", value: window.free },
    { letter: screen.sign("reserve"), role: "faint", name: "reserve", value: window.reserve },
  ];
}

function legend(screen: Screen, segments: readonly Named[]): string[] {
  const groups = segments.map(({ letter, role, name, value }): Span[] => [
    { role, text: screen.color && role !== "faint" ? ` ${letter} ` : letter },
    { role: "plain", text: ` ${name} ${count(value)}` },
  ]);
  return screen.flow(groups, "  ");
}
