// @ts-check
/**
 * What a host does with a manager besides asking it: parks it, takes its requests for the history, pins messages, throws. Of
 * each history one of these is played beside the plain manager, which they must agree with; of some two.
 */

import { Fault, isFault } from "../bad-input/throwing/host.mjs";
import { withoutMarkers } from "./additions.mjs";
import { random } from "./histories.mjs";

/** @typedef {{ law: string, message: string } | null} Found */
/** @typedef {(where: string, prefix: any[], view: any, next: () => number) => Found} Companion */

/** @param {any} list */
const texts = (list) => list.map((/** @type {any} */ one) => JSON.stringify(one));

/** @param {string} law @param {string} where @param {any} got @param {any} wanted @returns {Found} */
function differs(law, where, got, wanted) {
  const [ours, theirs] = [texts(got.messages), texts(wanted.messages)];
  const at = ours.findIndex(
    (/** @type {string} */ own, /** @type {number} */ at) => own !== theirs[at],
  );
  if (at >= 0 || ours.length !== theirs.length) {
    const message =
      at >= 0
        ? `message ${at} is ${ours[at].slice(0, 200)}, not ${theirs[at]?.slice(0, 200)}`
        : `${ours.length} messages, not ${theirs.length}`;
    return { law, message: `${where}: ${message}` };
  }
  if (got.epoch === wanted.epoch) return null;
  return { law, message: `${where}: epoch ${got.epoch}, not ${wanted.epoch}` };
}

/**
 * Woken from a snapshot at some calls: the request that was made is made again, and so is the next. Once, a message that was cut is
 * pinned before, if `pins`.
 * @type {(api: any, options: any, manager: any, pins: boolean) => Companion}
 */
function parked(api, options, manager, pins) {
  let isPinned = !pins;
  return (where, prefix, view, next) => {
    if (next() < 0.5) return null;
    const isCut = (/** @type {any} */ _, /** @type {number} */ index) =>
      manager.explain(index).state !== "kept";
    const cut = isPinned ? -1 : prefix.findIndex(isCut);
    if (cut >= 0) manager.pin({ index: cut });
    isPinned ||= cut >= 0;
    const woken = api.ContextManager.restore(manager.snapshot(), options);
    const found = differs("parked", where, woken.request(prefix), view);
    woken[Symbol.dispose]();
    return found;
  };
}

/** A host that keeps what we sent for its history, as objects or through JSON. @type {(api: any, options: any, through: (list: any[]) => any[]) => Companion} */
function fedBack(api, options, through) {
  const host = new api.ContextManager(options);
  /** @type {any[]} */
  let history = [];
  let seen = 0;
  return (where, prefix, view) => {
    history = [...history, ...prefix.slice(seen)];
    seen = prefix.length;
    const got = host.request(history);
    history = through([...got.messages]);
    // A marker that did not go out is in the host's history no more, also where a fold makes room for it.
    const bare = (/** @type {any} */ { epoch, messages }) => ({
      epoch,
      messages: messages.map((/** @type {any} */ it) =>
        withoutMarkers(JSON.parse(JSON.stringify(it))),
      ),
    });
    return differs("fed back", where, bare(got), bare(view));
  };
}

/**
 * A message that is pinned before anything is cut stays what it is, once, in a history that needs no repair; what a person
 * wrote in it may stand in a fold's message.
 * @type {(api: any, options: any, clean: boolean) => Companion}
 */
function pinned(api, options, clean) {
  const host = new api.ContextManager(options);
  /** @type {string[]} */
  let kept = [];
  return (where, prefix, _, next) => {
    const view = host.request(prefix);
    // A marker of the message may give way to later ones.
    const bare = (/** @type {any} */ it) =>
      JSON.stringify(withoutMarkers(JSON.parse(JSON.stringify(it))));
    const all = bare(view.messages);
    if (kept.length === 0) {
      const at = view.source.findIndex(
        (/** @type {number | null} */ index, /** @type {number} */ at) =>
          index !== null && prefix[index] === view.messages[at] && next() < 0.5,
      );
      if (at < 0) return null;
      host.pin({ index: view.source[at] });
      const message = view.messages[at];
      const isUsers = /"(user|human|HumanMessage)"/.test(JSON.stringify(message));
      // Where roles must alternate its parts stand in a message with those of its neighbours, and so do its words.
      const parts = Array.isArray(message.content) ? message.content : [message];
      kept = isUsers || hasWordsAlone(message) ? leaves(message) : parts.map(bare);
      return null;
    }
    const had = bare(prefix);
    for (const text of clean ? kept : []) {
      const [times, among] = [all, had].map((entire) => entire.split(text).length - 1);
      if (times >= 1 && times <= among) continue;
      const message = `${where}: what was pinned is sent ${times} times, not ${among}: ${text.slice(0, 200)}`;
      return { law: "pinned", message };
    }
    return null;
  };
}

