/** Actions of the page, by keys, clicks and its address. */
import { batch, effect } from "@preact/signals";
import { type Asked, Client, type Progress } from "./client.js";
import type { Setting, Simulation } from "./protocol.js";
import * as state from "./state.js";
import { count, megabytes, oneLine } from "./words.js";

let opening: Client | undefined;

/** Opens a session file. The one that is open stays until this one is there; `cancelOpening` keeps it. */
export async function open(name: string, file: Blob, leaf?: string): Promise<void> {
  opening?.close();
  const client = new Client((progress) => onProgress(client, progress));
  opening = client;
  state.failure.value = "";
  state.loading.value = { name, step: `reading ${megabytes(file.size)}`, begun: performance.now() };
  try {
    const facts = await client.ask("open", leaf === undefined ? { file } : { file, leaf });
    if (opening !== client) return;
    const before = state.session.peek()?.client;
    batch(() => show({ name, client, facts, file, isLive: false }));
    before?.close();
    opening = undefined;
    void client.ask("layers", {}).then(
      (layers) => {
        if (state.session.peek()?.client === client) state.layers.value = layers;
      },
      // The session was closed meanwhile.
      () => undefined,
    );
    await simulate("policy", state.setting.peek() as Setting);
  } catch (error) {
    client.close();
    if (opening !== client) return;
    opening = undefined;
    const message = (error as Error).message;
    if (message !== "cancelled") state.failure.value = `${name}: ${oneLine(message).slice(0, 600)}`;
    state.loading.value = null;
  }
}

export function cancelOpening(): void {
  opening?.close();
  opening = undefined;
  state.loading.value = null;
}

function startSetting({ contextTokens, maxOutputTokens }: Setting["window"]): Setting {
  return {
    window: { contextTokens, maxOutputTokens: maxOutputTokens ?? 0 },
    preset: "balanced",
  };
}

/** Shows a session that was opened, from its last call. */
export function show(opened: state.Opened): void {
  state.session.value = opened;
  state.loading.value = null;
  state.standing.value = null;
  state.layers.value = state.NO_LAYERS;
  state.policy.value = null;
  state.trial.value = null;
  state.kept.value = null;
  state.setting.value = startSetting(opened.facts.window);
  state.call.value = opened.facts.calls.used.length - 1;
  state.view.value = "recorded";
  state.tab.value = "messages";
  state.selected.value = null;
  state.section.value = null;
  state.bucket.value = null;
  state.range.value = null;
  state.filter.value = "all";
  state.zoom.value = null;
  state.face.value = "raw";
  state.idle.value = 0;
  state.hits.value = null;
  state.query.value = "";
  state.notice.value = "";
  state.excerpts.clear();
  state.excerptsKnown.value += 1;
}

function onProgress(client: Client, progress: Progress): void {
  if ("step" in progress) {
    const loading = state.loading.peek();
    if (client === opening && loading)
      state.loading.value = { ...loading, step: progress.step.replace(/^\d+/, (n) => count(+n)) };
    return;
  }
  if (client !== state.session.peek()?.client) return;
  if ("tried" in progress) {
    const search = state.search.peek();
    if (search) state.search.value = { ...search, ...progress };
    return;
  }
  const before = state.playing.peek();
  if (before?.run !== progress.run) return;
  const used = before.used.concat(progress.used);
  state.playing.value = { run: progress.run, played: progress.played, used };
}

let simulations = 0;

/** Plays the session under a setting. A newer one supersedes it. */
export async function simulate(run: Simulation, setting: Setting): Promise<void> {
  const opened = state.session.peek();
  if (!opened) return;
  simulations += 1;
  const number = simulations;
  state.playing.value = { run, played: 0, used: [] };
  state.notice.value = "";
  try {
    const played = await opened.client.ask("play", { run, setting });
    if (number !== simulations || !played || state.session.peek() !== opened) return;
    batch(() => {
      (run === "trial" ? state.trial : state.policy).value = { ...played, setting };
      state.playing.value = null;
    });
  } catch (error) {
    if (number !== simulations || state.session.peek() !== opened) return;
    state.playing.value = null;
    state.notice.value = (error as Error).message;
  }
}

