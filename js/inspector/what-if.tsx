/** The same session under another window or policy. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { shareIn, sizeIn } from "../core/amounts.js";
import { keep, reset, tryOut } from "./actions.js";
import type { Setting } from "./protocol.js";
import { copy } from "./save.js";
import * as state from "./state.js";
import { change, count, percent, settingName } from "./words.js";

export const PRESETS: ReadonlyArray<[string, string]> = [
  ["balanced", "balanced: edits when that is cheaper"],
  ["economy", "economy: keeps less"],
  ["retention", "retention: keeps more"],
  ["capacity", "capacity: only when the window is full"],
  ["openclaw", "as OpenClaw does"],
  ["aceclaw", "as AceClaw does"],
  ["aiclaw", "as AIClaw does"],
  ["goclaw", "as GoClaw does"],
  ["hermes", "as Hermes does"],
  ["context-budget", "as ContextBudget does"],
];

export function WhatIf(): JSX.Element | null {
  const setting = state.setting.value;
  const base = state.policy.value;
  const { kept, trial, simulation } = state;
  const isOther = simulation.value !== kept.value;
  if (!setting) return null;
  const { window } = setting;
  // Not what was drawn: a change may follow another before that is drawn.
  const now = () => state.setting.peek() ?? setting;
  const first = (base?.setting ?? setting).window;
  const setWindow = (more: Partial<Setting["window"]>) =>
    tryOut({ ...now(), window: { ...now().window, ...more } });
  return (
    <section class="card" aria-label="What if">
      <header class="row-head">
        <h2>What if</h2>
        <p class="dim">The session is played again under these options. No model is called.</p>
      </header>
      <form class="options" onSubmit={(event) => event.preventDefault()}>
        <Amount
          id="window"
          name="Window, tokens"
          value={window.contextTokens}
          allowed="a size like 64k, 200000 or 1m, above the reserve"
          read={(text) => {
            const tokens = text === "" ? first.contextTokens : sizeIn(text);
            return tokens > (now().window.maxOutputTokens ?? 0) ? tokens : undefined;
          }}
          change={(contextTokens) => setWindow({ contextTokens: Number(contextTokens) })}
        />
        <Amount
          id="reserve"
          name="Reserve for the answer"
          value={window.maxOutputTokens ?? 0}
          allowed="a size like 0, 8k or 16000, below the window"
          read={(text) => {
            const tokens = text === "" ? (first.maxOutputTokens ?? 0) : sizeIn(text);
            return tokens < now().window.contextTokens ? tokens : undefined;
          }}
          change={(maxOutputTokens) => setWindow({ maxOutputTokens: Number(maxOutputTokens) })}
        />
        <label>
          Preset
          <select
            value={setting.preset}
            onChange={(event) => tryOut({ ...now(), preset: event.currentTarget.value })}
          >
            {PRESETS.map(([name, words]) => (
              <option key={name} value={name}>
                {words}
              </option>
            ))}
          </select>
        </label>
        <Amount
          id="trigger"
          name="Trigger, share of the window"
          value={setting.trigger ?? ""}
          placeholder="the preset’s"
          allowed="a share from 0 to 1, like 0.85 or 85%"
          read={(text) => {
            const share = text === "" ? "" : shareIn(text);
            return Number(share) <= 1 ? share : undefined;
          }}
          change={(share) => {
            const { trigger: _, ...rest } = now();
            tryOut(share === "" ? rest : { ...rest, trigger: Number(share) });
          }}
        />
      </form>
      {state.notice.value ? (
        <p class="bad" role="alert">
          {state.notice.value}
        </p>
      ) : null}
      {base ? (
        <Results
          base={kept.value ?? base}
          trial={!kept.value ? trial.value : isOther ? simulation.value : null}
        />
      ) : (
        <p class="dim">{state.firstSimulation.value}</p>
      )}
      <div class="pair">
        {kept.value ? <Configuration setting={kept.value.setting} letter="A" /> : null}
        {base ? <Configuration setting={setting} letter={kept.value ? "B" : ""} /> : null}
      </div>
    </section>
  );
}

/** A field for an amount. What is not allowed is not played: the field says what is. */
function Amount({
  id,
  name,
  value,
  placeholder,
  allowed,
  read,
  change: set,
}: {
  id: string;
  name: string;
  value: number | "";
  placeholder?: string;
  allowed: string;
  /** `undefined`: the text is not allowed. */
  read: (text: string) => number | "" | undefined;
  change: (value: number | "") => void;
}): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const isWrong = useSignal(false);
  const setting = state.setting.value;
  const show = () => {
    if (field.current) field.current.value = String(value);
    isWrong.value = false;
  };
  // A value is shown when it changes, and only then: what somebody types meanwhile stays.
  useLayoutEffect(show, [value]);
  useLayoutEffect(() => {
    if (isWrong.peek()) show();
  }, [setting]);
  const error = isWrong.value ? `wrong-${id}` : undefined;
  return (
    <label>
      {name}
      <input
        ref={field}
        placeholder={placeholder}
        aria-label={name}
        aria-invalid={isWrong.value}
        aria-describedby={error}
        onChange={({ currentTarget }) => {
          const wanted = read(currentTarget.value.trim());
          isWrong.value = wanted === undefined;
          if (wanted === undefined) return;
          currentTarget.value = String(wanted);
          set(wanted);
        }}
      />
      {error ? (
        <span id={error} class="bad" role="alert">
          {allowed}
        </span>
      ) : null}
    </label>
  );
}

