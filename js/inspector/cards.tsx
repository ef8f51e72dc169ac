/** The three questions: how full was it, what filled it, what was lost and what would help. */
import type { JSX } from "preact";
import { goTo, LIST, reveal } from "./actions.js";
import { partName } from "./categories.js";
import { BucketSwatch, Source } from "./icons.js";
import { SOURCES } from "./protocol.js";
import * as state from "./state.js";
import { change, count, percent, plural, short } from "./words.js";

const WINDOW_SOURCES = {
  given: "set here",
  session: "as the session has it",
  file: "from the file",
  usage: "assumed: the smallest usual window that holds the largest request",
  assumed: "assumed: the file does not say",
};

export function Cards(): JSX.Element | null {
  if (!state.session.value) return null;
  return (
    <section class="cards" aria-label="Overview">
      <HowFull />
      <WhatFilled />
      <WhatLost />
    </section>
  );
}

function HowFull(): JSX.Element | null {
  const opened = state.session.value;
  const figures = state.figures.value;
  if (!opened || !figures) return null;
  const { facts } = opened;
  const at = state.shownCall.value;
  const isRecorded = state.run.value === "recorded";
  const source = SOURCES[facts.calls.source[at] ?? 2] ?? "estimate";
  const calibrated = facts.calls.calibrated[at] ?? -1;
  const { calibration } = facts;
  const words = {
    provider: "by the provider’s count",
    calibrated: "estimated, fitted to the provider’s other counts",
    estimate: "estimated: the file has no counts of the provider",
    session: "as the session reports it",
  };
  return (
    <article class="card" id="how-full">
      <h2>How full was it?</h2>
      <p class={`figure ${figures.free < 0 ? "bad" : ""}`}>
        {percent(figures.used, figures.total)} <small>of the window</small>
      </p>
      <p>
        <b data-figure="used">{count(figures.used)}</b> of {count(figures.total)} tokens
      </p>
      <p>
        <Source>
          {isRecorded
            ? words[source]
            : `simulated: Plimsoll, ${state.simulation.value?.setting.preset}`}
        </Source>
      </p>
      <p class="dim">
        {isRecorded && source === "provider" && calibration && calibrated >= 0
          ? calibration.errorP90 > 0.3
            ? `Our own reading is another: ${count(calibrated)}. `
            : `Our own reading: ${count(calibrated)}, usually within ${percent(calibration.errorP90, 1)}. `
          : ""}
        Window{" "}
        {
          WINDOW_SOURCES[
            figures.total === facts.window.contextTokens ? facts.window.source : "given"
          ]
        }
        .
      </p>
    </article>
  );
}

function WhatFilled(): JSX.Element {
  const standing = state.standing.value;
  const figures = state.figures.value;
  const buckets = (standing?.buckets ?? [])
    .filter(({ sentTokens }) => sentTokens > 0)
    .sort((a, b) => b.sentTokens - a.sentTokens);
  const total = buckets.reduce((sum, { sentTokens }) => sum + sentTokens, 0);
  const named = buckets.filter(({ bucket }) => bucket !== "unseen");
  const unseen = buckets.find(({ bucket }) => bucket === "unseen");
  const words = state.session.value?.facts.absent.join(", ");
  const [first, ...others] = named;
  const largest = largestMessage();
  return (
    <article class="card" id="what-filled">
      <h2>What filled it?</h2>
      <p class="figure">
        {first ? partName(first.bucket) : "…"}{" "}
        <small>{first ? percent(first.sentTokens, total) : ""}</small>
      </p>
      <p>
        {others.slice(0, 3).map(({ bucket, sentTokens }) => (
          <span class="part" key={bucket}>
            <BucketSwatch bucket={bucket} /> {partName(bucket)} {percent(sentTokens, total)}
          </span>
        ))}
      </p>
      {largest ? (
        <p>
          Largest message:{" "}
          <button
            type="button"
            class="link"
            onClick={() => {
              state.selected.value = largest.index;
              reveal("messages", LIST);
            }}
          >
            #{largest.index} {partName(largest.bucket)}
          </button>
          , {count(largest.sent)}
        </p>
      ) : null}
      <p class="dim">
        {unseen && figures
          ? `About ${short(unseen.sentTokens)} (${percent(unseen.sentTokens, total)}) is not in the file${words ? `: ${words}` : ""}.`
          : ""}
      </p>
    </article>
  );
}

