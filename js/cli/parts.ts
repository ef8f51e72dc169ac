/** The window bar with its legend, and what the figures are without. */
import { stacked } from "../render/bar.js";
import { count } from "../render/numbers.js";
import { type Filling, type NamedSegment, windowSegments } from "../render/parts.js";
import { type Screen, type Span, spans } from "../render/screen.js";
import type { WindowFigures } from "./window.js";

/** The tool whose results a bucket holds. */
export function resultsOf(bucket: string): string | undefined {
  return /^result (.*)$/s.exec(bucket)?.[1];
}

/** A window and what fills it. */
export interface Filled {
  buckets: readonly Filling[];
  window: WindowFigures;
  /** What a request has and the file does not tell. */
  absent: string[];
}

/** The window as a bar, whose parts add up to it, and what its letters mean. */
export function windowBar(screen: Screen, { buckets, window, absent }: Filled): string[] {
  const segments = windowSegments(screen, buckets, window);
  return [
    stacked(screen, segments, screen.width),
    ...legend(screen, segments),
    ...absentLines(screen, absent),
  ];
}

/** What the figures are without. */
export function absentLines(screen: Screen, absent: readonly string[]): string[] {
  return absent.length === 0
    ? []
    : screen.flow(spans("faint", [`not in this file: ${absent.join(", ")}`]));
}

function legend(screen: Screen, segments: readonly NamedSegment[]): string[] {
  const groups = segments.map(({ letter, role, name, value }): Span[] => [
    { role, text: screen.color && role !== "faint" ? ` ${letter} ` : letter },
    { role: "plain", text: ` ${name} ${count(value)}` },
  ]);
  return screen.flow(groups, "  ");
}
