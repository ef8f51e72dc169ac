/** Tokens by call: what each request consisted of, where the agent compacted, and what Plimsoll would have sent. */
import type { JSX } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { cancelSimulation, goTo } from "./actions.js";
import type { ChartLayers, Facts } from "./protocol.js";
import { areas, columnsOf, HEIGHT, heightOf, line, ticks, WIDTH, y } from "./stack.js";
import * as state from "./state.js";
import { count, settingName, short } from "./words.js";

const VIEWS: ReadonlyArray<[state.View, string]> = [
  ["recorded", "Recorded"],
  ["plimsoll", "With Plimsoll"],
  ["both", "Both"],
];

export function Chart(): JSX.Element | null {
  const opened = state.session.value;
  if (!opened) return null;
  const { facts } = opened;
  return (
    <section class="card chart-card" aria-label="Tokens by call">
      <header class="row-head">
        <h2>By call</h2>
        <div class="choices" role="group" aria-label="What is shown" hidden={opened.isLive}>
          {VIEWS.map(([view, name]) => (
            <button
              type="button"
              key={view}
              aria-pressed={state.view.value === view}
              disabled={view !== "recorded" && !state.simulation.value}
              onClick={() => {
                state.view.value = view;
              }}
            >
              {name}
            </button>
          ))}
        </div>
        <Playing />
        <Where facts={facts} />
      </header>
      <Plot />
      <Scrubber />
    </section>
  );
}

function Where({ facts }: { facts: Facts }): JSX.Element {
  const at = state.call.value;
  return (
    <p class="where">
      call <b>{count(at + 1)}</b> of {count(facts.calls.used.length)} · {timeOf(facts.calls.at[at])}
    </p>
  );
}

function timeOf(at: number | undefined): string {
  if (at === undefined || Number.isNaN(at)) return "no time in the file";
  return new Date(at).toISOString().replace("T", " ").slice(0, 16);
}

function Playing(): JSX.Element | null {
  const playing = state.playing.value;
  const opened = state.session.value;
  if (!playing || !opened) return null;
  const of = opened.facts.calls.used.length;
  return (
    <span class="playing" role="status">
      <progress value={playing.played} max={of} aria-label="Simulation" />
      simulating {count(playing.played)} of {count(of)}
      <button type="button" class="link" onClick={cancelSimulation}>
        stop
      </button>
    </span>
  );
}

type Line = ReturnType<typeof compared>[number];

/** What the plot draws of the calls from one to another; it stays the same while one scrubs. */
function useDrawn(
  facts: Facts | null,
  recorded: ChartLayers,
  [from, to]: readonly [number, number],
  shownAlone: state.Simulated | null,
  lines: readonly Line[],
) {
  return useMemo(() => {
    if (!facts) return null;
    const used = shownAlone?.used ?? facts.calls.used;
    const columns = columnsOf(used, from, to, 480);
    let most = 1;
    const layers = shownAlone?.layers ?? recorded;
    for (const call of columns) most = Math.max(most, used[call] ?? 0, heightOf(layers, call));
    for (const { used: others } of lines.map(({ run }) => run))
      for (const call of columns) most = Math.max(most, others[call] ?? 0);
    const window = (shownAlone?.setting.window ?? facts.window).contextTokens;
    const hasWindow = window < most * 1.9;
    most = Math.max(most, hasWindow ? window : 0) * 1.06;
    return {
      columns,
      most,
      window,
      hasWindow,
      areas: areas(layers, columns, most),
    };
  }, [facts, recorded, from, to, shownAlone, ...lines.map(({ run }) => run)]);
}

/** A label on each line, at places of its own. */
function LineNames({
  lines,
  columns,
  most,
}: {
  lines: readonly Line[];
  columns: readonly number[];
  most: number;
}): JSX.Element {
  return (
    <>
      {lines.map(({ kind, letter, run }, at) => {
        const column = Math.floor((columns.length - 1) * (0.9 - at / 8));
        const top = topOf(run.used[columns[column] ?? 0] ?? 0, most);
        const left = `${(100 * column) / Math.max(1, columns.length - 1)}%`;
        return (
          <span key={kind} class="line-name" style={{ top, left }}>
            {letter}
          </span>
        );
      })}
    </>
  );
}

/** Edits and folds of a simulation, else compactions of the file, from one call to another. */
function marksOf(
  facts: Facts,
  simulated: state.Simulated | null,
  from: number,
  to: number,
): Array<{ call: number; event: number }> {
  const all = simulated
    ? Array.from(simulated.event, (event, call) => ({ call, event }))
    : facts.compactions.map(({ call = -1 }) => ({ call, event: 2 }));
  return all.filter(({ call, event }) => event > 0 && call >= from && call <= to);
}

function topOf(tokens: number, most: number): string {
  return `${(100 * Number(y(tokens, most))) / HEIGHT}%`;
}

