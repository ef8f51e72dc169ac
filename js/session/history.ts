/**
 * The session's messages by the core's numbers, and where the host's history holds them: usually at the same places. A host
 * that takes our requests for its history passes them back, as objects or through JSON; then they stand elsewhere, and
 * what a fold removed is known to us alone.
 */
import { withPlace } from "../core/errors.js";
import { copied, copy, isContainedIn, isWrittenAs, messageJson } from "../core/json.js";
import { call, send } from "../core/main.js";
import type * as glue from "../glue/plimsoll_bg.js";
import { type Counter, push } from "./counter.js";
import { type Asked, type KnownMessages, keyOf, type SavedKey } from "./known-messages.js";
import { appendKnown, type Kept, keepMeasures } from "./measures.js";
import { type Alignment, Places } from "./places.js";
import { type Located, Taking } from "./taking.js";
import type { Shown, View } from "./view.js";

interface Passing<M> extends Located<M> {
  passed: Places<M>;
}

/** Known: they go on from those that the core has, and these objects say now what some of those say. */
interface Session<M> extends Located<M> {
  isKnown: boolean;
  same: Same<M>;
  /** How many of its first messages are those, where that was seen already. */
  common?: number;
}

/** Its first message, and what its messages hold. */
interface LastGroup {
  from: number;
  copies: unknown[];
}

/** By the core's numbers. */
type Same<M> = Map<number, Seen<M>>;

/** An object that says what a known message says. */
interface Seen<M> {
  message: M;
  /** It holds exactly what that one held. */
  isCopy: boolean;
}

/** How far the host's history is what we sent, which messages it holds of these, and the first of the session that follows. */
interface Followed<M> {
  matched: Shown<M>[];
  same: Same<M>;
  next: number;
}

/** A function of the host's of a message and its place. */
export type Of<M, T> = (message: M, index: number) => T;
/** The host's key of a message; undefined: it threw. */
type Key<M> = Of<M, string | undefined>;

/** Messages that are compared to see whether a history has slid. */
const SAMPLES = 8;

export class History<M> {
  readonly #key: Key<M> | undefined;
  readonly #isSummary: Of<M, boolean | undefined> | undefined;
  /** The host's own counter. */
  counter: Counter | undefined;
  #known: M[] = [];
  /** The host's keys of those; undefined: none, or it threw. */
  #keys: Array<string | undefined> = [];
  /** The host's history where it is not the session's, one to one. */
  #passed: Places<M> | undefined;
  /** The core asks for all messages again. */
  #isWanted = false;
  /** The core's messages are not those that are known: a call failed half way. */
  #isTorn = false;
  /** What the core was told of `Passed.from`. */
  #forgotten = 0;
  /** Messages before this one are there only as far as they are sent. */
  #released = 0;
  /** From here on messages may still change. */
  #lastGroup = 0;
  /** Messages of an earlier process, until the session has taken them up. */
  #earlier: KnownMessages | undefined;
  /** What the known messages held when they were passed; undefined: not plain, or passed as another object since. */
  #copies: unknown[] = [];
  /** Messages that were sent with edits: a host that stores our requests has these under the same keys. */
  readonly #edited = new Set<number>();

  constructor(
    key: Key<M> | undefined,
    counter: Counter | undefined,
    isSummary?: Of<M, boolean | undefined>,
  ) {
    this.#key = key;
    this.#isSummary = isSummary;
    this.counter = counter;
  }

  /** Takes messages up by the measures that an earlier process kept. */
  set earlier(known: KnownMessages | undefined) {
    this.#earlier?.free();
    this.#earlier = known;
  }

