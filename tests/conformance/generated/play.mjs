// @ts-check
/**
 * One history in one format for one provider: validated, repaired, and asked for call by call in a small window, each
 * answer held against the strict provider and the laws. The first law that is broken ends it.
 */
import { isDeepStrictEqual } from "node:util";
import { callsOf } from "../providers/convert/turns.mjs";
import { strictFor } from "../providers/pairs.mjs";
import { hasText } from "../providers/strict/common.mjs";
import { deepFreeze } from "../replay/check-session.mjs";
import { boundThinking } from "../replay/message-laws.mjs";
import { markersIn, rendered, takesMarkers, unpaired, withoutMarkers } from "./additions.mjs";
import { companion } from "./companions.mjs";
import { hostOptions, random } from "./histories.mjs";
import { approvalsOfCalls, atomic, carried, honest, turnsOf, verbatim } from "./laws.mjs";

/**
 * @typedef {import("./histories.mjs").History} History
 * @typedef {import("../providers/pairs.mjs").Pair} Pair
 * @typedef {{ law: string, message: string }} Problem
 * @typedef {{ requests: number, repairs: number, folds: number, edits: number, problem: Problem | null }} Played
 */

/** What our own lines may add to a request: a message we made, a stub or a repair takes no more characters than this. */
const OURS = 500;

class Broken extends Error {
  /** @param {string} law @param {string} message */
  constructor(law, message) {
    super(message);
    this.law = law;
  }
}
/** @param {string} law @param {string} message @returns {never} */
function broken(law, message) {
  throw new Broken(law, message);
}

/**
 * @param {any} api the package
 * @param {Pair} pair
 * @param {History} history
 * @param {number} seed of what is asked when
 * @returns {Played}
 */
export function play(api, pair, history, seed) {
  const played = {
    requests: 0,
    repairs: 0,
    folds: 0,
    edits: 0,
    problem: /** @type {Problem | null} */ (null),
  };
  try {
    run(api, pair, history, seed, played);
  } catch (error) {
    const own = error instanceof Broken;
    const { code } = /** @type {any} */ (error);
    const description = own ? error.message : String(/** @type {any} */ (error)?.stack ?? error);
    played.problem = { law: own ? error.law : `threw ${code ?? ""}`.trim(), message: description };
  }
  return played;
}

/** @param {any} api @param {Pair} pair @param {History} history @param {number} seed @param {Played} played */
function run(api, { format, provider }, history, seed, played) {
  const messages = rendered(history, format, provider, seed);
  if (messages.length === 0) return;
  const before = JSON.stringify(messages);
  deepFreeze(messages);
  const strict = strictFor(format, provider);
  const rules = { signed: history.signed && history.clean, cache: new WeakMap() };
  const check = (/** @type {string} */ what, /** @type {readonly any[]} */ list) => {
    const marks = takesMarkers(provider) ? markersIn(list) : 0;
    if (marks > 4) broken("markers", `${what}: ${marks} cache markers`);
    const alone = format === "ai-sdk" ? unpaired(list) : null;
    if (alone) broken("provider-run", `${what}: ${alone}`);
    const [found] = strict(list, rules);
    if (found)
      broken(`strict ${found.rule}`, `${what}: [${found.index}]${found.path}: ${found.message}`);
  };

  checkRepair(api, { format, provider }, messages, strict, rules, check);
  const mender = new api.ContextManager({
    window: { contextTokens: 0 },
    format,
    provider,
    clock: () => 0,
    ...hostOptions(history, format),
  });
  const contextTokens = history.window;
  const maxOutputTokens = Math.floor(contextTokens / 16);
  let now = 0;
  const options = {
    window: { contextTokens, maxOutputTokens },
    format,
    provider,
    clock: () => now,
    ...(drops(provider, seed) ? { thinking: "drop" } : {}),
    ...hostOptions(history, format),
  };
  const manager = new api.ContextManager(options);
  const { clean } = history;
  const beside = companion(api, options, manager, {
    clean,
    seed,
    classes: format === "langchain",
    check,
  });
  const next = random(seed);
  const law = { format, provider };
  const views = { mended: /** @type {any} */ (null), sent: /** @type {any} */ (null) };
  const bound = boundThinking(messages);
  /** @type {any} */
  let last = null;
  const sound = { carried: new WeakSet(), honest: new WeakSet() };
  for (let count = 1; ; count = Math.min(messages.length, count + 1 + Math.floor(next() * 4))) {
    now += next() < 0.5 ? 1000 : 400_000;
    const prefix = messages.slice(0, count);
    const where = `${count} of ${messages.length} messages`;
    const mended = mender.request(prefix);
    deepFreeze(mended.messages);
    check(`mended, ${where}`, mended.messages);
    checkGrowth(`mended, ${where}`, views.mended, mended);
    const view = manager.request(prefix);
    deepFreeze(view.messages);
    if (!isSame(view.messages, mended.messages)) check(`request, ${where}`, view.messages);
    checkGrowth(where, views.sent, view);
    checkAgain(where, manager, prefix, view);
    if (drops(provider, seed)) {
      const stale = bound.next(view, last, view.firstChanged ?? last?.messages.length ?? 0);
      if (stale >= 0)
        broken("void thinking", `${where}: message ${stale} is bound to another prefix`);
      if (Object.keys(view.hints).length > 0) broken("hints", `${where}: a hint with \`drop\``);
      last = view;
    }
    if (view.fits && view.tokens > contextTokens - maxOutputTokens)
      broken("tokens", `${where}: ${view.tokens} tokens in ${contextTokens - maxOutputTokens}`);
    const problem =
      carried(prefix, mended.messages, sound.carried) ??
      carried(prefix, view.messages, sound.carried) ??
      honest(law, prefix, mended.messages, sound.honest) ??
      atomic(law, mended, view) ??
      approvalsOfCalls(law, view.messages) ??
      verbatim(law, prefix, mended.messages, view.messages) ??
      grown(prefix, mended) ??
      grown(prefix, view);
    if (problem) broken(problem.law, `${where}: ${problem.message}`);
    const other = beside(where, prefix, view, next);
    if (other) broken(other.law, other.message);
    played.requests += 1;
    played.repairs += mended.repairs.length;
    played.edits += view.edits.length;
    if (view.compaction) played.folds += 1;
    views.mended = seen(mended);
    views.sent = seen(view);
    if (count >= messages.length) break;
  }
  if (JSON.stringify(messages) !== before) broken("mutated", "the host's messages changed");
  manager[Symbol.dispose]();
  mender[Symbol.dispose]();
}

