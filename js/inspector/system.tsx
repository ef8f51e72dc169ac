/** The system prompt of a live session: its sections, in the order in which a small budget cuts them. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { InspectReport } from "../types.js";
import * as state from "./state.js";
import { count, percent, plain } from "./words.js";

type Section = InspectReport["sections"][number];

export function System(): JSX.Element | null {
  const report = state.session.value?.report;
  if (!report) return null;
  const { budget, requestFocus: focus, estimatedTokens, totalChars, sections } = report;
  // What is whole only from the largest budget on is cut first.
  const rows = [...sections].sort((a, b) => b.wholeFromTotalChars - a.wholeFromTotalChars);
  const open = rows.find(({ key }) => key === state.section.value);
  const about = focus
    ? [focus.querySummary, ...focus.activeFilePaths, ...focus.activeSymbols].filter(Boolean)
    : [];
  return (
    <section class="card" aria-label="System prompt">
      <header class="row-head">
        <h2>System prompt</h2>
        <p class="dim">
          If room is short, sections are cut from the top of this list; protected ones last.
        </p>
      </header>
      <p class="figure">
        {count(estimatedTokens)}{" "}
        <small>tokens, {percent(estimatedTokens, report.contextWindowTokens)} of the window</small>
      </p>
      <p>
        {count(totalChars)}
        {budget
          ? ` of at most ${count(budget.maxTotalChars)} characters; one section has at most ${count(budget.maxPerTierChars)}.`
          : " characters."}
      </p>
      {about.length > 0 ? <p class="dim">About: {plain(about.join(" · "))}</p> : null}
      <table class="results">
        <thead>
          <tr>
            <th scope="col">Section</th>
            <th scope="col" class="number">
              Priority
            </th>
            <th scope="col" class="number">
              Charac&shy;ters
            </th>
            <th scope="col" class="number extra">
              Tokens
            </th>
            <th scope="col">Sent</th>
            <th scope="col" class="number extra">
              Whole from a budget of
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((one) => (
            <Row key={one.key} one={one} isOpen={one === open} />
          ))}
        </tbody>
      </table>
      {open ? <Text section={open} /> : null}
    </section>
  );
}

function Row({ one, isOpen }: { one: Section; isOpen: boolean }): JSX.Element {
  const { key, priority, basePriority, originalChars, finalChars, included, truncated } = one;
  const lift = priority - basePriority;
  const fate = included ? (truncated ? "cut" : "whole") : "left out";
  return (
    <tr class={isOpen ? "on" : ""}>
      <th scope="row">
        <button
          type="button"
          class="link"
          aria-expanded={isOpen}
          onClick={() => {
            state.section.value = isOpen ? null : key;
          }}
        >
          {plain(key)}
        </button>
      </th>
      <td class="number">
        {basePriority}
        {lift > 0 ? ` + ${lift}` : ""}
      </td>
      <td class="number">
        {truncated ? `${count(originalChars)} → ` : ""}
        {count(finalChars)}
      </td>
      <td class="number extra">{count(one.estimatedTokens)}</td>
      <td>
        <span class={truncated ? "fate" : ""}>{fate}</span>
        {one.protected ? <span class="dim"> protected</span> : null}
      </td>
      <td class="number extra">{count(one.wholeFromTotalChars)}</td>
    </tr>
  );
}

/** Why a section is as it is, and its text, which is asked for now. */
function Text({ section }: { section: Section }): JSX.Element {
  const opened = state.session.value;
  const text = useSignal("…");
  const { key, finalChars, inclusionReason, sourceType, scopeType, evidence } = section;
  useEffect(() => {
    let isCurrent = true;
    const show = (answer: string) => {
      if (isCurrent) text.value = answer || "(no text)";
    };
    opened?.client.ask("section", { key }).then(show, ({ message }: Error) => show(message));
    return () => {
      isCurrent = false;
    };
  }, [opened?.client, key, finalChars, text]);
  return (
    <>
      <h3>{plain(key)}</h3>
      <dl class="receipt">
        <dt>Why</dt>
        <dd>{plain(inclusionReason)}</dd>
        <dt>Source</dt>
        <dd>
          {plain(sourceType)}, {plain(scopeType)}
        </dd>
        {evidence.length > 0 ? (
          <>
            <dt>Because</dt>
            <dd>{plain(evidence.join("; "))}</dd>
          </>
        ) : null}
      </dl>
      <pre tabIndex={0}>{plain(text.value)}</pre>
    </>
  );
}
