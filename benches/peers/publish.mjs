/** Writes what a whole run gave: every figure with the machine and the versions, the tables of the page, the plot. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { between } from "../agents/report.mjs";

const WIDE = 760;
const LEFT = 330;
const ROW = 22;

export function publish(results) {
  const folder = new URL("../results/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  const machine = {
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    node: process.version,
    load: Number(loadavg()[0].toFixed(1)),
  };
  const { versions } = results.turn;
  const text = JSON.stringify({ machine, versions, ...results }, rounded, 1);
  writeFileSync(new URL("speed.json", folder), `${text}\n`);
  const page = new URL("../../docs/benchmarks.md", import.meta.url);
  const written = between(readFileSync(page, "utf8"), "speed", `\n${tables(results, machine)}\n`);
  writeFileSync(page, written);
  const plot = new URL("../../docs/benchmarks-turn.svg", import.meta.url);
  writeFileSync(plot, bars(results.turn.lengths));
}

const rounded = (_, value) =>
  typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;

const ms = (time) => (time === undefined ? "" : time.toFixed(time < 1 ? 3 : time < 10 ? 2 : 1));
const times = (theirs, ours) => `${(theirs / ours).toFixed(theirs / ours < 10 ? 1 : 0)} x`;
const table = (heads, rows) =>
  [heads, heads.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

function tables({ turn, known, first, estimate, prompt, start, files }, machine) {
  const parts = [
    "![Medians of one more turn, by length of the history](benchmarks-turn.svg)",
    `On ${machine.cores} cores of ${machine.cpu}, Node ${machine.node}, load ${machine.load} at the end. ${Object.entries(
      turn.versions,
    )
      .map(([name, version]) => `${name} ${version}`)
      .join(", ")}.`,
  ];
  for (const { count, rows } of turn.lengths) {
    const [ours] = rows;
    const shown = rows.filter(({ rounds }) => rounds > 0);
    parts.push(
      `**One more turn at ${count.toLocaleString("en-US")} messages**, ms`,
      table(
        [
          "",
          "median",
          "mean",
          "p99",
          "times ours",
          "median, in turn with the others",
          "times ours",
        ],
        shown.map(({ label, alone, together }) => [
          label,
          ...[alone.median, alone.mean, alone.p99].map(ms),
          times(alone.median, ours.alone.median),
          ms(together?.median),
          together ? times(together.median, ours.together.median) : "",
        ]),
      ),
    );
  }
  parts.push(
    "**Messages that were measured once**, ms",
    table(
      ["messages", "what is done", "for the first time", "again, or with measures", "times faster"],
      known.map((row) => [
        row.length.toLocaleString("en-US"),
        row.name,
        ms(row.first),
        ms(row.again),
        times(row.first, row.again),
      ]),
    ),
    `A first request of ${first.messages} messages that nobody has measured: ${ms(first.ms)} ms. Counting the tokens of their JSON with gpt-tokenizer alone: ${ms(first.gptTokenizerMs)} ms.`,
    "**Tokens of a megabyte of code**",
    table(
      ["", "MB/s"],
      estimate.map(({ name, mbPerSecond }) => [name, mbPerSecond.toFixed(0)]),
    ),
    "**A prompt of 400 sections in a budget**, ms",
    table(
      ["", "call", "first call after a garbage collection"],
      prompt.map(({ name, ms: call, firstMs }) => [name, ms(call), ms(firstMs)]),
    ),
    "**Start of a Node process**, ms beside those of an empty program",
    table(
      ["", "ms"],
      start.map((row) => [row.name, row.ms.toFixed(0)]),
    ),
    "**Session files**, ms",
    table(
      [
        "file",
        "MB",
        "calls",
        "`JSON.parse` of its lines",
        "`readSession`",
        "`recordedView`",
        "`replay`",
      ],
      files.map((row) => [
        row.name,
        (row.bytes / 1e6).toFixed(1),
        row.calls,
        ...row.ms.map((time) => time.toFixed(0)),
      ]),
    ),
  );
  return parts.join("\n\n");
}

/** Bars of the medians in turn, one panel for each length, on a logarithmic scale. */
function bars(lengths) {
  const panels = lengths.map(({ count, rows }) => ({
    count,
    rows: rows
      .filter(({ together }) => together)
      .map(({ label, together }) => [label, together.median]),
  }));
  const all = panels.flatMap(({ rows }) => rows.map(([, time]) => time));
  const [least, most] = [Math.min(...all) / 2, Math.max(...all)];
  const x = (time) => LEFT + ((WIDE - LEFT - 70) * Math.log(time / least)) / Math.log(most / least);
  let top = 0;
  const drawn = panels.map(({ count, rows }) => {
    const lines = rows.map(([label, time], at) => {
      const y = top + 30 + ROW * at;
      const ours = label.startsWith("plimsoll") || label.startsWith("the same, with 80");
      return `<text x="${LEFT - 8}" y="${y + 12}" text-anchor="end">${label}</text><rect x="${LEFT}" y="${y}" width="${(x(time) - LEFT).toFixed(1)}" height="15" fill="${ours ? "#0b6e4f" : "#8a8f98"}"/><text x="${(x(time) + 6).toFixed(1)}" y="${y + 12}">${ms(time)} ms</text>`;
    });
    const head = `<text x="8" y="${top + 18}" font-weight="bold">One more turn at ${count.toLocaleString("en-US")} messages</text>`;
    top += 42 + ROW * rows.length;
    return head + lines.join("");
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDE} ${top}" font-family="sans-serif" font-size="12"><rect width="${WIDE}" height="${top}" fill="#fff"/>${drawn.join("")}</svg>\n`;
}
