/** The state of the page in its address, so that a view can be sent and come back to. */
import { batch, effect, signal } from "@preact/signals";
import { find, findWindow, reset, simulate } from "./actions.js";
import { tabs } from "./app.js";
import { PAUSES } from "./next.js";
import type { Setting } from "./protocol.js";
import * as state from "./state.js";
import { PRESETS } from "./what-if.js";

/** What names a live session. */
const LIVE = ["live", "embed", "session"] as const;

/** What an address says. */
export function parameters(address: string = location.href): URLSearchParams {
  return new URLSearchParams(new URL(address).hash.slice(1));
}

/** A count that the address has; `null` if it is absent or none. */
function number(from: URLSearchParams, name: string): number | null {
  const text = from.get(name) ?? "";
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** Two counts below `of`, in order, such as `zoom=10-60`; `null` if they are not. */
function pair(from: URLSearchParams, name: string, of: number): [number, number] | null {
  const [, start, end] = /^(\d+)-(\d+)$/.exec(from.get(name) ?? "") ?? [];
  const [first, last] = [Number(start), Number(end)];
  return first < last && last < of ? [first, last] : null;
}

/** A setting of a what-if; what the address lacks, or has wrong, is as in the first simulation. */
function settingOf(from: URLSearchParams, prefix: string, first: Setting): Setting {
  const usual = { ...first.window, maxOutputTokens: first.window.maxOutputTokens ?? 0 };
  const contextTokens = number(from, `${prefix}window`) ?? usual.contextTokens;
  const maxOutputTokens = number(from, `${prefix}reserve`) ?? usual.maxOutputTokens;
  const preset = PRESETS.find(([name]) => name === from.get(`${prefix}preset`))?.[0];
  const trigger = Number(from.get(`${prefix}trigger`) || -1);
  return {
    window: contextTokens > maxOutputTokens ? { contextTokens, maxOutputTokens } : usual,
    preset: preset ?? first.preset,
    ...(trigger >= 0 && trigger <= 1 ? { trigger } : {}),
  };
}

/** Plays a what-if of the address, unless it is shown already. */
async function play(from: URLSearchParams, prefix: string, first: Setting): Promise<void> {
  const setting = settingOf(from, prefix, first);
  const same = (other: Setting | undefined) => JSON.stringify(other) === JSON.stringify(setting);
  if (same(first)) return reset();
  if (same(state.trial.peek()?.setting)) return;
  state.setting.value = setting;
  await simulate("trial", setting);
}

/** Places that the address names; calls are numbered from 1 there. What it does not name, or wrongly, is as at first. */
function place(from: URLSearchParams, { facts, isLive, report }: state.Opened): void {
  const last = facts.calls.used.length - 1;
  const is = <T extends string>(name: string, values: readonly T[], usual: T): T =>
    values.find((value) => value === from.get(name)) ?? usual;
  const [call, message, part] = [number(from, "call"), number(from, "m"), from.get("part")];
  const parts = [state.layers.peek(), state.simulation.peek()?.layers].flatMap(
    (layers) => layers?.names ?? [],
  );
  batch(() => {
    state.call.value = call !== null && call >= 1 && call <= last + 1 ? call - 1 : last;
    state.view.value = isLive ? "recorded" : is("view", ["plimsoll", "both"], "recorded");
    state.tab.value = is(
      "tab",
      tabs().map(([name]) => name),
      "messages",
    );
    const sections = (report?.sections ?? []).map(({ key }) => key);
    state.section.value = sections.find((key) => key === from.get("section")) ?? null;
    state.selected.value = message !== null && message < facts.messages ? message : null;
    state.bucket.value = part !== null && (isLive || parts.includes(part)) ? part : null;
    state.filter.value = is("filter", state.hits.peek() ? ["changed", "hits"] : ["changed"], "all");
    state.largestFirst.value = from.get("order") !== "history";
    state.treemap.value = from.has("treemap");
    const zoom = pair(from, "zoom", last + 2);
    state.zoom.value = zoom && zoom[0] > 0 ? [zoom[0] - 1, zoom[1] - 1] : null;
    state.range.value = pair(from, "range", facts.messages + 1);
    state.face.value = is("text", ["sent", "diff"], "raw");
    state.idle.value = PAUSES.find(([time]) => String(time) === from.get("idle"))?.[0] ?? 0;
    state.dialog.value = is("dialog", isLive ? ["help"] : ["help", "share"], "");
  });
}

const restoring = signal(0);
let restores = 0;

/** Brings the page to where the address says. */
async function restore(from: URLSearchParams): Promise<void> {
  const opened = state.session.peek();
  if (!opened) return;
  restoring.value += 1;
  restores += 1;
  const number = restores;
  const isNewest = () => number === restores && state.session.peek() === opened;
  try {
    const first = state.policy.peek()?.setting;
    if (first) {
      const hasA = [...from.keys()].some((name) => name.startsWith("a-"));
      if (hasA) await play(from, "a-", first);
      if (!isNewest()) return;
      state.kept.value = hasA ? state.simulation.peek() : null;
      await play(from, "", first);
      if (!isNewest()) return;
    }
    if (!opened.isLive) await find(from.get("q") ?? "");
    if (!isNewest()) return;
    place(from, opened);
    if (from.has("keeps")) void findWindow();
  } finally {
    restoring.value -= 1;
  }
}

function writeSetting(parts: URLSearchParams, prefix: string, one: state.Simulated | null): void {
  if (!one) return;
  const { window, preset, trigger } = one.setting;
  parts.set(`${prefix}window`, String(window.contextTokens));
  parts.set(`${prefix}reserve`, String(window.maxOutputTokens ?? 0));
  parts.set(`${prefix}preset`, preset);
  if (trigger !== undefined) parts.set(`${prefix}trigger`, String(trigger));
}

function written(): string {
  const opened = state.session.value;
  const parts = new URLSearchParams();
  if (!opened) return "";
  if (opened.isLive)
    for (const name of LIVE) {
      const value = parameters().get(name);
      if (value !== null) parts.set(name, value);
    }
  const last = opened.facts.calls.used.length - 1;
  if (state.call.value !== last) parts.set("call", String(state.call.value + 1));
  if (state.view.value !== "recorded") parts.set("view", state.view.value);
  if (state.tab.value !== "messages") parts.set("tab", state.tab.value);
  if (state.selected.value !== null) parts.set("m", String(state.selected.value));
  if (state.section.value !== null) parts.set("section", state.section.value);
  if (state.bucket.value !== null) parts.set("part", state.bucket.value);
  if (state.query.value !== "") parts.set("q", state.query.value);
  if (state.filter.value !== "all") parts.set("filter", state.filter.value);
  if (!state.largestFirst.value) parts.set("order", "history");
  if (state.treemap.value) parts.set("treemap", "");
  if (state.zoom.value) parts.set("zoom", state.zoom.value.map((call) => call + 1).join("-"));
  if (state.range.value) parts.set("range", state.range.value.join("-"));
  if (state.face.value !== "raw") parts.set("text", state.face.value);
  if (state.idle.value) parts.set("idle", String(state.idle.value));
  if (state.dialog.value) parts.set("dialog", state.dialog.value);
  writeSetting(parts, "a-", state.kept.value);
  writeSetting(parts, "", state.trial.value);
  if (state.search.value?.found !== undefined) parts.set("keeps", "");
  return parts.toString();
}

/** A tab, a section, a message that is shown, a view and a dialog are screens: the browser goes back from one to the one before. */
function screenOf(hash: string): string {
  const from = new URLSearchParams(hash);
  const shown = [
    from.has("m"),
    from.has("section"),
    ...["tab", "view", "dialog"].map((it) => from.get(it)),
  ];
  return shown.join();
}

/** Writes the address. Inside another page it adds no entry to the history, which is that page's too. */
function keep(hash: string): void {
  const before = location.hash.slice(1);
  if (hash === before) return;
  const isNew = window === parent && screenOf(hash) !== screenOf(before);
  history[isNew ? "pushState" : "replaceState"](null, "", hash ? `#${hash}` : location.pathname);
}

/** Restores what the address says when the first session is there, and from then on keeps it. */
export function keepAddress(): void {
  const isPlace = (name: string) => !LIVE.some((one) => one === name);
  let wanted = [...parameters().keys()].some(isPlace) ? parameters() : null;
  let waiting: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    const opened = state.session.value;
    // What-if and both views need the first simulation.
    if (wanted && opened && (opened.isLive || state.policy.value)) {
      const from = wanted;
      wanted = null;
      queueMicrotask(() => void restore(from));
    }
    const hash = written();
    if (wanted || !opened || restoring.value > 0) return;
    clearTimeout(waiting);
    // Browsers limit how often an address may change.
    waiting = setTimeout(() => {
      try {
        keep(hash);
      } catch {
        // Some browsers refuse it for files: the page works without.
      }
    }, 250);
  });
  const names = (of: URLSearchParams) => LIVE.map((name) => of.get(name)).join("\n");
  const begun = names(parameters());
  addEventListener("hashchange", ({ newURL }) => {
    // The page may have written its own address since this one was entered.
    clearTimeout(waiting);
    const entered = parameters(newURL);
    // The page connects to what it was loaded with, and to nothing else.
    if (names(entered) === begun) void restore(entered);
    else location.reload();
  });
}
