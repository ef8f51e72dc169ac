/** The screen: whether it has colour, which signs it knows, how wide it is. Nothing else writes to a terminal. */
import { columns, fit, harmless } from "./text.js";

/** What a text is, not how it looks. `part-…` are the parts of a stacked bar. */
export type Role =
  | "plain"
  | "title"
  | "strong"
  | "faint"
  | "head"
  | "sent"
  | "edit"
  | "fold"
  | "good"
  | "warn"
  | "bad"
  | `part-${"system" | "tools" | "head" | "user" | "assistant" | "thinking" | "call" | "result" | "image" | "other"}`;

// The sixteen colours that every theme sets, as numbers of SGR: the terminal's owner has chosen them to be readable.
const LOOKS: Readonly<Record<Role, string>> = {
  plain: "",
  title: "1",
  strong: "1",
  faint: "2",
  head: "2",
  sent: "36",
  edit: "33",
  fold: "35",
  good: "32",
  warn: "33",
  bad: "1;31",
  "part-system": "30;47",
  "part-tools": "30;103",
  "part-head": "30;105",
  "part-user": "30;42",
  "part-assistant": "30;104",
  "part-thinking": "30;45",
  "part-call": "30;43",
  "part-result": "30;46",
  "part-image": "30;41",
  "part-other": "30;107",
};

const SIGNS = {
  full: ["█", "#"],
  empty: ["░", "."],
  bar: ["━", "="],
  half: ["╸", ""],
  levels: ["▁▂▃▄▅▆▇█", "_.-=+*%#"],
  free: ["·", "."],
  reserve: ["╱", "/"],
  dot: ["·", "."],
  line: ["─", "-"],
  axis: ["┤", "|"],
  cut: ["…", "~"],
  between: [" · ", ", "],
} as const;

/** A text and what it is. */
export interface Span {
  role: Role;
  text: string;
}

/** Spans of one role, each a group of its own. */
export function spans(role: Role, texts: readonly string[]): Span[][] {
  return texts.map((text) => [{ role, text }]);
}

/** Lines of a group: whoever reads a list wants none of its texts to fill the screen. */
const MOST_LINES = 3;

/** Spans from one place of their joined text to another. */
function part(group: readonly Span[], from: number, to: number): Span[] {
  let before = 0;
  return group.map(({ role, text }) => {
    const kept = text.slice(Math.max(0, from - before), Math.max(0, to - before));
    before += text.length;
    return { role, text: kept };
  });
}

export interface ScreenOptions {
  color: boolean;
  ascii: boolean;
  width: number;
}

export class Screen {
  readonly color: boolean;
  readonly ascii: boolean;
  readonly width: number;

  constructor({ color, ascii, width }: ScreenOptions) {
    this.color = color;
    this.ascii = ascii;
    this.width = width;
  }

  /** A screen of fewer columns, and otherwise the same. */
  narrower(columns: number): Screen {
    const { color, ascii, width } = this;
    return new Screen({ color, ascii, width: width - columns });
  }

  /** A text as it may stand on the screen: nothing in it is obeyed. */
  safe(text: string): string {
    return this.ascii ? harmless(text).replace(/[^ -~]/gu, "?") : harmless(text);
  }

  /** A text as it may stand on the screen, in at most so many columns. */
  fit(text: string, width: number = this.width): string {
    return fit(this.safe(text), width, this.sign("cut"));
  }

  /** The one way for a text to get onto the screen: made harmless first, then coloured. */
  paint(role: Role, text: string): string {
    const safe = this.safe(text);
    const look = LOOKS[role];
    if (!this.color || look === "" || safe === "") return safe;
    return `\u001b[${look}m${safe}\u001b[0m`;
  }

  /**
   * Groups of spans in a row, as many to a line as fit. A group that is too wide alone is broken at spaces, into `MOST_LINES` lines at most; a
   * line that is still too wide is cut.
   */
  flow(
    groups: readonly (readonly Span[])[],
    separator: string = this.sign("between"),
    width: number = this.width,
  ): string[] {
    const lines: string[] = [];
    let room = 0;
    for (const group of groups.flatMap((one) => this.#broken(one, width))) {
      const spans = this.#cut(group, width);
      const taken = spans.reduce((sum, { text }) => sum + columns(text), 0);
      const drawn = spans.map(({ role, text }) => this.paint(role, text)).join("");
      if (lines.length > 0 && taken + separator.length <= room) {
        const between = separator.trim() === "" ? separator : this.paint("faint", separator);
        lines.push(`${lines.pop() ?? ""}${between}${drawn}`);
        room -= taken + separator.length;
      } else {
        lines.push(drawn);
        room = width - taken;
      }
    }
    return lines;
  }

  #broken(group: readonly Span[], width: number): Span[][] {
    const lines: Span[][] = [];
    let rest = group.map(({ role, text }) => ({ role, text: this.safe(text) }));
    while (lines.length < MOST_LINES - 1) {
      const text = rest.map((one) => one.text).join("");
      const fits = fit(text, width, "");
      const end = text[fits.length] === " " ? fits.length : fits.lastIndexOf(" ");
      if (fits === text || end <= 0) break;
      lines.push(part(rest, 0, end));
      rest = part(rest, end + 1, text.length);
    }
    return [...lines, rest];
  }

  #cut(group: readonly Span[], width: number): Span[] {
    let room = width;
    return group.map(({ role, text }) => {
      const kept = this.fit(text, room);
      room -= columns(kept);
      return { role, text: kept };
    });
  }

  sign(name: keyof typeof SIGNS): string {
    return SIGNS[name][this.ascii ? 1 : 0];
  }
}
