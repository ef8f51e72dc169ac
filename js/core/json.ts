/** A host's value as the core sees it: JSON, taken once. No getter, proxy or prototype goes further than this. */
import { echoes, isOfClass } from "./edit.js";
import { invalid, isPromise, PlimsollError } from "./errors.js";

/** An argument of more characters, a session or a candidate file among them, is refused before it is copied. */
const LARGEST = 256 * 1024 * 1024;
/** The same of a message: it is read in one go, and the program does nothing else meanwhile. */
const LARGEST_MESSAGE = 32 * 1024 * 1024;
/** Objects and arrays that are looked through before JSON.stringify is given a replacer. */
const MOST_NODES = 500;

/**
 * JSON in pieces, and between each two of them a text that belongs there as a string. Most JSON is one piece: a long text alone costs
 * less to hand over as it is than to write as JSON and read again.
 */
export type Written = readonly string[];

/** Texts of so many characters and more are taken out of the JSON. */
const LONG = 256;
/** `\u0000` for one character. */
const LONGEST_ESCAPE = 6;
/** Takes the place of a long text in the JSON. Hosts rarely have this text themselves. */
const MARK = "\u0001";
const MARKED = JSON.stringify(MARK);

/** A message as JSON, and a copy, as `copied` makes it, by which a later change is seen. */
export interface Taken {
  written: Written;
  copy: unknown;
}

/** As `messageJson`, with its long texts apart, and a copy. */
export function takenMessage(message: unknown, index: number): Taken {
  const { written, plain } = attemptMessage(message, index, true);
  // An instance may have been written in another shape than its own.
  return { written, copy: plain === message ? copy(message) : undefined };
}

/** The JSON with its texts, in one string. */
export function joined(written: Written): string {
  return written.map((part, at) => (at % 2 === 0 ? part : JSON.stringify(part))).join("");
}

/** A plain value, its long texts apart. */
function apartFrom(value: unknown): Written {
  const texts: string[] = [];
  const pieces = JSON.stringify(without(value, texts)).split(MARKED);
  // Something else of the host's may look like the mark.
  if (pieces.length !== texts.length + 1) return [JSON.stringify(value)];
  const written = [pieces[0] as string];
  for (const [at, text] of texts.entries()) written.push(text, pieces[at + 1] as string);
  return written;
}

/** The value without its long texts, which are added to `texts`. */
function without(value: unknown, texts: string[]): unknown {
  if (typeof value === "string") {
    if (value.length < LONG || !isWellFormed(value)) return value;
    texts.push(value);
    return MARK;
  }
  if (typeof value !== "object" || value === null) return value;
  const before = texts.length;
  if (Array.isArray(value)) {
    const items = value.map((item) => without(item, texts));
    return texts.length === before ? value : items;
  }
  let own: Record<string, unknown> | undefined;
  for (const name of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[name];
    const shorter = without(member, texts);
    if (shorter === member) continue;
    own ??= { ...value };
    own[name] = shorter;
  }
  return own ?? value;
}

/** Half a character can be written in JSON alone. False where the engine cannot say. */
function isWellFormed(text: string): boolean {
  return (text as { isWellFormed?(): boolean }).isWellFormed?.() === true;
}

/** A message as JSON; `MALFORMED_MESSAGE` with its index if it cannot be written. */
export function messageJson(message: unknown, index: number): string {
  return attemptMessage(message, index, false).written[0] as string;
}

function attemptMessage(message: unknown, index: number, isApart: boolean): Attempt {
  const what = `message ${index}`;
  const made = attempt(
    () => seen(message),
    { what, most: LARGEST_MESSAGE, isApart },
    (cause) => malformed(index, "a message that JSON.stringify can write", cause),
  );
  if (made === undefined || message === null || typeof message !== "object") {
    throw malformed(index, "a message object");
  }
  for (const part of made.written) within(part, what, LARGEST_MESSAGE);
  return made;
}

/** An argument as JSON; `INVALID_ARGUMENT` with its name if it cannot be written. */
export function argumentJson(value: unknown, argument: string): string {
  // As JSON it would be an empty object.
  if (isPromise(value)) throw invalid(argument, "a value that JSON can hold", value);
  return written(() => value, argument);
}

/**
 * The same of sections, each without its content, and the contents by themselves: bytes go faster than JSON, and a long
 * string is dear to make. Of what is no plain section nothing is taken out.
 */
