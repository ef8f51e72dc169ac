/** `plimsoll replay FILE...`: sessions call by call, under one policy or many. The figures. */
import type { Replay, ReplayCall, ReplayTotals, SessionFile } from "../types.js";
import { type Facts, facts } from "./header.js";
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
  calls: ReplayCall[];
}

/** What the figures assume that the file does not show. */
export interface Assumed {
  /** No summarizer is asked: folds keep the extract that needs none. */
  summarizer: false;
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
export interface Played {
  file: string;
  session: SessionFile;
  setting: Setting;
  preset: string;
  replay: Replay;
}

export function replayReport(played: readonly Played[], prices: Prices): ReplayReport {
  const runs = played.map(({ file, setting, preset, replay }): Run => {
    const { totals, calls } = replay;
    const window = { ...setting.window, source: setting.source };
    return { file, window, preset, assumed: assumed(setting, replay), totals, calls };
  });
  const firsts = played.filter(
    ({ file }, at) => at === played.findIndex((one) => one.file === file),
  );
  return {
    schema: "plimsoll.replay/1",
    files: firsts.map(({ file, session, replay }) => facts({ file, session }, replay)),
    prices,
    runs,
    matrix: matrix(runs),
  };
}

function assumed({ unseen }: Setting, { calibration }: Replay): Assumed {
  const source = calibration === null ? "none" : "usage";
  return {
    summarizer: false,
    unseenTokens: unseen ?? calibration?.unseenTokens ?? 0,
    unseenSource: unseen === undefined ? source : "option",
    factor: calibration?.factor ?? null,
  };
}

/** Many runs have more calls than anyone asked for. */
export function withoutCalls({ runs, ...report }: ReplayReport): object {
  return { ...report, runs: runs.map(({ calls: _, ...run }) => run) };
}
