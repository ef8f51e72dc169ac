// @ts-check
/**
 * pi in miniature around its extension: sessions side by side in one process or several, with branches, forks, compactions of pi's and of
 * the user, failures with retries, overflows, aborted turns and models of other sizes.
 */
import { strictFor } from "../providers/pairs.mjs";
import { frozen } from "./agent-runs.mjs";
import { dice } from "./sdks.mjs";

/** pi's models: its names, the rules that they follow, and their windows. */
const MODELS = /** @type {const} */ ([
  [{ provider: "anthropic", api: "anthropic-messages", id: "claude" }, "anthropic"],
  [{ provider: "openai", api: "openai-responses", id: "gpt" }, "openai-responses"],
  [{ provider: "local", api: "openai-completions", id: "qwen" }, "openai-chat"],
  [{ provider: "google", api: "google-generative-ai", id: "gemini" }, "gemini"],
  [{ provider: "amazon-bedrock", api: "bedrock-converse-stream", id: "claude-b" }, "bedrock"],
  [{ provider: "mistral", api: "mistral-conversations", id: "mistral" }, "mistral"],
]);
const WINDOWS = [
  { contextWindow: 12_000, maxTokens: 1_000 },
  { contextWindow: 24_000, maxTokens: 2_000 },
];
const SAFETY = 4_096;
const SYSTEM = "You are an agent of pi.";

/** The session file: a tree of entries. */
export class Tree {
  /** @param {string} id @param {any[]} [entries] */
  constructor(id, entries = []) {
    this.id = id;
    /** @type {any[]} */
    this.entries = [...entries];
    this.leaf = this.entries.at(-1)?.id ?? null;
  }
  /** @param {any} entry */
  append(entry) {
    const id = `e${this.entries.length}-${this.id}`;
    this.entries.push(frozen({ ...entry, id, parentId: this.leaf }));
    this.leaf = id;
    return id;
  }
  path() {
    const by = new Map(this.entries.map((entry) => [entry.id, entry]));
    const path = [];
    for (let at = by.get(this.leaf); at; at = by.get(at.parentId)) path.unshift(at);
    return path;
  }
  /** pi's own `buildSessionProjection`. */
  projection() {
    const path = this.path();
    const last = path.findLast(({ type }) => type === "compaction");
    const kept = path.indexOf(path.find(({ id }) => id === last?.firstKeptEntryId));
    const at = path.indexOf(last);
    const own = last
      ? [last, ...(kept < 0 ? [] : path.slice(kept, at)), ...path.slice(at + 1)]
      : path;
    const edits = new Map(
      own.filter(({ type }) => type === "context_edit").map((it) => [it.targetId, it.replacement]),
    );
    const messages = (/** @type {any} */ entry, /** @type {number} */ index) => {
      if (entry.type === "compaction" && index > 0) return [];
      if (edits.get(entry.id) === null) return [];
      const { tokensBefore, summary } = entry;
      if (entry.type === "compaction")
        return [{ role: "compactionSummary", summary, tokensBefore, timestamp: entry.time }];
      return entry.type === "message" ? [entry.message] : [];
    };
    return {
      entries: own.map((sourceEntry, index) => ({
        sourceEntry,
        messages: messages(sourceEntry, index),
      })),
    };
  }
  messages() {
    return this.projection().entries.flatMap(({ messages }) => messages);
  }
}

const TOOLS = ["read", "list", "bash"].map((name) => ({
  ...{ name, description: `Does ${name}.`, parameters: { type: "object" } },
  execute: () => "",
}));

/** A process of pi: the handlers of the extension. @param {(pi: any) => void} extension @param {{ names: string[] }} active */
export function started(extension, active = { names: ["read"] }) {
  /** @type {Record<string, any>} */
  const handlers = {};
  extension({
    on: (/** @type {string} */ name, /** @type {any} */ handler) => {
      handlers[name] = handler;
    },
    getActiveTools: () => active.names,
    getAllTools: () => TOOLS,
  });
  return handlers;
}

/** What pi tells a handler. @param {{ tree: Tree, model: any, window: any }} talk */
export const contextOf = ({ tree, model, window }) => ({
  model: { ...model[0], ...window },
  signal: undefined,
  sessionManager: {
    getSessionId: () => tree.id,
    buildSessionProjection: () => tree.projection(),
  },
  getSystemPrompt: () => SYSTEM,
});

/** What is wrong with a request. @param {any} talk @param {any[]} sent @param {any} prepared @returns {string[]} */
function wrongIn({ tags, text, model, window, last }, sent, prepared) {
  const all = JSON.stringify(sent);
  const strange = all.match(/TALK_\w/g)?.find((name) => !tags.has(name));
  const room = window.contextWindow - window.maxTokens - SAFETY;
  const changed = last?.keys.findIndex(
    (/** @type {string} */ key, /** @type {number} */ at) => key !== JSON.stringify(sent[at]),
  );
  // The newest turn with thinking stays whole.
  const isThinking = (prepared.why?.floor.thinkingTokens ?? 0) > room / 2;
  const isOver = prepared.fits ? prepared.tokens > room : !isThinking;
  return [
    ...strictFor("pi", model[1])(sent).map((found) => JSON.stringify(found)),
    ...(all.includes(text) ? [] : ["the user's last words are gone"]),
    ...(strange ? [`of another conversation: ${strange}`] : []),
    ...(isOver ? [`${prepared.tokens} tokens of ${room}: ${JSON.stringify(prepared.why)}`] : []),
    ...(changed >= 0 && last.epoch === prepared.epoch
      ? [`message ${changed} changed within an epoch`]
      : []),
  ];
}