function largestMessage(): { index: number; sent: number; bucket: string } | null {
  const table = state.standing.value?.table;
  if (!table) return null;
  let index = -1;
  for (let at = 0; at < table.sent.length; at += 1)
    if (index < 0 || (table.sent[at] ?? 0) > (table.sent[index] ?? 0)) index = at;
  if (index < 0) return null;
  const bucket = table.buckets[table.bucket[index] ?? 0] ?? "";
  return { index, sent: table.sent[index] ?? 0, bucket };
}

function WhatLost(): JSX.Element | null {
  const opened = state.session.value;
  if (!opened) return null;
  const { compactions } = opened.facts;
  const taken = compactions.reduce((sum, one) => {
    const { before, after } = sizes(one, opened.facts.calls.used);
    return sum + (after ? Math.max(0, before - after) : 0);
  }, 0);
  const times = plural(compactions.length, "compaction");
  const last = compactions.at(-1);
  return (
    <article class="card" id="what-lost">
      <h2>What was lost, and what would help?</h2>
      {last ? (
        <>
          <p class="figure">
            {taken ? (
              <>
                −{short(taken)} <small>in {times}</small>
              </>
            ) : (
              times
            )}
          </p>
          <p>
            <button
              type="button"
              class="link"
              onClick={() => {
                if (!opened.isLive) goTo(last.call ?? 0);
                reveal("lost");
              }}
            >
              See what {compactions.length === 1 ? "it" : "they"} took
            </button>
          </p>
        </>
      ) : (
        <p class="figure calm">
          Nothing{" "}
          <small>{opened.isLive ? "no compaction so far" : "the agent never compacted"}</small>
        </p>
      )}
      <Help />
    </article>
  );
}

/** Tokens before and after a recorded compaction: of the calls around it, as the chart has them, else the file's. 0: nobody tells. */
export function sizes(
  one: { call?: number; tokensBefore: number; tokensAfter: number },
  used: Float64Array,
): { before: number; after: number; source: string } {
  const at = one.call ?? 0;
  const [before, after] = [used[at - 1], used[at]];
  return before && after
    ? { before, after, source: "by the calls before and after" }
    : { before: one.tokensBefore, after: one.tokensAfter, source: "by the file" };
}

function Help(): JSX.Element | null {
  const opened = state.session.value;
  const simulated = state.simulation.value;
  const playing = state.playing.value;
  if (!opened) return null;
  if (opened.isLive)
    return (
      <p>
        <button type="button" class="link" onClick={() => reveal("next")}>
          What the next request does
        </button>
      </p>
    );
  const used = opened.facts.calls.used[state.shownCall.value] ?? 0;
  if (!simulated)
    return (
      <p class="dim">
        {playing
          ? `Playing the session with Plimsoll: call ${count(playing.played)} of ${count(opened.facts.calls.used.length)} …`
          : state.notice.value || state.firstSimulation.value}
      </p>
    );
  const here = simulated.used[state.shownCall.value] ?? 0;
  const { bill, folds, unmanagedBill } = simulated.totals;
  return (
    <>
      <p>
        With Plimsoll, {simulated.setting.preset}:{" "}
        <button
          type="button"
          class="link"
          onClick={() => {
            state.view.value = "both";
          }}
        >
          {short(here)} here
        </button>{" "}
        ({change(used, here)})
        {folds === 0
          ? opened.facts.compactions.length > 0
            ? ", without a compaction"
            : ""
          : `, with ${plural(folds, "fold")}`}
      </p>
      <p class="dim">
        Simulated. Bill of input tokens against sending everything: {change(unmanagedBill, bill)}.
      </p>
    </>
  );
}
