/** `plimsoll replay FILE`: the session call by call under a policy. The figures. */

import type { Replay, ReplayCall, ReplayTotals, SessionFile } from "../types.js";
import { type Facts, facts } from "./header.js";
import type { Setting } from "./setting.js";

/** The session under one preset. */
export interface Run {
  preset: string;
  totals: ReplayTotals;
  calls: ReplayCall[];
}

/** The report, the same as text and as JSON. */
export interface ReplayReport extends Facts {
  schema: "plimsoll.replay/1";
  window: { contextTokens: number; maxOutputTokens: number; source: Setting["source"] };
  runs: Run[];
}

export function replayReport(
  file: string,
  session: SessionFile,
  played: ReadonlyArray<{ preset: string; played: Replay }>,
  { window, source }: Setting,
): ReplayReport {
  const first = played[0]?.played;
  return {
    schema: "plimsoll.replay/1",
    ...facts(file, session, first?.messages() ?? [], first?.calls.length ?? 0),
    window: { ...window, source },
    runs: played.map(({ preset, played: { totals, calls } }) => ({
      preset,
      totals: { ...totals },
      calls: calls.map((one) => ({ ...one })),
    })),
  };
}
