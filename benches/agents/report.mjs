/** Tables and a plot of the rows of a run. */
import { SIDES } from "./sides/index.mjs";

const sum = (rows, key) => rows.reduce((total, row) => total + Number(row[key]), 0);
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const thousands = (count) => Math.round(count / 1_000).toLocaleString("en");
const key = ({ task, level }) => `${task}/${level}`;

/** What a side came to at a window. */
export function figures(rows, side, window) {
  const own = rows.filter((row) => row.side === side && row.window === window);
  const base = new Map(
    rows
      .filter((row) => row.side === "balanced" && row.window === window && row.solved)
      .map((row) => [key(row), row]),
  );
  const solved = own.filter((row) => row.solved);
  const both = solved.filter((row) => base.has(key(row)));
  const levels = [...new Set(own.map(({ level }) => level))];
  return {
    side,
    window,
    runs: own.length,
    solved: solved.length,
    byLevel: Object.fromEntries(
      levels.map((level) => [level, solved.filter((row) => row.level === level).length]),
    ),
    calls: sum(own, "calls"),
    callsPerNeeded: median(solved.map((row) => row.calls / row.needed)) ?? null,
    billed: sum(own, "billed"),
    medianBilled: median(own.map((row) => row.billed)),
    billedPerSolved: solved.length > 0 ? Math.round(sum(own, "billed") / solved.length) : null,
    /** Of the runs that both solved. */
    billedOverBalanced:
      both.length > 0
        ? sum(both, "billed") /
          sum(
            both.map((row) => base.get(key(row))),
            "billed",
          )
        : null,
    again: sum(own, "again"),
    broken: sum(own, "broken"),
    summaries: sum(own, "summaries"),
    over: own.filter(({ failure }) => failure === "over the window").length,
    capped: own.filter(({ failure }) => failure === "over the cap on calls").length,
  };
}

export const sidesIn = (rows) => SIDES.filter(({ id }) => rows.some((row) => row.side === id));
export const windowsIn = (rows) => [...new Set(rows.map(({ window }) => window))];

/** A Markdown table for each window, the most solved first, then the lowest bill. */
export function tables(rows) {
  return windowsIn(rows)
    .map((window) => {
      const all = sidesIn(rows)
        .map(({ id, label }) => ({ label, ...figures(rows, id, window) }))
        .sort((a, b) => b.solved - a.solved || a.billed - b.billed);
      const levels = Object.keys(all[0].byLevel);
      const [most] = all;
      const lines = all.map((it) => {
        const bold = it.solved === most.solved ? "**" : "";
        const cells = [
          it.label,
          `${bold}${it.solved}${bold} (${levels.map((level) => it.byLevel[level]).join(", ")})`,
          it.callsPerNeeded?.toFixed(2) ?? "-",
          thousands(it.billed),
          thousands(it.medianBilled),
          it.billedPerSolved === null ? "-" : thousands(it.billedPerSolved),
          it.billedOverBalanced?.toFixed(2) ?? "-",
          it.again.toLocaleString("en"),
          it.broken,
          it.capped,
          it.over,
        ];
        return `| ${cells.join(" | ")} |`;
      });
      return [
        `**${window.toLocaleString("en")} tokens**, ${most.runs} runs a side`,
        "",
        `| side | solved (${levels.join(", ")}) | calls / needed, median | billed, thousands | median | per solved run | against \`balanced\` | looks again | rules broken | gave up | over the window |`,
        "|---|---|---|---|---|---|---|---|---|---|---|",
        ...lines,
      ].join("\n");
    })
    .join("\n\n");
}

const [WIDE, HIGH, LEFT, FOOT] = [300, 260, 46, 44];

/** Solved runs over the bill of a run, a panel for each window: the upper left corner is best. */
export function plot(rows) {
  const windows = windowsIn(rows);
  const points = windows.map((window) =>
    sidesIn(rows).map(({ id, label }) => ({
      label: label.replaceAll("`", ""),
      ours: label.startsWith("Plimsoll"),
      ...figures(rows, id, window),
    })),
  );
  const most = Math.max(...points.flat().map(({ billed, runs }) => billed / runs));
  const least = Math.min(...points.flat().map(({ billed, runs }) => billed / runs));
  const x = (bill) =>
    LEFT +
    ((Math.log(bill) - Math.log(least)) / (Math.log(most) - Math.log(least) || 1)) *
      (WIDE - LEFT - 20);
  const y = (share) => 24 + (1 - share) * (HIGH - 24 - FOOT);
  const panels = points.map((list, at) => {
    const sorted = list.toSorted((a, b) => b.solved - a.solved);
    const dots = sorted.map(({ label, ours, billed, runs, solved }, place) => {
      const [cx, cy] = [x(billed / runs), y(solved / runs)].map((it) => it.toFixed(1));
      return `<circle cx="${cx}" cy="${cy}" r="4" fill="${ours ? "#0b6e4f" : "#8a8f98"}"><title>${label}: ${solved} of ${runs}, ${thousands(billed / runs)}k tokens a run</title></circle><text x="${Number(cx) + 6}" y="${Number(cy) + (place % 2 ? 9 : -1)}">${place + 1}</text>`;
    });
    const legend = sorted.map(
      ({ label, ours }, place) =>
        `<text x="${LEFT}" y="${HIGH + 12 + 12 * place}" fill="${ours ? "#0b6e4f" : "#333"}">${place + 1} ${label}</text>`,
    );
    const grid = [0, 0.25, 0.5, 0.75, 1].map(
      (share) =>
        `<line x1="${LEFT}" x2="${WIDE - 12}" y1="${y(share)}" y2="${y(share)}" stroke="#ddd"/><text x="${LEFT - 6}" y="${y(share) + 3}" text-anchor="end">${share * 100}%</text>`,
    );
    const ticks = [least, Math.sqrt(least * most), most].map(
      (bill) =>
        `<text x="${x(bill).toFixed(1)}" y="${HIGH - FOOT + 14}" text-anchor="middle">${thousands(bill)}k</text>`,
    );
    return `<g transform="translate(${at * WIDE} 0)"><text x="${LEFT}" y="14" font-weight="bold">${windows[at].toLocaleString("en")} tokens</text>${grid.join("")}${ticks.join("")}<text x="${(LEFT + WIDE) / 2}" y="${HIGH - FOOT + 28}" text-anchor="middle">billed a run (log), solved upwards</text>${dots.join("")}${legend.join("")}</g>`;
  });
  const height = HIGH + 24 + 12 * sidesIn(rows).length;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDE * windows.length} ${height}" font-family="sans-serif" font-size="10"><rect width="100%" height="100%" fill="#fff"/>${panels.join("")}</svg>\n`;
}

/** Puts a text between two marks of a page. */
export function between(page, name, text) {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the page has no ${begin} ... ${end}`);
  return `${page.slice(0, from + begin.length)}\n${text}\n${page.slice(to)}`;
}
