/** The recorded view of a session file: what its agent sent. */
import { objectOf, onlyKnown } from "../core/arguments.js";
import { Handle } from "../core/handle.js";
import type * as glue from "../glue/sessions_bg.js";
import { coreOptions } from "../session/options.js";
import type {
  InspectReport,
  Layers,
  MessageChange,
  Recorded,
  RecordedCall,
  RecordedOptions,
  SessionFile,
} from "../types.js";
import { recordingOf } from "./recording.js";
import { Views } from "./views.js";
import { call, send, sessions } from "./wasm.js";

/** What the core answers: shares in 1e-4. */
interface CoreRecorded {
  calls: RecordedCall[];
  calibration: NonNullable<Recorded["calibration"]> | null;
  contextTokens: number;
  maxOutputTokens: number;
  source: Recorded["window"]["source"];
}

/**
 * Returns what the agent of a session sent, call by call: by the provider's own counts if the file has them. Calls without a count have
 * an estimate that is fitted to the counts of the others. Nothing is pruned; compactions are those that the agent made.
 *
 * `replay` shows what Plimsoll would send instead.
 *
 * A message that is not of the session's format is in no request; `session.receipt.unreadable` names it.
 *
 * @param session session from `readSession`
 * @throws {PlimsollError} `INVALID_ARGUMENT`.
 * @example
 * using view = recordedView(readSession(bytes));
 * view.calls.at(-1)?.used; // tokens of the last request
 * view.calls.at(-1)?.source; // "provider"
 */
export function recordedView(session: SessionFile, options: RecordedOptions = {}): Recorded {
  objectOf("session", session);
  const known = onlyKnown("options", options, ["window", "estimator"]);
  const { window, estimator = "generic" } = known as RecordedOptions;
  return new RecordedSession(session, () => recordingOf(session, estimator), window);
}

class RecordedSession extends Views implements Recorded {
  readonly calls: RecordedCall[];
  readonly calibration: Recorded["calibration"];
  readonly window: Recorded["window"];
  readonly #options: string;
  #view: Handle<glue.RecordedView> | undefined;
  /** Once they were asked for. */
  #layers: Layers | undefined;
  #changes: MessageChange[] | undefined;

  constructor(
    session: SessionFile,
    recording: () => glue.Recording,
    window: RecordedOptions["window"],
  ) {
    super("view", session, recording);
    // An unknown window is one of 0 tokens to the core, which then finds one.
    const asked = this.#viewBy(coreOptions({ window: window ?? { contextTokens: 0 } }));
    const json = call("recordedView", () => asked.value.calls());
    asked.free();
    const { calls, calibration, source, ...size } = JSON.parse(json) as CoreRecorded;
    this.calls = calls;
    this.window = { ...size, source };
    this.calibration = calibration && {
      ...calibration,
      factor: calibration.factor / 10_000,
      errorP50: calibration.errorP50 / 10_000,
      errorP90: calibration.errorP90 / 10_000,
    };
    this.#options = coreOptions({ window: size });
  }

  override [Symbol.dispose](): void {
    super[Symbol.dispose]();
    this.#view?.free();
  }

  layers(): Layers {
    this.refuseDisposed("layers");
    const { names, tokens } = this.#allLayers();
    return { names: [...names], tokens: tokens.slice() };
  }

  changes(from = 0, to: number = this.calls.length - 1): MessageChange[] {
    this.refuseDisposed("changes");
    const [first, last] = [this.numberOf(from), this.numberOf(to)];
    const all = this.#allChanges();
    return all.filter(({ call }) => first <= call && call <= last);
  }

  override report(at?: number, options: { detailKey?: string } = {}): InspectReport {
    const number = this.numberOf(at);
    const compactions = this.session.compactions.filter(({ call = 0 }) => call <= number);
    return { ...super.report(at, options), compactions };
  }

  protected at(number: number): glue.AtCall {
    const view = this.#standingView();
    return this.recording().recorded_at(view, number);
  }

  #viewBy(options: string): Handle<glue.RecordedView> {
    const recording = this.recording();
    return new Handle(
      () => call("recordedView", () => recording.recorded_view(send(options))),
      sessions,
    );
  }

  /** The view in the core: made again if its instance was lost. */
  #standingView(): glue.RecordedView {
    if (!this.#view?.isAlive) this.#view = this.#viewBy(this.#options);
    return this.#view.value;
  }

  #allLayers(): Layers {
    this.#layers ??= this.#walked((walked) => ({
      names: JSON.parse(walked.names()) as string[],
      tokens: walked.tokens(),
    }));
    return this.#layers;
  }

  #allChanges(): MessageChange[] {
    this.#changes ??= this.#walked((walked) => JSON.parse(walked.changes()) as MessageChange[]);
    return this.#changes;
  }

  /** Goes through all calls. */
  #walked<T>(take: (walked: glue.Layers) => T): T {
    const recording = this.recording();
    const view = this.#standingView();
    return call("layers", () => {
      const walked = recording.recorded_layers(view);
      const taken = take(walked);
      walked.free();
      return taken;
    });
  }
}
