/** The recorded view of a session file: what its agent sent. */
import { onlyKnown } from "../core/arguments.js";
import { disposed, invalid } from "../core/errors.js";
import { Handle } from "../core/handle.js";
import { call, core, send } from "../core/main.js";
import type * as glue from "../glue/plimsoll_bg.js";
import { coreOptions } from "../session/options.js";
import type {
  Bucket,
  InspectReport,
  ListedMessage,
  Recorded,
  RecordedCall,
  RecordedOptions,
  SessionFile,
} from "../types.js";
import { recordingOf, reportOf } from "./recording.js";

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

class RecordedSession implements Recorded {
  readonly calls: RecordedCall[];
  readonly calibration: Recorded["calibration"];
  readonly window: Recorded["window"];
  readonly #session: SessionFile;
  readonly #recording: () => glue.Recording;
  readonly #options: string;
  #handle: Handle<glue.Replay> | undefined;
  #isOver = false;
  /** The call at which the handle stands. */
  #at = -1;

  constructor(
    session: SessionFile,
    recording: () => glue.Recording,
    window: RecordedOptions["window"],
  ) {
    this.#session = session;
    this.#recording = recording;
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

  composition(at?: number): Bucket[] {
    const { value } = this.#standing("composition", at);
    return JSON.parse(call("recordedView", () => value.buckets())) as Bucket[];
  }

  messages(at?: number): ListedMessage[] {
    const { value } = this.#standing("messages", at);
    return JSON.parse(call("recordedView", () => value.list())) as ListedMessage[];
  }

  text(index: number): string {
    const { value } = this.#standing("text", undefined);
    return call("text", () => this.#recording().text(value, index));
  }

  report(at?: number, options: { detailKey?: string } = {}): InspectReport {
    const { value } = this.#standing("report", at);
    const { sent = 0 } = this.calls[this.#at] ?? {};
    const report = reportOf(this.#session, this.#recording(), value, sent, options.detailKey);
    const compactions = this.#session.compactions.filter(({ call = 0 }) => call <= this.#at);
    return { ...report, compactions };
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#handle?.free();
    this.#handle = undefined;
  }

  /** The session as it stood at a call. */
  #standing(during: string, at: number = this.calls.length - 1): Handle<glue.Replay> {
    if (this.#isOver) throw disposed(during, "view");
    if (this.calls.length > 0 && (!Number.isInteger(at) || at < 0 || at >= this.calls.length))
      throw invalid("call", `0 to ${this.calls.length - 1}`, at);
    if (!this.#handle?.isAlive || this.#at !== at) {
      this.#handle?.free();
      this.#handle = new Handle(() => {
        const recording = this.#recording();
        return call(during, () => recording.recorded_at(send(this.#options), Math.max(at, 0)));
      }, core);
      this.#at = at;
    }
    return this.#handle;
  }
}
