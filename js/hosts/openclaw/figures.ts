/** Sizes of a session's calls. The host tells each in one kind of call and leaves it out of the others. All are tokens. */
import { estimateTokens } from "../../functions/estimate.js";
import type { Model } from "./models.js";

export class Figures {
  /** The model's window; 0 until it is known. */
  window = 0;
  /** Tokens that the host holds back: for its own compaction, so many that an answer seldom needs them all. */
  #reserve = 0;
  /** The most tokens that the model answers with, if that is known. */
  #output = Number.POSITIVE_INFINITY;
  /** Size of the last turn. */
  turn = 0;
  /** What the host left for history in the turn's first call. */
  #budget = 0;
  /** The turn's prompt. */
  #prompt = 0;
  /** The turn's own messages so far, which the host appends. */
  #pending = 0;

  /** The first call of a turn: window less reserve, system prompt and prompt is what the host leaves for history. */
  begin(
    budget: number,
    reserve: number | null | undefined,
    prompt: string | undefined,
    { window, output }: Pick<Model, "window" | "output">,
  ): void {
    this.#reserve = Math.max(0, reserve ?? this.#reserve);
    this.#output = output ?? Number.POSITIVE_INFINITY;
    this.#budget = Math.max(0, budget);
    // As the host counts it.
    this.#prompt = prompt ? estimateTokens(prompt, "chars/4") : 0;
    this.#pending = this.#prompt;
    this.window = window ?? (budget > 0 ? budget + this.#reserve : this.window);
  }

  /** A later call: window less the turn's messages. */
  go(budget: number | undefined, window: number | undefined): void {
    this.window = window ?? this.window;
    if (budget) this.#pending = Math.max(0, this.window - budget);
  }

  /** The turn's messages are part of the history now. */
  end(): void {
    this.turn = this.#pending;
    this.#pending = 0;
  }

  /** A window that no call has told. */
  assume(window: number | undefined): void {
    if (this.window === 0) this.window = window ?? 0;
  }

  /** What goes out besides the history, as far as the host counts it: it leaves the tools out, and usage tells of those. */
  get unseen(): number {
    const overhead = this.window - this.#reserve - this.#budget - this.#prompt;
    return (this.#budget > 0 ? Math.max(0, overhead) : 0) + this.#pending;
  }

  /** Tokens held back for the answer. */
  get reserve(): number {
    return Math.min(this.#reserve, this.#output);
  }

  get usable(): number {
    return Math.max(0, this.window - this.reserve);
  }
}
