/** The matrix of `plimsoll replay` as text: a table for each window. */
import { count, percent } from "../render/numbers.js";
import { type Screen, spans } from "../render/screen.js";
import { type Cell, type Column, table } from "../render/table.js";
import type { MatrixRow } from "./matrix.js";
import type { ReplayReport } from "./replay.js";

/** From so many columns on, all figures stand side by side. */
const WIDE = 112;

const NAME: Column = { head: "PRESET", shrink: 8 };
const right = (head: string, drop?: number): Column => {
  return { head, right: true, ...(drop === undefined ? {} : { drop }) };
};
const COST = [
  right("BILL"),
  right("SAVED", 1),
  { ...right("REGRET", 3), spare: true },
  right("EDITS"),
  right("FOLDS", 0),
  right("EPOCHS", 2),
  right("PEAK", 4),
];
const KEPT = [right("RECALL"), right("FAR", 2), right("CONTENT", 1), right("USER")];
const WRONG = [right("OVER"), right("INVALID", 0)];

export function matrixText(screen: Screen, { matrix }: ReplayReport): string[] {
  const windows = [...new Set(matrix.map((row) => row.window))];
  const tables = windows.flatMap((window, at) => {
    const rows = matrix.filter((row) => row.window === window);
    return [...(at === 0 ? [] : [""]), ...windowTable(screen, window, rows)];
  });
  return [...tables, "", ...legend(screen, matrix)];
}

function windowTable(screen: Screen, window: number, rows: readonly MatrixRow[]): string[] {
  const names = rows.map((row): Cell => row.preset);
  const draw = (...parts: ReadonlyArray<[readonly Column[], (row: MatrixRow) => Cell[]]>) => {
    const heads = [NAME, ...parts.flatMap(([columns]) => columns)];
    const cells = rows.map((row, at) => [names[at] ?? "", ...parts.flatMap(([, of]) => of(row))]);
    return table(screen, heads, cells);
  };
  const name = [screen.paint("head", `WINDOW ${count(window)}`)];
  if (screen.width >= WIDE) return [...name, ...draw([COST, cost], [KEPT, kept], [WRONG, wrong])];
  return [...name, ...draw([COST, cost]), "", ...draw([KEPT, kept], [WRONG, wrong])];
}

function cost(row: MatrixRow): Cell[] {
  return [
    marked(row, "bill", count(row.bill)),
    row.preset === "unmanaged" ? plain("-") : saved(row),
    plain(row.regret === null ? "-" : percent(row.regret, 1)),
    marked(row, "edits", count(row.edits)),
    marked(row, "folds", count(row.folds)),
    marked(row, "epochs", count(row.epochs)),
    plain(count(row.peak)),
  ];
}

/** The measure itself may not be possible: the figure says so. */
function saved({ saved, unmanagedOverWindow }: MatrixRow): string {
  const text = percent(saved, 1);
  return unmanagedOverWindow > 0 ? `${text}!` : plain(text);
}

function kept(row: MatrixRow): Cell[] {
  const share = (name: "recall" | "farRecall" | "contentRecall" | "userText"): Cell => {
    const value = row[name];
    return marked(row, name, value === null ? "-" : percent(value, 1));
  };
  return [share("recall"), share("farRecall"), share("contentRecall"), share("userText")];
}

function wrong(row: MatrixRow): Cell[] {
  const amount = (name: "overWindow" | "violations"): Cell => {
    const value = row[name];
    const text = marked(row, name, value === null ? "-" : count(value));
    return value !== null && value > 0 ? { text, role: "bad" } : text;
  };
  return [amount("overWindow"), amount("violations")];
}

/** The best of a column has a sign after it; the others have its room, so that figures stand below each other. */
function marked(row: MatrixRow, name: MatrixRow["best"][number], text: string): string {
  return row.best.includes(name) ? `${text}*` : plain(text);
}

const plain = (text: string): string => `${text} `;

const WORDS = [
  ["BILL", "input, in uncached input tokens"],
  ["SAVED", "% of the unmanaged bill"],
  ["REGRET", "% more than the cheapest with no lower recall"],
  ["EDITS, FOLDS", "requests in which they happened"],
  ["EPOCHS", "requests that changed before their end"],
  ["RECALL", "% of names used again that were still there"],
  ["FAR", "% of those over 8,000 tokens back"],
  ["CONTENT", "% with their newest source whole"],
  ["USER", "% of people's text still verbatim"],
  ["OVER", "requests over the usable window"],
  ["INVALID", "rules of the provider broken"],
] as const;

function legend(screen: Screen, rows: readonly MatrixRow[]): string[] {
  const sessions = rows[0]?.sessions ?? 1;
  const sums = sessions > 1 ? ["bills and counts are sums, shares the mean of the sessions"] : [];
  const mark = rows.some((row) => row.best.length > 0)
    ? ["* no preset is better in this window"]
    : [];
  const impossible = rows.some((row) => row.unmanagedOverWindow > 0)
    ? ["! unmanaged would not have fitted this window"]
    : [];
  return screen.flow(
    spans("faint", [
      ...mark,
      ...impossible,
      ...sums,
      ...WORDS.map(([word, text]) => `${word}: ${text}`),
    ]),
  );
}
