/**
 * The one summarizer of all sides: reads the transcript as the side gives it, keeps headings, what the user asked for, the user's rules,
 * and the most recent facts, up to a budget. It invents nothing and understands nothing; no side gets a better one.
 */
import { tokens } from "./provider.mjs";

const SPEAKERS = [
  [/^(?:\[User\]|Human|human|user|User)\s*:\s?/, "user"],
  [/^(?:\[Assistant[^\]]*\]|AI|ai|assistant|Assistant)\s*:\s?/, "own"],
  [/^(?:\[Tool[^\]]*\]|Tool|tool)\s*:\s?/, "tool"],
];
const RULE = /\b(?:never|always|must|only|do not|exempt|void|leave out|rule)\b/i;
const DONE = /^(?:Edited|Appended to) \S+/;
const ALARM = /\b(?:FAIL|ERROR|FATAL)\b/;
/** Most characters of a request of the user's, of a note, of a line of a tool. */
const LENGTH = { user: 400, own: 200, tool: 160 };

/** Bullets by heading, oldest first. */
function gather(transcript, previous) {
  const kept = { goals: [], rules: [], done: [], facts: [] };
  const add = (list, text) => {
    const line = text.replace(/\s+/g, " ").trim();
    if (line.length < 3) return;
    // Said again, or checked: once is enough.
    const bare = line.replace(/, checked$/, "");
    for (const old of [bare, `${bare}, checked`]) {
      const at = list.indexOf(old);
      if (at < 0) continue;
      list.splice(at, 1);
      if (old !== bare && line === bare) return void list.push(old);
    }
    list.push(line);
  };
  carry(previous ?? "", kept, add);
  for (const { speaker, lines } of speeches(transcript)) {
    // An earlier summary, in a message of its side: its bullets are carried on, the words around them are not the user's.
    if (speaker === "user" && lines.some((line) => /^## /.test(line))) {
      carry(lines.join("\n"), kept, add);
      continue;
    }
    for (const line of lines) {
      if (speaker === "user" && line.trim()) {
        add(kept.goals, line.slice(0, LENGTH.user));
        for (const sentence of line.split(/(?<=[.!?])\s+/))
          if (RULE.test(sentence)) add(kept.rules, sentence);
      } else if (speaker === "own" && !/^\w+\(/.test(line) && !line.startsWith("{")) {
        if (line.includes("=") || line.includes(": ")) add(kept.facts, line.slice(0, LENGTH.own));
      } else if (DONE.test(line)) add(kept.done, line.slice(0, LENGTH.tool));
      else if (ALARM.test(line)) add(kept.facts, line.slice(0, LENGTH.tool));
    }
  }
  return kept;
}

/** Who says which lines. */
function speeches(transcript) {
  const out = [{ speaker: "tool", lines: [] }];
  for (const raw of transcript.split("\n")) {
    const mark = SPEAKERS.find(([pattern]) => pattern.test(raw));
    if (mark) out.push({ speaker: mark[1], lines: [] });
    out.at(-1).lines.push(mark ? raw.replace(mark[0], "") : raw);
  }
  return out;
}

/** The bullets of a summary, by their heading. */
function carry(summary, kept, add) {
  let heading = "";
  for (const line of summary.split("\n")) {
    if (line.startsWith("## ")) heading = line.slice(3);
    else if (line.startsWith("- ") && line !== "- (none)") {
      const found = SECTIONS.find(([pattern]) => pattern.test(heading));
      add(kept[found?.[1] ?? "facts"], line.slice(2));
    }
  }
}

/** Newest first until the budget is full; given back in their order. */
function fill(lines, budget) {
  const out = [];
  let left = budget;
  for (const line of lines.toReversed()) {
    const cost = tokens(line) + 2;
    if (cost > left) break;
    left -= cost;
    out.unshift(`- ${line}`);
  }
  return out;
}

const SECTIONS = [
  [/goal|request|task|intent|ask/i, "goals", 0.2],
  [/constraint|rule|preference/i, "rules", 0.25],
  [/done|progress|completed/i, "done", 0.15],
  [/context|fact|critical|finding|identifier|value/i, "facts", 0.4],
];
const HEADINGS = ["## Goal", "## Constraints & Preferences", "## Progress", "## Critical Context"];

/** @param {{ transcript: string, previous?: string | null, budget: number, headings?: string[] }} job */
export function summarize({ transcript, previous, budget, headings = [] }) {
  const kept = gather(transcript, previous);
  const names = headings.length > 0 ? headings : HEADINGS;
  const homes = new Map(names.map((name) => [name, []]));
  for (const [pattern, list, part] of SECTIONS) {
    const home = names.find((name) => pattern.test(name)) ?? names.at(-1);
    homes.get(home).push(...fill(kept[list], Math.floor(budget * part)));
  }
  return [...homes]
    .map(
      ([name, lines]) =>
        `${name.startsWith("#") ? name : `## ${name}`}\n${lines.join("\n") || "- (none)"}`,
    )
    .join("\n\n");
}
