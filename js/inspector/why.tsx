/** One message: how it is sent, why, and its text before and after. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { type Explanation, RULES } from "../generated.js";
import { findWindow, goTo, reveal, stopSearch, tryOut } from "./actions.js";
import { partName } from "./categories.js";
import { difference } from "./difference.js";
import { BucketSwatch } from "./icons.js";
import { type Detail, LEAST } from "./protocol.js";
import { copy } from "./save.js";
import * as state from "./state.js";
import { count, percent, plain, STATES } from "./words.js";

export function Why(): JSX.Element | null {
  const index = state.selected.value;
  const opened = state.session.value;
  const [run, call] = [state.run.value, state.call.value];
  const simulated = state.simulation.value;
  const detail = useSignal<Detail | null>(null);
  const error = useSignal("");
  useEffect(() => {
    if (index === null || !opened) return;
    let isCurrent = true;
    opened.client.ask("detail", { run, call, index }).then(
      (answer) => {
        if (!isCurrent) return;
        detail.value = answer;
        error.value = "";
      },
      (reason: Error) => {
        if (isCurrent) error.value = reason.message;
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [index, opened, run, call, simulated, detail, error]);
  if (index === null || !opened) return null;
  const shown = detail.value?.index === index ? detail.value : null;
  return (
    <aside class="card why" aria-label={`Message ${index}`}>
      <header class="row-head">
        <h2>
          Message #{index} <Kind index={index} />
        </h2>
        <button
          type="button"
          class="close"
          aria-label="Close"
          onClick={() => {
            state.selected.value = null;
          }}
        >
          ×
        </button>
      </header>
      {error.value ? <p class="bad">{error.value}</p> : null}
      <Reason index={index} explanation={shown?.explanation ?? null} />
      {shown ? <Texts detail={shown} /> : null}
    </aside>
  );
}

function Kind({ index }: { index: number }): JSX.Element | null {
  const table = state.standing.value?.table;
  const bucket = table?.buckets[table.bucket[index] ?? -1];
  if (bucket === undefined) return null;
  return (
    <span class="of">
      <BucketSwatch bucket={bucket} /> {partName(bucket)}
    </span>
  );
}

/** How a message is sent, in one sentence, with the number to act on. */
function Reason({
  index,
  explanation,
}: {
  index: number;
  explanation: Explanation | null;
}): JSX.Element | null {
  const standing = state.standing.value;
  const used = state.figures.value?.used ?? 0;
  const table = standing?.table;
  if (!standing || !table) return null;
  if (index >= table.tokens.length)
    return (
      <p class="sentence">
        This message came after call {state.call.value + 1}: it was not there yet.
      </p>
    );
  const name = explanation?.state ?? table.states[table.state[index] ?? 0] ?? "kept";
  const [tokens, sent] = [table.tokens[index] ?? 0, table.sent[index] ?? 0];
  const rank = 1 + table.sent.reduce((more, value) => more + (value > sent ? 1 : 0), 0);
  const since = explanation?.since?.call ?? null;
  const isLive = state.session.value?.isLive === true;
  const from = isLive ? "live" : standing.run === "recorded" ? "recorded" : "simulated";
  const changed = name !== "kept";
  return (
    <>
      <p class="fate-line">
        <b class={changed ? "fate" : "fate whole"}>{STATES[name]}</b>
        {changed ? (
          <span class="big">
            {count(tokens)} → {count(sent)} <small>tokens</small>
          </span>
        ) : (
          <span class="big">
            {count(sent)} <small>tokens, {percent(sent, used)} of this request</small>
          </span>
        )}
      </p>
      <p class="sentence">{sentence(name, explanation, from)}</p>
      <dl>
        {changed ? (
          <>
            <dt>Saves</dt>
            <dd>
              {count(tokens - sent)} tokens in every call
              {since === null ? null : (
                <>
                  {" "}
                  since{" "}
                  <button type="button" class="link" onClick={() => goTo(since)}>
                    call {count(since + 1)}
                  </button>
                </>
              )}
            </dd>
          </>
        ) : (
          <>
            <dt>Size</dt>
            <dd>
              number {count(rank)} of {count(table.tokens.length)} messages
            </dd>
          </>
        )}
        <dt>Turn</dt>
        <dd>{count(table.turn[index] ?? 0)}</dd>
        {explanation && explanation.evidence.length > 0 ? (
          <>
            <dt>Because</dt>
            <dd>
              <ul>
                {explanation.evidence.map((line) => (
                  <li key={line}>{evidence(line)}</li>
                ))}
              </ul>
            </dd>
          </>
        ) : null}
        {explanation && changed && !isLive ? (
          <>
            <dt>To keep it</dt>
            <dd>
              {explanation.restore}
              {explanation.restore.startsWith("nothing") ? null : <FromWindow />}
            </dd>
          </>
        ) : null}
      </dl>
    </>
  );
}

