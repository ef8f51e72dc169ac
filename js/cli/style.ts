/** The screen: whether it has colour, which signs it knows, how wide it is. Nothing else writes to a terminal. */
import { styleText } from "node:util";
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
  | "bad"
  | `part-${"system" | "tools" | "head" | "user" | "assistant" | "thinking" | "call" | "result" | "image" | "other"}`;

type Look = readonly Extract<Parameters<typeof styleText>[0], string>[];

// The sixteen colours that every theme sets: the terminal's owner has chosen them to be readable.
const LOOKS: Readonly<Record<Role, Look>> = {
  plain: [],
  title: ["bold"],
  strong: ["bold"],
  faint: ["dim"],
  head: ["dim"],
  sent: ["cyan"],
  edit: ["yellow"],
  fold: ["magenta"],
  good: ["green"],
  bad: ["red", "bold"],
  "part-system": ["black", "bgWhite"],
  "part-tools": ["black", "bgYellowBright"],
  "part-head": ["black", "bgMagentaBright"],
  "part-user": ["black", "bgGreen"],
  "part-assistant": ["black", "bgBlueBright"],
  "part-thinking": ["black", "bgMagenta"],
  "part-call": ["black", "bgYellow"],
  "part-result": ["black", "bgCyan"],
  "part-image": ["black", "bgRed"],
  "part-other": ["black", "bgWhiteBright"],
};

const SIGNS = {
  full: ["█", "#"],
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

/** Whether there is colour was decided before; `styleText` must not decide again. */
const NO_STREAM = { validateStream: false } as const;

/** A text and what it is. */
export interface Span {
  role: Role;
  text: string;
}

/** Spans of one role, each a group of its own. */
export function spans(role: Role, texts: readonly string[]): Span[][] {
  return texts.map((text) => [{ role, text }]);
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

  /** The same, for what the core draws. */
  get options(): ScreenOptions {
    const { color, ascii, width } = this;
    return { color, ascii, width };
  }

  /** The one way for a text to get onto the screen: made harmless first, then coloured. */
  paint(role: Role, text: string): string {
    const safe = this.ascii ? harmless(text).replace(/[^ -~]/gu, "?") : harmless(text);
    const look = LOOKS[role];
    if (!this.color || look.length === 0 || safe === "") return safe;
    return styleText([...look], safe, NO_STREAM);
  }

  /** Groups of spans in a row, as many to a line as fit. A group is not broken; one that is too wide alone is cut. */
  flow(
    groups: readonly (readonly Span[])[],
    separator: string = this.sign("between"),
    width: number = this.width,
  ): string[] {
    const lines: string[] = [];
    let room = 0;
    for (const group of groups) {
      const spans = this.#cut(group, width);
      const taken = spans.reduce((sum, { text }) => sum + columns(harmless(text)), 0);
      const drawn = spans.map(({ role, text }) => this.paint(role, text)).join("");
      if (lines.length > 0 && taken + separator.length <= room) {
        lines.push(`${lines.pop() ?? ""}${this.paint("faint", separator)}${drawn}`);
        room -= taken + separator.length;
      } else {
        lines.push(drawn);
        room = width - taken;
      }
    }
    return lines;
  }

  #cut(group: readonly Span[], width: number): Span[] {
    let room = width;
    return group.map(({ role, text }) => {
      const kept = fit(harmless(text), room, this.sign("cut"));
      room -= columns(kept);
      return { role, text: kept };
    });
  }

  sign(name: keyof typeof SIGNS): string {
    return SIGNS[name][this.ascii ? 1 : 0];
  }
}

/** Colour: the option, else FORCE_COLOR, else NO_COLOR, else a terminal that can. */
export function wantsColor(
  option: string | undefined,
  env: NodeJS.ProcessEnv,
  isTerminal: boolean,
): boolean {
  if (option === "always") return true;
  if (option === "never") return false;
  const force = env.FORCE_COLOR;
  if (force !== undefined) return force !== "0" && force !== "false";
  if (env.NO_COLOR) return false;
  return isTerminal && env.TERM !== "dumb";
}
