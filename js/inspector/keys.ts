/** Keys of the page. They are off while somebody types. */
import { cancelOpening, goTo, goToEvent, goToHit, keep, LIST, reveal } from "./actions.js";
import { tabs } from "./app.js";
import * as state from "./state.js";

const VIEWS: readonly state.View[] = ["recorded", "plimsoll", "both"];

/** Selects the next or previous row of the list, as it is shown. */
function moveRow(step: 1 | -1): void {
  const list = document.querySelector<HTMLElement>(".list");
  list?.focus();
  const key = step > 0 ? "ArrowDown" : "ArrowUp";
  list?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
}

function close(): void {
  if (state.loading.peek()) cancelOpening();
  else if (state.failure.peek()) state.failure.value = "";
  else if (state.selected.peek() !== null) {
    state.selected.value = null;
    document.querySelector<HTMLElement>(".list")?.focus();
  } else if (state.zoom.peek()) state.zoom.value = null;
}

function zoom(): void {
  const last = (state.session.peek()?.facts.calls.used.length ?? 1) - 1;
  const here = state.call.peek();
  state.zoom.value = state.zoom.peek() ? null : [Math.max(0, here - 25), Math.min(last, here + 25)];
}

const ACTIONS: Record<string, () => void> = {
  ArrowLeft: () => goTo(state.call.peek() - 1),
  ArrowRight: () => goTo(state.call.peek() + 1),
  Home: () => goTo(0),
  End: () => goTo(Number.MAX_SAFE_INTEGER),
  e: () => goToEvent(1),
  E: () => goToEvent(-1),
  b: zoom,
  j: () => moveRow(1),
  k: () => moveRow(-1),
  Enter: () => document.querySelector<HTMLElement>(".why pre")?.focus(),
  "/": () => document.getElementById("search")?.focus(),
  n: () => goToHit(1),
  N: () => goToHit(-1),
  v() {
    if (state.simulation.peek())
      state.view.value = VIEWS[(VIEWS.indexOf(state.view.peek()) + 1) % 3] ?? "recorded";
  },
  t() {
    state.treemap.value = !state.treemap.peek();
  },
  c() {
    state.filter.value = state.filter.peek() === "changed" ? "all" : "changed";
    reveal("messages", LIST);
  },
  f: () => document.querySelector<HTMLElement>(".why .find")?.click(),
  a: keep,
  w() {
    if (!state.session.peek()?.isLive) reveal("what-if");
  },
  s() {
    if (!state.session.peek()?.isLive) state.dialog.value = "share";
  },
};

export function listen(): void {
  addEventListener("keydown", (event) => {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || state.dialog.peek()) return;
    const element = target as HTMLElement;
    const isRange = element instanceof HTMLInputElement && element.type === "range";
    if (!isRange && /^(INPUT|SELECT|TEXTAREA)$/.test(element.tagName)) {
      const { type, value } = element as HTMLInputElement;
      if (key === "Escape" && type === "checkbox") close();
      // The browser empties a field for searches.
      else if (key === "Escape" && value === "") element.blur();
      return;
    }
    if (key === "?") state.dialog.value = "help";
    if (key === "o") document.querySelector<HTMLElement>(".commands .primary")?.click();
    if (key === "Escape") close();
    if (!state.session.peek()) return;
    if (isRange && key.startsWith("Arrow") && !event.shiftKey) return;
    const isControl = /^(BUTTON|SUMMARY|A)$/.test(element.tagName);
    if (isControl && (key === "Enter" || key === " ")) return;
    const tab = tabs()[Number(key) - 1];
    if (tab) reveal(tab[0]);
    const step = { ArrowLeft: -10, ArrowRight: 10 }[key];
    const action =
      event.shiftKey && step !== undefined ? () => goTo(state.call.peek() + step) : ACTIONS[key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}
