/** A report as it is read: one of ours, of another version, or one that was made by hand. What is missing is empty. */

/** The longest text of a line, in UTF-16 code units. */
const LONGEST = 2000;

export class Fields {
  readonly #members: Readonly<Record<string, unknown>>;

  constructor(value: unknown) {
    const isObject = typeof value === "object" && value !== null;
    this.#members = isObject ? (value as Record<string, unknown>) : {};
  }

  /** Whether there is such a member, and not `null`. */
  has(name: string): boolean {
    return (this.#members[name] ?? null) !== null;
  }

  object(name: string): Fields {
    return new Fields(this.#members[name]);
  }

  objects(name: string): Fields[] {
    return this.#items(name).map((one) => new Fields(one));
  }

  /** A text in one line. */
  text(name: string): string {
    return oneLine(this.words(name));
  }

  /** A text as it is. */
  words(name: string): string {
    const value = this.#members[name];
    return typeof value === "string" ? value : "";
  }

  /** Texts in one line each. */
  texts(name: string): string[] {
    return this.#items(name)
      .filter((one) => typeof one === "string")
      .map(oneLine);
  }

  flag(name: string): boolean {
    return this.#members[name] === true;
  }

  /** An integer; 0 if there is none. */
  number(name: string): number {
    return integer(this.#members[name]) ?? 0;
  }

  /** An integer, if there is one. */
  maybe(name: string): number | undefined {
    return integer(this.#members[name]);
  }

  numbers(name: string): number[] {
    return this.#items(name).flatMap((one) => integer(one) ?? []);
  }

  /** A number in tenths, as percentages are shown. */
  tenths(name: string): number {
    const value = this.#members[name];
    return typeof value === "number" ? (integer(value * 10) ?? 0) : 0;
  }

  /** Members that are numbers, by their names in one line. */
  counts(name: string): Array<[string, number]> {
    const counts = this.#members[name];
    if (typeof counts !== "object" || counts === null) return [];
    return Object.entries(counts).map(([key, value]) => [oneLine(key), integer(value) ?? 0]);
  }

  #items(name: string): unknown[] {
    const value = this.#members[name];
    return Array.isArray(value) ? value : [];
  }
}

/** A text in one line: what breaks a line is a blank. */
export function oneLine(text: string): string {
  return text.slice(0, LONGEST).replace(/\r?\n|\t/g, " ");
}

function integer(value: unknown): number | undefined {
  if (typeof value !== "number" || !Number.isFinite(value)) return undefined;
  const most = Number.MAX_SAFE_INTEGER;
  return Math.min(most, Math.max(-most, Math.round(value)));
}
