/**
 * Sight of an agent: the facts in one request, and how far it trusts each. Nothing is remembered between requests: a fact is in the messages
 * that were sent, or it is not known.
 *
 * - A tool result, whole or in part, and the agent's own words are certain.
 * - A line in a stub or in a summary is trusted at the rate `line`.
 * - A name and a value that stand in a list, apart from each other, are put together at the rate `name`.
 */
import { share } from "./random.mjs";

/** How often a line, and a pair of names, is trusted without a look at the source. */
export const TRUST = {
  careful: { line: 0.3, name: 0 },
  middling: { line: 0.7, name: 0.3 },
  trusting: { line: 1, name: 0.7 },
};

/** A tool call that a script wants. */
export class Act {
  constructor(name, args) {
    this.name = name;
    this.args = args;
  }
}

const CHECKED = ", checked";
const pattern = (key, like) => new RegExp(`${escaped(key)} ?[=:] ?"?(${like.source})`);

/** A result that is shorter than this share of its original is a stub, not a part. */
const STUB = 0.12;

export class Sight {
  #notes = [];

  /**
   * @param {object[]} messages as sent, OpenAI chat
   * @param {{ texts: Map<string, string>, users: string[], own: Set<string> }} originals of the history: results by call, texts
   * @param {{ trust: { line: number, name: number }, seed: string }} nature
   */
  constructor(messages, originals, { trust, seed }) {
    this.trust = trust;
    this.seed = seed;
    /** In the order of the request. */
    this.pieces = messages.flatMap((message, at) => pieces(message, at, originals));
    this.calls = messages.flatMap(({ tool_calls: calls = [] }) =>
      calls.map(({ function: it }) => it),
    );
    this.certain = this.pieces.filter(({ kind }) => kind === "result").toReversed();
    this.own = this.pieces.filter(({ kind }) => kind === "own");
    this.digests = this.pieces
      .filter(({ kind }) => kind === "digest" || kind === "stub")
      .toReversed();
  }

  /** Where a phrase of the user's stands last, in the user's own words or in a summary; -1: nowhere. */
  indexOf(phrase) {
    return this.pieces.findLastIndex(
      ({ kind, text }) => (kind === "user" || kind === "digest") && text.includes(phrase),
    );
  }

  /** Whether a rule of the user's is in view. */
  rule(phrase) {
    return this.indexOf(phrase) >= 0;
  }

  /** The first match of a pattern in what certainly stands in a file, the newest look first. */
  shown(path, pattern) {
    for (const { text } of this.certain) {
      const line = linesOf(text, path).find((it) => pattern.test(it));
      if (line !== undefined) return pattern.exec(line);
    }
    return null;
  }

  /** Whether a look at a file is in view, whole or in part. */
  looked(path) {
    return this.certain.some(({ text }) => text.startsWith(`== ${path} lines `));
  }

  /** Whether a range of a file is whole in view. */
  page(path, first) {
    const found = this.certain.find(
      ({ text, isComplete }) => isComplete && text.startsWith(`== ${path} lines ${first}-`),
    );
    return found?.text ?? null;
  }

  /** The first match of a pattern in a tool result that is certain, the newest first. */
  result(pattern) {
    for (const { text } of this.certain) {
      const found = pattern.exec(text);
      if (found) return found;
    }
    return null;
  }

  /** The files and lines of the newest search for a text, whole in view; null: there is none. */
  hits(needle) {
    const found = this.certain.find(
      ({ text, isComplete }) =>
        isComplete &&
        (text.startsWith(`no match for ${needle} in `) ||
          (/^\S+:\d+: /.test(text) && text.split("\n").every((line) => line.includes(needle)))),
    );
    if (!found) return null;
    if (found.text.startsWith("no match")) return [];
    return found.text.split("\n").map((line) => {
      const [, path, text] = /^(\S+):\d+: (.*)$/.exec(line);
      return { path, text };
    });
  }

  /** What the agent said itself, or a summary or stub says after it. */
  noted(pattern) {
    return this.#ownLine(pattern) ?? this.#line(pattern, null);
  }

