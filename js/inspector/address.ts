/** The state of the page in its address, so that a view can be sent and come back to. */
import { batch, effect } from "@preact/signals";
import { goTo, tryOut } from "./actions.js";
import { tabs } from "./app.js";
import * as state from "./state.js";

/** What names a live session. */
const LIVE = ["live", "embed", "session"] as const;

/** What the address says. */
export function parameters(): URLSearchParams {
  return new URLSearchParams(location.hash.slice(1));
}

/** Brings the page to where the address says; calls are numbered from 1 there. */
function restore(from: URLSearchParams): void {
  const number = (name: string): number | null => {
    const value = Number(from.get(name) ?? Number.NaN);
    return Number.isSafeInteger(value) && value >= 0 ? value : null;
  };
  const messages = state.session.peek()?.facts.messages ?? 0;
  batch(() => {
    const call = number("call");
    if (call !== null) goTo(call - 1);
    const view = from.get("view");
    if (view === "plimsoll" || view === "both") state.view.value = view;
    const tab = tabs().find(([name]) => name === from.get("tab"));
    if (tab) state.tab.value = tab[0];
    const message = number("m");
    if (message !== null && message < messages) state.selected.value = message;
    state.bucket.value = from.get("part");
    if (from.get("filter") === "changed") state.filter.value = "changed";
    state.treemap.value = from.has("treemap");
  });
  const [window, reserve] = [number("window"), number("reserve")];
  const [preset, trigger] = [from.get("preset"), Number(from.get("trigger") ?? Number.NaN)];
  const known = state.setting.peek();
  if (known && (window !== null || reserve !== null || preset || trigger > 0))
    tryOut({
      window: {
        contextTokens: window ?? known.window.contextTokens,
        maxOutputTokens: reserve ?? known.window.maxOutputTokens ?? 0,
      },
      preset: preset ?? known.preset,
      ...(trigger > 0 ? { trigger } : {}),
    });
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
  if (state.bucket.value !== null) parts.set("part", state.bucket.value);
  if (state.filter.value === "changed") parts.set("filter", "changed");
  if (state.treemap.value) parts.set("treemap", "");
  const trial = state.trial.value?.setting;
  if (trial) {
    parts.set("window", String(trial.window.contextTokens));
    parts.set("reserve", String(trial.window.maxOutputTokens ?? 0));
    parts.set("preset", trial.preset);
    if (trial.trigger !== undefined) parts.set("trigger", String(trial.trigger));
  }
  return parts.toString();
}

/** Restores what the address says when the first session is there, and from then on keeps it. */
export function keepAddress(): void {
  let wanted: URLSearchParams | null = parameters();
  let waiting: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    const opened = state.session.value;
    // What-if and both views need the first simulation.
    if (wanted && opened && (opened.isLive || state.policy.value)) {
      const from = wanted;
      wanted = null;
      queueMicrotask(() => restore(from));
    }
    const hash = written();
    if (wanted || !opened) return;
    clearTimeout(waiting);
    // Browsers limit how often an address may change.
    waiting = setTimeout(() => {
      try {
        history.replaceState(null, "", hash === "" ? location.pathname : `#${hash}`);
      } catch {
        // Some browsers refuse it for files: the page works without.
      }
    }, 250);
  });
  const names = () => LIVE.map((name) => parameters().get(name)).join("\n");
  const begun = names();
  addEventListener("hashchange", () => {
    // The page connects to what it was loaded with, and to nothing else.
    if (names() === begun) restore(parameters());
    else location.reload();
  });
}
