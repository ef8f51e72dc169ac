/** Candidates: what an agent might have learned, before it is let into a prompt. They have a Wasm of their own. */
import { disposed, invalid, PlimsollError } from "./errors.js";
import * as glue from "./glue/candidates_bg.js";
import { Handle } from "./handle.js";
import { argumentJson, whole, within } from "./json.js";
import { Seam } from "./seam.js";
import type {
  Candidate,
  CandidateObservation,
  CandidateOutcome,
  CandidateSigner,
  CandidateState,
  CandidateStoreOptions,
  CandidatesLoaded,
  CandidateTransition,
  PromptPlan,
  RequestFocus,
  Section,
} from "./types.js";

export const candidates: Seam = new Seam("candidates", glue);

/** Who signs, and what is freed when nobody does any more. */
interface Signer {
  sign(bytes: Uint8Array<ArrayBuffer>): unknown;
  free?(): void;
}

/** What is made or read line by line: the bytes to be signed, and what takes their signature. */
interface Lines {
  bytes(): Uint8Array | undefined;
  take(length: number): void;
  free(): void;
}

/**
 * What an agent might have learned. Observations of the same gather as evidence; `evaluateAll` promotes what passes every gate,
 * `section` puts the promoted into a prompt, outcomes keep or demote them. What an untrusted source says is kept apart and is
 * never promoted but by `force`. Times are whole milliseconds that you pass; nothing here looks at a clock. The gates are
 * AceClaw's.
 *
 * The candidates live in the Wasm's memory. Should its instance be lost, which is a bug, every call throws `INSTANCE_LOST`: make
 * a new store and load what was saved last.
 *
 * @example
 * const store = new CandidateStore({ sign: { key } }); // 32 random bytes, kept by you
 * await store.load(await readFile(path, "utf8"));
 * store.upsert({ kind: "WORKFLOW", category: "tests", content: "Run the unit tests before the slow ones", toolTag: "bash", score: 0.9, source: "user", trusted: true, at: Date.now() });
 * store.evaluateAll(Date.now());
 * await writeFile(path, await store.save());
 */
export class CandidateStore {
  readonly #store: Handle<glue.Candidates>;
  readonly #signer: Signer;
  #isOver = false;