/** Half of the sessions of providers that bind thinking let all of it go that an edit voids. @param {string} provider @param {number} seed */
const drops = (provider, seed) => ["anthropic", "bedrock"].includes(provider) && seed % 2 === 0;

/**
 * What `validate` finds though the strict provider takes the whole history: why it is no false alarm. Each is a place
 * where adapters and gateways differ, and what mends it is as good for those that need nothing.
 * @typedef {{ rule: string, index: number, path?: string, message: string }} Alarm
 * @typedef {{ alarm: string, why: string, where: (pair: { format: string, provider: string }, found: Alarm, message: any) => boolean }} Known
 * @type {readonly Known[]}
 */
const knownAlarms = [
  {
    alarm: "I3",
    why: "Converse has results in the user's messages: who joins those brings a late result up to its call, who does not is refused",
    where: ({ format, provider }) => provider === "bedrock" && isConverted(format),
  },
  {
    alarm: "I3",
    why: "Anthropic joins what the assistant says in two messages; of others that speak its format nobody says that they do",
    where: ({ format, provider }) =>
      format === "anthropic" && ["deepseek", "kimi"].includes(provider),
  },
  {
    alarm: "I9",
    why: "Converse refuses two messages of one role: LangChain, the AI SDK and gateways join them, pi joins results alone",
    where: ({ format, provider }) => provider === "bedrock" && isConverted(format),
  },
  {
    alarm: "I9",
    why: "pi puts a word of its own between a result and the user where it knows whom it speaks to: a line of ours there is as good",
    where: ({ format, provider }, { message }) =>
      format === "pi" && provider === "mistral" && message.startsWith("the user speaks directly"),
  },
  {
    alarm: "I13",
    why: "what is made of a history for another wire is seen without its markers; they are counted in `check`",
    where: ({ format }, { message }) => format !== "anthropic" && /\d+ cache markers/.test(message),
  },
  {
    alarm: "I14",
    why: "the AI SDK leaves reasoning out that has no id of OpenAI's",
    where: ({ format, provider }, { path = "" }, own) => {
      const { providerMetadata, providerOptions } = partAt(own, path) ?? {};
      const isSent = providerMetadata ?? providerOptions;
      return format === "ai-sdk" && provider === "openai-responses" && !isSent;
    },
  },
  {
    alarm: "I31",
    why: "gateways hoist what the system says in the middle, where it would be said before it was; to say it as the user's keeps its place",
    where: ({ format, provider }) =>
      (format === "openai-chat" && ["anthropic", "gemini", "bedrock"].includes(provider)) ||
      (format === "langchain" && provider === "bedrock"),
  },
  {
    alarm: "I5",
    why: "Gemini's wire has no ids here; the AI SDK tells its own calls by them, and takes the second of two for the first",
    where: ({ format, provider }) => format === "ai-sdk" && provider === "gemini",
  },
  {
    alarm: "I5",
    why: "Gemini's wire has no ids here; LangChain tells which call a result answers by them, and an id cut to 64 characters on both tells it as well",
    where: ({ format, provider }, { path = "" }, own) =>
      format === "langchain" && provider === "gemini" && idAt(own, path).length > 64,
  },
  {
    alarm: "I5",
    why: "pi sends ids where the model behind Google's endpoint is Claude or gpt-oss, cut to 64 characters: there they must differ",
    where: ({ format, provider }) => format === "pi" && provider === "gemini",
  },
  {
    alarm: "I5",
    why: "ids are told apart without the space around them, which Gemini alone takes",
    where: ({ format, provider }, { path = "" }, own) =>
      format === "gemini" && provider === "gemini" && idAt(own, path) !== idAt(own, path).trim(),
  },
  {
    alarm: "I6",
    why: "reasoning that nothing came of: most refuse a message that is or ends with it, here or there one takes it, and it tells the model nothing",
    where: (_, { message }) =>
      ["reasoning is all that the ", "reasoning stands at the end "].some((start) =>
        message.startsWith(start),
      ),
  },
  {
    alarm: "I6",
    why: "an empty result must say that there was no output (Kimi, GLM and Converse refuse it), whoever else takes it",
    where: (_, { message }) => message === "the result is empty",
  },
  {
    alarm: "I6",
    why: "blank words beside others or beside calls: OpenAI takes them, Kimi and most of those who speak its format do not",
    where: (pair, { message }, own) =>
      message === "nothing but white space is in the text" &&
      turnsOf(pair, own).some(
        (turn) =>
          callsOf(turn).length > 0 ||
          turn.parts.some((/** @type {any} */ it) => it.kind === "text" && hasText(it.text)),
      ),
  },
  {
    alarm: "I6",
    why: "the AI SDK leaves an empty text out, but not one of spaces, nor a message that then holds nothing",
    where: ({ format }, { message }, own) =>
      format === "ai-sdk" &&
      message === "nothing but white space is in the text" &&
      [own.parts ?? own.content]
        .flat()
        .some((part) => part === "" || (part?.type === "text" && part.text === "")),
  },
  {
    alarm: "I6",
    why: "LangChain makes items of Responses of what a message holds, and joins messages for Converse: one that holds nothing leaves no trace there, elsewhere it goes out empty",
    where: ({ format, provider }, { message }) =>
      format === "langchain" &&
      ["openai-responses", "bedrock"].includes(provider) &&
      message === "nothing is in the message; it must not be sent",
  },
];
/** What stands at a path of a message. @param {any} message @param {string} path */
const partAt = (message, path) =>
  path
    .split("/")
    .slice(1)
    .reduce((value, key) => value?.[key], message);
