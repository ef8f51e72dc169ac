/** The worker of the page: one session, and all work of the core on it. */
import { initSync } from "../core/loader.js";
import { absentOf } from "../session-files/absent.js";
import {
  readSession,
  recordedView,
  redactSession,
  replay,
  SessionReader,
} from "../session-files/functions.js";
import { countOf, messageOf } from "../session-files/opened.js";
import type { Recorded, Replay, ReplayOptions, SentMessages, SessionFile } from "../types.js";
import { packed, unpackedSession } from "./packed.js";
import { practiceSession } from "./practice.js";
import {
  type CallColumns,
  type Detail,
  type Facts,
  type Found,
  type FromWorker,
  LEAST,
  type Operation,
  type Operations,
  type Played,
  type Run,
  type Setting,
  type Simulation,
  SOURCES,
  type Task,
  type ToWorker,
} from "./protocol.js";

const scope = globalThis as unknown as {
  postMessage(message: FromWorker, transfer?: Transferable[]): void;
  onmessage: (event: { data: ToWorker }) => void;
  close(): void;
};

/** Longest text that is shown whole. */
const MOST_CHARS = 400_000;
/** Milliseconds that a step of a simulation should take, so that questions in between are answered soon. */
const STEP = 30;
/** Bytes of a file that are read at once, at most. */
const PIECE = 1 << 20;

let session: SessionFile | undefined;
let recorded: Recorded | undefined;
const runs: Partial<Record<Simulation, Replay>> = {};
/** The newest task of each name; an older one stops at its next step. */
const newest: Partial<Record<Task, object>> = {};
let sentAt: { run: Run; call: number; of: object; sent: SentMessages } | undefined;

function opened(): SessionFile {
  if (!session) throw new Error("no session is open");
  return session;
}

function viewOf(run: Run): Recorded | Replay {
  const view = run === "recorded" ? recorded : runs[run];
  if (!view) throw new Error(`the simulation is not there yet`);
  return view;
}

function simulated(run: Simulation): Replay {
  return viewOf(run) as Replay;
}

const operations: {
  [O in Operation]: (
    input: Operations[O]["takes"],
  ) => Operations[O]["gives"] | Promise<Operations[O]["gives"]>;
} = {
  async open({ file, leaf }) {
    const begun = performance.now();
    session = await read(file, leaf);
    const isRead = performance.now();
    if (session.calls.length === 0)
      throw new Error("the file has messages, but no call of a model");
    scope.postMessage({ step: `${countOf(session)} messages read, counting tokens` });
    recorded = recordedView(session);
    const measured = performance.now();
    const milliseconds = { read: isRead - begun, measure: measured - isRead };
    return factsOf(session, recorded, file.size, milliseconds);
  },
  layers: () => viewOf("recorded").layers(),
  play: ({ run, setting }) => play(run, setting),
  cancel({ task }) {
    newest[task] = {};
    return null;
  },
  standing({ run, call }) {
    const view = viewOf(run);
    const all = view.table(call);
    // Columns of one array: copied once, so that each can be handed over.
    const [tokens, sent, state] = [all.tokens.slice(), all.sent.slice(), all.state.slice()];
    const [turn, bucket] = [all.turn.slice(), all.bucket.slice()];
    const table = { tokens, sent, state, turn, bucket, states: all.states, buckets: all.buckets };
    return { run, call, buckets: view.composition(call), table };
  },
  report: ({ run, call }) => viewOf(run).report(call),
  texts: ({ indices }) => indices.map((index) => viewOf("recorded").text(index).slice(0, 240)),
  detail: ({ run, call, index }) => detail(run, call, index),
  search: ({ call, index, setting }) => search(call, index, setting),
  find: ({ text, ignoreCase }) => viewOf("recorded").find(text, { ignoreCase }),
  events: ({ run }) => simulated(run).events(),
  next: ({ run, idleMs }) => simulated(run).next({ idleMs }),
  async redact(options) {
    const { session: copy, hits } = redactSession(opened(), options);
    const places = [...new Set(hits.map(({ place }) => place))].slice(0, 2000);
    const excerpts = places.map((place) => excerpt(copy, place));
    return { packed: await packed(copy), hits, excerpts };
  },
  // Files have no sections.
  section: () => "",
  originals({ from, to }) {
    const messages = Array.from({ length: to - from }, (_, at) => messageOf(opened(), from + at));
    return JSON.stringify(messages, null, 2);
  },
};

/** What stands where a secret or the name of a user was. */
const TAKEN_OUT = /\[redacted\]|[\\/-](?:home|users)[\\/-]+user\b/i;