/** The smallest window that keeps the message: asked for, under way, or found. */
function FromWindow(): JSX.Element {
  const search = state.search.value;
  const setting = search?.of.setting;
  if (!search || !setting)
    return (
      <p>
        <button type="button" class="find" onClick={findWindow}>
          Find the window that keeps it
        </button>
      </p>
    );
  const { found, error } = search;
  if (error) return <p class="bad">{error}</p>;
  if (found === undefined)
    return (
      <p class="playing" role="status">
        <progress aria-label="Search" />
        trying a window of {count(search.window)}
        <button type="button" class="link" onClick={stopSearch}>
          stop
        </button>
      </p>
    );
  const isOther = found?.preset !== setting.preset;
  const orOther = found || setting.preset === LEAST ? "" : ` or ${LEAST}`;
  return (
    <p role="status">
      {isOther ? `No larger window keeps it with the preset ${setting.preset}${orOther}. ` : ""}
      {found ? (
        <>
          {isOther ? `With the preset ${found.preset}, a` : "A"} window of at least{" "}
          <b data-figure="keeps">{count(found.contextTokens)}</b> tokens keeps it whole.{" "}
          <button
            type="button"
            class="link"
            onClick={() => {
              const { contextTokens, preset } = found;
              reveal("what-if");
              tryOut({ ...setting, preset, window: { ...setting.window, contextTokens } });
            }}
          >
            Try it
          </button>
        </>
      ) : null}
    </p>
  );
}

const WOULD = {
  kept: "send it whole",
  capped: "send its head and tail",
  stubbed: "send one line in its place",
  thinned: "leave out parts of it",
  summarized: "put it into the summary",
  dropped: "leave it out",
};
const SENT = {
  kept: "It was sent whole",
  capped: "Its head and tail were sent",
  stubbed: "One line was sent in its place",
  thinned: "Parts of it were left out",
  summarized: "It is part of the summary",
  dropped: "It was left out",
};

function sentence(
  name: Explanation["state"],
  explanation: Explanation | null,
  from: "recorded" | "simulated" | "live",
): string {
  if (from === "recorded")
    return name === "kept"
      ? "The agent sent it whole."
      : "The agent’s compaction replaced it by a summary. The original is below.";
  const how = from === "live" ? SENT[name] : `Plimsoll would ${WOULD[name]}`;
  const because = explanation && name !== "kept" ? RULES[explanation.rule] : undefined;
  return because ? `${how}: ${because}.` : `${how}.`;
}

/** The core's words for a block in those of the page. */
function evidence(line: string): string {
  return line
    .replace(/^toolResult: /, "The result: ")
    .replace(/^toolCall: /, "The call: ")
    .replace(/^thinking: /, "Its thinking: ")
    .replace(/^text: /, "Its text: ");
}

/** Hits that are marked: of a letter there may be a hundred thousand. */
const MOST_MARKS = 2_000;

/** Marks what a search has found, and scrolls the first hit into view. */
function markHits(box: HTMLElement, words: string): void {
  const pattern = new RegExp(words.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "giu");
  const texts = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  const ranges: Range[] = [];
  for (let node = texts.nextNode(); node; node = texts.nextNode())
    for (const { index, 0: hit } of (node.nodeValue ?? "").matchAll(pattern)) {
      if (ranges.length === MOST_MARKS) break;
      const range = new Range();
      range.setStart(node, index);
      range.setEnd(node, index + hit.length);
      ranges.push(range);
    }
  // A browser without highlights scrolls all the same.
  CSS.highlights?.set("hit", new Highlight(...ranges));
  const [panel, first] = [box.closest(".why"), ranges[0]?.getBoundingClientRect()];
  if (!panel || !first) return;
  panel.scrollTop += first.top - panel.getBoundingClientRect().top - panel.clientHeight / 3;
}

function Texts({ detail }: { detail: Detail }): JSX.Element {
  const isRaw = useSignal(false);
  const copied = useSignal("");
  const { raw, chars, sent } = detail;
  const hasSent = sent !== null && sent !== raw;
  const shown = hasSent ? state.face.value : "raw";
  const show = (text: string) => (isRaw.value ? text : plain(text));
  const text = shown === "sent" ? (sent ?? "") : raw;
  const box = useRef<HTMLPreElement>(null);
  const words = state.hits.value ? state.query.value : "";
  useEffect(() => {
    if (box.current && words) markHits(box.current, words);
    return () => CSS.highlights?.clear();
  }, [detail, shown, isRaw.value, words]);
  const faces: ReadonlyArray<[state.Face, string]> = [
    ["raw", "Original"],
    ["sent", "As sent"],
    ["diff", "Difference"],
  ];
  return (
    <>
      <div class="row-head">
        <div class="choices" role="group" aria-label="Text">
          {faces.map(([name, words]) => (
            <button
              type="button"
              key={name}
              aria-pressed={shown === name}
              disabled={name !== "raw" && !hasSent}
              onClick={() => {
                state.face.value = name;
              }}
            >
              {words}
            </button>
          ))}
        </div>
        <label class="check">
          <input
            type="checkbox"
            checked={isRaw.value}
            onChange={() => {
              isRaw.value = !isRaw.value;
            }}
          />{" "}
          control characters
        </label>
        <button type="button" onClick={() => copy(text, copied)}>
          {text && copied.value === text ? "Copied" : "Copy"}
        </button>
      </div>
      {shown === "diff" ? (
        <pre tabIndex={0} ref={box}>
          {difference(raw, sent ?? "").map((line, at) => (
            <span key={at} class={`line ${line.kind}`}>
              {{ same: "  ", gone: "− ", new: "+ " }[line.kind]}
              {show(line.text)}
              {"\n"}
            </span>
          ))}
        </pre>
      ) : (
        <pre tabIndex={0} ref={box}>
          {show(text) || "(no text)"}
        </pre>
      )}
      {chars > raw.length && shown !== "sent" ? (
        <p class="dim">
          The first {count(raw.length)} of {count(chars)} characters.
        </p>
      ) : null}
    </>
  );
}
