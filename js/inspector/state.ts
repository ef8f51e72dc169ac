/** State of the page: what is open, where one stands in it, and what was asked for. */
import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { FoundMessage, InspectReport } from "../types.js";
import type { Asked } from "./client.js";
import type {
  ChartLayers,
  Facts,
  Found,
  Played,
  Run,
  Setting,
  Simulation,
  Standing,
} from "./protocol.js";

export type View = "recorded" | "plimsoll" | "both";
export type Tab = "messages" | "lost" | "what-if" | "next" | "compare" | "file" | "system";
export type Filter = "all" | "changed" | "hits";

export interface Opened {
  name: string;
  client: Asked;
  facts: Facts;
  /** The file, from which another branch can be read; `null` for a live session. */
  file: Blob | null;
  /** Whether it goes on, and is asked again and again. */
  isLive: boolean;
  /** The newest report of a live session. */
  report?: InspectReport;
}

export interface Simulated extends Played {
  setting: Setting;
}

export const session: Signal<Opened | null> = signal(null);
export const NO_LAYERS: ChartLayers = { names: [], tokens: new Uint32Array() };
/** What each recorded request consisted of. */
export const layers: Signal<ChartLayers> = signal(NO_LAYERS);
/** A file that is being read, and how far that is. */
export const loading: Signal<{ name: string; step: string; begun: number } | null> = signal(null);
/** The session that is followed, and how that goes. */
export interface Live {
  name: string;
  /** Address of the gateway, or origin of the page around. */
  from: string;
  /** When the last answer came, in epoch milliseconds. */
  lastAt: number | null;
  isStopped: boolean;
  /** Why there was no answer, in one line. */
  error: string;
}
export const live: Signal<Live | null> = signal<Live | null>(null);
export const failure: Signal<string> = signal("");
export const notice: Signal<string> = signal("");

/** Index of the call one stands at. */
export const call: Signal<number> = signal(0);
export const view: Signal<View> = signal<View>("recorded");
export const tab: Signal<Tab> = signal<Tab>("messages");
export const selected: Signal<number | null> = signal<number | null>(null);
/** Key of the section of a live system prompt whose text is shown. */
export const section: Signal<string | null> = signal<string | null>(null);
export const bucket: Signal<string | null> = signal<string | null>(null);
/** Messages of which the list shows these alone, as [from, to). */
export const range: Signal<readonly [number, number] | null> = signal<
  readonly [number, number] | null
>(null);
export const filter: Signal<Filter> = signal<Filter>("all");
export const largestFirst: Signal<boolean> = signal(true);
export const treemap: Signal<boolean> = signal(false);
/** Calls that the chart shows, from and to included; `null`: all. */
export const zoom: Signal<readonly [number, number] | null> = signal<
  readonly [number, number] | null
>(null);
export type Face = "raw" | "sent" | "diff";
/** Which text of a message is shown. */
export const face: Signal<Face> = signal<Face>("raw");
/** Milliseconds before the next request. */
export const idle: Signal<number> = signal(0);
export const dialog: Signal<"" | "share" | "help"> = signal<"" | "share" | "help">("");

export const query: Signal<string> = signal("");
export const hits: Signal<FoundMessage[] | null> = signal<FoundMessage[] | null>(null);

/** The simulation under the options that the page begins with, and the one with others. */
export const policy: Signal<Simulated | null> = signal<Simulated | null>(null);
export const trial: Signal<Simulated | null> = signal<Simulated | null>(null);
/** A what-if that others are compared with. */
export const kept: Signal<Simulated | null> = signal<Simulated | null>(null);
export const playing: Signal<{ run: Simulation; played: number; used: number[] } | null> = signal<{
  run: Simulation;
  played: number;
  used: number[];
} | null>(null);
/** What is said while there is no simulation. */
export const firstSimulation: ReadonlySignal<string> = computed(() =>
  playing.value
    ? "The first simulation is running …"
    : "There is no simulation. Under What if, any option plays it.",
);
export const setting: Signal<Setting | null> = signal<Setting | null>(null);

/** A search for the smallest window at which a message is sent whole at a call. */
export interface Search {
  index: number;
  call: number;
  of: Simulated;
  /** How many windows were tried, and the one under way. */
  tried: number;
  window: number;
  /** `null` if there is none; absent until the search ends. */
  found?: Found | null;
  error?: string;
}
export const search: Signal<Search | null> = signal<Search | null>(null);

export const standing: Signal<Standing | null> = signal<Standing | null>(null);
/** The excerpt of each message that was shown. */
export const excerpts: Map<number, string> = new Map();
/** Counts up when excerpts were added. */
export const excerptsKnown: Signal<number> = signal(0);

/** The simulation that is shown: what was asked for, else the first. */
export const simulation: ReadonlySignal<Simulated | null> = computed(
  () => trial.value ?? policy.value,
);
export const simulationName: ReadonlySignal<Simulation> = computed(() =>
  trial.value ? "trial" : "policy",
);
/** What cards and lists show; the chart alone shows both at once. */
export const run: ReadonlySignal<Run> = computed(() =>
  view.value === "plimsoll" && simulation.value ? simulationName.value : "recorded",
);

/**
 * The call whose figures are shown. It follows `call` when the worker has answered, so that the whole screen changes at once; only the
 * cursor and its number move before that.
 */
export const shownCall: ReadonlySignal<number> = computed(() => {
  const known = standing.value;
  return known?.run === run.value ? known.call : call.value;
});

/** How the window is used at the call that is shown: `used + reserve + free = total`. */
export const figures: ReadonlySignal<{
  used: number;
  reserve: number;
  free: number;
  total: number;
} | null> = computed(() => {
  const opened = session.value;
  if (!opened) return null;
  const shown = run.value === "recorded" ? null : simulation.value;
  const window = shown?.setting.window ?? opened.facts.window;
  const used = (shown ? shown.used : opened.facts.calls.used)[shownCall.value] ?? 0;
  const reserve = window.maxOutputTokens ?? 0;
  return {
    used,
    reserve,
    free: window.contextTokens - used - reserve,
    total: window.contextTokens,
  };
});