export function apart(
  value: { sections: readonly unknown[] },
  argument: string,
): { json: string; texts: string[] } {
  const texts: string[] = [];
  let size = 0;
  const head = (section: unknown): unknown => {
    const own = isPlainObject(section) ? { ...section } : undefined;
    const content = own?.content;
    const taken = typeof content === "string" && content.length <= LARGEST;
    texts.push(taken ? content : "");
    if (!own || !taken) return section;
    size += content.length;
    own.content = "";
    return own;
  };
  const json = written(() => ({ ...value, sections: value.sections.map(head) }), argument);
  if (size > LARGEST) throw tooLarge(argument, size, LARGEST);
  return { json, texts };
}

/** Half a character, which JSON writes as an escape and UTF-8 cannot have, becomes the sign that stands for such. */
export function wellFormed(json: string): string {
  if (!json.includes("\\ud")) return json;
  return json.replace(/\\(?:u(d[89a-f][0-9a-f]{2})|.)/g, (sign, half) => (half ? "\ufffd" : sign));
}

function written(value: () => unknown, argument: string): string {
  const flaw = (cause: unknown): PlimsollError => {
    const info = {
      code: "INVALID_ARGUMENT",
      argument,
      expected: "a value that JSON.stringify can write",
      got: String((cause as Error | null)?.message ?? cause),
    } as const;
    return new PlimsollError(info, `${argument}: expected ${info.expected}, got ${info.got}`, {
      cause,
    });
  };
  const text = attempt(value, { what: argument, most: LARGEST, isApart: false }, flaw)?.written[0];
  return within(text ?? "null", argument);
}

/**
 * What of a message is written: of an instance whose class writes it in a shape of its own the instance's members, since
 * that is what edits point at, with the name of the class beside them.
 */
function seen(message: unknown): unknown {
  if (!isOfClass(message) || typeof (message as { toJSON?: unknown }).toJSON !== "function") {
    return message;
  }
  const own: Record<string, unknown> = { ...message };
  if (Object.keys(own).length === 0) return message;
  for (const key of echoes(message)) delete own[key];
  own["@@toStringTag"] = Object.prototype.toString.call(message).slice("[object ".length, -1);
  return own;
}

/** How much of something is taken, and what it is; `isApart`: its long texts may be taken out of its JSON. */
interface Limit {
  what: string;
  most: number;
  isApart: boolean;
}

/** A value that was written, and the same if it is plain. */
interface Attempt {
  written: Written;
  plain: unknown;
}

/** What is left of a limit while a value is looked at. */
interface Nodes {
  left: number;
  room: number;
  hasLong: boolean;
}

function attempt(
  value: () => unknown,
  limit: Limit,
  flaw: (cause: unknown) => PlimsollError,
): Attempt | undefined {
  try {
    const it = value();
    const nodes = { left: MOST_NODES, room: limit.most, hasLong: false };
    const plain = isPlain(it, nodes) ? it : undefined;
    if (nodes.room < 0) throw tooLarge(limit.what, limit.most - nodes.room, limit.most);
    // Whatever has to be escaped, its JSON is not too long.
    const isShort = (limit.most - nodes.room) * LONGEST_ESCAPE <= limit.most;
    if (plain && nodes.hasLong && limit.isApart && isShort)
      return { written: apartFrom(plain), plain };
    // A replacer takes five times as long.
    const json = plain ? JSON.stringify(plain) : JSON.stringify(it, plainWithin(limit));
    return json === undefined ? undefined : { written: [json], plain };
  } catch (cause) {
    throw cause instanceof PlimsollError ? cause : flaw(cause);
  }
}

/** A text that is not too long to be taken. */
export function within(text: string, what: string, most: number = LARGEST): string {
  if (text.length > most) throw tooLarge(what, text.length, most);
  return text;
}

/**
 * JSON.stringify needs no help of ours: plain objects and arrays all the way down, so few that looking costs little, and
 * none that says itself how it is written. `room`: what is left for their texts; below 0 there are more.
 */
function isPlain(value: unknown, nodes: Nodes): boolean {
  if (typeof value === "string") {
    nodes.room -= value.length;
    nodes.hasLong ||= value.length >= LONG;
    return nodes.room >= 0;
  }
  if (typeof value === "bigint" || typeof value === "function") return false;
  if (typeof value !== "object" || value === null) return true;
  if (nodes.left-- <= 0 || "toJSON" in value) return false;
  if (Array.isArray(value)) return value.every((item) => isPlain(item, nodes));
  if (!isPlainObject(value)) return false;
  for (const key in value) {
    if (!isPlain(value[key], nodes)) return false;
  }
  return true;
}

/** What a copy begins with: items follow, or names and values in turn. Such a list is compared in a third of the time of an object. */
const LIST = true;
const OBJECT = false;

