// @ts-check
/**
 * Agents in miniature in the SDKs themselves, with a scripted model: what a run asks of an adapter, call by call, and the laws of what
 * reaches the model. The provider fails, refuses and is aborted; users edit, store and resume their histories.
 */
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { packagePath } from "../support/package.mjs";

/** @typedef {ReturnType<typeof import("./sdks.mjs").dice>} Dice */

/** The module of an adapter. @param {string} name @returns {Promise<any>} */
export const adapter = (name) =>
  import(pathToFileURL(`${dirname(packagePath() ?? "")}/entry/${name}.node.js`).href);

/** The requests that managers make, in order, whoever holds the manager. @param {any} api @returns {any[]} */
export function requestsOf(api) {
  /** @type {any[]} */
  const made = [];
  const { prepare, request } = api.ContextManager.prototype;
  Object.assign(api.ContextManager.prototype, {
    /** @param {any[]} all */
    async prepare(...all) {
      made.push(await prepare.apply(this, all));
      return made.at(-1);
    },
    /** @param {any[]} all */
    request(...all) {
      made.push(request.apply(this, all));
      return made.at(-1);
    },
  });
  return made;
}

/**
 * Watches the usage that managers take: each belongs to the request that it answers, and is taken once.
 * @param {any} api @param {(usage: any) => unknown} [keyOf] what an answer's usage is known by
 */
export function usagesOf(api, keyOf = (usage) => usage) {
  /** @type {Map<unknown, any>} */
  const answered = new Map();
  const { observe } = api.ContextManager.prototype;
  const self = {
    problems: /** @type {string[]} */ ([]),
    seen: 0,
    /** A request is answered with this usage. @param {any} usage @param {any} prepared */
    expect: (usage, prepared) => answered.set(keyOf(usage), prepared),
    restore: () => Object.assign(api.ContextManager.prototype, { observe }),
  };
  Object.assign(api.ContextManager.prototype, {
    /** @param {any} usage @param {any} prepared */
    observe(usage, prepared) {
      if (usage) {
        if (answered.get(keyOf(usage)) !== prepared) self.problems.push("usage of another request");
        answered.delete(keyOf(usage));
        self.seen += 1;
      }
      return observe.call(this, usage, prepared);
    },
  });
  return self;
}

/** Options of a session: a small window, a preset, a summarizer that does well, fails, is slow, or none. @param {Dice} by */
export function sessionOptions({ below, chance, words }) {
  const text = () => `## Goal\nAn audit. ${words(20)}`;
  const summarize = [
    undefined,
    async () => text(),
    () => Promise.reject(new Error("the summarizer failed")),
    () => new Promise((done) => setTimeout(() => done(text()), 20)),
  ][below(4)];
  return {
    window: { contextTokens: [4_000, 8_000][below(2)], maxOutputTokens: 500 },
    ...(chance(0.6) ? { preset: ["economy", "capacity"][below(2)] } : {}),
    ...(summarize ? { summarize } : {}),
  };
}

/** What the host's models throw. */
export const FAILED = /the server had an error|prompt is too long|aborted|Max turns/i;

/**
 * The provider of one conversation: says what is wrong with each request, and whether it answers.
 * @param {{ by: Dice, strict: (messages: any[]) => any[], keyOf: (message: any) => string, made: any[], options: any, tag: string }} of
 */
export function provider({ by, strict, keyOf, made, options, tag }) {
  const { contextTokens, maxOutputTokens } = options.window;
  const limit = by.chance(0.3) ? contextTokens * 0.45 : Number.POSITIVE_INFINITY;
  /** @type {{ keys: string[], epoch: number } | null} */
  let last = null;
  const self = {
    /** @type {string[]} */
    problems: [],
    /** What the user has said last. */
    text: "",
    failsNext: false,
    seen: { calls: 0, epochs: 0, refused: 0 },
    /** @type {(messages: any[]) => number} the tokens of a request that is answered */
    takes(messages) {
      const at = `${tag}, call ${self.seen.calls}`;
      self.seen.calls += 1;
      const problem = (/** @type {string} */ what) => self.problems.push(`${at}: ${what}`);
      const [found] = strict(messages);
      if (found) problem(JSON.stringify(found));
      const all = JSON.stringify(messages);
      if (!all.includes(self.text)) problem("the user's last words are gone");
      const other = /TALK_\w/g;
      if (all.match(other)?.some((name) => name !== tag)) problem("of another conversation");
      const prepared = made.findLast((one) => JSON.stringify(one.messages).includes(tag));
      const room = contextTokens - maxOutputTokens;
      if (prepared.fits && prepared.tokens > room) problem(`${prepared.tokens} of ${room} tokens`);
      const keys = messages.map(keyOf);
      const changed = last?.keys.findIndex((key, index) => key !== keys[index]) ?? -1;
      const isNew = last?.epoch !== prepared.epoch;
      if (changed >= 0 && !isNew) problem(`message ${changed} changed within an epoch`);
      if (last && isNew) self.seen.epochs += 1;
      last = { keys, epoch: prepared.epoch };
      const tokens = Math.ceil(all.length / 4);
      if (self.failsNext) {
        self.failsNext = false;
        throw new Error("the server had an error");
      }
      if (tokens <= limit) return tokens;
      self.seen.refused += 1;
      throw new Error(`prompt is too long: ${tokens} tokens > ${limit} maximum`);
    },
    /** The next words of the user. @param {number} turn */
    asks(turn) {
      self.failsNext = by.chance(0.15);
      self.text = `question ${turn} of ${tag}: ${by.words(10)}`;
      return self.text;
    },
  };
  return self;
}

/** What a user does to the history between two turns. @template T @param {T[]} history @param {(message: T) => boolean} isUser @param {Dice} by @returns {T[]} */
export function edited(history, isUser, { below }) {
  const users = history.flatMap((message, at) => (isUser(message) ? [at] : []));
  if (users.length < 2) return history;
  const ways = [
    () => history.slice(0, users[1 + below(users.length - 1)]),
    () => history.slice(users[1]),
    () => JSON.parse(JSON.stringify(history)),
    () => structuredClone(history),
  ];
  return (ways[below(8)] ?? (() => history))();
}

/** @template T @param {T} value @returns {T} */
export function frozen(value) {
  if (typeof value === "object" && value !== null && !ArrayBuffer.isView(value)) {
    Object.freeze(value);
    Object.values(value).forEach(frozen);
  }
  return value;
}