/** What is sent is valid, its places are those of what was passed, and within an epoch it grows at its end. @type {(check: (what: string, list: any[]) => void) => (where: string, passed: any[], view: any) => Found} */
function sound(check) {
  /** @type {{ epoch: number, sent: string[] } | null} */
  let last = null;
  return (where, passed, { epoch, messages, source, forgotten }) => {
    check(where, messages);
    // No cache compares markers.
    const sent = texts(withoutMarkers(JSON.parse(JSON.stringify(messages))));
    const other = last?.sent.findIndex((own, at) => own !== sent[at]) ?? -1;
    if (epoch === last?.epoch && other >= 0)
      return { law: "epoch", message: `${where}: message ${other} changed within epoch ${epoch}` };
    last = { epoch, sent };
    const isOff = source.some(
      (/** @type {number | null} */ at) => at !== null && !(at < passed.length),
    );
    if (!isOff && forgotten >= 0) return null;
    return { law: "forgotten", message: `${where}: ${forgotten}, of places ${source}` };
  };
}

/**
 * A host that forgets its oldest messages, more at some calls, and may put a message of its own in front, another each time.
 * @type {(api: any, options: any, through: (list: any[]) => any[], front: (list: any[], at: number) => any[], check: (what: string, list: any[]) => void) => Companion}
 */
function forgetting(api, options, through, front, check) {
  const host = new api.ContextManager(options);
  const judge = sound(check);
  let from = 0;
  return (where, prefix, _, next) => {
    if (next() < 0.6) from = Math.min(prefix.length - 1, from + Math.floor(next() * 4));
    const later = prefix.slice(from);
    const passed = through(from === 0 ? later : front(later, prefix.length));
    return judge(`forgetting ${from} of ${where}`, passed, host.request(passed));
  };
}

/**
 * A host that ends its history otherwise at each call, with some earlier message once more: it is sent what a session sends that
 * reads all of it again. A change of the model has that read; on a history that is the same it would also decide anew.
 * @type {(api: any, options: any, through: (list: any[]) => any[], check: (what: string, list: any[]) => void) => Companion}
 */
function endsOtherwise(api, options, through, check) {
  const [host, reader] = [new api.ContextManager(options), new api.ContextManager(options)];
  const judge = sound(check);
  let last = "";
  return (where, prefix, _, next) => {
    // pi replays what the system says by itself, at the head of a request.
    const ends = prefix.filter((one) => options.format !== "pi" || one.role !== "system");
    const end = ends[Math.floor(next() * ends.length)];
    const passed = through([...prefix, ...(end && next() < 0.8 ? [end] : [])]);
    const all = JSON.stringify(passed);
    if (all !== last) reader.setModel({ window: options.window });
    last = all;
    const got = host.request(passed);
    const other = reader.request(passed);
    const found = differs("ends otherwise", where, got, other);
    if (found || got.firstChanged === other.firstChanged)
      return found ?? judge(`ending otherwise, ${where}`, passed, got);
    const message = `${where}: ${got.firstChanged}, not ${other.firstChanged}`;
    return { law: "ends otherwise, firstChanged", message };
  };
}

/** @param {any} message */
const hasWordsAlone = (message) =>
  typeof message.content === "string" && Object.keys(message).length === 2;

/** Texts of a message, as JSON. @param {any} value @returns {string[]} */
function leaves(value) {
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    typeof inner === "string" && ["text", "content"].includes(name)
      ? [JSON.stringify(inner)]
      : leaves(inner),
  );
}