  /** What was measured of the messages, with the host's keys of them; undefined: the host counts by itself. */
  measures(manager: glue.Manager, view: View<M>): Uint8Array | undefined {
    // They have not come yet.
    if (this.#earlier) return this.#earlier.bytes;
    if (!this.#key)
      return call("snapshot", () => manager.measures(0, this.#known.length, send("")));
    // A host that stores our requests has these under their keys as we sent them.
    const renamed = new Set(call("snapshot", () => manager.renamed()));
    const edited = new Set([...this.#edited, ...view.edited]);
    const keys = Array.from(this.#keys, (key, number): SavedKey => {
      if (key === undefined) return null;
      if (renamed.has(number)) return [key];
      return edited.has(number) ? keyOf(key, this.#known[number]) : key;
    });
    const json = JSON.stringify(keys);
    return call("snapshot", () => manager.measures(0, this.#known.length, send(json)));
  }

  /** By the core's numbers. */
  get messages(): readonly M[] {
    return this.#known;
  }

  /** The last group, from its first message on, as it is now: reads the host's messages. */
  copied(from: number): LastGroup {
    return { from, copies: this.#known.slice(from).map((message) => copied(message)) };
  }

  /** The last group, as the last answer has it. */
  set lastGroup({ from, copies }: LastGroup) {
    this.#lastGroup = from;
    for (const [at, copy] of copies.entries()) this.#copies[from + at] = copy;
  }

  /** The core has let go of all messages: they are handed over again. */
  again(): void {
    this.#isWanted = true;
  }

  /** The host's history as it was passed last, if the core asks for all of it again. */
  get wanted(): readonly M[] | undefined {
    return this.#isWanted ? (this.#passed?.messages ?? this.#known) : undefined;
  }

  forget(): void {
    this.earlier = undefined;
    this.#drop();
    this.#passed = undefined;
    this.#lastGroup = 0;
    this.#forgotten = 0;
    this.#released = 0;
    this.#edited.clear();
  }

  /** Where the host's history holds a message of the core's; null: nowhere. */
  placeOf(number: number): number | null {
    return this.#passed ? (this.#passed.placeOf(number) ?? null) : number;
  }

  /** The place of the first message from a number on that the host holds; after its history if it holds none. */
  placeFrom(number: number): number {
    if (!this.#passed) return number;
    for (let at = number; at < this.#known.length; at++) {
      const [place] = this.runsOf(at, at + 1);
      if (place) return place[0];
    }
    return this.#passed.messages.length;
  }

  /** Those of these messages that this process has; a restart after a window loses the oldest. */
  available(numbers: readonly number[]): number[] {
    return numbers.filter((number) => this.messages[number] !== undefined);
  }

  /** The places of a run of numbers, as [from, to); none for what the host does not hold, or only in a message of ours. */
  runsOf(from: number, to: number): Array<[number, number]> {
    return this.#passed ? this.#passed.runsOf(from, to) : [[from, to]];
  }

  /** Places of many; null stays null. */
  placesOf(numbers: Array<number | null>): Array<number | null> {
    if (!this.#passed) return numbers;
    return numbers.map((number) => (number === null ? null : this.placeOf(number)));
  }

  /** How many messages of the session the host no longer holds. */
  get forgotten(): number {
    return this.#passed ? this.#known.length - this.#passed.size : 0;
  }

  /** The core's number of a message of the host's history; null: it is one of ours. */
  numberOf(place: number): number | null {
    return this.#passed ? this.#passed.numberOf(place) : place;
  }

  /**
   * Makes the core's history this one: new messages are handed over; all of them, if an earlier one is another. If that
   * fails half way, the next call takes up where the last whole one was.
   */
  take(manager: glue.Manager, messages: readonly M[], view: View<M>): void {
    if (this.#key) for (const number of view.edited) this.#edited.add(number);
    const { isKnown, same, common: seen, ...located } = this.#session(manager, messages, view);
    const taking = new Taking(located, this.#key, this.#isSummary);
    const grown: Same<M> = new Map();
    const common = seen ?? (isKnown ? this.#common(manager, taking, grown, same) : 0);
    let comesAgain = this.#isWanted || common < this.#known.length;
    const before = { known: this.#known, keys: this.#keys };
    const isFirst = before.known.length === 0;
    const moved: Array<[number: number, json: string]> = [];
    for (const [number, { message, isCopy }] of [...grown, ...same]) {
      // The core keeps where parts stand and the ids of calls, so an object that is written alike need not be read again.
      const isUnchanged = isCopy || isWrittenAs(this.#known[number], message);
      if (grown.has(number) || !isUnchanged)
        moved.push([number, messageJson(message, taking.placeOf(number))]);
    }
    if (comesAgain) {
      // If the core itself asks for all messages, it has let go of them already.
      const letsGo = !this.#isWanted || this.#isTorn;
      const keep = letsGo ? call("request", () => manager.keeps(common)) : 0;
      if (letsGo && !this.#isTorn) keepMeasures(manager, before.known, this.#copies, keep);
      // All of them are read before the core lets go of any: whatever a getter throws then costs nothing.
      taking.readAhead(keep, Math.max(this.#released, taking.from));
      // Copies: after a throw the next call compares with what was known before this one.
      this.#known = before.known.slice();
      this.#keys = before.keys.slice();
      if (letsGo) call("request", () => manager.truncate(common, isKnown));
      this.#drop(keep);
      this.#forgotten = 0;
    }
    for (const [number, json] of moved) {
      if (number < this.#known.length) call("request", () => manager.reread(number, send(json)));
    }
    if (moved.length > 0 && call("request", () => manager.renew_repairs())) {
      comesAgain = true;
      this.#forgotten = 0;
      [this.#known, this.#keys, this.#copies] = [[], [], []];
    }
    for (const [number, { message, isCopy }] of same) {
      if (number >= this.#known.length) continue;
      this.#known[number] = message;
      this.#copies[number] = isCopy ? copy(message) : undefined;
    }
    try {
      while (this.#known.length < taking.messages.length) {
        if (this.#skips(manager, taking, messages) || this.#append(manager, taking)) continue;
        // What came before was read wrongly, or taken for another session's: it is read again.
        this.#drop();
        comesAgain = true;
        const startsLate = call("request", () => manager.starts_late());
        const found = startsLate ? this.#aligned(manager, messages) : undefined;
        if (found) taking.locate(this.#placed(found, messages, []));
      }
    } catch (error) {
      if (comesAgain) {
        this.#known = before.known;
        this.#keys = before.keys;
        this.#copies = [];
        this.#isTorn = true;
      } else {
        this.#passed = taking.passed?.without(taking.messages.length - this.#known.length);
      }
      throw error;
    }
    const forgotten = taking.from;
    if (forgotten !== this.#forgotten) call("request", () => manager.forget(forgotten));
    this.#forgotten = forgotten;
    this.#isWanted = false;
    this.#isTorn = false;
    this.earlier = undefined;
    this.#passed = taking.passed;
    // A history that is taken up whole may be taken up again. A single message is soon measured.
    if (isFirst && this.#known.length > 1)
      keepMeasures(manager, this.#known, this.#copies, taking.kept);
    if (this.#released > 0 && !taking.passed) {
      this.#known = taking.messages.slice();
      this.#released = 0;
    }
  }

  /** Lets go of the messages that the host has forgotten, as far as nothing of them is sent, or may be. */
  release(view: View<M>, manager: glue.Manager): void {
    const passed = this.#passed;
    if (!passed || passed.from === this.#released) return;
    this.#released = passed.from;
    const sent = new Set<number>();
    view.sends((number) => sent.add(number) !== undefined);
    for (let number = 0; number < passed.from; number++) {
      if (sent.has(number) || passed.placeOf(number) !== undefined) continue;
      if (call("request", () => manager.may_send(number))) continue;
      this.#known[number] = undefined as M;
      this.#copies[number] = undefined;
    }
  }

  /** Goes on after messages that the host no longer holds. True: the next message is another, or none. */
  #skips(manager: glue.Manager, taking: Taking<M>, messages: readonly M[]): boolean {
    const index = this.#known.length;
    if (taking.messages[index] !== undefined) return false;
    const next = taking.from;
    if (index < next && !taking.passed?.holdsAny(index, next)) {
      // The session goes on with what the host still holds.
      call("request", () => manager.forget(next));
      this.#known.length = next;
      return true;
    }
    if (index >= this.#released) return false;
    // The host has taken our request for a history of which the start is forgotten: it is one of its own then.
    call("request", () => manager.truncate(0, false));
    taking.locate({ session: messages, passed: undefined });
    this.#drop();
    this.#released = 0;
    return true;
  }

  /** Appends the next message, and those after it that are known by their measures. False: the core needs all again. */
  #append(manager: glue.Manager, taking: Taking<M>): boolean {
    const index = this.#known.length;
    const earlier = this.#earlier?.append(manager, taking, index) ?? 0;
    for (let at = index; at < index + (earlier ?? 0); at++) {
      this.#know(taking.messages[at] as M, taking.ask(at), undefined);
    }
    if (earlier !== 0) return earlier !== null;
    const first = taking.known(index);
    taking.kept = Math.min(taking.kept, index);
    if (first) {
      const known = (places: number): Kept | undefined => taking.known(index + places);
      const count = appendKnown("request", manager, first, known);
      if (taking.kept === index) taking.kept += count ?? 0;
      for (let at = index; at < index + (count ?? 0); at++) {
        this.#know(taking.messages[at] as M, taking.ask(at), taking.known(at)?.copy);
      }
      if (count !== 0) return count !== null;
    }
    const read = taking.read(index);
    const { written, copy } = read.taken;
    const pushed = () => push("request", manager, written, this.counter, read.isSummary);
    if (!withPlace(read.place, pushed)) return false;
    this.#know(taking.messages[index] as M, read, copy);
    return true;
  }

  #know(message: M, { key }: Asked, copy: unknown): void {
    const index = this.#known.push(message) - 1;
    this.#copies[index] = copy;
    if (this.#key) this.#keys[index] = key;
  }

  #drop(from: number = 0): void {
    this.#known.length = from;
    this.#keys.length = Math.min(this.#keys.length, from);
    this.#copies.length = Math.min(this.#copies.length, from);
  }

  #session(manager: glue.Manager, messages: readonly M[], view: View<M>): Session<M> {
    const isKnown = !this.#isTorn;
    const same: Same<M> = new Map();
    const passed = this.#passed;
    const goesOn = passed?.messages.every((message, place) => messages[place] === message);
    if (passed && goesOn && !this.#hasEnd(manager, messages, passed.messages.length, view)) {
      return { ...this.#extended(passed, messages, this.#known), isKnown, same };
    }
    const { isSentUnchanged, isUnchanged, alike } = this.#compared(manager, messages, view, same);
    const isRequestUnchanged =
      isSentUnchanged && this.#isEndUnchanged(manager, messages, view, same);
    if (isUnchanged && isRequestUnchanged)
      return { session: messages, isKnown, same, passed: undefined };
    const followed = this.#followed(manager, messages, view);
    // Only a message that was left out is another: nothing of it is sent.
    if (!followed && isRequestUnchanged)
      return { session: messages, isKnown, same, passed: undefined };
    // A history that slid differs from its start on; only a system prompt, or a message of the host's own, stays in front.
    const isInPlace = () => alike > 1 && this.#isInPlace(manager, messages);
    if (!followed && !isUnchanged && isKnown && !isInPlace()) {
      const later = this.#later(manager, messages, view);
      if (later) return later;
    }
    if (!followed && !isUnchanged && isKnown) {
      const unchanged = this.#unchanged(manager, messages);
      if (unchanged.common > 0)
        return { session: messages, isKnown, ...unchanged, passed: undefined };
    }
    if (!followed || (isUnchanged && followed.next < this.#known.length)) {
      return { session: messages, isKnown: isKnown && isUnchanged, same, passed: undefined };
    }
    const { matched, next } = followed;
    const known = this.#known.slice(0, next);
    const places = new Map<number, number>();
    const numbers: Array<number | null> = [];
    for (const [place, { isOurs, isEdited, numbers: all }] of matched.entries()) {
      numbers.push(isOurs ? null : (all[0] ?? null));
      for (const number of all) if (!places.has(number)) places.set(number, place);
      // The host's copy may still grow.
      if (!isOurs && !isEdited) known[all[0] as number] = messages[place] as M;
    }
    const from = passed?.from ?? 0;
    const start = new Places(messages.slice(0, matched.length), numbers, places, from);
    const goesOnFromAll = next >= this.#known.length;
    return {
      ...this.#extended(start, messages, known),
      isKnown: isKnown && goesOnFromAll,
      same: followed.same,
    };
  }

  /** What follows in the host's history follows in the session. */
  #extended(passed: Places<M>, messages: readonly M[], known: readonly M[]): Passing<M> {
    const session = known.concat(messages.slice(passed.messages.length));
    return { session, passed: passed.extended(messages, known.length) };
  }

  /** Samples all along the history, but for one, are at their old places: the host has not forgotten its oldest messages. */
  #isInPlace(manager: glue.Manager, messages: readonly M[]): boolean {
    const last = this.#known.length - 1;
    let others = 0;
    for (let sample = SAMPLES; sample > 0 && others <= 1; sample--) {
      const at = Math.floor((last * sample) / SAMPLES);
      const [message, known] = [messages[at], this.#known[at]];
      if (message === undefined || known === undefined) return false;
      if (!this.#isSame(manager, message, at, new Map())) others++;
    }
    return others <= 1;
  }

  /**
   * How many of the first messages hold exactly what the known ones held, before one that says something else, and which of them
   * are other objects. 0: the next one says the same in another way, so that the core has to compare them all.
   */
  #unchanged(manager: glue.Manager, messages: readonly M[]) {
    const same: Same<M> = new Map();
    const isKept = (at: number): boolean => {
      const message = messages[at] as M;
      const isObject = message === this.#known[at] && message !== undefined;
      if (this.#copies[at] === undefined) return isObject;
      const isCopy = this.#isCopy(at, message);
      if (isCopy && !isObject) same.set(at, { message, isCopy });
      return isCopy;
    };
    const end = Math.min(this.#known.length, messages.length);
    let common = 0;
    while (common < end && isKept(common)) common++;
    if (common > 0 && common < end && messages[common] !== this.#known[common]) {
      // Also under another key of the host's.
      const isSame = (length: number): boolean => manager.same(common, length);
      if (ask(messages[common], common, isSame)) common = 0;
    }
    return { common, same };
  }

  /** The host has forgotten its oldest messages, and passes a later part of those that are known. */
  #later(manager: glue.Manager, messages: readonly M[], view: View<M>): Session<M> | undefined {
    const found = this.#aligned(manager, messages);
    if (!found) return undefined;
    const same: Same<M> = new Map();
    const located = this.#placed(found, messages, this.#known);
    const { passed } = located;
    const isUnchanged = (number: number): boolean => {
      const place = passed.placeOf(number);
      return (
        place === undefined || this.#isSame(manager, messages[place] as M, number, same, place)
      );
    };
    if (!view.sends(isUnchanged)) return undefined;
    for (const [number, place] of passed.all) {
      const message = messages[place] as M;
      same.set(number, { message, isCopy: this.#isCopy(number, message) });
    }
    return { ...located, isKnown: true, same };
  }

  /** The session where this later part of the known messages is what the host holds. */
  #placed(found: Alignment, messages: readonly M[], known: readonly M[]): Passing<M> {
    const start = Places.ofPart(found, messages);
    // What is not known as an object is not there any more.
    const session = Array.from({ length: found[3] }, (_, number) => known[number] as M);
    for (const [number, place] of start.all) session[number] = messages[place] as M;
    return this.#extended(start, messages, session);
  }

  #aligned(manager: glue.Manager, messages: readonly M[]): Alignment | undefined {
    const objects = new Map<M, number>();
    const keys = new Map<string, number>();
    for (const [number, message] of this.#known.entries()) objects.set(message, number);
    for (const [number, key] of this.#keys.entries()) if (key !== undefined) keys.set(key, number);
    for (const [place, message] of messages.entries()) {
      // By object or key where possible: writing the message as JSON is what takes time.
      const key = this.#key?.(message, place);
      const number = objects.get(message) ?? (key === undefined ? undefined : keys.get(key));
      if (number === undefined) {
        ask(message, place, (length) => manager.offer(length));
      } else call("request", () => manager.offer_known(number));
    }
    const found = call("request", () => manager.align());
    return found && (Array.from(found) as Alignment);
  }

  /** The line of ours that the last request ended with stands at `place`: what follows the host's history is not all new. */
  #hasEnd(manager: glue.Manager, messages: readonly M[], place: number, view: View<M>): boolean {
    const last = view.last;
    return (
      last?.isOurs === true &&
      place < messages.length &&
      this.#isSent(manager, messages[place] as M, place, last, new Map())
    );
  }

  /**
   * Compares the history with the last request. `isSentUnchanged`: every message that is sent is the same, the last group aside.
   * `isUnchanged`: so is the first message that is left out. `alike`: how many of those that are sent are the same.
   */
  #compared(manager: glue.Manager, messages: readonly M[], view: View<M>, same: Same<M>) {
    const no = { isSentUnchanged: false, isUnchanged: false, alike: 0 };
    if (messages.length < this.#lastGroup) return no;
    const isUnchanged = (index: number): boolean =>
      index >= this.#lastGroup || this.#isSame(manager, messages[index] as M, index, same);
    let unsent = 0;
    let alike = 0;
    const all = view.sends((index) => {
      if (index === unsent) unsent++;
      const isSame = isUnchanged(index);
      alike += Number(isSame);
      return isSame;
    });
    if (!all) return { ...no, alike };
    // What a pin brings back was not compared while it was left out.
    const returning = call("request", () => manager.returning());
    if (returning && !returning.every(isUnchanged)) return { ...no, alike };
    // If the host stores our requests as its history, only the first message that is left out differs.
    return { isSentUnchanged: true, isUnchanged: isUnchanged(unsent), alike };
  }

  /** So does the last group; and no line that we ended the request with. */
  #isEndUnchanged(
    manager: glue.Manager,
    messages: readonly M[],
    view: View<M>,
    same: Same<M>,
  ): boolean {
    if (messages.length < this.#known.length) return false;
    for (let index = this.#lastGroup; index < this.#known.length; index++) {
      if (!this.#isSame(manager, messages[index] as M, index, same)) return false;
    }
    return !this.#hasEnd(manager, messages, this.#known.length, view);
  }

  /**
   * How far the host's history is what we sent, and the first message of the session that is not there any more. Undefined:
   * nothing of ours is in it, and it lacks nothing that our request lacked.
   */
  #followed(manager: glue.Manager, messages: readonly M[], view: View<M>) {
    const { shown, of } = view;
    const matched: Shown<M>[] = [];
    const same: Same<M> = new Map();
    let at = 0;
    for (const [place, message] of messages.entries()) {
      const isSent = (): boolean => {
        const sent = shown[at];
        return sent !== undefined && this.#isSent(manager, message, place, sent, same);
      };
      const isApart = (): boolean => {
        const [number] = shown[at]?.numbers ?? [];
        return number !== undefined && this.#isSame(manager, message, number, new Map(), place);
      };
      // A message of ours may be missing: the host has its own way to mend that. Not one of which the host holds what we joined.
      while (shown[at]?.isOurs && !isSent() && !isApart()) at++;
      if (!isSent()) break;
      matched.push(shown[at++] as Shown<M>);
    }
    const isOurs = matched.some(
      (sent, place) =>
        sent.isOurs || (sent.isEdited && this.#isEdit(manager, messages, place, sent)),
    );
    // The host may have left ours out altogether.
    const isAll = at === shown.length && (matched.length < of || matched.length < shown.length);
    if (matched.length === 0 || !(isOurs || isAll)) return undefined;
    const missing = shown.slice(at).find(({ numbers }) => numbers.length > 0);
    const next = missing?.numbers[0] ?? of;
    return this.#withoutHalves(manager, { matched, same, next });
  }

  /**
   * Ends before a call of which a result follows: the host has that under the id that we sent, and the known call under its own. Both
   * are read again as the host has them.
   */
  #withoutHalves(manager: glue.Manager, { matched, same, next }: Followed<M>) {
    const isAll = next >= this.#known.length;
    const first = isAll ? next : call("request", () => manager.unpaired_before(next));
    let from = next;
    while (from > first && matched.length > 0) from = matched.pop()?.numbers[0] ?? from;
    return matched.length > 0 ? { matched, same, next: from } : undefined;
  }

  /** It is our copy with its edits, and not the message that we made it of, which may say the same. */
  #isEdit(manager: glue.Manager, messages: readonly M[], place: number, sent: Shown<M>): boolean {
    const message = messages[place] as M;
    const number = sent.numbers[0] as number;
    if (message === sent.message || message === this.#known[number])
      return message === sent.message;
    const isOriginal = this.#isSame(manager, message, number, new Map(), place);
    return !isOriginal || messageJson(message, place) === messageJson(sent.message, place);
  }

  /** It is this message of our request, or says the same. */
  #isSent(
    manager: glue.Manager,
    message: M,
    place: number,
    sent: Shown<M>,
    same: Same<M>,
  ): boolean {
    const [number] = sent.numbers;
    if (message === sent.message) return true;
    if (number !== undefined && !sent.isOurs && !sent.isEdited) {
      return this.#isSame(manager, message, number, same, place);
    }
    const print = (one: M, withIds: boolean): bigint =>
      ask(one, place, (length) => manager.fingerprint(length, withIds));
    if (print(message, false) !== print(sent.message, false)) return false;
    // A call that may still wait for its result is known by its id too.
    const isLast = number !== undefined && number >= this.#lastGroup;
    if (!isLast && !sent.isEdited) return true;
    const ids = print(message, true);
    if (ids === print(sent.message, true)) return true;
    // Of an edited message the known one is sent on, and with it its ids: what has others is the host's.
    const known = this.#known[number as number];
    return !isLast && known !== undefined && ids === print(known, true);
  }

  /**
   * How many of the known messages the session starts with: those of the last group may have grown since, also in place. Those
   * that were written otherwise are noted among the `grown`, and other objects before the first message that differs among the `same`.
   */
  #common(manager: glue.Manager, taking: Taking<M>, grown: Same<M>, same: Same<M>): number {
    const session = taking.messages;
    const end = Math.min(this.#known.length, session.length);
    let index = Math.min(this.#lastGroup, end);
    // Messages before it are compared singly only if something after them is another.
    while (index < end && this.#isAsPassed(manager, taking, index, grown)) index++;
    if (index === this.#known.length) return index;
    const isSame = (message: M, at: number): boolean =>
      message === this.#known[at] || this.#isSame(manager, message, at, same, taking.placeOf(at));
    const other = session.slice(0, index).findIndex((message, at) => !isSame(message, at));
    return other < 0 ? index : other;
  }

  #isAsPassed(manager: glue.Manager, taking: Taking<M>, index: number, grown: Same<M>): boolean {
    const message = taking.messages[index] as M;
    // Neither the host nor the session holds it any more.
    if (message === undefined && this.#known[index] === undefined) return true;
    const copy = this.#copies[index];
    if (copy === undefined || !isContainedIn(copy, message)) {
      const place = taking.placeOf(index);
      if (!ask(message, place, (length) => manager.same(index, length))) return false;
      grown.set(index, { message, isCopy: false });
      this.#copies[index] = undefined;
    }
    this.#known[index] = message;
    return true;
  }

  /** It holds exactly what the known message did. */
  #isCopy(number: number, message: unknown): boolean {
    const copy = this.#copies[number];
    return copy !== undefined && isContainedIn(copy, message);
  }

  /** By the object, else by the host's key, else by content: then the object is noted among the `same`. */
  #isSame(
    manager: glue.Manager,
    message: M,
    number: number,
    same: Same<M>,
    place: number = number,
  ): boolean {
    if (message === this.#known[number]) return true;
    const known = this.#keys[number];
    const key = known === undefined ? undefined : this.#key?.(message, place);
    if (key !== undefined && key !== known) return false;
    const isCopy = this.#isCopy(number, message);
    // Messages of the last group are compared once more.
    const isStored = number < this.#lastGroup && this.#edited.has(number);
    const isKnownByKey = key !== undefined && !isStored;
    const isSame = () => ask(message, place, (length) => manager.same(number, length));
    if (!isCopy && !isKnownByKey && !isSame()) return false;
    same.set(number, { message, isCopy });
    return true;
  }
}

/** Asks the core about a message; `of` has its length in the input buffer. An error names the place in the host's history. */
function ask<T>(message: unknown, place: number, of: (length: number) => T): T {
  const json = messageJson(message, place);
  return withPlace(place, () => call("request", () => of(send(json))));
}
