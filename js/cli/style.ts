/** The screen: whether it has colour, which signs it knows, how wide it is. Nothing else writes to a terminal. */
import { styleText } from "node:util";
import { harmless } from "./text.js";

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
  "part-tools": ["black", "bgYellow"],
  "part-head": ["black", "bgMagentaBright"],
  "part-user": ["black", "bgGreen"],
  "part-assistant": ["black", "bgBlueBright"],
  "part-thinking": ["black", "bgMagenta"],
  "part-call": ["black", "bgYellowBright"],
  "part-result": ["black", "bgCyan"],
  "part-image": ["black", "bgRed"],
  "part-other": ["black", "bgWhiteBright"],
};

const SIGNS = {
  full: ["█", "#"],
  eighths: ["▏▎▍▌▋▊▉█", "#"],
  levels: ["▁▂▃▄▅▆▇█", "_.-=+*%#"],
  free: ["·", "."],
  reserve: ["╱", "/"],
  dot: ["·", "."],
  line: ["─", "-"],
  axis: ["┤", "|"],
  cut: ["…", "~"],
  arrow: ["→", "->"],
  between: [" · ", ", "],
  minus: ["−", "-"],
} as const;

/** Whether there is colour was decided before; `styleText` must not decide again. */
const NO_STREAM = { validateStream: false } as const;

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

  /** The one way for a text to get onto the screen: made harmless first, then coloured. */
  paint(role: Role, text: string): string {
    const safe = this.ascii ? harmless(text).replace(/[^ -~]/gu, "?") : harmless(text);
    const look = LOOKS[role];
    if (!this.color || look.length === 0 || safe === "") return safe;
    return styleText([...look], safe, NO_STREAM);
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
