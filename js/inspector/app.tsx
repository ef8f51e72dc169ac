/** The whole page. */
import type { JSX } from "preact";
import { cancelOpening, reveal } from "./actions.js";
import { Bar } from "./bar.js";
import { Cards } from "./cards.js";
import { Chart } from "./chart.js";
import { Compare } from "./compare.js";
import { File } from "./file.js";
import { Header, OpenButton } from "./header.js";
import { Help } from "./help.js";
import { Lost } from "./lost.js";
import { Messages } from "./messages.js";
import { Next } from "./next.js";
import { Parts } from "./parts.js";
import { Share } from "./share.js";
import * as state from "./state.js";
import { System } from "./system.js";
import { WhatIf } from "./what-if.js";
import { Why } from "./why.js";

export const TABS: ReadonlyArray<[state.Tab, string]> = [
  ["messages", "Messages"],
  ["lost", "What was lost"],
  ["what-if", "What if"],
  ["next", "Next request"],
  ["compare", "Compare"],
  ["file", "The file"],
];

/** The tabs of the session that is open. A live one has a report, and no file. */
export function tabs(): typeof TABS {
  const opened = state.session.value;
  if (!opened?.isLive) return TABS;
  const { compactions = [], sections = [] } = opened.report ?? {};
  const shown = TABS.filter(
    ([name]) => name === "messages" || name === "next" || (name === "lost" && compactions.length),
  );
  return sections.length > 0 ? [...shown, ["system", "System prompt"]] : shown;
}

/** The tab that is shown; a live session may lose one. */
function shownTab(): state.Tab {
  const tab = state.tab.value;
  return tabs().some(([name]) => name === tab) ? tab : "messages";
}

export function App(): JSX.Element {
  const opened = state.session.value;
  return (
    <>
      <Header />
      <Loading />
      {state.failure.value ? (
        <p class="failure" role="alert">
          {state.failure.value}
          <button
            type="button"
            class="close"
            aria-label="Close"
            onClick={() => {
              state.failure.value = "";
            }}
          >
            ×
          </button>
        </p>
      ) : null}
      {opened ? (
        <main>
          <Cards />
          <Bar />
          <Chart />
          <Tabs />
          <Panel />
        </main>
      ) : state.loading.value || state.live.value ? null : (
        <Landing />
      )}
      {state.dialog.value === "share" ? <Share /> : null}
      {state.dialog.value === "help" ? <Help /> : null}
    </>
  );
}

function Loading(): JSX.Element | null {
  const loading = state.loading.value;
  if (!loading) return null;
  return (
    <div class="loading" role="status">
      <progress aria-label="Reading" />
      <span>
        {loading.name}: {loading.step} …
      </span>
      <button type="button" onClick={cancelOpening}>
        Cancel
      </button>
    </div>
  );
}

function Landing(): JSX.Element {
  return (
    <main class="landing">
      <h2>Where did the context go?</h2>
      <p>
        Drop an agent’s session file here. You see how full its window was, what filled it, what a
        compaction took, and what would help.
      </p>
      <div class="drop">
        <OpenButton words="Choose a session file" />
        <span class="dim">or drop it anywhere on this page</span>
      </div>
      <dl>
        <div>
          <dt>Read</dt>
          <dd>
            Claude Code, Codex, pi, OpenClaw, Copilot CLI, Kimi CLI, opencode, OpenHands, SWE-agent,
            Inspect, LangChain, AI SDK, Gemini, and lists of Anthropic or OpenAI messages
          </dd>
        </div>
        <div>
          <dt>Where they are</dt>
          <dd>
            <code>~/.claude/projects/</code> <code>~/.codex/sessions/</code>{" "}
            <code>~/.pi/agent/sessions/</code>
          </dd>
        </div>
        <div>
          <dt>Private</dt>
          <dd>The file stays in this page. The browser forbids the page every connection.</dd>
        </div>
      </dl>
    </main>
  );
}

function Tabs(): JSX.Element {
  const move = (step: number) => {
    const shown = tabs();
    const at = shown.findIndex(([name]) => name === shownTab());
    const next = shown[(at + step + shown.length) % shown.length];
    if (!next) return;
    document.getElementById(`tab-${next[0]}`)?.focus();
    reveal(next[0]);
  };
  return (
    <div
      class="tabs"
      role="tablist"
      aria-label="More"
      onKeyDown={(event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (step === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        move(step);
      }}
    >
      {tabs().map(([name, words]) => (
        <button
          type="button"
          role="tab"
          key={name}
          id={`tab-${name}`}
          aria-controls="panel"
          aria-selected={shownTab() === name}
          tabIndex={shownTab() === name ? 0 : -1}
          onClick={() => reveal(name)}
        >
          {words}
        </button>
      ))}
    </div>
  );
}

function Panel(): JSX.Element {
  const tab = shownTab();
  const isWhy = state.selected.value !== null;
  return (
    <div id="panel" role="tabpanel" tabIndex={-1} aria-labelledby={`tab-${tab}`}>
      {tab === "messages" ? (
        <div class={isWhy ? "columns with-why" : "columns"}>
          {isWhy ? null : <Parts />}
          <Messages />
          {isWhy ? <Why /> : null}
        </div>
      ) : null}
      {tab === "lost" ? <Lost /> : null}
      {tab === "what-if" ? <WhatIf /> : null}
      {tab === "next" ? <Next /> : null}
      {tab === "compare" ? <Compare /> : null}
      {tab === "file" ? <File /> : null}
      {tab === "system" ? <System /> : null}
    </div>
  );
}
