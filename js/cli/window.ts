/** The window of a request: its size and the sums that add up to it, the same in every view. */
import { count, percent } from "../render/numbers.js";
import { type Screen, type Span, spans } from "../render/screen.js";
import type { InspectReport } from "../types.js";
import type { Setting } from "./setting.js";

/** `used + reserve + free = contextTokens`. */
export interface WindowFigures {
  contextTokens: number;
  source: Setting["source"];
  used: number;
  reserve: number;
  /** Below 0 where the request is over the window. */
  free: number;
  /** Something must go above it; null: nothing is decided. */
  trigger: number | null;
  /** What is then aimed for. */
  target: number | null;
}

export function windowFigures(
  { contextWindowTokens, window }: InspectReport,
  { source }: Setting,
): WindowFigures {
  return { contextTokens: contextWindowTokens, source, ...window };
}

/** The window, where its size comes from, and what is said of it. */
export function windowLine(
  screen: Screen,
  contextTokens: number,
  source: Setting["source"],
  details: readonly string[],
): string[] {
  const notes = {
    file: " (from the file)",
    usage: " (assumed from the largest request; --window sets it)",
    assumed: " (assumed; --window sets it)",
  };
  const size: Span[] = [
    { role: "strong", text: `Window ${count(contextTokens)}` },
    { role: "faint", text: source === "given" ? "" : notes[source] },
  ];
  return screen.flow([size, ...spans("plain", details)]);
}

/** The window, the sums that add up to it, and where something must go. */
export function windowLines(
  screen: Screen,
  { contextTokens, source, used, reserve, free, trigger, target }: WindowFigures,
  details: readonly string[],
): string[] {
  const sums = [
    `used ${count(used)} (${percent(used, contextTokens)}%)`,
    `reserve ${count(reserve)}`,
    free < 0 ? `OVER by ${count(-free)}` : `free ${count(free)}`,
  ];
  const lines = [
    ...(trigger === null ? [] : [`trigger ${count(trigger)}`]),
    ...(target === null ? [] : [`target ${count(target)}`]),
  ];
  return [
    ...windowLine(screen, contextTokens, source, details),
    ...screen.flow([...spans(free < 0 ? "bad" : "plain", sums), ...spans("faint", lines)]),
  ];
}

/** "at the last call", "at call 5 of 49". */
export function where(call: number, calls: number): string {
  return call === calls ? "at the last call" : `at call ${count(call)} of ${count(calls)}`;
}
