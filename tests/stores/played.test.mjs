// @ts-check
/**
 * Generated play of two or three managers over one store that loses answers, refuses and is slow. They send requests, pin, let go, compact,
 * save, and are dropped and opened again. Every request is accepted, no pin is lost or comes back, and whoever opens the session
 * sends what the last that saved it sends.
 *
 * PLIMSOLL_SEED  the only play
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkAccepted } from "../conformance/faults/rows.mjs";
import { random } from "../conformance/generated/histories.mjs";
import { api, good, idle, step, WINDOW } from "../conformance/support/agent-session.mjs";
import { sized } from "../support/size.mjs";
import { opened, skip } from "./stores.mjs";

const PLAYS = sized({ short: 100, ci: 400, long: 5000 });
const KEYS = ["s", "a/b ü", "\ud800x", '"quoted"', "__proto__", "../../x", "", "x".repeat(300)];

/** Choices that are the same for the same seed. @param {number} seed */
function dice(seed) {
  const next = random(seed);
  const below = (/** @type {number} */ most) => Math.floor(next() * most);
  return { below, is: (/** @type {number} */ share) => next() < share };
}
/** @typedef {ReturnType<typeof dice>} Dice */

/** Some turns of the event loop. @param {number} turns */
async function pass(turns) {
  for (let left = turns; left > 0; left -= 1) await new Promise((done) => setImmediate(done));
}

/** The store as it may be: what it throws is said to be down. @param {any} store @param {Dice} die @param {() => number} share of faults */
function faulty(store, die, share) {
  const down = (/** @type {number} */ part = 1) => {
    if (die.is(share() * part)) throw new Error("the store is down");
  };
  return {
    ...store,
    load: async (/** @type {string} */ key) => {
      await pass(die.below(3));
      down();
      return store.load(key);
    },
    commit: async (/** @type {any[]} */ ...args) => {
      await pass(die.below(3));
      down(0.5);
      const made = await store.commit(...args);
      await pass(die.below(3));
      // It is made, and the answer is lost, or another one.
      if (made !== null) down();
      return die.is(share() / 2) ? null : made;
    },
    saveMeasures: async (/** @type {any[]} */ ...args) => {
      down();
      return store.saveMeasures(...args);
    },
  };
}

/** What is known of a pin: whether it must be there, must not, or may be. @typedef {"there" | "gone" | "open"} Known */

class Play {
  /** @type {any[]} */
  history = [];
  /** @type {{ context: any, sent: any[] | null, pinned: Set<string>, unpinned: Set<string> }[]} */
  writers = [];
  /** @type {Map<string, { known: Known, isLost?: boolean }>} */
  pins = new Map();
  share = 0;
  now = 1_000_000;
  steps = 0;

  /** @param {number} seed @param {any} store */
  constructor(seed, store) {
    this.die = dice(seed);
    this.store = store;
    this.key = KEYS[this.die.below(KEYS.length)] ?? "";
    this.share = [0, 0, 0.05, 0.3][this.die.below(4)] ?? 0;
    this.options = {
      window: WINDOW,
      format: "anthropic",
      estimator: "chars/4",
      clock: () => this.now,
      appendOnly: this.die.is(0.4),
      summary: { minimumTokens: 0, contextTokens: 200_000 },
      summarize: async (/** @type {any} */ job) => {
        await pass(this.die.below(6));
        if (this.die.is(0.15)) throw new Error("the summarizer is down");
        return good(job, `Summary ${this.die.below(1e6)}.`);
      },
    };
    this.lossy = faulty(store, this.die, () => this.share);
  }

  grow(/** @type {number} */ steps) {
    for (let left = steps; left > 0; left -= 1) this.history.push(...step(this.steps++));
  }

  /** @returns {Promise<Play["writers"][0]>} */
  async open() {
    try {
      const context = await api.ContextManager.open(this.lossy, this.key, this.options);
      return { context, sent: null, pinned: new Set(), unpinned: new Set() };
    } catch (error) {
      assert.match(String(error), /is down/);
      return this.open();
    }
  }

  async save(/** @type {Play["writers"][0]} */ writer) {
    const [pinned, unpinned] = [[...writer.pinned], [...writer.unpinned]];
    writer.pinned.clear();
    writer.unpinned.clear();
    // Another's commit may have been merged in: places of messages are known again with the next request.
    writer.sent = null;
    try {
      await writer.context.save({ measures: this.die.is(0.2) });
      for (const id of pinned) this.know(id, "there");
      for (const id of unpinned) this.know(id, this.pins.get(id)?.isLost ? "open" : "gone");
    } catch (error) {
      assert.ok(/is down/.test(String(error)) || /** @type {any} */ (error).code === "CONFLICT");
      for (const id of pinned) {
        writer.pinned.add(id);
        // It may have been made: who pinned it takes it for new after another's commit, even if that one let it go.
        this.pins.set(id, { known: this.pins.get(id)?.known ?? "open", isLost: true });
      }
      for (const id of unpinned) this.pins.set(id, { known: "open", isLost: true });
    }
  }