/** The id of the call, or the one that the result answers, at a path of a message. @param {any} message @param {string} path */
function idAt(message, path) {
  const at = partAt(message, path);
  const own = at?.functionCall ?? at?.functionResponse ?? at;
  return String(own?.id ?? (message.data ?? message.kwargs ?? message).tool_call_id ?? "");
}
/** Between the format and Converse stands an adapter; a body of Anthropic's own goes as it is. @param {string} format */
const isConverted = (format) => format !== "anthropic";

/** @param {{ format: string, provider: string }} pair @param {any[]} messages @param {Alarm} found */
const isAlarm = (pair, messages, found) =>
  !knownAlarms.some(
    ({ alarm, where }) => alarm === found.rule && where(pair, found, messages[found.index] ?? {}),
  );

/** @param {any} api @param {{ format: string, provider: string }} pair @param {any[]} messages @param {any} strict @param {any} rules @param {any} check */
function checkRepair(api, { format, provider }, messages, strict, rules, check) {
  const description = api.validate(messages, provider, { format });
  const found = strict(messages, rules);
  const first = (/** @type {any[]} */ list) =>
    list.map((one) => `${one.rule} [${one.index}]${one.path ?? ""} ${one.message}`)[0];
  if (description.length === 0 && found.length > 0)
    broken(`missed ${found[0].rule}`, `validate finds nothing; ${first(found)}`);
  const alarm = description.find((/** @type {any} */ one) =>
    isAlarm({ format, provider }, messages, one),
  );
  if (alarm && found.length === 0)
    broken(`false alarm ${alarm.rule}`, `nothing is wrong; validate: ${first([alarm])}`);
  const { messages: mended, repairs } = api.repair(messages, provider, { format });
  if (found.length === 0 && description.length === 0) {
    if (repairs.length > 0) broken("no-op", `a repair on what is valid: ${first(repairs)}`);
    if (!isSame(mended, messages))
      broken(
        "no-op",
        `message ${firstOther(mended, messages)} of a valid history is another object`,
      );
  }
  check("repaired", deepFreeze(mended));
  const [left] = api.validate(mended, provider, { format });
  if (left) broken("validate", `after the repair: ${first([left])}`);
  const twice = api.repair(mended, provider, { format });
  if (twice.repairs.length > 0) broken("idempotent", `repaired again: ${first(twice.repairs)}`);
  if (!isSame(twice.messages, mended))
    broken(
      "idempotent",
      `message ${firstOther(twice.messages, mended)} changes in a second repair`,
    );
}

