/** Two settings of one session side by side, or two sessions. */
import { type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { categoryOf, NAMES, ORDER } from "./categories.js";
import { Client } from "./client.js";
import { OpenButton } from "./header.js";
import type { ChartLayers, Facts } from "./protocol.js";
import * as state from "./state.js";
import { change, count, percent, plain } from "./words.js";

interface Other {
  /** The session that it is compared with. */
  of: state.Opened;
  name: string;
  facts: Facts;
  layers: ChartLayers;
}

const other: Signal<Other | null> = signal(null);
/** What is said of the file that was chosen last, beside the session that it was chosen for. */
const step: Signal<{ of: state.Opened; words: string } | null> = signal(null);
let reading: Client | undefined;

/** Reads a file to compare with; a newer one supersedes it. */
async function read(of: state.Opened, file: globalThis.File): Promise<void> {
  reading?.close();
  const client = new Client(() => undefined);
  reading = client;
  const say = (words: string): void => {
    step.value = { of, words: `${plain(file.name)}: ${words}` };
  };
  say("reading …");
  try {
    const facts = await client.ask("open", { file });
    other.value = { of, name: file.name, facts, layers: await client.ask("layers", {}) };
    step.value = null;
  } catch (error) {
    if (reading === client) say((error as Error).message);
  } finally {
    client.close();
  }
}

export function Compare(): JSX.Element | null {
  const opened = state.session.value;
  const simulated = state.simulation.value;
  if (!opened) return null;
  const chosen = other.value?.of === opened ? other.value : null;
  const { layers } = state;
  const rows = chosen
    ? [...sessions(opened.facts, chosen.facts), ...parts(layers.value, chosen.layers)]
    : simulated
      ? [...settings(opened.facts, simulated), ...parts(layers.value, simulated.layers)]
      : [];
  return (
    <section class="card" aria-label="Compare">
      <header class="row-head">
        <h2>Compare</h2>
        <OpenButton
          words="With another session file …"
          kind=""
          choose={(file) => void read(opened, file)}
        />
        {chosen ? (
          <button
            type="button"
            onClick={() => {
              other.value = null;
            }}
          >
            With Plimsoll instead
          </button>
        ) : null}
        <p class="dim" role="status">
          {step.value?.of === opened ? step.value.words : ""}
        </p>
      </header>
      <table class="results">
        <thead>
          <tr>
            <th scope="col">At the last call</th>
            <th scope="col" class="number">
              {plain(opened.name)}, recorded
            </th>
            <th scope="col" class="number">
              {chosen
                ? `${plain(chosen.name)}, recorded`
                : `With Plimsoll, ${simulated?.setting.preset ?? "…"} (simulated)`}
            </th>
            <th scope="col" class="number">
              Differ&shy;ence
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, before, after]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="number">{typeof before === "number" ? count(before) : before}</td>
              <td class="number">{typeof after === "number" ? count(after) : after}</td>
              <td class="number">
                {typeof before === "number" && typeof after === "number"
                  ? change(before, after)
                  : ""}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

type Value = number | string;

function largest(values: Float64Array): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}

/** Tokens of the last call by category. */
function composition({ names, tokens }: ChartLayers): Map<string, number> {
  const sums = new Map<string, number>();
  const start = tokens.length - names.length;
  for (const [at, name] of names.entries()) {
    const category = NAMES[categoryOf(name)];
    sums.set(category, (sums.get(category) ?? 0) + ((tokens[start + at] ?? 0) | 0));
  }
  return sums;
}

function parts(one: ChartLayers, other: ChartLayers): Array<[string, Value, Value]> {
  const [a, b] = [composition(one), composition(other)];
  return ORDER.map((category) => NAMES[category]).flatMap(
    (name): Array<[string, Value, Value]> =>
      a.get(name) || b.get(name) ? [[name, a.get(name) ?? 0, b.get(name) ?? 0]] : [],
  );
}

function settings(facts: Facts, run: state.Simulated): Array<[string, Value, Value]> {
  return [
    ["Used", facts.calls.used.at(-1) ?? 0, run.used.at(-1) ?? 0],
    ["Window", facts.window.contextTokens, run.setting.window.contextTokens],
    ["Largest request", largest(facts.calls.used), run.totals.peak],
    ["Compactions", facts.compactions.length, run.totals.folds],
  ];
}

function sessions(one: Facts, other: Facts): Array<[string, Value, Value]> {
  const used = ({ calls }: Facts) => calls.used.at(-1) ?? 0;
  const full = (facts: Facts) => percent(used(facts), facts.window.contextTokens);
  const model = ({ models }: Facts) => plain(models.at(-1)?.name ?? "not named");
  return [
    ["Format", one.format, other.format],
    ["Model", model(one), model(other)],
    ["Messages", one.messages, other.messages],
    ["Calls", one.calls.used.length, other.calls.used.length],
    ["Used", used(one), used(other)],
    ["Of the window", full(one), full(other)],
    ["Window", one.window.contextTokens, other.window.contextTokens],
    ["Largest request", largest(one.calls.used), largest(other.calls.used)],
    ["Compactions", one.compactions.length, other.compactions.length],
  ];
}