function Plot(): JSX.Element | null {
  const opened = state.session.value;
  const plot = useRef<HTMLDivElement>(null);
  const dragged = useRef<{ from: number; brush: boolean } | null>(null);
  const view = state.view.value;
  const lines = view === "both" ? compared() : [];
  const playing = state.playing.value;
  const zoom = state.zoom.value;
  const facts = opened?.facts;
  const recorded = state.layers.value;
  const [from, to] = zoom ?? [0, (facts?.calls.used.length ?? 1) - 1];
  const shownAlone = view === "plimsoll" ? state.simulation.value : null;
  const drawn = useDrawn(facts ?? null, recorded, [from, to], shownAlone, lines);
  if (!facts || !drawn) return null;

  const { columns, most, window } = drawn;
  const place = (call: number) => (to === from ? 0.5 : (call - from) / (to - from));
  const callAt = (event: PointerEvent) => {
    const box = (plot.current as HTMLDivElement).getBoundingClientRect();
    const share = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
    return from + Math.round(share * (to - from));
  };
  const showsLine = view !== "recorded" || playing !== null;
  const marks = marksOf(facts, shownAlone, from, to);
  return (
    <div
      class="plot"
      ref={plot}
      onPointerDown={(event) => {
        dragged.current = { from: callAt(event), brush: event.shiftKey };
        plot.current?.setPointerCapture(event.pointerId);
        if (!event.shiftKey) goTo(callAt(event));
      }}
      onPointerMove={(event) => {
        if (dragged.current && !dragged.current.brush) goTo(callAt(event));
      }}
      onPointerUp={(event) => {
        const drag = dragged.current;
        dragged.current = null;
        if (!drag?.brush) return;
        const [start, end] = [drag.from, callAt(event)].sort((a, b) => a - b) as [number, number];
        if (end - start > 1) state.zoom.value = [start, end];
      }}
    >
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {drawn.areas.map(({ category, path }) => (
          <path key={category} class={`area c${category}`} d={path} />
        ))}
        {drawn.hasWindow ? (
          <line class="window-line" x1="0" x2={WIDTH} y1={y(window, most)} y2={y(window, most)} />
        ) : null}
        {recorded.names.length === 0 ? (
          <path class="policy" d={line(facts.calls.used, columns, most)} />
        ) : null}
        {lines.map(({ kind, run }) =>
          playing && kind === "policy" ? null : (
            <path key={kind} class={kind} d={line(run.used, columns, most)} />
          ),
        )}
        {showsLine && playing ? (
          <path class="policy" d={line(playing.used, columns, most)} />
        ) : null}
      </svg>
      {ticks(most).map((value) => (
        <span key={value} class="tick" style={{ top: topOf(value, most) }}>
          {short(value)}
        </span>
      ))}
      {drawn.hasWindow ? (
        <span class="window-name" style={{ top: topOf(window, most) }}>
          window {short(window)}
        </span>
      ) : (
        <span class="window-name above">window {short(window)} is above this chart</span>
      )}
      {lines.length > 1 ? <LineNames lines={lines} columns={columns} most={most} /> : null}
      {marks.slice(0, 400).map(({ call, event }) => (
        <span
          key={call}
          class={event === 2 ? "mark fold" : "mark edit"}
          style={{ left: `${100 * place(call)}%` }}
          title={`call ${call + 1}: ${event === 2 ? "compaction" : "edit"}`}
        />
      ))}
      <Cursor place={place} />
      {zoom ? (
        <button
          type="button"
          class="unzoom"
          onPointerDown={(event) => event.stopPropagation()}
          onClick={() => {
            state.zoom.value = null;
          }}
        >
          calls {count(from + 1)}–{count(to + 1)} · show all
        </button>
      ) : null}
    </div>
  );
}

/** The simulations to compare as lines: what is simulated now, what was kept, and the first. */
function compared(): Array<{ kind: string; letter: string; run: state.Simulated }> {
  const { kept, policy, simulation, trial } = state;
  const alone = trial.value ? "now" : "with Plimsoll";
  const letter = !kept.value ? alone : kept.value === simulation.value ? "A" : "B";
  const all = [
    { kind: "policy", letter, run: simulation.value },
    { kind: "ghost kept", letter: "A", run: kept.value },
    { kind: "ghost", letter: "first", run: policy.value },
  ];
  return all.flatMap(({ run, ...one }, at) =>
    run && all.findIndex((other) => other.run === run) === at ? [{ ...one, run }] : [],
  );
}

/** The line at the call that is shown. Alone in its component and in a layer of its own, so that nothing else is drawn when it moves. */
function Cursor({ place }: { place: (call: number) => number }): JSX.Element {
  const share = place(state.call.value);
  return (
    <span class="track">
      <span class="cursor" style={{ transform: `translateX(${100 * share}%)` }} />
    </span>
  );
}

function Scrubber(): JSX.Element | null {
  const opened = state.session.value;
  if (!opened) return null;
  const last = opened.facts.calls.used.length - 1;
  const [from, to] = state.zoom.value ?? [0, last];
  return (
    <>
      <input
        type="range"
        class="scrubber"
        aria-label="Call"
        min={from}
        max={to}
        value={state.call.value}
        aria-valuetext={`call ${state.call.value + 1} of ${last + 1}`}
        onInput={(event) => goTo(Number(event.currentTarget.value))}
      />
      <p class="key dim">
        <span>
          <i class="mark fold inline" /> compaction
        </span>
        {state.view.value === "both"
          ? compared().map(({ kind, letter, run }) => (
              <span key={kind}>
                <i class={`stroke ${kind}`} /> {settingName(letter, run.setting)} (simulated)
              </span>
            ))
          : null}
        <span class="hint">
          <kbd>←</kbd> <kbd>→</kbd> call · <kbd>e</kbd> next event · <kbd>Shift</kbd> drag to zoom
        </span>
      </p>
    </>
  );
}
