/** Candidates: things an agent may have learned, and the gates before they enter a prompt. In a Wasm of their own. */
import { objectOf, onlyKnown, refuseNonFinite } from "../core/arguments.js";
import { disposed, invalid, kindOf, PlimsollError } from "../core/errors.js";
import { Handle } from "../core/handle.js";
import { Instance } from "../core/instance.js";
import { argumentJson, wellFormed, within } from "../core/json.js";
import * as glue from "../glue/candidates_bg.js";
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
} from "../types.js";

export const candidates: Instance = new Instance("candidates", glue);

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
 * Store for things an agent may have learned. Observations of the same thing add up as evidence; `evaluateAll` promotes candidates
 * that pass every gate, `section` puts the promoted ones into a prompt, and outcomes keep or demote them. Observations from untrusted
 * sources are kept apart and are only promoted with `force`. You pass every time, in whole epoch milliseconds. The default gates are
 * AceClaw's.
 *
 * The candidates live in the memory of the Wasm. If its instance is lost, which is a bug, every call throws `INSTANCE_LOST`: create
 * a new store and load the file that was saved last.
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

  /** @throws {PlimsollError} `INVALID_ARGUMENT` names the option and what is allowed. */
  constructor(options: CandidateStoreOptions) {
    const { sign, ...own } = objectOf("options", options);
    refuseNonFinite("gates", own.gates, 1);
    const json = wellFormed(argumentJson(own, "options"));
    const make = () => new glue.Candidates(candidates.send(json));
    this.#store = candidates.call(
      "new CandidateStore",
      () => new Handle<glue.Candidates>(make, candidates),
    );
    // Last: no key stays behind where an option is refused.
    this.#signer = signer(sign);
  }

  /** Number of saves, including those before the file that was loaded. Keep it elsewhere to detect an old file; see `load`. */
  get revision(): number {
    return this.#call("revision", (store) => store.revision());
  }

  /**
   * Adds an observation and returns its candidate: the most similar one (same kind, category, tool and trust; seen within 30 days; 0.7
   * shared words + 0.3 shared tags at least 0.5), or a new one in the state `SHADOW`.
   *
   * @throws {PlimsollError} `INVALID_ARGUMENT`, `TOO_LARGE`.
   */
  upsert(observation: CandidateObservation): Candidate {
    refuseNonFinite("observation", observation, 1);
    return this.#ask("upsert", observation, "observation", (store, at) => store.upsert(at));
  }

  /**
   * Records the outcome of a turn in which a candidate was used. It counts as evidence with a score 0.02 above the candidate's, or 0.05
   * below after a failure.
   *
   * @throws {PlimsollError} `INVALID_ARGUMENT`, also for an unknown id.
   */
  recordOutcome(id: string, outcome: CandidateOutcome): Candidate {
    refuseNonFinite("outcome", outcome, 1);
    return this.#ask("recordOutcome", [id, outcome], "outcome", (store, at) => store.conclude(at));
  }

  /**
   * Makes every change of state that is due, at most one for each candidate. First comes maintenance, once a day: scores halve every 30
   * days from the eighth day without an observation on, candidates are archived after 90 days and deleted after 180. Then `DEMOTED`
   * candidates return to `SHADOW` if their cool-down is over; then come promotions and demotions. Nothing is promoted for a tool for
   * which an anti-pattern was seen within 30 days.
   *
   * @param at the time now, in epoch milliseconds
   */
  evaluateAll(at: number): CandidateTransition[] {
    refuseNoTime(at);
    return this.#ask("evaluateAll", at, "at", (store, length) => store.evaluate(length));
  }

  /**
   * Changes the state of a candidate.
   *
   * @throws {PlimsollError} `INVALID_ARGUMENT` names the states that are allowed next, or the gate that is not passed.
   */
  transition(
    id: string,
    to: CandidateState,
    change: {
      /** Why, for the audit. */
      reason: string;
      /** The time now, in epoch milliseconds. */
      at: number;
      /**
       * Skip the gates, for example to promote an untrusted candidate or to undo a promotion. The order of states still applies.
       * Default false.
       */
      force?: boolean | undefined;
    },
  ): Candidate {
    refuseNonFinite("change", change, 1);
    return this.#ask("transition", [id, to, change], "change", (store, at) => store.transition(at));
  }

  /** Returns the candidates in the order in which they were first observed. */
  list(
    filter: {
      /** Only candidates in this state. Default: all. */
      state?: CandidateState | undefined;
    } = {},
  ): Candidate[] {
    const { state = null } = onlyKnown("filter", filter, ["state"]);
    return this.#ask("list", state, "filter.state", (store, at) => store.list(at));
  }

  /** Returns the newest thousand changes of state, the last one last. They are saved with the candidates. */
  audit(): CandidateTransition[] {
    return JSON.parse(this.#call("audit", (store) => store.audit())) as CandidateTransition[];
  }

  /**
   * Returns the section `candidates` for the prompt of a request: the promoted candidates that are most relevant to it, grouped by
   * tool, as many as fit. Changes no state; call `injected` after the prompt is assembled.
   *
   * @param focus what the request is about, from `requestFocus`
   * @throws {PlimsollError} `INVALID_ARGUMENT`.
   * @example
   * const { section, ids } = store.section(focus, { at: Date.now() });
   * const plan = assemblePrompt(section ? [...sections, section] : sections, { focus });
   * const injected = store.injected(ids, plan, Date.now());
   */
  section(
    focus: RequestFocus,
    options: {
      /** The time now, in epoch milliseconds. */
      at: number;
      /** Most candidates. Default 10. */
      maxCount?: number | undefined;
      /** Most tokens of the section, including its heading. Default 1,200. */
      maxTokens?: number | undefined;
      /** Share of `maxTokens` that is filled, 0..1, since tokens are estimates. Default 0.85. */
      headroom?: number | undefined;
      /** Only candidates of these categories. Default: all. */
      categories?: readonly string[] | undefined;
    },
  ): {
    /** The section, or `null` if there are no candidates for it. */
    section: Section | null;
    /** Ids of the candidates in it, for `injected`. */
    ids: string[];
  } {
    refuseNonFinite("options", options, 1);
    return this.#ask("section", [focus, options], "options", (store, at) => store.section(at));
  }

  /**
   * Returns the candidates that the assembled prompt contains: all ids, or none if the section was cut or left out. They are in the state
   * `IN_USE` from now on; record the outcome of the turn for each of them.
   *
   * @param ids the ids from `section`
   * @param at the time now, in epoch milliseconds
   * @throws {PlimsollError} `INVALID_ARGUMENT`.
   */
  injected(
    ids: readonly string[],
    plan: {
      /** The sections of the plan that `assemblePrompt` returned. */
      sections: ReadonlyArray<
        Pick<PromptPlan["sections"][number], "key" | "included" | "truncated">
      >;
    },
    at: number,
  ): string[] {
    refuseNoTime(at);
    const { sections } = objectOf("plan", plan);
    return this.#ask("injected", [ids, sections, at], "plan", (store, length) =>
      store.inject(length),
    );
  }

  /**
   * Returns the candidates and their changes of state as JSONL. Each line is signed together with the signature of the line before it.
   * Changes during the call are part of the next file.
   *
   * @throws {PlimsollError} `INVALID_ARGUMENT` if `hmac` does not return 32 bytes; whatever `hmac` throws.
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
   * Loads a file of `save` and replaces the contents of the store. A line that was changed, moved or replayed, or that follows a missing
   * line, is left out and reported; so are lines missing at the end. If the first line does not verify, nothing is loaded. Do not change
   * the store until the call is done.
   *
   * @param jsonl content of the file
   * @throws {PlimsollError} `INVALID_ARGUMENT`, `TOO_LARGE`; nothing is loaded then.
   */
  async load(
    jsonl: string,
    options: {
      /** Refuses a file with a lower revision; see `CandidateStore.revision`. Default 0: any file. */
      revision?: number | undefined;
      /** Signer of this file, if it is not the signer of the store; for changing the key. */
      sign?: CandidateSigner;
    } = {},
  ): Promise<CandidatesLoaded> {
    if (typeof jsonl !== "string") throw invalid("jsonl", "a string", jsonl, kindOf(jsonl));
    const known = onlyKnown("options", options, ["revision", "sign"]);
    const { revision = 0, sign } = known as { revision?: number; sign?: CandidateSigner };
    if (!Number.isInteger(revision) || revision < 0 || revision > MOST_REVISIONS) {
      throw invalid("options.revision", `a whole number, 0 to ${MOST_REVISIONS}`, revision);
    }
    const file = within(jsonl, "jsonl");
    const loading = this.#lines("load", (store) => store.load(candidates.send(file), revision));
    let other: Signer | undefined;
    try {
      other = sign && signer(sign);
      await each("load", loading, other ?? this.#signer);
      const answer = this.#call("load", (store) => store.adopt(loading.value));
      return JSON.parse(answer) as CandidatesLoaded;
    } finally {
      loading.free();
      other?.free?.();
    }
  }

  /** Frees the candidates and the key. */
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
    value: unknown,
    argument: string,
    work: (store: glue.Candidates, length: number) => string,
  ): T {
    const json = wellFormed(argumentJson(value, argument));
    return JSON.parse(this.#call(during, (store) => work(store, candidates.send(json)))) as T;
  }

  #call<T>(during: string, work: (store: glue.Candidates) => T): T {
    if (this.#isOver) throw over(during);
    if (!this.#store.isAlive) throw gone(during);
    return candidates.call(during, () => work(this.#store.value));
  }
}

/** Refuses a time that is none: JSON would make `null` of it. */
function refuseNoTime(at: unknown): void {
  if (!Number.isFinite(at)) throw invalid("at", "whole milliseconds since 1970", at);
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
    const shown = key === undefined ? "an object without either" : "an object with both";
    throw invalid("sign", "either a key or hmac", sign, shown);
  }
  if (key === undefined) {
    if (typeof hmac === "function") return { sign: hmac as Signer["sign"] };
    throw invalid("sign.hmac", "a function", hmac, kindOf(hmac));
  }
  if (!ArrayBuffer.isView(key)) throw invalid("sign.key", "a Uint8Array", key, kindOf(key));
  const bytes = new Uint8Array(key.buffer, key.byteOffset, key.byteLength);
  const make = () => new glue.Key(candidates.sendBytes(bytes));
  const handle = candidates.call(
    "new CandidateStore",
    () => new Handle<glue.Key>(make, candidates),
  );
  return {
    sign: (message) => {
      if (!handle.isAlive) throw over("sign");
      return candidates.call("sign", () => handle.value.sign(candidates.sendBytes(message)));
    },
    free: () => handle.free(),
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
  throw invalid("sign.hmac", "an HMAC-SHA256: 32 bytes", signature, kindOf(signature));
}

function over(during: string): PlimsollError {
  return disposed(during, "store");
}

function gone(during: string): PlimsollError {
  const message = `the Wasm instance that held the candidates was lost before ${during}: make a new store and load what was saved last`;
  return new PlimsollError({ code: "INSTANCE_LOST", during }, message);
}