export function cancelSimulation(): void {
  const playing = state.playing.peek();
  simulations += 1;
  if (playing) void state.session.peek()?.client.ask("cancel", { task: playing.run });
  state.playing.value = null;
}

/** Changes the what-if and plays it; back at the first setting, the what-if is gone. */
export function tryOut(setting: Setting): void {
  state.setting.value = setting;
  const first = state.policy.peek()?.setting;
  // The first simulation was stopped, or is not done: this one takes its place.
  if (!first) {
    void simulate("policy", setting);
    return;
  }
  if (JSON.stringify(first) === JSON.stringify(setting)) {
    reset();
    return;
  }
  if (state.view.peek() === "recorded") state.view.value = "both";
  void simulate("trial", setting);
}

/** Keeps the current simulation for comparison, or forgets the one that was kept. */
export function keep(): void {
  state.kept.value = state.kept.peek() ? null : state.simulation.peek();
  if (state.kept.peek() && state.view.peek() === "recorded") state.view.value = "both";
}

export function reset(): void {
  cancelSimulation();
  state.trial.value = null;
  state.notice.value = "";
  state.setting.value = state.policy.peek()?.setting ?? state.setting.peek();
}

/** Looks for the smallest window at which the message that is shown is sent whole at this call. */
export async function findWindow(): Promise<void> {
  const [opened, of, index] = [state.session, state.simulation, state.selected].map((it) =>
    it.peek(),
  ) as [state.Opened | null, state.Simulated | null, number | null];
  if (!opened || !of || index === null || state.run.peek() === "recorded") return;
  const call = state.call.peek();
  const { setting } = of;
  state.search.value = { index, call, of, tried: 0, window: setting.window.contextTokens };
  const end = await opened.client.ask("search", { call, index, setting }).then(
    (found) => ({ found }),
    ({ message }: Error) => ({ error: message }),
  );
  const now = state.search.peek();
  if (now?.of === of && now.index === index && now.call === call)
    state.search.value = { ...now, ...end };
}

export function stopSearch(): void {
  state.search.value = null;
  void state.session.peek()?.client.ask("cancel", { task: "search" });
}

/** A search ends when something else is shown. */
effect(() => {
  const search = state.search.value;
  const isShown =
    search?.index === state.selected.value &&
    search?.call === state.call.value &&
    search?.of === state.simulation.value &&
    state.run.value !== "recorded";
  if (search && !isShown) stopSearch();
});

export function goTo(call: number): void {
  const opened = state.session.peek();
  if (!opened) return;
  const at = Math.max(0, Math.min(opened.facts.calls.used.length - 1, Math.round(call)));
  const [from = at, to = at] = state.zoom.peek() ?? [];
  // The chart and the scrubber would not show the call.
  if (at < from || at > to) state.zoom.value = null;
  state.call.value = at;
}

/** The next or previous call at which something was taken out. */
export function goToEvent(step: 1 | -1): void {
  const opened = state.session.peek();
  if (!opened) return;
  const simulated = state.run.peek() === "recorded" ? null : state.simulation.peek();
  const marks = simulated
    ? Array.from(simulated.event, (event, at) => (event ? at : -1)).filter((at) => at >= 0)
    : opened.facts.compactions.flatMap(({ call }) => (call === undefined ? [] : [call]));
  const here = state.call.peek();
  const next = step > 0 ? marks.find((at) => at > here) : marks.filter((at) => at < here).at(-1);
  if (next !== undefined) goTo(next);
}

/** The list of messages, which gets the focus. */
export const LIST = ".list";

/**
 * Shows a tab, or a part of it, where it can be seen: the cards and the chart fill a small screen. It gets the focus, so that a screen
 * reader reads on there.
 */