  know(/** @type {string} */ id, /** @type {Known} */ known) {
    this.pins.set(id, { ...this.pins.get(id), known });
  }

  async request(/** @type {Play["writers"][0]} */ writer) {
    const history = this.die.is(0.5) ? this.history.slice() : structuredClone(this.history);
    const { context } = writer;
    const prepared = this.die.is(0.7) ? await context.prepare(history) : context.request(history);
    checkAccepted(prepared);
    writer.sent = history;
    const inputTokens = Math.round(prepared.tokens * (1 + this.die.below(30) / 100));
    if (this.die.is(0.5)) context.observe({ inputTokens, outputTokens: 5 }, prepared);
  }

  pin(/** @type {Play["writers"][0]} */ writer, /** @type {number} */ at) {
    if (!writer.sent) return;
    const index = this.die.below(writer.sent.length);
    const id = writer.context.pin(this.die.is(0.5) ? { text: `pin ${at}` } : { index });
    // What is pinned already, or was before, is known no better by this.
    if (this.pins.has(id)) this.pins.set(id, { known: "open", isLost: true });
    else this.pins.set(id, { known: "open" });
    if (!this.pins.get(id)?.isLost) writer.pinned.add(id);
  }

  unpin(/** @type {Play["writers"][0]} */ writer) {
    const id = [...this.pins.keys()][this.die.below(Math.max(1, this.pins.size))] ?? "";
    if (!writer.context.unpin(id)) return;
    this.know(id, "open");
    for (const other of this.writers) other.pinned.delete(id);
    writer.unpinned.add(id);
  }

  async drop(/** @type {Play["writers"][0]} */ writer) {
    writer.context[Symbol.dispose]();
    this.writers[this.writers.indexOf(writer)] = await this.open();
  }

  async act(/** @type {number} */ at) {
    this.now += this.die.below(200_000);
    const writer = this.writers[this.die.below(this.writers.length)];
    if (!writer) return;
    const kind = this.die.below(100);
    if (kind < 20) this.grow(1 + this.die.below(4));
    else if (kind < 45) await this.request(writer);
    else if (kind < 57) this.pin(writer, at);
    else if (kind < 64) this.unpin(writer);
    else if (kind < 85) await this.save(writer);
    else if (kind < 90) await Promise.all(this.writers.map((one) => this.save(one)));
    else if (kind < 95) {
      const running = writer.context.compact(this.history.slice(), { force: this.die.is(0.7) });
      if (this.die.is(0.5)) await this.save(writer);
      await running;
      writer.sent = null;
    } else await this.drop(writer);
  }

  async check() {
    this.share = 0;
    for (const writer of [...this.writers, ...this.writers]) {
      await idle(writer.context);
      await this.save(writer);
    }
    const last = this.writers.at(-1);
    const [one, other] = [await this.open(), await this.open()];
    const sent = one.context.request(this.history);
    checkAccepted(sent);
    assert.deepEqual(other.context.request(structuredClone(this.history)).messages, sent.messages);
    assert.deepEqual(last?.context.request(this.history).messages, sent.messages);
    for (const [id, { known }] of this.pins) {
      const isThere = one.context.unpin(id);
      if (known !== "open") assert.equal(isThere, known === "there", `${id}: ${known}`);
      assert.equal(one.context.unpin(id), false, `${id} is there twice`);
    }
    for (const { context } of [one, other, ...this.writers]) context[Symbol.dispose]();
  }
}

/** @param {number} seed */
async function play(seed) {
  const game = new Play(seed, await opened({ kind: "memory", place: "" }));
  game.grow(6);
  for (let left = 2 + game.die.below(2); left > 0; left -= 1) game.writers.push(await game.open());
  const acts = 30 + game.die.below(40);
  for (let at = 0; at < acts; at += 1) await game.act(at);
  await game.check();
  return [...game.pins.values()].filter(({ known }) => known !== "open").length;
}

test(`${PLAYS} plays of managers over a store with faults lose nothing and end alike`, {
  skip: skip("memory"),
}, async () => {
  const only = Number(process.env.PLIMSOLL_SEED);
  const seeds = only ? [only] : Array.from({ length: PLAYS }, (_, at) => at + 1);
  let known = 0;
  for (const seed of seeds) {
    known += await play(seed).catch((error) => {
      throw new Error(`PLIMSOLL_SEED=${seed}: ${error.message}`, { cause: error });
    });
  }
  console.log(`${seeds.length} plays, ${known} pins that had to be there or gone`);
  assert.ok(only || known > PLAYS);
});