/** A copy of a plain value that shares its texts, for `isContainedIn` to see later whether it has changed; undefined: it is not plain. */
export function copied(value: unknown, most: number = MOST_NODES): unknown {
  return isPlain(value, { left: most, room: LARGEST, hasLong: false }) ? copy(value) : undefined;
}

/** The copy of a value that is known to be plain. */
export function copy(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return [LIST, ...value.map(copy)];
  const made: unknown[] = [OBJECT];
  for (const name in value) made.push(name, copy((value as Record<string, unknown>)[name]));
  return made;
}

/**
 * The value is plain, and holds what the copy does in the same order: it is written alike. False where something in it throws:
 * who reads it next says what.
 */
export function isContainedIn(copy: unknown, value: unknown): boolean {
  try {
    return contains(copy, value);
  } catch {
    return false;
  }
}

function contains(copy: unknown, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return Object.is(value, copy);
  if (!Array.isArray(copy)) return false;
  // Most members are texts, and a text that is the same object is known at a glance.
  if (Array.isArray(value)) {
    if ("toJSON" in value || copy[0] !== LIST || copy.length !== value.length + 1) return false;
    // Also where there is a hole, which `every` passes over.
    for (let at = 0; at < value.length; at++) {
      const [known, item] = [copy[at + 1], value[at]];
      if (known !== item && !contains(known, item)) return false;
    }
    return true;
  }
  if (copy[0] !== OBJECT || !isPlainObject(value)) return false;
  let at = 1;
  for (const name in value) {
    if (name !== copy[at]) return false;
    const [known, member] = [copy[at + 1], value[name]];
    if (known !== member && !contains(known, member)) return false;
    at += 2;
  }
  return at === copy.length;
}

/** How much a plain value holds: its texts by their lengths, and one for each value in it. NaN: something in it is not plain. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length + 1;
  if (typeof value !== "object" || value === null) return 1;
  if (!Array.isArray(value) && !isPlainObject(value)) return Number.NaN;
  let size = 1;
  for (const name in value) size += sizeOf((value as Record<string, unknown>)[name]);
  return size;
}

/**
 * Whether two values have the same members, lengths and texts all the way down, whatever their numbers are. False where one says
 * itself how it is written.
 */
export function isWrittenAs(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || one === null)
    return typeof one === typeof other && typeof one !== "string" && one !== null;
  if (typeof other !== "object" || other === null || "toJSON" in one || "toJSON" in other)
    return false;
  if (ArrayBuffer.isView(one)) return ArrayBuffer.isView(other);
  const names = Object.keys(one);
  return (
    Array.isArray(one) === Array.isArray(other) &&
    names.length === Object.keys(other).length &&
    names.every((name) => {
      const of = (it: object): unknown => (it as Record<string, unknown>)[name];
      return Object.hasOwn(other, name) && isWrittenAs(of(one), of(other));
    })
  );
}

/** An object of no class, that does not say itself how it is written. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || "toJSON" in value) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Bytes as base64, big integers as digits, and no more of texts and bytes than is taken; `this` shows what `toJSON` would hide. */
function plainWithin({
  what,
  most,
}: Limit): (this: unknown, key: string, value: unknown) => unknown {
  let size = 0;
  const take = (length: number): void => {
    size += length;
    if (size > most) throw tooLarge(what, size, most);
  };
  return function (this: unknown, key: string, value: unknown): unknown {
    if (typeof value === "bigint") return String(value);
    const raw = (this as Record<string, unknown>)[key];
    if (ArrayBuffer.isView(raw)) {
      take(raw.byteLength);
      return base64(new Uint8Array(raw.buffer, raw.byteOffset, raw.byteLength));
    }
    if (typeof value === "string") take(value.length);
    return value;
  };
}

function base64(bytes: Uint8Array): string {
  if (globalThis.Buffer) {
    return globalThis.Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(
      "base64",
    );
  }
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(text);
}

function malformed(index: number, expected: string, cause?: unknown): PlimsollError {
  const info = { code: "MALFORMED_MESSAGE", index, path: "", expected } as const;
  const why = cause === undefined ? "" : ` (${(cause as Error | null)?.message ?? String(cause)})`;
  return new PlimsollError(info, `message ${index}: expected ${expected}${why}`, { cause });
}

function tooLarge(what: string, size: number, cap: number): PlimsollError {
  const info = { code: "TOO_LARGE", what, size, cap } as const;
  return new PlimsollError(info, `${what} has ${size} characters; at most ${cap} are taken`);
}