export const METRICS: ReadonlyArray<
  [name: string, of: (run: state.Simulated) => number | null, isShare?: boolean]
> = [
  ["Largest request, tokens", ({ totals }) => totals.peak],
  ["Bill, in uncached input tokens", ({ totals }) => totals.bill],
  [
    "Calls at which messages were shortened",
    ({ event }) => event.filter((one) => one === 1).length,
  ],
  ["Compactions (folds)", ({ totals }) => totals.folds],
  ["Requests larger than the window", ({ totals }) => totals.overWindow],
  ["Names used again that were still there", ({ totals }) => totals.recall, true],
  ["The same, with the whole text they came from", ({ totals }) => totals.contentRecall, true],
];

function Results({
  base,
  trial,
}: {
  base: state.Simulated;
  trial: state.Simulated | null;
}): JSX.Element {
  const kept = state.kept.value;
  const show = (value: number | null, isShare = false) =>
    value === null ? "–" : isShare ? percent(value, 1) : count(value);
  return (
    <table class="results">
      <thead>
        <tr>
          <th scope="col">Simulated</th>
          <th scope="col" class="number">
            {kept ? settingName("A", base.setting) : `${base.setting.preset}, at first`}
          </th>
          <th scope="col" class="number">
            {kept && trial ? settingName("B", trial.setting) : "With the change"}
          </th>
          <th scope="col" class="number">
            Differ&shy;ence
          </th>
        </tr>
      </thead>
      <tbody>
        {METRICS.map(([name, of, isShare]) => {
          const [before, after] = [of(base), trial ? of(trial) : null];
          return (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="number">{show(before, isShare)}</td>
              <td class="number">{trial ? show(after, isShare) : "–"}</td>
              <td class="number">
                {before !== null && after !== null && !isShare ? change(before, after) : ""}
                {before !== null && after !== null && isShare && before !== after
                  ? `${(100 * (after - before)).toFixed(1).replace("-", "−")} points`
                  : ""}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** The options as the code that a host writes. */
export function configuration({ window, preset, trigger }: Setting): string {
  const options = {
    window,
    ...(preset === "balanced" ? {} : { preset }),
    ...(trigger === undefined ? {} : { trigger }),
  };
  const members = JSON.stringify(options, null, 2).replace(/"(\w+)":/g, "$1:");
  return `new ContextManager(${members});`;
}

function Configuration({ setting, letter }: { setting: Setting; letter: string }): JSX.Element {
  const copied = useSignal("");
  const isKept = letter === "A";
  const code = configuration(setting);
  return (
    <div class="configuration">
      {letter ? <h3>{settingName(letter, setting)}</h3> : null}
      <pre tabIndex={0}>{code}</pre>
      <p class="row-head">
        <button type="button" onClick={() => copy(code, copied)}>
          {copied.value === code ? "Copied" : "Copy as configuration"}
        </button>
        {isKept || !letter ? (
          <button type="button" disabled={!isKept && state.playing.value !== null} onClick={keep}>
            {isKept ? "Forget A" : "Keep this one to compare"}
          </button>
        ) : null}
        {isKept ? null : (
          <button type="button" disabled={setting === state.policy.value?.setting} onClick={reset}>
            Back to the first options
          </button>
        )}
      </p>
    </div>
  );
}