/** The first message that is another object; the end of the shorter list if there is none. @param {readonly any[]} list @param {readonly any[]} other */
function firstOther(list, other) {
  const at = list.findIndex((one, index) => one !== other[index]);
  return at < 0 ? Math.min(list.length, other.length) : at;
}
/** @param {readonly any[]} list @param {readonly any[]} other */
const isSame = (list, other) =>
  list.length === other.length && firstOther(list, other) === list.length;

/** What was sent is frozen, so its text stays; without cache markers, which no cache compares. @type {WeakMap<object, string>} */
const texts = new WeakMap();
/** @param {any} message */
function text(message) {
  const known = texts.get(message);
  if (known !== undefined) return known;
  const own = JSON.stringify(withoutMarkers(JSON.parse(JSON.stringify(message))));
  texts.set(message, own);
  return own;
}

/** What a view was, as text: the next one is compared with it. @param {any} view */
export const seen = ({ epoch, source, messages }) => ({ epoch, source, sent: messages.map(text) });

/** @param {string} where @param {any} last @param {any} view */
function checkGrowth(where, last, view) {
  if (!last) return;
  const same = last.sent.findIndex(
    (/** @type {string} */ own, /** @type {number} */ at) =>
      at >= view.messages.length || own !== text(view.messages[at]),
  );
  if (view.epoch === last.epoch && same >= 0)
    broken("epoch", `${where}: message ${same} changed within epoch ${view.epoch}`);
  if (view.epoch === last.epoch && view.firstChanged !== null)
    broken("firstChanged", `${where}: ${view.firstChanged} within an epoch`);
  if (view.epoch === last.epoch) return;
  // Where a fold has another message follow it that says the same, that one is the first.
  const other = last.source.findIndex(
    (/** @type {number | null} */ own, /** @type {number} */ at) => own !== view.source[at],
  );
  const isTwin = other >= 0 && (same < 0 || other < same) && view.firstChanged === other;
  if (isTwin) return;
  if (same < 0) broken("epoch", `${where}: a new epoch, and the request only grew`);
  if (view.firstChanged !== same)
    broken("firstChanged", `${where}: said ${view.firstChanged}, it is ${same}`);
}

/** @param {string} where @param {any} manager @param {any[]} prefix @param {any} view */
function checkAgain(where, manager, prefix, view) {
  const again = manager.request(prefix);
  const same =
    isDeepStrictEqual(
      [again.epoch, again.firstChanged, again.tokens, again.source],
      [view.epoch, null, view.tokens, view.source],
    ) &&
    again.messages.length === view.messages.length &&
    again.messages.every(
      (/** @type {any} */ one, /** @type {number} */ at) =>
        one === view.messages[at] || text(one) === text(view.messages[at]),
    );
  if (!same) broken("again", `${where}: asked twice, the request differs`);
}

/** @param {any[]} prefix @param {any} view @returns {Problem | null} */
function grown(prefix, { messages, source, repairs }) {
  const size = (/** @type {any[]} */ list) => list.reduce((sum, one) => sum + text(one).length, 0);
  const made = source.filter((/** @type {number | null} */ from) => from === null).length;
  const [had, has] = [size(prefix), size(messages)];
  if (has <= had + OURS * (1 + made + repairs.length)) return null;
  return {
    law: "size",
    message: `${had} characters became ${has}, with ${made} messages of ours and ${repairs.length} repairs`,
  };
}