/** Sessions side by side, and the process that plays them. */
class Play {
  /** @type {string[]} */
  problems = [];
  seen = { calls: 0, epochs: 0, refused: 0, compactions: 0, overflows: 0, cancels: 0 };
  active = { names: TOOLS.map(({ name }) => name) };
  #time = 1_700_000_000_000;
  #ids = 0;

  /** @param {{ extension: (options?: any) => any, made: any[], seed: number }} of */
  constructor({ extension, made, seed }) {
    this.by = dice(seed);
    this.made = made;
    const { below, chance, words } = this.by;
    const summarize = async () => `## Goal\nAn audit. ${words(20)}`;
    const options = {
      ...(chance(0.5) ? { preset: ["economy", "capacity"][below(2)] } : {}),
      ...(chance(0.5) ? { summarize } : {}),
    };
    this.start = () => started(extension(options), this.active);
    this.pi = this.start();
    /** @type {any[]} */
    this.talks = [];
    for (let at = 0; at < 3; at += 1) this.open(new Tree(`s${at}`));
  }

  get timestamp() {
    this.#time += 1_000;
    return this.#time;
  }

  /** @param {Tree} tree @param {Iterable<string>} [before] tags of the session that it was forked from */
  open(tree, before = []) {
    const { below, chance } = this.by;
    const tag = `TALK_${String.fromCharCode(65 + this.talks.length)}`;
    const model = MODELS[below(MODELS.length)];
    const of = { tree, tag, model, window: WINDOWS[below(2)], text: "", last: null };
    this.talks.push({ ...of, tags: new Set([...before, tag]), limit: chance(0.3) ? 0.3 : 1.5 });
  }

  /** @param {any} talk @param {any} message */
  say(talk, message) {
    const { timestamp } = this;
    return talk.tree.append({ type: "message", message: { ...message, timestamp } });
  }

  /** Asks the model; what it answers. @param {any} talk */
  async asked(talk) {
    const messages = frozen(structuredClone(talk.tree.messages()));
    const event = { messages: [...messages] };
    const { messages: sent } = await this.pi.context(event, contextOf(talk));
    const prepared = this.made.splice(0).at(-1);
    const at = `${talk.tag}, call ${this.seen.calls}, ${talk.model[1]}`;
    this.problems.push(...wrongIn(talk, sent, prepared).map((what) => `${at}: ${what}`));
    this.seen.calls += 1;
    if (talk.last && talk.last.epoch !== prepared.epoch) this.seen.epochs += 1;
    const keys = sent.map((/** @type {any} */ message) => JSON.stringify(message));
    talk.last = { keys, epoch: prepared.epoch };
    return frozen(this.answer(talk, Math.ceil(JSON.stringify(sent).length / 4)));
  }

