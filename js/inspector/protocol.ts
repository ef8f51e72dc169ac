/** Messages between the page and the worker that holds one session. */
import type { Bucket, Explanation } from "../generated.js";
import type {
  FileCompaction,
  FoundMessage,
  InspectReport,
  MessageChange,
  Recorded,
  RedactedSession,
  RedactOptions,
  ReplayEvent,
  ReplayOptions,
  ReplayTotals,
  SessionFile,
} from "../types.js";

/** What is looked at: the session as recorded, or one of two simulations of it. */
export type Run = "recorded" | "policy" | "trial";
export type Simulation = Exclude<Run, "recorded">;

/** Options of a simulation, as the page lets a person set them. */
export type Setting = Pick<ReplayOptions, "window"> & { preset: string; trigger?: number };

/** What the worker does in steps, and stops if it is asked for again. */
export type Task = Simulation | "search";

/** The smallest window at which a message is sent whole, with the preset of the simulation or another. Less `step`, it is not. */
export type Found = { contextTokens: number; preset: string; step: number };

/** The preset that changes messages only if the window is full. */
export const LEAST = "capacity";

/** A figure for each call, in columns. */
export interface CallColumns {
  used: Float64Array;
  /** Messages of the history before the call. */
  sent: Uint32Array;
  /** First message that was sent whole. */
  from: Uint32Array;
  /** Places in `SOURCES`. */
  source: Uint8Array;
  unseen: Float64Array;
  /** The provider's count; -1 if there is none. */
  usage: Float64Array;
  calibrated: Float64Array;
  /** Epoch milliseconds; NaN if unknown. */
  at: Float64Array;
}

/** `session`: a live session reported it. */
export const SOURCES = ["provider", "calibrated", "estimate", "session"] as const;

export interface ChartLayers {
  names: string[];
  /** Those of bucket `b` at call `c`: `tokens[c * names.length + b]`. */
  tokens: Uint32Array;
}

/** What is shown of a session first: recorded facts. */
export interface Facts {
  format: string;
  messageFormat: string;
  messages: number;
  calls: CallColumns;
  window: Omit<Recorded["window"], "source"> & {
    source: Recorded["window"]["source"] | "session";
  };
  calibration: Recorded["calibration"];
  models: NonNullable<SessionFile["models"]>;
  compactions: FileCompaction[];
  receipt: SessionFile["receipt"] & { branches?: string[]; leaf?: string };
  /** What the file does not contain. */
  absent: string[];
  bytes: number;
  milliseconds: { read: number; measure: number };
}

/** A simulation that has been played to its end. */
export interface Played {
  used: Float64Array;
  /** 0: nothing, 1: an edit, 2: a fold. */
  event: Uint8Array;
  totals: ReplayTotals;
  layers: ChartLayers;
  trigger: number | null;
  target: number | null;
  milliseconds: number;
}

/** Columns of a table of messages; a message's index is its place. */
export interface Table {
  tokens: Uint32Array;
  sent: Uint32Array;
  state: Uint32Array;
  turn: Uint32Array;
  bucket: Uint32Array;
  states: Array<Explanation["state"]>;
  buckets: string[];
}

export interface Standing {
  run: Run;
  call: number;
  buckets: Bucket[];
  table: Table;
}

export interface Detail {
  index: number;
  raw: string;
  /** Length of the original; `raw` may be cut. */
  chars: number;
  /** Text as it is sent; `null` if it is not sent. */
  sent: string | null;
  explanation: Explanation | null;
}

export interface Next {
  report: InspectReport;
  /** `null` if they are not known: a live session tells only its own plan. */
  changes: MessageChange[] | null;
}

/** An operation of the worker: what it takes, what it gives. */
export interface Operations {
  open: { takes: { file: Blob; leaf?: string }; gives: Facts };
  /** Layers of the recorded session; not part of `open`, because the first screen does not wait for them. */
  layers: { takes: Record<never, never>; gives: ChartLayers };
  play: { takes: { run: Simulation; setting: Setting }; gives: Played | null };
  cancel: { takes: { task: Task }; gives: null };
  standing: { takes: { run: Run; call: number }; gives: Standing };
  report: { takes: { run: Run; call: number }; gives: InspectReport };
  texts: { takes: { indices: number[] }; gives: string[] };
  detail: { takes: { run: Run; call: number; index: number }; gives: Detail };
  /** `null` if no window keeps the message. */
  search: { takes: { call: number; index: number; setting: Setting }; gives: Found | null };
  find: { takes: { text: string; ignoreCase: boolean }; gives: FoundMessage[] };
  events: { takes: { run: Simulation }; gives: ReplayEvent[] };
  next: { takes: { run: Simulation; idleMs: number }; gives: Next };
  redact: {
    takes: RedactOptions;
    gives: { packed: Uint8Array<ArrayBuffer>; hits: RedactedSession["hits"]; excerpts: string[] };
  };
  /** Text of a section of a live session's system prompt. */
  section: { takes: { key: string }; gives: string };
  originals: { takes: { from: number; to: number }; gives: string };
}
export type Operation = keyof Operations;

export type ToWorker =
  | { module: WebAssembly.Module; practise?: true }
  | { [O in Operation]: { id: number; operation: O; input: Operations[O]["takes"] } }[Operation];

export type FromWorker =
  | { id: number; result: unknown }
  | { id: number; error: { message: string; code: string } }
  | { step: string }
  | { tried: number; window: number }
  | { run: Simulation; played: number; used: number[] };
