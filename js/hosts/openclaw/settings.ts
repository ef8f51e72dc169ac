/** Settings of the plugin, as `openclaw.plugin.json` describes them. The host has checked them against that schema. */
import type { ContextManagerOptions } from "../../types.js";

/** Characters of a text that is pinned by name of its file, or by the agent. */
export const MOST_PINNED = 8_000;

export interface Settings {
  /** How much to keep, and when to change earlier messages. */
  preset?: ContextManagerOptions<unknown>["preset"];
  /** Share of the usable window above which room is made. */
  trigger?: number;
  /** What is kept verbatim for ever. */
  pins?: {
    /** Regular expressions: a text of the user that one matches is pinned. */
    patterns?: string[];
    /** Files of the workspace whose text is pinned. */
    files?: string[];
  };
  /** Names or globs of tools whose calls and results are protected. */
  protectTools?: string[];
  /** Language of summaries. */
  language?: string;
  /** Model that writes summaries, as `provider/model`. */
  summaryModel?: string;
  /** `results`: long results that were summarized are shortened in the host's transcript too. */
  mirror?: "off" | "results";
  /** Most characters of a tool result; 0: no limit. */
  resultCap?: number;
}

/** The patterns that are valid; `report` hears of each that is not. */
export function patternsOf(settings: Settings, report: (message: string) => void): RegExp[] {
  return (settings.pins?.patterns ?? []).flatMap((pattern) => {
    try {
      return [new RegExp(pattern, "u")];
    } catch (error) {
      report(`"pins.patterns": ${JSON.stringify(pattern)} is ignored: ${String(error)}`);
      return [];
    }
  });
}
