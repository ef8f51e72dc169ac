/** A session as a command shows it: what its agent sent, or what Plimsoll would send under a preset. */
import { recordedView } from "../entry/sessions.js";
import type { Recorded, RecordedCall, Replay, ReplayCall } from "../types.js";
import type { Setting } from "./setting.js";
import { attempt, play, type Source, wantCalls } from "./source.js";

/** Where the tokens of a call come from. */
export type TokenSource = RecordedCall["source"];

/** A call of either view. */
export interface ShownCall extends Omit<ReplayCall, "event" | "bill"> {
  event: ReplayCall["event"] | "compaction";
  source: TokenSource;
}

/** What is shown, and where its figures come from. */
export type Shows =
  | { shows: "recorded"; source: TokenSource }
  | { shows: "simulated"; source: TokenSource; preset: string };

/** Either view of a session, for every command that shows its figures. */
export interface View
  extends Pick<Replay, "composition" | "messages" | "report" | "text" | typeof Symbol.dispose> {
  /** Null: it is what the agent sent. */
  preset: string | null;
  calls: readonly ShownCall[];
  /** The same as the API has them. */
  own: readonly object[];
  /** How estimates were fitted to the provider's counts, if they were. */
  calibration: Recorded["calibration"];
  /** The texts of a request: of a simulation alone. */
  sent?: Replay["sent"];
}

/** The view that is asked for: a preset asks for a simulation. */
export function view(source: Source): View {
  const { preset } = source.options;
  if (preset === undefined) return recorded(source);
  const played = play(source);
  const from: TokenSource = played.calibration === null ? "estimate" : "calibrated";
  const calls = played.calls.map(({ bill: _, ...one }): ShownCall => {
    return { ...one, source: from };
  });
  const sent: Replay["sent"] = (call) => played.sent(call);
  return viewOf(played, { preset, calls, calibration: null, sent });
}

function recorded({ file, session, setting, options }: Source): View {
  const { estimator } = options;
  const found = attempt(file, () =>
    recordedView(session, {
      window: setting.window,
      ...(estimator === undefined ? {} : { estimator }),
    }),
  );
  wantCalls(file, found);
  const usable = usableOf(setting);
  let epoch = 0;
  const calls = found.calls.map(({ call, used, sent, at, event, source }): ShownCall => {
    epoch += Number(event !== null);
    const fits = used <= usable;
    const none = { edits: 0, violations: 0 };
    return { call, used, unmanaged: used, sent, epoch, event, fits, at: at ?? 0, source, ...none };
  });
  return viewOf(found, { preset: null, calls, calibration: found.calibration });
}

function viewOf(
  of: Replay | Recorded,
  known: Pick<View, "preset" | "calls" | "calibration" | "sent">,
): View {
  return {
    ...known,
    own: of.calls,
    composition: (call) => of.composition(call),
    messages: (call) => of.messages(call),
    report: (call, options) => of.report(call, options),
    text: (index) => of.text(index),
    [Symbol.dispose]: () => of[Symbol.dispose](),
  };
}

function usableOf({ window }: Setting): number {
  return window.contextTokens - window.maxOutputTokens;
}

/** What a view shows at a call, from 1. */
export function showsOf({ preset, calls }: View, call: number): Shows {
  const { source = "estimate" } = calls[call - 1] ?? {};
  return preset === null ? { shows: "recorded", source } : { shows: "simulated", source, preset };
}

const COUNTS: Readonly<Record<TokenSource, string>> = {
  provider: "by the provider's count",
  calibrated: "estimated from the provider's counts of other calls",
  estimate: "estimated: the file has no counts of the provider",
};

const SIMULATED: Readonly<Record<TokenSource, string>> = {
  provider: "estimated",
  calibrated: "estimated from the provider's counts",
  estimate: "estimated",
};

/** What is shown, and by which count. */
export function shownText(shown: Shows): readonly string[] {
  return shown.shows === "recorded"
    ? ["What the agent sent", COUNTS[shown.source]]
    : [
        `What Plimsoll would send with the preset ${shown.preset} and no summarizer`,
        SIMULATED[shown.source],
      ];
}