  /** @param {any} talk @param {number} input */
  answer({ model, window, limit }, input) {
    const { below, chance, words } = this.by;
    const { provider, api, id } = model[0];
    const usage = { input, output: 20, cacheRead: 0, cacheWrite: 0, totalTokens: input + 20 };
    const of = { role: "assistant", provider, api, model: id, timestamp: this.timestamp, usage };
    const failed = (/** @type {string} */ errorMessage) => ({
      ...{ ...of, content: [], stopReason: "error", errorMessage },
      usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 },
    });
    if (input > window.contextWindow * limit) {
      this.seen.refused += 1;
      return failed(`prompt is too long: ${input} tokens`);
    }
    if (chance(0.06)) return failed("overloaded");
    /** @type {any[]} */
    const content = [];
    if (chance(0.4))
      content.push({ type: "thinking", thinking: words(30), thinkingSignature: words(2) });
    const isDone = chance(0.15);
    if (isDone || chance(0.4)) content.push({ type: "text", text: words(20) });
    for (let left = isDone ? 0 : 1 + below(3); left > 0; left -= 1) {
      const args = { path: words(chance(0.1) ? 200 : 2) };
      const call = { name: TOOLS[below(3)]?.name, arguments: args };
      this.#ids += 1;
      content.push({ type: "toolCall", id: `c${String(this.#ids).padStart(8, "0")}`, ...call });
    }
    if (chance(0.04)) return { ...of, content, stopReason: "aborted" };
    return { ...of, content, stopReason: isDone ? "stop" : "toolUse" };
  }

  /** pi compacts. @param {any} talk @param {string} reason @returns {Promise<boolean>} */
  async compacts(talk, reason) {
    const { chance, words } = this.by;
    const path = talk.tree.path();
    if (path.length < 4 || path.at(-1).type === "compaction") return false;
    const customInstructions = reason === "manual" && chance(0.3) ? "the berths" : undefined;
    const event = { reason, customInstructions, preparation: { tokensBefore: 1_000 } };
    const signal = new AbortController().signal;
    const result = await this.pi.session_before_compact({ ...event, signal }, contextOf(talk));
    if (result?.cancel) {
      this.seen.cancels += 1;
      return false;
    }
    const users = path.filter((/** @type {any} */ { message }) => message?.role === "user");
    const own = { summary: `## Goal\nIts own. ${words(20)}`, firstKeptEntryId: users.at(-1)?.id };
    const compaction = result?.compaction ?? { ...own, tokensBefore: 1_000 };
    const kept = path.find((/** @type {any} */ { id }) => id === compaction.firstKeptEntryId);
    if (!kept || kept.type === "compaction")
      this.problems.push(`${talk.tag}: keeps ${compaction.firstKeptEntryId}, which is no message`);
    if (result?.compaction) this.seen.compactions += 1;
    if (reason === "overflow") this.seen.overflows += 1;
    talk.tree.append({ type: "compaction", ...compaction, time: this.timestamp });
    talk.last = null;
    return true;
  }

  /** What the user says, and what stands beside it. @param {any} talk */
  asks(talk) {
    const { chance, words } = this.by;
    const ran = { role: "bashExecution", command: "ls", output: words(30), exitCode: 0 };
    if (chance(0.1)) this.say(talk, { ...ran, excludeFromContext: chance(0.5) });
    if (chance(0.1)) this.say(talk, { role: "custom", customType: "note", content: words(10) });
    talk.text = `question ${this.seen.calls} of ${talk.tag}: ${words(10)}`;
    const image = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" };
    const list = [{ type: "text", text: talk.text }, ...(chance(0.5) ? [image] : [])];
    this.say(talk, { role: "user", content: chance(0.5) ? talk.text : list });
  }

  /** An answer and the results of its calls. @param {any} talk @param {any} message */
  async takes(talk, message) {
    const { chance, words } = this.by;
    const entry = talk.tree.append({ type: "message", message });
    const calls = message.stopReason === "toolUse" ? message.content : [];
    for (const { type, id, name } of calls) {
      if (type !== "toolCall") continue;
      const text = words(chance(0.3) ? 400 : 40);
      const content = chance(0.05) ? [] : [{ type: "text", text }];
      const of = { toolCallId: id, toolName: name, isError: chance(0.1), content };
      this.say(talk, { role: "toolResult", ...of });
    }
    await this.pi.turn_end({ message, toolResults: [] }, contextOf(talk));
    // pi leaves what failed out of the model's context.
    if (message.stopReason === "error")
      talk.tree.append({ type: "context_edit", targetId: entry, replacement: null });
  }

  /** A turn of the user's. @param {any} talk */
  async turn(talk) {
    const { below, chance, words } = this.by;
    this.asks(talk);
    let [retries, isRecovered] = [0, false];
    for (let step = 0; step < 12; step += 1) {
      const message = await this.asked(talk);
      await this.takes(talk, message);
      if (message.stopReason === "error") {
        const isOverflow = /too long/.test(message.errorMessage);
        if (isOverflow && (isRecovered || !(await this.compacts(talk, "overflow")))) return;
        isRecovered ||= isOverflow;
        retries += 1;
        if (retries > 3) return;
        continue;
      }
      if (chance(0.1)) await this.compacts(talk, "threshold");
      if (message.stopReason !== "toolUse") return;
      if (chance(0.05)) {
        talk.text = `also ${this.seen.calls} of ${talk.tag}: ${words(5)}`;
        this.say(talk, { role: "user", content: talk.text });
      }
      if (chance(0.04)) {
        talk.model = MODELS[below(MODELS.length)];
        talk.window = WINDOWS[below(2)];
      }
    }
  }

  /** What a user does between two turns. @param {any} talk */
  async between(talk) {
    const { below, chance, words } = this.by;
    if (chance(0.1)) {
      this.pi = this.start();
      for (const one of this.talks) one.last = null;
    }
    if (chance(0.1)) this.active.names = ["read", "list", "bash"].slice(below(2));
    const users = talk.tree.path().filter((/** @type {any} */ it) => it.message?.role === "user");
    if (chance(0.15) && users.length > 0) {
      // Back to an earlier entry, with or without a summary of the branch.
      talk.tree.leaf = users[below(users.length)].parentId;
      talk.last = null;
      const summary = { role: "branchSummary", summary: words(20), fromId: "x" };
      if (chance(0.5)) this.say(talk, summary);
    }
    if (chance(0.1) && this.talks.length < 6)
      this.open(new Tree(`s${this.talks.length}`, talk.tree.path()), talk.tags);
    if (chance(0.15)) await this.compacts(talk, "manual");
  }
}

/** Plays sessions of pi. @param {{ extension: (options?: any) => any, made: any[], seed: number }} of */
export async function playPi(of) {
  const play = new Play(of);
  for (let at = 0; at < 24; at += 1) {
    const talk = play.talks[play.by.below(play.talks.length)];
    await play.between(talk);
    await play.turn(talk);
  }
  return { ...play.seen, problems: play.problems };
}