/**
 * A host whose code throws now and then: at a member of a message, and then it asks again; in its clock, in what builds its
 * messages, in its listener, and then the request goes out. It is the same request: the clock was read before at the same time,
 * and a message of ours that `create` did not build is the plain one, but for a host of classes, whose `create` is called again.
 * @type {(api: any, options: any, seed: number) => Companion}
 */
function throwing(api, options, seed) {
  const chance = random(seed + 1);
  let on = false;
  const maybe = () => {
    if (on && chance() < 0.01) throw new Fault("code");
  };
  /** @type {WeakMap<object, any>} */
  const known = new WeakMap();
  const read = {
    get(/** @type {any} */ target, /** @type {string} */ name) {
      maybe();
      return target[name];
    },
  };
  const isPlain = (/** @type {any} */ one) => Object.getPrototypeOf(one) === Object.prototype;
  const wrapped = (/** @type {any} */ one) => {
    if (!isPlain(one)) return one;
    const made = known.get(one) ?? new Proxy(one, read);
    known.set(one, made);
    return made;
  };
  const called =
    (/** @type {any} */ own) =>
    (/** @type {any[]} */ ...args) => {
      maybe();
      return own?.(...args);
    };
  // What a listener throws is printed; here it is meant.
  console.error = () => {};
  const host = new api.ContextManager({
    ...options,
    create: called(options.create),
    clock: called(options.clock),
    on: called(() => {}),
  });
  return (where, prefix, view) => {
    const messages = prefix.map(wrapped);
    on = false;
    host.status();
    for (let tries = 0; ; tries += 1) {
      // Whoever throws for ever is not asked for ever.
      on = tries < 20;
      try {
        const got = host.request(messages);
        on = false;
        const found = differs("thrown", where, got, view);
        const facts = (/** @type {any} */ one) =>
          JSON.stringify([
            one.firstChanged,
            one.tokens,
            one.fits,
            one.source,
            one.edits,
            one.hints,
          ]);
        if (found || facts(got) === facts(view)) return found;
        const message = `${where}: ${facts(got).slice(0, 300)}, not ${facts(view).slice(0, 300)}`;
        return { law: "thrown", message };
      } catch (error) {
        on = false;
        if (!isFault(error)) throw error;
      }
    }
  };
}

/** A message of the user's. @param {string} format @param {string} text */
function userMessage(format, text) {
  if (format === "gemini") return { role: "user", parts: [{ text }] };
  if (format === "langchain") return { type: "human", data: { content: text } };
  if (format === "pi") return { role: "user", content: text, timestamp: text.length };
  return { role: "user", content: text };
}

/**
 * @param {any} api @param {any} options @param {any} manager
 * @param {{ clean: boolean, seed: number, classes: boolean, check: (what: string, list: any[]) => void }} history
 * @returns {Companion}
 */
export function companion(api, options, manager, { clean, seed, classes, check }) {
  // A host that throws is compared with a manager that pins nothing.
  const throws = Math.floor(seed / 8) % 4 === 0;
  const json = (/** @type {any[]} */ list) => (classes ? list : JSON.parse(JSON.stringify(list)));
  const entire = (/** @type {any[]} */ list) => list;
  const fronted = (/** @type {any[]} */ list, /** @type {number} */ at) => [
    userMessage(options.format, `(session bootstrap ${at})`),
    ...list,
  ];
  const ways = [
    () => parked(api, options, manager, !throws),
    () => fedBack(api, options, (list) => list),
    // An instance of a class is not what JSON makes of it.
    () => fedBack(api, options, json),
    () => pinned(api, options, clean),
    () => forgetting(api, options, entire, entire, check),
    () => forgetting(api, options, json, fronted, check),
    () => endsOtherwise(api, options, entire, check),
    () => endsOtherwise(api, options, json, check),
  ];
  // The laws are tried on managers that can only be asked.
  if (!api.ContextManager.restore) return () => null;
  const own = /** @type {() => Companion} */ (ways[seed % ways.length])();
  if (!throws) return own;
  const beside = throwing(api, options, seed);
  return (where, prefix, view, next) =>
    own(where, prefix, view, next) ?? beside(where, prefix, view, next);
}