/** Text of a place of a redacted copy, around the first thing that was taken out. */
function excerpt(copy: SessionFile, place: string): string {
  const index = /^message:(\d+)$/.exec(place)?.[1];
  const folded = /^compaction:(\d+)$/.exec(place)?.[1];
  const of = folded ? copy.compactions[Number(folded)] : copy[place as keyof SessionFile];
  const text = JSON.stringify(index ? copy.messages[Number(index)] : of) ?? "";
  const at = Math.max(0, text.search(TAKEN_OUT) - 60);
  return `${place}\t${text.slice(at, at + 160)}`;
}

/** Reads a file in pieces, so that it never lies in memory whole. */
async function read(file: Blob, leaf: string | undefined): Promise<SessionFile> {
  const carried = await unpackedSession(file);
  if (carried) return carried;
  const reader = new SessionReader(leaf === undefined ? {} : { leaf });
  const next = piecesOf(file);
  let [bytes, shown] = [0, 0];
  for (let piece = await next(); piece; piece = await next()) {
    reader.push(piece);
    bytes += piece.length;
    const share = Math.round((100 * bytes) / file.size);
    if (share !== shown) scope.postMessage({ step: `${share} % read` });
    shown = share;
  }
  return reader.end();
}

/** The pieces of a file, each overwritten by the next: a browser would keep them until it collects its garbage. */
function piecesOf(file: Blob): () => Promise<Uint8Array | undefined> {
  const stream = file.stream();
  try {
    const reader = stream.getReader({ mode: "byob" });
    let room = new ArrayBuffer(PIECE);
    return async () => {
      const { value } = await reader.read(new Uint8Array(room));
      if (!value?.length) return undefined;
      room = value.buffer;
      return value;
    };
  } catch {
    // A browser whose files are no streams of bytes.
    const reader = stream.getReader();
    return async () => (await reader.read()).value;
  }
}

async function play(run: Simulation, setting: Setting): Promise<Played | null> {
  const isNewest = newestOf(run);
  const begun = performance.now();
  const played = begin(setting);
  let known = 0;
  const isDone = await advance(played, Number.POSITIVE_INFINITY, isNewest, (call) => {
    const used = played.calls.slice(known).map((one) => one.used);
    scope.postMessage({ run, played: call, used });
    known = call;
  });
  if (!isDone) {
    played[Symbol.dispose]();
    return null;
  }
  runs[run]?.[Symbol.dispose]();
  runs[run] = played;
  // They are the same at every call; at the first one a report is short.
  const { trigger, target } = played.report(0).window;
  const kinds = { edit: 1, fold: 2 };
  return {
    used: Float64Array.from(played.calls, (one) => one.used),
    event: Uint8Array.from(played.calls, ({ event }) => (event ? kinds[event] : 0)),
    totals: { ...played.totals },
    layers: played.layers(),
    trigger,
    target,
    milliseconds: performance.now() - begun,
  };
}

/** Begins a task: another of its name stops. Says whether it is still the newest. */
function newestOf(task: Task): () => boolean {
  const token = {};
  newest[task] = token;
  return () => newest[task] === token;
}

function begin(setting: Setting): Replay {
  return replay(opened(), { ...setting, calls: 0 } as unknown as ReplayOptions);
}

/** Plays so many calls in steps; `false` if it is not wanted any more. */
async function advance(
  played: Replay,
  calls: number,
  isWanted: () => boolean,
  onCall?: (call: number) => void,
): Promise<boolean> {
  let amount = 4;
  for (let known = 0; ; ) {
    const start = performance.now();
    const { done, call } = played.advance(Math.min(amount, calls - known));
    const spent = Math.max(performance.now() - start, 0.5);
    amount = Math.max(1, Math.min(amount * 4, Math.round((amount * STEP) / spent)));
    known = call;
    onCall?.(call);
    if (done || call >= calls) return true;
    await pause();
    if (!isWanted()) return false;
  }
}

/** The largest window that a search tries, in windows of the simulation. */
const MOST_WINDOWS = 64;

/** A round number of about a hundredth. */
function stepOf(window: number): number {
  const power = 10 ** Math.floor(Math.log10(window / 100));
  return Math.ceil(power * ([1, 2, 5].find((factor) => factor * power >= window / 100) ?? 10));
}

/**
 * Doubles or halves the window to where the message begins to be sent whole, then halves the gap: with this preset, else with the one
 * that edits least.
 */
