/** The window and the policy that a command works with, and where they come from. */
import { recordedView } from "../entry/sessions.js";
import { PRICES } from "../generated.js";
import type {
  Estimator,
  PolicyOptions,
  Provider,
  Recorded,
  ReplayOptions,
  SessionFile,
} from "../types.js";
import { usage } from "./errors.js";
import { type Arguments, duration, size } from "./options.js";

export type Prices = NonNullable<PolicyOptions["economy"]>;

export interface Setting {
  window: { contextTokens: number; maxOutputTokens: number };
  /** Where the size comes from. */
  source: Recorded["window"]["source"];
  /** In uncached input tokens. */
  prices: Prices;
  /** They were given: else each policy has its own. */
  isPriced: boolean;
  /** Tokens of each request that are not in the file, if they were given. */
  unseen?: number;
  /** Tokens of each summary, if they were given; 0: there is no summarizer. */
  summary?: number;
  estimator?: string;
  provider?: string;
}

type Preset = NonNullable<ReplayOptions["preset"]>;
type Keep = NonNullable<ReplayOptions["keep"]>;

/** One for each window that is asked for. */
export function settings(args: Arguments, session: SessionFile): Setting[] {
  const wanted = args.list("window").map((text) => size("window", text));
  const [prices, ttl] = [args.text("prices"), duration("ttl", args.text("ttl"))];
  const unseen = size("unseen", args.text("unseen"));
  const summary = size("summary-tokens", args.text("summary-tokens"));
  const shared = {
    ...(unseen === undefined ? {} : { unseen }),
    ...(summary === undefined ? {} : { summary }),
    prices: { ...pricesOf(prices), ...(ttl === undefined ? {} : { cacheTtlMs: ttl }) },
    isPriced: prices !== undefined || ttl !== undefined,
    ...named(args, "estimator"),
    ...named(args, "provider"),
  };
  const all = wanted.length === 0 ? [undefined] : wanted;
  return all.map((one) => ({ ...windowOf(args, session, one), ...shared }));
}

/** The only one, for a command that has room for one. */
export function setting(args: Arguments, session: SessionFile): Setting {
  const [only, ...more] = settings(args, session);
  if (only === undefined || more.length > 0)
    throw usage("--window: one for this command; plimsoll replay compares several");
  return only;
}

function windowOf(
  args: Arguments,
  session: SessionFile,
  wanted: number | undefined,
): Pick<Setting, "window" | "source"> {
  const found = wanted === undefined ? windowFound(args, session) : undefined;
  const contextTokens = wanted ?? found?.contextTokens ?? 0;
  const maxOutputTokens = size("reserve", args.text("reserve")) ?? found?.maxOutputTokens ?? 0;
  return { window: checked(contextTokens, maxOutputTokens), source: found?.source ?? "given" };
}

/** A window that has room for a request. */
export function checked(contextTokens: number, maxOutputTokens: number): Setting["window"] {
  if (contextTokens < 1) throw usage("--window: must be at least 1 token");
  if (maxOutputTokens >= contextTokens)
    throw usage(
      `--reserve: must be less than the window of ${contextTokens} tokens, got ${maxOutputTokens}`,
    );
  return { contextTokens, maxOutputTokens };
}

/** The window that the session tells, or one that holds its largest request. */
function windowFound(args: Arguments, session: SessionFile): Recorded["window"] {
  const estimator = args.text("estimator");
  const view = recordedView(
    session,
    estimator === undefined ? {} : { estimator: estimator as Estimator },
  );
  const { window } = view;
  // Not by `using`: this file is bundled outside of `cli/`, where its compiled form is refused.
  view[Symbol.dispose]();
  return window;
}

function pricesOf(text: string | undefined): Prices {
  if (text === undefined) return PRICES;
  const [cacheRead = -1, cacheWrite = -1, output = -1, ...more] = text
    .split(",")
    .map((one) => (/^\d{1,4}(\.\d+)?$/.test(one.trim()) ? Number(one) : -1));
  if (more.length > 0 || Math.min(cacheRead, cacheWrite, output) < 0)
    throw usage(
      `--prices: cache read, cache write and output like 0.1,1.25,5, in uncached input tokens, got ${JSON.stringify(text)}`,
    );
  return { ...PRICES, cacheRead, cacheWrite, output };
}

function named(args: Arguments, name: "estimator" | "provider"): Partial<Setting> {
  const text = args.text(name);
  return text === undefined ? {} : { [name]: text };
}

/** What a replay is asked for. The names go through as they are: the core knows which there are, and says so. */
export function policy(
  { window, prices, isPriced, estimator, provider, unseen, summary }: Setting,
  preset: string | undefined,
): ReplayOptions {
  // What it keeps may stand after it, so that one table compares both: `balanced+lines`.
  const [name, ...keep] = preset?.split("+") ?? [];
  return {
    window,
    ...(isPriced ? { economy: prices } : {}),
    ...(unseen === undefined ? {} : { unseenTokens: unseen }),
    ...(summary === undefined ? {} : { summaryTokens: summary }),
    ...(estimator === undefined ? {} : { estimator: estimator as Estimator }),
    ...(provider === undefined ? {} : { provider: provider as Provider }),
    ...(name === undefined ? {} : { preset: name as Preset }),
    ...(keep.length === 0 ? {} : { keep: keep.join("+") as Keep }),
  };
}
