/** The recorded view of a session file: what its agent sent. */
import { onlyKnown } from "../core/arguments.js";
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
import { call, send } from "./wasm.js";

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
 * @param session session from `readSession`
 * @throws {PlimsollError} `MALFORMED_MESSAGE`, `INVALID_ARGUMENT`.
 * @example
 * using view = recordedView(readSession(bytes));
 * view.calls.at(-1)?.used; // tokens of the last request
 * view.calls.at(-1)?.source; // "provider"
 */
export function recordedView(session: SessionFile, options: RecordedOptions = {}): Recorded {
  const known = onlyKnown("options", options, ["window", "estimator"]);
  const { window, estimator = "generic" } = known as RecordedOptions;
  return new RecordedSession(session, () => recordingOf(session, estimator), window);
}

class RecordedSession extends Views implements Recorded {
  readonly calls: RecordedCall[];
  readonly calibration: Recorded["calibration"];
  readonly window: Recorded["window"];
  readonly #options: string;
  /** Layers and changes, once they were asked for. */
  #history: { layers: Layers; changes: MessageChange[] } | undefined;

  constructor(
    session: SessionFile,
    recording: () => glue.Recording,
    window: RecordedOptions["window"],
  ) {
    super("view", session, recording);
    const measured = recording();
    // An unknown window is one of 0 tokens to the core, which then finds one.
    const asked = coreOptions({ window: window ?? { contextTokens: 0 } });
    const json = call("recordedView", () => measured.recorded(send(asked)));
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

  layers(): Layers {
    this.refuseDisposed("layers");
    const { names, tokens } = this.#layered().layers;
    return { names: [...names], tokens: tokens.slice() };
  }

  changes(from = 0, to: number = this.calls.length - 1): MessageChange[] {
    this.refuseDisposed("changes");
    const [first, last] = [this.numberOf(from), this.numberOf(to)];
    const all = this.#layered().changes;
    return all.filter(({ call }) => first <= call && call <= last);
  }

  override report(at?: number, options: { detailKey?: string } = {}): InspectReport {
    const number = this.numberOf(at);
    const compactions = this.session.compactions.filter(({ call = 0 }) => call <= number);
    return { ...super.report(at, options), compactions };
  }

  protected at(number: number): glue.AtCall {
    return this.recording().recorded_at(send(this.#options), number);
  }

  #layered(): { layers: Layers; changes: MessageChange[] } {
    if (this.#history === undefined) {
      const recording = this.recording();
      const layers = call("layers", () => recording.recorded_layers(send(this.#options)));
      const [names, changes] = call("layers", () => [layers.names(), layers.changes()] as const);
      const tokens = call("layers", () => layers.tokens());
      layers.free();
      this.#history = {
        layers: { names: JSON.parse(names) as string[], tokens },
        changes: JSON.parse(changes) as MessageChange[],
      };
    }
    return this.#history;
  }
}
