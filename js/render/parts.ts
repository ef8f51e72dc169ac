/** The parts of a window, and the letter and colour by which a part is known everywhere. */
import { type Segment, share } from "./bar.js";
import type { Role, Screen } from "./screen.js";

export interface Part {
  letter: string;
  role: Role;
  name: string;
}

const PARTS: ReadonlyArray<Part & { of: RegExp }> = [
  {
    letter: "S",
    role: "part-system",
    name: "system",
    of: /^(system|core|rules|candidates|skills|learned|memory)$/,
  },
  { letter: "D", role: "part-tools", name: "tools", of: /^tools$/ },
  { letter: "H", role: "part-head", name: "head", of: /^head$/ },
  { letter: "U", role: "part-user", name: "user", of: /^user$/ },
  { letter: "A", role: "part-assistant", name: "assistant", of: /^assistant$/ },
  { letter: "T", role: "part-thinking", name: "thinking", of: /^thinking$/ },
  { letter: "C", role: "part-call", name: "calls", of: /^call / },
  { letter: "R", role: "part-result", name: "results", of: /^result / },
  { letter: "I", role: "part-image", name: "images", of: /^image$/ },
];

/** Names of the sums that a limit can name. */
export const partNames: readonly string[] = PARTS.map(({ name }) => name);

const OTHER: Part = { letter: "O", role: "part-other", name: "other" };

export function partOf(bucket: string): Part {
  return PARTS.find(({ of }) => of.test(bucket)) ?? OTHER;
}

/** The part of a name. */
export function partNamed(name: string): Part {
  return PARTS.find((part) => part.name === name) ?? OTHER;
}

/** A bucket and its tokens as they are sent. */
export interface Filling {
  bucket: string;
  sentTokens: number;
}

/** What each part of a request takes, and of how many buckets: the sums of them, nothing left out. */
export function partsOf(
  buckets: readonly Filling[],
): Array<Part & { sent: number; buckets: number }> {
  return [...PARTS, OTHER].map(({ letter, role, name }) => {
    const mine = buckets.filter(({ bucket }) => partOf(bucket).letter === letter);
    const sent = mine.reduce((sum, one) => sum + one.sentTokens, 0);
    return { letter, role, name, sent, buckets: mine.length };
  });
}

/** A part of the window bar, with what a legend calls it. */
export interface NamedSegment extends Segment {
  name: string;
}

/** The parts of a request, what is free and what is reserved, as the segments of a bar; none for nothing. */
export function windowSegments(
  screen: Screen,
  buckets: readonly Filling[],
  { free, reserve }: { free: number; reserve: number },
): NamedSegment[] {
  const parts = partsOf(buckets).map(({ sent, ...part }) => ({ ...part, value: sent }));
  const all: NamedSegment[] = [
    ...parts,
    { letter: screen.sign("free"), role: "faint", name: "free", value: free },
    { letter: screen.sign("reserve"), role: "faint", name: "reserve", value: reserve },
  ];
  return all.filter(({ value }) => value > 0);
}

/** The window as a bar between brackets, as wide as the screen; each part is filled with its letter, also in colour. */
export function lettered(screen: Screen, segments: readonly Segment[]): string {
  const values = segments.map(({ value }) => value);
  const widths = share(values, screen.width - 2);
  const drawn = segments.map(({ letter, role }, at) => {
    return screen.paint(role, letter.repeat(widths[at] ?? 0));
  });
  return `[${drawn.join("")}]`;
}