async function search(call: number, index: number, setting: Setting): Promise<Found | null> {
  const isNewest = newestOf("search");
  const { contextTokens, maxOutputTokens = 0 } = setting.window;
  let tried = 0;
  const isKept = async (preset: string, window: number) => {
    tried += 1;
    scope.postMessage({ tried, window });
    await pause();
    const options = { ...setting, preset, window: { ...setting.window, contextTokens: window } };
    const played = begin(options);
    try {
      if (!(await advance(played, call + 1, isNewest))) throw new Error("cancelled");
      return played.explain(index, call).state === "kept";
    } finally {
      played[Symbol.dispose]();
    }
  };
  for (const preset of new Set([setting.preset, LEAST])) {
    if (!(await isKept(preset, contextTokens * MOST_WINDOWS))) continue;
    let [low, high] = [contextTokens, contextTokens];
    if (preset !== setting.preset && (await isKept(preset, high)))
      do [low, high] = [Math.max(maxOutputTokens, Math.floor(low / 2)), low];
      while (low > maxOutputTokens + 1 && (await isKept(preset, low)));
    else
      do [low, high] = [high, high * 2];
      while (!(await isKept(preset, high)));
    const step = stepOf(high);
    while (high - low > step) {
      const middle = step * Math.round((low + high) / (2 * step));
      if (await isKept(preset, middle)) high = middle;
      else low = middle;
    }
    return { contextTokens: high, preset, step };
  }
  return null;
}

/** Lets messages that arrived meanwhile be answered; a timer would wait 4 ms each time. */
function pause(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

function detail(run: Run, call: number, index: number): Detail {
  const view = viewOf(run);
  const raw = view.text(index);
  const shared = { index, raw: raw.slice(0, MOST_CHARS), chars: raw.length };
  if (run === "recorded") return { ...shared, sent: null, explanation: null };
  const played = simulated(run);
  if (sentAt?.of !== played || sentAt.call !== call)
    sentAt = { run, call, of: played, sent: played.sent(call) };
  const place = sentAt.sent.source.indexOf(index);
  const sent = place < 0 ? null : sentAt.sent.text(place).slice(0, MOST_CHARS);
  return { ...shared, sent, explanation: played.explain(index, call) };
}

function factsOf(
  file: SessionFile,
  view: Recorded,
  bytes: number,
  milliseconds: Facts["milliseconds"],
): Facts {
  const { format, messageFormat, models = [], compactions, receipt } = file;
  const { calls } = view;
  const columns: CallColumns = {
    used: Float64Array.from(calls, (one) => one.used),
    sent: Uint32Array.from(calls, (one) => one.sent),
    from: Uint32Array.from(calls, (one) => one.from),
    source: Uint8Array.from(calls, (one) => SOURCES.indexOf(one.source)),
    unseen: Float64Array.from(calls, (one) => one.unseen),
    usage: Float64Array.from(calls, (one) => one.usage ?? -1),
    calibrated: Float64Array.from(calls, (one) => one.calibrated ?? -1),
    at: Float64Array.from(calls, (one) => one.at ?? Number.NaN),
  };
  const absent = [
    ...absentOf(view.composition(calls.length - 1)),
    ...(calls.some(({ usage }) => usage !== null) ? [] : ["token counts"]),
  ];
  return {
    format,
    messageFormat,
    messages: countOf(file),
    calls: columns,
    window: view.window,
    calibration: view.calibration,
    models,
    compactions,
    receipt,
    absent,
    bytes,
    milliseconds,
  };
}

/** How often the page's own session is read and played. */
const ROUNDS = 12;

/** Does what a file needs, and ends this worker. */
function practise(): void {
  for (let round = 0; round < ROUNDS; round += 1) {
    const own = readSession(practiceSession());
    recordedView(own)[Symbol.dispose]();
    const window = { contextTokens: 12_000, maxOutputTokens: 1_000 };
    replay(own, { window })[Symbol.dispose]();
  }
  scope.close();
}

/** The buffers of an answer, which are handed over instead of copied. */
function buffers(value: unknown, found: Set<ArrayBuffer> = new Set()): Set<ArrayBuffer> {
  if (ArrayBuffer.isView(value)) found.add(value.buffer as ArrayBuffer);
  else if (typeof value === "object" && value !== null && !Array.isArray(value))
    for (const member of Object.values(value)) buffers(member, found);
  return found;
}

scope.onmessage = async ({ data }) => {
  if ("module" in data) {
    initSync(data.module);
    if (data.practise) practise();
    return;
  }
  const { id, operation, input } = data;
  try {
    const result = await operations[operation](input as never);
    scope.postMessage({ id, result }, [...buffers(result)]);
  } catch (error) {
    const { message = String(error), code = "" } = error as { message?: string; code?: string };
    scope.postMessage({ id, error: { message, code } });
  }
};
