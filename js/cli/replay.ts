/** `plimsoll replay FILE...`: sessions call by call, under one policy or many. The figures. */
import type { Replay, ReplayCall, ReplayTotals } from "../types.js";
import type { Facts } from "./header.js";
import { type MatrixRow, matrix } from "./matrix.js";
import type { Prices, Setting } from "./setting.js";

export interface Window {
  contextTokens: number;
  maxOutputTokens: number;
  source: Setting["source"];
}

/** A session under one preset in one window. */
export interface Run {
  file: string;
  window: Window;
  preset: string;
  assumed: Assumed;
  totals: ReplayTotals;
  /** Unmanaged requests over the usable window: a provider would refuse them, and still they are in the unmanaged bill. */
  unmanagedOverWindow: number;
  calls: ReplayCall[];
}

/** What the figures assume that the file does not show. */
export interface Assumed {
  /** Whether there is a summarizer. Without one, folds keep the extract that needs none. */
  summarizer: boolean;
  /** Tokens of each summary; `null`: there is no summarizer. */
  summaryTokens: number | null;
  /** `option`: `--summary-tokens`; `file`: as long as the file's own; `none`: the file has no summaries either. */
  summarySource: "option" | "file" | "none";
  /** Tokens of every request that are not in the file, such as the system prompt. */
  unseenTokens: number;
  /** `option`: `--unseen`; `usage`: fitted to the provider's counts in the file; `none`: the file has no counts. */
  unseenSource: "option" | "usage" | "none";
  /** Tokens of the provider for one estimated token; `null` if tokens are plain estimates. */
  factor: number | null;
}

/** The report, the same as text and as JSON. */
export interface ReplayReport {
  schema: "plimsoll.replay/1";
  files: Facts[];
  prices: Prices;
  runs: Run[];
  /** A row for each preset and window, and one for no management in each window. */
  matrix: MatrixRow[];
}

/** A session as it was played. */
interface Played {
  file: string;
  setting: Setting;
  preset: string;
  replay: Replay;
}

export function runOf({ file, setting, preset, replay }: Played): Run {
  const { totals } = replay;
  // From 1, as every command counts calls.
  const calls = replay.calls.map((one) => ({ ...one, call: one.call + 1 }));
  const window = { ...setting.window, source: setting.source };
  const usable = window.contextTokens - window.maxOutputTokens;
  const unmanagedOverWindow = calls.filter(({ unmanaged }) => unmanaged > usable).length;
  const assumes = assumed(setting, replay);
  return { file, window, preset, assumed: assumes, totals, unmanagedOverWindow, calls };
}

export function replayReport(files: Facts[], runs: Run[], prices: Prices): ReplayReport {
  return { schema: "plimsoll.replay/1", files, prices, runs, matrix: matrix(runs) };
}

function assumed({ unseen, summary }: Setting, { calibration, summaryTokens }: Replay): Assumed {
  const source = calibration === null ? "none" : "usage";
  const ofFile = summaryTokens > 0 ? "file" : "none";
  return {
    summarizer: summaryTokens > 0,
    summaryTokens: summaryTokens || null,
    summarySource: summary === undefined ? ofFile : "option",
    unseenTokens: unseen ?? calibration?.unseenTokens ?? 0,
    unseenSource: unseen === undefined ? source : "option",
    factor: calibration?.factor ?? null,
  };
}

/** Many runs have more calls than anyone asked for. */
export function withoutCalls({ runs, ...report }: ReplayReport): object {
  return { ...report, runs: runs.map(({ calls: _, ...run }) => run) };
}