export function reveal(tab: state.Tab, part = "#panel"): void {
  state.tab.value = tab;
  requestAnimationFrame(() => {
    // A list without a message is not drawn.
    const shown = document.querySelector<HTMLElement>(part) ?? document.getElementById("panel");
    if (!shown) return;
    const isAbove = shown.getBoundingClientRect().top < 0;
    shown.scrollIntoView({ block: isAbove ? "start" : "nearest" });
    // On its tab arrow keys go from tab to tab.
    if (document.activeElement?.id !== `tab-${tab}`) shown.focus({ preventScroll: true });
  });
}

export async function find(text: string): Promise<void> {
  state.query.value = text;
  const opened = state.session.peek();
  if (!opened) return;
  if (text === "") {
    state.hits.value = null;
    if (state.filter.peek() === "hits") state.filter.value = "all";
    return;
  }
  const found = await opened.client.ask("find", { text, ignoreCase: true });
  if (state.session.peek() !== opened || state.query.peek() !== text) return;
  batch(() => {
    state.hits.value = found;
    state.filter.value = "hits";
    state.tab.value = "messages";
    state.range.value = null;
    state.bucket.value = null;
  });
}

/** Shows the next or previous message with a hit. */
export function goToHit(step: 1 | -1): void {
  const found = state.hits.peek() ?? [];
  const here = state.selected.peek();
  const at = found.findIndex(({ index }) => index === here);
  const next = at < 0 ? 0 : (at + step + found.length) % found.length;
  const hit = found[next];
  if (!hit) return;
  state.selected.value = hit.index;
  reveal("messages", LIST);
}

let changes = 0;
let answering: Asked | undefined;

/** Keeps `standing` at the call and the run that are shown. */
effect(() => {
  const client = state.session.value?.client;
  state.run.value;
  // A new simulation of the same name is another one.
  state.simulation.value;
  state.call.value;
  changes += 1;
  if (client && client !== answering) void keepStanding(client);
});

/** Asks one question at a time, always for the newest place: whoever scrubs fast does not wait for what is past. */
async function keepStanding(client: Asked): Promise<void> {
  answering = client;
  for (let answered = 0; answered !== changes; ) {
    answered = changes;
    const run = state.run.peek();
    try {
      const standing = await client.ask("standing", { run, call: state.call.peek() });
      if (answering !== client) return;
      if (run === state.run.peek()) state.standing.value = standing;
    } catch (error) {
      if (answering !== client) return;
      const { message } = error as Error;
      if (answered === changes && message !== "cancelled") state.notice.value = message;
    }
  }
  answering = undefined;
}

/** Milliseconds. While the call changes faster than this, nobody reads the texts of its messages. */
const PAUSE = 100;
let callChangedAt = 0;
/** From this time on texts are fetched. */
let readsFrom = 0;

effect(() => {
  state.call.value;
  const now = performance.now();
  readsFrom = now - callChangedAt < PAUSE ? now + PAUSE : 0;
  callChangedAt = now;
});

const wanted = new Set<number>();
let isFetching = false;

/** Fetches the excerpts of messages that are on the screen. */
export function wantExcerpts(indices: readonly number[]): void {
  for (const index of indices) if (!state.excerpts.has(index)) wanted.add(index);
  if (wanted.size > 0 && !isFetching) void fetchExcerpts();
}

async function fetchExcerpts(): Promise<void> {
  isFetching = true;
  while (performance.now() < readsFrom) await new Promise((done) => setTimeout(done, PAUSE));
  const opened = state.session.peek();
  const indices = [...wanted].slice(-80);
  wanted.clear();
  try {
    const texts = (await opened?.client.ask("texts", { indices })) ?? [];
    if (state.session.peek() === opened) {
      if (state.excerpts.size > 20_000) state.excerpts.clear();
      for (const [at, index] of indices.entries()) state.excerpts.set(index, texts[at] ?? "");
      state.excerptsKnown.value += 1;
    }
  } catch {
    // The session was closed meanwhile: nobody looks at these excerpts any more.
  } finally {
    isFetching = false;
  }
}
