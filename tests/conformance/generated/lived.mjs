// @ts-check
/**
 * What a host does with a manager besides asking it: parks it, takes its requests for the history, pins messages. Of each
 * history one of these is played beside the plain manager, which they must agree with.
 */

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

/** Woken from a snapshot at some calls: the request that was made is made again, and so is the next. @type {(api: any, options: any, manager: any) => Companion} */
function parked(api, options, manager) {
  return (where, prefix, view, next) => {
    if (next() < 0.5) return null;
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
    return differs("fed back", where, got, view);
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
    const all = JSON.stringify(view.messages);
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
      kept =
        isUsers || hasWordsAlone(message)
          ? leaves(message)
          : parts.map((/** @type {any} */ it) => JSON.stringify(it));
      return null;
    }
    const had = JSON.stringify(prefix);
    for (const text of clean ? kept : []) {
      const [times, among] = [all, had].map((whole) => whole.split(text).length - 1);
      if (times >= 1 && times <= among) continue;
      const message = `${where}: what was pinned is sent ${times} times, not ${among}: ${text.slice(0, 200)}`;
      return { law: "pinned", message };
    }
    return null;
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

/** @param {any} api @param {any} options @param {any} manager @param {{ clean: boolean, seed: number, classes: boolean }} history @returns {Companion} */
export function companion(api, options, manager, { clean, seed, classes }) {
  const ways = [
    () => parked(api, options, manager),
    () => fedBack(api, options, (list) => list),
    // An instance of a class is not what JSON makes of it.
    () => fedBack(api, options, (list) => (classes ? list : JSON.parse(JSON.stringify(list)))),
    () => pinned(api, options, clean),
  ];
  // The laws are tried on managers that can only be asked.
  if (!api.ContextManager.restore) return () => null;
  return /** @type {() => Companion} */ (ways[seed % ways.length])();
}