  /** In the agent's own words. */
  #ownLine(pattern) {
    for (const { text } of this.own.toReversed()) {
      const found = pattern.exec(text);
      if (found) return found;
    }
    return null;
  }

  /** The newest line of a stub, digest or summary that says it of a file. */
  #written(pattern, path) {
    for (const { text, path: of } of this.digests) {
      const line = text
        .split("\n")
        // Of this file: it is named before, not as the value.
        .find((it) => {
          const at = it.search(pattern);
          return at >= 0 && (path === null || of === path || it.slice(0, at).includes(path));
        });
      if (line !== undefined) return pattern.exec(line);
    }
    return null;
  }

  /** A line in a stub, digest or summary, if it is trusted. */
  #line(pattern, path) {
    const found = this.#written(pattern, path);
    if (!found) return null;
    // What was looked up again once is not looked up a third time.
    return found.input.includes(CHECKED) || this.#trusts("line", `${found[0]} ${path}`)
      ? found
      : null;
  }

  #trusts(kind, about) {
    return share(`${this.seed}/${kind}/${about}`) < this.trust[kind];
  }

  /** The value of a key in a list of names that has both, apart from each other: one of those that look like it. */
  guess(key, like, path = "") {
    if (like.source.includes("yes")) return null;
    const names = path.split("/").at(-1);
    const list = this.digests
      .flatMap(({ text, path: of }) =>
        text.split("\n").map((line) => (of === path ? `${line} ${names}` : line)),
      )
      .find(
        (line) =>
          !line.includes(" = ") &&
          line.includes(key) &&
          line.includes(names) &&
          line.search(like) >= 0,
      );
    if (list === undefined || !this.#trusts("name", `${path} ${key}`)) return null;
    const values = [
      ...new Set(list.match(new RegExp(`(?<![\\w/.-])(?:${like.source})(?![\\w/-])`, "g")) ?? []),
    ].filter((it) => it !== path);
    if (values.length === 0) return null;
    return values[Math.floor(share(`${this.seed}/which/${path}/${key}`) * values.length)];
  }

  /**
   * The value of `key = value` in a file: seen, noted, or trusted; else the file is looked at again.
   * `like`: what such a value looks like. `known`: the agent knows where in the file it is, and may search instead of reading.
   */
  fact(path, key, like, { look = true } = {}) {
    const wanted = pattern(key, like);
    const certain = this.shown(path, wanted);
    if (certain) return certain[1];
    const own = this.#ownLine(new RegExp(`${escaped(path)}.*${wanted.source}`));
    if (own) return own[1];
    const line = this.#line(wanted, path);
    if (line) return line[1];
    // What is in a line that is not trusted is looked up, not guessed at.
    const guess = this.#written(wanted, path) ? null : this.guess(key, like, path);
    if (guess !== null) return guess;
    return look ? this.look(path, key) : null;
  }

  /** A fact, said with the next call: agents write down what they were sent to find. */
  learn(path, key, like) {
    const value = this.fact(path, key, like);
    const text = `${path} ${key} = ${value}`;
    if (this.shown(path, pattern(key, like)) || !this.mentioned(text)) this.note(text);
    return value;
  }

  /** Whether a summary or stub has a text, trusted or not. */
  mentioned(text) {
    return this.digests.some((it) => it.text.includes(text));
  }

  /** Reads a file; if it was read and cut, or just as likely if it was read before, searches it. */
  look(path, text) {
    const again = this.calls.some((it) => it.arguments.includes(`"${path}"`));
    if (this.looked(path) || (again && share(`${this.seed}/how/${path}/${text}`) < 0.5))
      throw new Act("grep", { pattern: text, path });
    throw new Act("read", { path });
  }

  act(name, args) {
    throw new Act(name, args);
  }

  /** Says something with the next call, unless it stands in what the agent has said; that it was checked, if a summary has it already. */
  note(text) {
    if (this.own.some((piece) => piece.text.includes(text))) return;
    const note = this.mentioned(text) ? `${text}${CHECKED}` : text;
    if (!this.mentioned(`${text}${CHECKED}`) && !this.#notes.includes(note)) this.#notes.push(note);
  }

  get notes() {
    return this.#notes;
  }
}

function pieces(message, at, { texts, users, own }) {
  const { role, content, tool_call_id: id } = message;
  const parts =
    typeof content === "string" ? [content] : (content ?? []).map((it) => it.text ?? "");
  if (role === "tool") {
    const text = parts.join("\n");
    const original = texts.get(id);
    const isComplete = text === original;
    const isStub = !isComplete && text.length < Math.max(STUB * (original?.length ?? 0), 160);
    // A call that is stubbed says nothing of its file any more; a result says it in its first line.
    const path =
      /^== (\S+) lines|^Edited (\S+) at/
        .exec(original ?? "")
        ?.slice(1)
        .find(Boolean) ?? null;
    return [{ kind: isStub ? "stub" : "result", text, path, at, isComplete }];
  }
  if (role === "assistant")
    return parts
      .filter(Boolean)
      .map((text) => ({ kind: own.has(text) ? "own" : "digest", text, at, path: null }));
  return parts.flatMap((part) => {
    if (users.includes(part)) return [{ kind: "user", text: part, at, path: null }];
    // A summary, or several messages joined into one.
    const inside = users.filter((text) => part.includes(text));
    const rest = inside.reduce((left, text) => left.replace(text, ""), part).trim();
    return [
      ...(rest ? [{ kind: "digest", text: rest, at, path: null }] : []),
      ...inside.map((text) => ({ kind: "user", text, at, path: null })),
    ];
  });
}

/** The lines of a result that belong to a file: all of a read one, those of a search, the new line of an edit. */
function linesOf(text, path) {
  if (text.startsWith(`== ${path} lines `)) return text.split("\n").slice(1);
  if (text.startsWith(`Edited ${path} at`))
    return text
      .split("\n")
      .filter((it) => it.startsWith("+ "))
      .map((it) => it.slice(2));
  if (text.startsWith("== ") || text.startsWith("Edited ")) return [];
  const prefix = `${path}:`;
  return text
    .split("\n")
    .filter((it) => it.startsWith(prefix))
    .map((it) => it.slice(it.indexOf(": ", prefix.length) + 2));
}

export const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
