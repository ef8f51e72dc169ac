/** Answers questions: plays the simulation, quotes the rules, plans the list. */
import { call, exportsOf, grep, lines, read, run } from "./shared.mjs";

export function* play(_view, request) {
  const days = /(\d+) days/.exec(request)?.[1] ?? "7";
  const reasons = new Map();
  const waits = [];
  for (const seed of [7, 21, 99]) {
    const [log] = yield {
      text: `Seed ${seed}.`,
      calls: [run(`node src/cli.js simulate --days ${days} --seed ${seed}`)],
    };
    for (const row of lines(log).filter((line) => / refused /.test(line))) {
      const reason = row.split(/ {2,}/).at(-1).replace(/^- /, "");
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
    waits.push(
      ...lines(log)
        .filter((line) => /waited [2-9]d/.test(line) || /waited 1d [12]\d/.test(line))
        .map((line) => line.slice(0, 50).trimEnd()),
    );
    yield {
      calls: [run(`node src/cli.js simulate --days ${days} --seed ${seed} --table | tail -n 30`)],
    };
  }
  const worst = [...reasons].sort((a, b) => b[1] - a[1]);
  const [code] = yield {
    thinking: `Most refusals say "${worst[0]?.[0]}". I want to see where that reason is made.`,
    calls: [
      grep(`"${worst[0]?.[0] ?? "no room"}"`),
      read("src/schedule.js", { offset: 28, limit: 60 }),
    ],
  };
  yield { calls: [grep("busyUntil|shiftStart", "src/pilot.js"), read("src/pilot.js")] };
  return {
    text: [
      `Over three seeds of ${days} days ${waits.length} vessels waited long. Refusals:`,
      ...worst.map(([reason, count]) => `- ${reason}: ${count}`),
      "",
      `The reason comes from ${lines(code)[0]?.split(":").slice(0, 2).join(" line ") ?? "the planner"}.`,
    ].join("\n"),
  };
}

export function* recall(_view, request) {
  const [, word = "vessels"] = /about (\w+)/i.exec(request) ?? [];
  const stem = word.replace(/s$/, "").slice(1);
  const topic = `[${word[0].toUpperCase()}${word[0].toLowerCase()}]${stem}`;
  const [missing] = yield {
    thinking:
      "I remember rules of the port, but not their wording; the wording is what was asked for.",
    calls: [read("docs/RULES.md")],
  };
  const [hits] = yield {
    text: missing.isError ? "That is not its name." : "",
    calls: [call("grep", { pattern: topic, path: "docs" })],
  };
  const [path] = lines(hits)[0]?.split(":") ?? ["docs/rules.md"];
  const [code] = yield { calls: [grep(topic), read(path)] };
  return {
    text: [
      "Word for word:",
      ...lines(hits).map((line) => `> ${line}`),
      "",
      `The code speaks of it in ${new Set(lines(code).map((line) => line.split(":")[0])).size} files.`,
    ].join("\n"),
  };
}

export function* plan() {
  const [out] = yield {
    calls: [
      run("node src/cli.js plan data/vessels.csv"),
      read("data/vessels.csv"),
      read("data/berths.json"),
    ],
  };
  const faults = lines(out).filter((line) => line.startsWith("line "));
  if (faults.length > 0)
    yield {
      thinking: `A row is not read: ${faults[0]}. The reader of the list is the place to look.`,
      calls: [read("src/manifest.js"), grep("D6", ".")],
    };
  const [berths, pilots] = yield { calls: [read("src/berth.js"), read("src/pilot.js")] };
  yield { calls: [read("src/schedule.js"), run("node src/cli.js simulate --days 4 --seed 3")] };
  return {
    text: [
      `The plan places ${lines(out).filter((line) => /^[NES]\d /.test(line)).length} vessels.`,
      ...faults.map((line) => `- not read: ${line}`),
      `- berths are tried smallest first (${exportsOf(berths.text).join(", ")}), pilots least used first (${exportsOf(pilots.text).join(", ")}).`,
    ].join("\n"),
  };
}
