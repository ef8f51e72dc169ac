/** The request that would follow, and what it would leave out. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { RULES } from "../generated.js";
import { LIST, reveal } from "./actions.js";
import type { Next as Answer } from "./protocol.js";
import * as state from "./state.js";
import { count, plural, STATES } from "./words.js";

export const PAUSES: ReadonlyArray<[number, string]> = [
  [0, "at once"],
  [600_000, "after ten minutes"],
  [28_800_000, "after eight hours"],
];

export function Next(): JSX.Element | null {
  const opened = state.session.value;
  const simulated = state.simulation.value;
  const run = state.simulationName.value;
  const answer = useSignal<Answer | null>(null);
  const error = useSignal("");
  const idleMs = state.idle.value;
  useEffect(() => {
    if (!opened || !(simulated || opened.isLive)) return;
    let isCurrent = true;
    opened.client.ask("next", { run, idleMs }).then(
      (next) => {
        if (!isCurrent) return;
        answer.value = next;
        error.value = "";
      },
      (reason: Error) => {
        if (isCurrent) error.value = reason.message;
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [opened, simulated, run, idleMs, answer, error]);
  const isLive = opened?.isLive === true;
  if (!simulated && !isLive) return <p class="card empty">{state.firstSimulation.value}</p>;
  const next = answer.value;
  return (
    <section class="card" aria-label="Next request">
      <header class="row-head">
        <h2>{isLive ? "The next request" : "The next request, with Plimsoll"}</h2>
        <div class="choices" role="group" aria-label="When it is made" hidden={isLive}>
          {PAUSES.map(([time, words]) => (
            <button
              type="button"
              key={time}
              aria-pressed={idleMs === time}
              onClick={() => {
                state.idle.value = time;
              }}
            >
              {words}
            </button>
          ))}
        </div>
      </header>
      {error.value ? <p class="bad">{error.value}</p> : null}
      {next ? <Shown next={next} /> : <p class="dim">…</p>}
    </section>
  );
}

function Shown({ next: { report, changes } }: { next: Answer }): JSX.Element {
  const { status, window, next } = report;
  const sorted = [...(changes ?? [])].sort((a, b) => a.index - b.index).slice(0, 200);
  return (
    <>
      <p class="figure">
        {count(window.used)}{" "}
        <small>
          tokens{changes ? ", simulated," : " in the last one,"} of{" "}
          {count(report.contextWindowTokens)}
        </small>
      </p>
      {changes ? (
        <p>
          {changes.length === 0
            ? "It only grows at its end: nothing is taken out, and the prompt cache stays valid."
            : `${plural(changes.length, "message")} would be sent otherwise than before.`}
        </p>
      ) : (
        <p>
          Pressure {status.pressure}, trend {status.trend}.
        </p>
      )}
      {status.nextEdit ? (
        <p class="dim">
          Next edit at about {count(status.nextEdit.tokens)} tokens, because{" "}
          {status.nextEdit.reason}.
        </p>
      ) : null}
      <p class="dim">A compaction now: {next.reason || next.outcome}.</p>
      {sorted.length > 0 ? (
        <table class="results">
          <thead>
            <tr>
              <th scope="col">Message</th>
              <th scope="col">Sent as</th>
              <th scope="col" class="number">
                Tokens
              </th>
              <th scope="col">Why</th>
            </tr>
          </thead>
          <tbody>
            {sorted.map((one) => (
              <tr key={one.index}>
                <th scope="row">
                  <button
                    type="button"
                    class="link"
                    onClick={() => {
                      state.selected.value = one.index;
                      reveal("messages", LIST);
                    }}
                  >
                    #{one.index}
                  </button>
                </th>
                <td>{STATES[one.state]}</td>
                <td class="number">{count(one.sentTokens)}</td>
                <td class="dim">{RULES[one.rule] ?? one.rule}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : null}
    </>
  );
}
