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
  totals: ReplayTotals;
  calls: ReplayCall[];
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
  const runs = played.map(({ file, setting, preset, replay: { totals, calls } }): Run => {
    const window = { ...setting.window, source: setting.source };
    return { file, window, preset, totals, calls };
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

/** Many runs have more calls than anyone asked for. */
export function withoutCalls({ runs, ...report }: ReplayReport): object {
  return { ...report, runs: runs.map(({ calls: _, ...run }) => run) };
}
