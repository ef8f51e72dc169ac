/** The ledger: each compaction and edit, what it took, and the originals. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { CompactionRecord, FileCompaction, ReplayEvent } from "../types.js";
import { goTo, LIST, reveal } from "./actions.js";
import { sizes } from "./cards.js";
import { save } from "./save.js";
import * as state from "./state.js";
import { count, plain, plural, short } from "./words.js";

export function Lost(): JSX.Element | null {
  const opened = state.session.value;
  if (!opened) return null;
  if (opened.report) return <OfLive compactions={opened.report.compactions} />;
  const { compactions } = opened.facts;
  return (
    <section class="card ledger" aria-label="What was lost">
      <header class="row-head">
        <h2>Compactions by the agent</h2>
        <p class="dim">Recorded in the file. What they took is still in it.</p>
      </header>
      {compactions.length === 0 ? (
        <p class="empty">The agent never compacted: every message was sent until the end.</p>
      ) : (
        <ol class="events">
          {compactions.map((one, at) => (
            <Compaction key={at} record={one} number={at} />
          ))}
        </ol>
      )}
      <Simulated />
    </section>
  );
}

/** Folds of a live session, the newest first. Only the last has its texts. */
function OfLive({ compactions }: { compactions: readonly CompactionRecord[] }): JSX.Element {
  return (
    <section class="card ledger" aria-label="What was lost">
      <header class="row-head">
        <h2>Compactions by Plimsoll</h2>
        <p class="dim">Originals stay in the host’s history.</p>
      </header>
      <ol class="events">
        {compactions
          .map((one, at) => {
            const from = Math.min(compactions[at - 1]?.firstKeptIndex ?? 0, one.firstKeptIndex);
            return (
              <li key={one.id}>
                <p class="event-line">
                  <span>{plain(one.timestamp.replace("T", " ").slice(0, 16))}</span>
                  <b>
                    {short(one.tokensBefore)} → {short(one.tokensAfter)}
                  </b>
                  <span>{plural(one.firstKeptIndex - from, "message")} → a summary</span>
                  <ShowThem from={from} to={one.firstKeptIndex} />
                </p>
                {one.degraded ? <p class="bad">The summary that was wanted failed.</p> : null}
                {one.lost.length > 0 ? (
                  <p>
                    Names that the summary does not have: <code>{plain(one.lost.join(" · "))}</code>
                  </p>
                ) : null}
                {one.head ? (
                  <details open>
                    <summary>The text that takes their place</summary>
                    <pre tabIndex={0}>{plain(one.head)}</pre>
                  </details>
                ) : null}
              </li>
            );
          })
          .reverse()}
      </ol>
    </section>
  );
}

/** Lists the messages that a compaction took. */
function ShowThem({ from, to, at }: { from: number; to: number; at?: number }): JSX.Element {
  return (
    <button
      type="button"
      onClick={() => {
        state.range.value = [from, to];
        state.bucket.value = null;
        state.filter.value = "all";
        if (at !== undefined) goTo(at);
        reveal("messages", LIST);
      }}
    >
      Show them
    </button>
  );
}

function Compaction({ record, number }: { record: FileCompaction; number: number }): JSX.Element {
  const opened = state.session.value as state.Opened;
  const isOpen = useSignal(number === 0);
  const { before, after, source } = sizes(record, opened.facts.calls.used);
  const at = record.call ?? 0;
  const earlier = opened.facts.compactions[number - 1];
  const from = Math.min(earlier?.firstKeptIndex ?? 0, record.firstKeptIndex);
  const taken = record.firstKeptIndex - from;
  return (
    <li>
      <p class="event-line">
        <button type="button" class="link" onClick={() => goTo(at)}>
          {at < opened.facts.calls.used.length
            ? `before call ${count(at + 1)}`
            : "after the last call"}
        </button>
        <b>
          {before ? short(before) : "?"} → {after ? short(after) : "?"}
        </b>
        <span class="dim">{source}</span>
        <span>
          {taken > 0 ? `${plural(taken, "message")} → a summary` : "messages of an earlier file"}
        </span>
        {taken > 0 ? (
          <>
            <ShowThem from={from} to={record.firstKeptIndex} at={at} />
            <button
              type="button"
              onClick={async () => {
                const input = { from, to: record.firstKeptIndex };
                const text = await opened.client.ask("originals", input);
                save(`${opened.name}.taken-${number + 1}.json`, text, "application/json");
              }}
            >
              Save the originals
            </button>
          </>
        ) : null}
      </p>
      {record.opaque ? (
        <p class="dim">Its summary is encrypted: only the provider can read it.</p>
      ) : record.summary ? (
        <details open={isOpen.value}>
          <summary>
            The summary that took their place, {plural(record.summary.length, "character")}
          </summary>
          <pre tabIndex={0}>{plain(record.summary)}</pre>
        </details>
      ) : (
        <p class="dim">The file does not have its summary.</p>
      )}
    </li>
  );
}

function Simulated(): JSX.Element | null {
  const opened = state.session.value;
  const simulated = state.simulation.value;
  const run = state.simulationName.value;
  const events = useSignal<ReplayEvent[] | null>(null);
  const shown = useSignal(40);
  useEffect(() => {
    events.value = null;
    if (!opened || !simulated) return;
    let isCurrent = true;
    opened.client.ask("events", { run }).then(
      (answer) => {
        if (isCurrent) events.value = answer;
      },
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [opened, simulated, run, events]);
  if (!simulated) return null;
  const list = events.value ?? [];
  return (
    <>
      <header class="row-head">
        <h2>With Plimsoll, {simulated.setting.preset}</h2>
        <p class="dim">Simulated without a summarizer. Originals stay in the host’s history.</p>
      </header>
      {events.value && list.length === 0 ? (
        <p class="empty">Nothing would have been taken out under these options.</p>
      ) : null}
      <ol class="events">
        {list.slice(0, shown.value).map((event) => (
          <li key={event.call}>
            <p class="event-line">
              <button
                type="button"
                class="link"
                onClick={() => {
                  state.view.value = "plimsoll";
                  goTo(event.call);
                }}
              >
                call {count(event.call + 1)}
              </button>
              <b>
                {event.after < event.before ? `${short(event.before)} → ` : ""}
                {short(event.after)}
              </b>
              <span>
                {event.event === "fold" ? "fold" : "edit"} of{" "}
                {plural(event.changes.length, "message")}
              </span>
              <button
                type="button"
                onClick={() => {
                  state.view.value = "plimsoll";
                  state.filter.value = "changed";
                  state.bucket.value = null;
                  state.range.value = null;
                  goTo(event.call);
                  reveal("messages", LIST);
                }}
              >
                Show them
              </button>
            </p>
            {event.record?.head ? (
              <details>
                <summary>The text that takes their place</summary>
                <pre tabIndex={0}>{plain(event.record.head)}</pre>
              </details>
            ) : null}
          </li>
        ))}
      </ol>
      {list.length > shown.value ? (
        <button
          type="button"
          onClick={() => {
            shown.value += 200;
          }}
        >
          Show more of {count(list.length)}
        </button>
      ) : null}
    </>
  );
}
