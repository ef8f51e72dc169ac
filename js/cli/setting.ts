/** The window and the policy that a command works with, and where they come from. */

import type { Estimator, ReplayOptions, SessionFile } from "../types.js";
import { usage } from "./errors.js";
import { type Given, size } from "./options.js";

/** Where neither the command line nor the file says how large the window is. */
const ASSUMED = 200_000;

export interface Setting {
  window: { contextTokens: number; maxOutputTokens: number };
  /** Where the size comes from. */
  source: "given" | "file" | "assumed";
  estimator?: string;
}

type Preset = NonNullable<ReplayOptions["preset"]>;

export function setting(given: Given, session: SessionFile): Setting {
  const wanted = size("window", given.text("window"));
  const contextTokens = wanted ?? session.window?.contextTokens ?? ASSUMED;
  const fromFile = wanted === undefined ? session.window?.maxOutputTokens : undefined;
  const maxOutputTokens = size("reserve", given.text("reserve")) ?? fromFile ?? 0;
  if (contextTokens < 1) throw usage("--window: must be at least 1 token");
  if (maxOutputTokens >= contextTokens)
    throw usage(
      `--reserve: must be less than the window of ${contextTokens} tokens, got ${maxOutputTokens}`,
    );
  const source = wanted !== undefined ? "given" : session.window === undefined ? "assumed" : "file";
  const estimator = given.text("estimator");
  return {
    window: { contextTokens, maxOutputTokens },
    source,
    ...(estimator === undefined ? {} : { estimator }),
  };
}

/** What a replay is asked for. The names go through as they are: the core knows which there are, and says so. */
export function policy({ window, estimator }: Setting, preset: string | undefined): ReplayOptions {
  return {
    window,
    ...(estimator === undefined ? {} : { estimator: estimator as Estimator }),
    ...(preset === undefined ? {} : { preset: preset as Preset }),
  };
}