  /** @throws {PlimsollError} `INVALID_ARGUMENT` with the option and what it may be. */
  constructor(options: CandidateStoreOptions) {
    const { sign, ...own } = objectOf("options", options);
    finite("gates", own.gates);
    const json = whole(argumentJson(own, "options"));
    const make = () => new glue.Candidates(candidates.send(json));
    this.#store = candidates.call(
      "new CandidateStore",
      () => new Handle<glue.Candidates>(make, candidates),
    );
    // Last: no key stays behind where an option is refused.
    this.#signer = signer(sign);
  }

  /** How many files were made of it, and of those that it was loaded from. Kept elsewhere, it tells an old file from the last: see `load`. */
  get revision(): number {
    return this.#call("revision", (store) => store.revision());
  }

  /**
   * Takes in an observation: evidence for the candidate that is most like it (same kind, category, tool and trust; seen within 30
   * days; 0.7 shared words + 0.3 shared tags at least 0.5), or a new one in `SHADOW`.
   *
   * @throws {PlimsollError} `INVALID_ARGUMENT`, `TOO_LARGE`.
   */
  upsert(observation: CandidateObservation): Candidate {
    finite("observation", observation);
    return this.#ask("upsert", observation, "observation", (store, at) => store.upsert(at));
  }

  /**
   * Takes in what came of a candidate: evidence of a score 0.02 above its own, or 0.05 below.
   *
   * @throws {PlimsollError} `INVALID_ARGUMENT`, also for an id that there is not.
   */
  recordOutcome(id: string, outcome: CandidateOutcome): Candidate {
    finite("outcome", outcome);
    return this.#ask("recordOutcome", [id, outcome], "outcome", (store, at) => store.conclude(at));
  }

  /**
   * Moves what is due, each candidate at most once: maintenance when a day has passed (scores halve every 30 days from the eighth
   * unseen day on, after 90 days a candidate is archived, after 180 it is gone), then `DEMOTED` back to `SHADOW` when its cool-down
   * is over, promotions, demotions. Nothing is promoted for a tool of which an anti-pattern was seen within 30 days.
   */
  evaluateAll(at: number): CandidateTransition[] {
    finite("at", { at });
    return this.#ask("evaluateAll", at, "at", (store, length) => store.evaluate(length));
  }

  /**
   * Moves a candidate. `force` goes past the gates, as for a promotion of what an untrusted source said, or the rollback of a
   * promotion; what may follow what holds all the same.
   *
   * @throws {PlimsollError} `INVALID_ARGUMENT` with what may follow, or with the gate that speaks against it.
   */
  transition(
    id: string,
    to: CandidateState,
    change: { reason: string; at: number; force?: boolean },
  ): Candidate {
    finite("change", change);
    return this.#ask("transition", [id, to, change], "change", (store, at) => store.transition(at));
  }

  /** The candidates, or those in a state, in the order in which they came. */
  list(filter: { state?: CandidateState } = {}): Candidate[] {
    const { state = null } = objectOf("filter", filter);
    return this.#ask("list", state, "filter.state", (store, at) => store.list(at));
  }

  /** The newest thousand changes of state, the last one last. They are saved with the candidates. */
  audit(): CandidateTransition[] {
    return JSON.parse(this.#call("audit", (store) => store.audit())) as CandidateTransition[];
  }

  /**
   * The section `candidates` for the prompt of a request: the promoted that have most to do with it, grouped by tool, as many as
   * fit; null where there are none. Nothing moves: `injected` tells what became of it.
   *
   * @param options `maxCount` default 10; `maxTokens` default 1,200, of which `headroom` (default 0.85) is filled, heading
   * included, by the default profile; `categories`: only these.
   * @throws {PlimsollError} `INVALID_ARGUMENT`.
   * @example
   * const { section, ids } = store.section(focus, { at: Date.now() });
   * const plan = assemblePrompt(section ? [...sections, section] : sections, { focus });
   * const injected = store.injected(ids, plan, Date.now());
   */
  section(
    focus: RequestFocus,
    options: {
      at: number;
      maxCount?: number;
      maxTokens?: number;
      headroom?: number;
      categories?: readonly string[];
    },
  ): { section: Section | null; ids: string[] } {
    finite("options", options);
    return this.#ask("section", [focus, options], "options", (store, at) => store.section(at));
  }

  /**
   * Which of a section's candidates the assembled prompt really shows: all of them, or none where the section was cut or left
   * out. They are `IN_USE` from now on; what came of the turn is their outcome.
   *
   * @throws {PlimsollError} `INVALID_ARGUMENT`.
   */
  injected(
    ids: readonly string[],
    plan: {
      sections: ReadonlyArray<
        Pick<PromptPlan["sections"][number], "key" | "included" | "truncated">
      >;
    },
    at: number,
  ): string[] {
    finite("at", { at });
    const { sections } = objectOf("plan", plan);
    return this.#ask("injected", [ids, sections, at], "plan", (store, length) =>
      store.inject(length),
    );
  }

  /**
   * The candidates and their changes of state as lines of JSON, each signed behind the one before it. What changes meanwhile is
   * in the next file.
   *
   * @throws {PlimsollError} `INVALID_ARGUMENT` if `hmac` gives no 32 bytes; what it throws comes out as it is.
   */
  async save(): Promise<string> {
    const saving = this.#lines("save", (store) => store.save());
    try {
      await each("save", saving, this.#signer);
      return candidates.call("save", () => saving.value.file());
    } finally {
      saving.free();
    }
  }

  /**
   * Reads a file that `save` made, and holds what is in it instead of what it held. A line that was changed, moved, replayed or
   * stands behind one that is missing is left out and reported, as are lines missing at the end; where the first line does not
   * verify nothing is taken. Until it is done the store must not change.
   *
   * @param options `revision`: an older file is refused (default 0: any); `sign`: who signed it, if not who signs from now on.
   * @throws {PlimsollError} `INVALID_ARGUMENT`, `TOO_LARGE`; then nothing is taken.
   */
  async load(
    jsonl: string,
    options: { revision?: number; sign?: CandidateSigner } = {},
  ): Promise<CandidatesLoaded> {
    if (typeof jsonl !== "string") throw invalid("jsonl", "a string", typeof jsonl);
    const { revision = 0, sign } = objectOf("options", options);
    if (!Number.isInteger(revision) || revision < 0 || revision > MOST_REVISIONS) {
      throw invalid("options.revision", `a whole number, 0 to ${MOST_REVISIONS}`, revision);
    }
    const file = within(jsonl, "jsonl");
    const loading = this.#lines("load", (store) => store.load(candidates.send(file), revision));
    let other: Signer | undefined;
    try {
      other = sign && signer(sign);
      await each("load", loading, other ?? this.#signer);
      const told = this.#call("load", (store) => store.adopt(loading.value));
      return JSON.parse(told) as CandidatesLoaded;
    } finally {
      loading.free();
      other?.free?.();
    }
  }

  /** Gives candidates and key up. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#store.free();
    this.#signer.free?.();
  }

  #lines<T extends Lines>(during: string, begin: (store: glue.Candidates) => T): Handle<T> {
    return this.#call(during, (store) => new Handle(() => begin(store), candidates));
  }

  /** Arguments as JSON in, the answer as JSON out. */
  #ask<T>(
    during: string,
    given: unknown,
    argument: string,
    work: (store: glue.Candidates, length: number) => string,
  ): T {
    const json = whole(argumentJson(given, argument));
    return JSON.parse(this.#call(during, (store) => work(store, candidates.send(json)))) as T;
  }

  #call<T>(during: string, work: (store: glue.Candidates) => T): T {
    if (this.#isOver) throw over(during);
    if (!this.#store.isAlive) throw gone(during);
    return candidates.call(during, () => work(this.#store.value));
  }
}

const MOST_REVISIONS = 2 ** 32 - 1;

/** Has each line signed in turn; nothing of the Wasm is held while the host signs. */
async function each(during: string, lines: Handle<Lines>, signer: Signer): Promise<void> {
  for (;;) {
    if (!lines.isAlive) throw gone(during);
    const bytes = candidates.call(during, () => lines.value.bytes());
    if (!bytes) return;
    const signature = bytesOf(await signer.sign(bytes as Uint8Array<ArrayBuffer>));
    if (!lines.isAlive) throw gone(during);
    candidates.call(during, () => lines.value.take(candidates.sendBytes(signature)));
  }
}

/** A key goes into the Wasm once, and stays there; nothing here holds it. */
function signer(sign: CandidateSigner): Signer {
  const { key, hmac } = objectOf("sign", sign) as { key?: unknown; hmac?: unknown };
  if ((key === undefined) === (hmac === undefined)) {
    throw invalid("sign", "either a key or hmac", key === undefined ? "neither" : "both");
  }
  if (key === undefined) {
    if (typeof hmac === "function") return { sign: hmac as Signer["sign"] };
    throw invalid("sign.hmac", "a function", typeof hmac);
  }
  if (!ArrayBuffer.isView(key)) throw invalid("sign.key", "a Uint8Array", typeof key);
  const bytes = new Uint8Array(key.buffer, key.byteOffset, key.byteLength);
  const make = () => new glue.Key(candidates.sendBytes(bytes));
  const held = candidates.call("new CandidateStore", () => new Handle<glue.Key>(make, candidates));
  return {
    sign: (message) => {
      if (!held.isAlive) throw over("sign");
      return candidates.call("sign", () => held.value.sign(candidates.sendBytes(message)));
    },
    free: () => held.free(),
  };
}

/** What the host's callback gave; its bytes are in no message. */
function bytesOf(signature: unknown): Uint8Array {
  if (ArrayBuffer.isView(signature)) {
    return new Uint8Array(signature.buffer, signature.byteOffset, signature.byteLength);
  }
  if (Object.prototype.toString.call(signature) === "[object ArrayBuffer]") {
    return new Uint8Array(signature as ArrayBuffer);
  }
  throw invalid("sign.hmac", "an HMAC-SHA256: 32 bytes", typeof signature);
}

function over(during: string): PlimsollError {
  return disposed(during, "store");
}

function gone(during: string): PlimsollError {
  const message = `the Wasm instance that held the candidates was lost before ${during}: make a new store and load what was saved last`;
  return new PlimsollError({ code: "INSTANCE_LOST", during }, message);
}

function objectOf<T>(argument: string, value: T): T {
  if (typeof value === "object" && value !== null) return value;
  throw invalid(argument, "an object", value);
}

/** JSON has no NaN and no Infinity: they would arrive as nothing. */
function finite(argument: string, given: unknown): void {
  if (typeof given !== "object" || given === null) return;
  for (const [name, value] of Object.entries(given)) {
    if (typeof value !== "number" || Number.isFinite(value)) continue;
    throw invalid(name === argument ? name : `${argument}.${name}`, "a finite number", value);
  }
}
