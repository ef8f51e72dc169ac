/** The top of the page: which file, what of it was read, and the commands. */
import { useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { find, LIST, open, reveal } from "./actions.js";
import { toggleLive } from "./live.js";
import * as state from "./state.js";
import { count, plain, plural } from "./words.js";

export function openFile(file: globalThis.File): void {
  void open(file.name, file);
}

export function Header(): JSX.Element {
  const opened = state.session.value;
  return (
    <header class="top">
      <p class="brand">
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <circle cx="10" cy="10" r="7" />
          <path d="M0 10h20" />
        </svg>
        <span>plimsoll</span>
      </p>
      {opened && !opened.isLive ? <Facts opened={opened} /> : null}
      {state.live.value ? <LiveFacts live={state.live.value} /> : null}
      {opened || state.live.value ? null : <h1 class="file">Context inspector</h1>}
      <div class="commands">
        {opened && !opened.isLive ? <Search /> : null}
        <OpenButton words={opened ? "Open" : "Open a file"} />
        {opened && !opened.isLive ? (
          <button
            type="button"
            onClick={() => {
              state.dialog.value = "share";
            }}
          >
            Share
          </button>
        ) : null}
        <button
          type="button"
          aria-label="Keys and words"
          onClick={() => {
            state.dialog.value = "help";
          }}
        >
          ?
        </button>
      </div>
    </header>
  );
}

/** What is followed, whether it answers, and a way to stop that. */
function LiveFacts({ live }: { live: state.Live }): JSX.Element {
  const facts = state.session.value?.facts;
  const time = live.lastAt === null ? "" : new Date(live.lastAt).toLocaleTimeString("en-GB");
  const word = live.isStopped ? "stopped" : live.error ? "no answer" : "live";
  return (
    <div class="facts">
      <h1 class="file">{plain(live.name)}</h1>
      <p>
        <span class={`live ${live.isStopped ? "" : live.error ? "warn" : "ok"}`}>
          {live.lastAt === null && !live.error ? "waiting" : word}
        </span>
        <span>
          {plain(live.from)}
          {time ? ` · last answer ${time}` : ""}
          {facts ? ` · ${plural(facts.messages, "message")}` : ""}
        </span>
        <button type="button" class="link" onClick={toggleLive}>
          {live.isStopped ? "Resume" : "Stop"}
        </button>
        {live.error ? (
          <span class="warn" role="status">
            {plain(live.error)}
          </span>
        ) : null}
      </p>
    </div>
  );
}

function Facts({ opened: { name, facts } }: { opened: state.Opened }): JSX.Element {
  const { receipt } = facts;
  const bad = receipt.broken.length + receipt.unknown + (receipt.unreadable?.length ?? 0);
  return (
    <div class="facts">
      <h1 class="file">{plain(name)}</h1>
      <p>
        <span>
          {facts.format} · {plural(facts.messages, "message")} ·{" "}
          {plural(facts.calls.used.length, "call")}
        </span>
        <button
          type="button"
          class={bad > 0 ? "link warn" : "link ok"}
          onClick={() => reveal("file")}
        >
          {bad > 0
            ? `${count(receipt.read)} of ${count(receipt.lines)} lines read`
            : `all ${plural(receipt.lines, "line")} read`}
        </button>
        {facts.absent.length > 0 ? <span>not in the file: {facts.absent.join(", ")}</span> : null}
      </p>
    </div>
  );
}

export function OpenButton({
  words,
  kind = "primary",
  choose = openFile,
}: {
  words: string;
  kind?: string;
  choose?: (file: globalThis.File) => void;
}): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" class={kind} onClick={() => input.current?.click()}>
        {words}
      </button>
      <input
        ref={input}
        type="file"
        class="hidden"
        tabIndex={-1}
        aria-label="Session file"
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          event.currentTarget.value = "";
          if (file) choose(file);
        }}
      />
    </>
  );
}

let waiting: ReturnType<typeof setTimeout> | undefined;

function Search(): JSX.Element {
  const hits = state.hits.value;
  const field = useRef<HTMLInputElement>(null);
  const asked = useRef("");
  const ask = (text: string) => {
    asked.current = text;
    return find(text);
  };
  // The address and a new file change the query, too. Hits of an earlier text must not undo what is typed meanwhile.
  useSignalEffect(() => {
    const text = state.query.value;
    if (!field.current || text === asked.current) return;
    asked.current = text;
    field.current.value = text;
  });
  return (
    <span class="search">
      <input
        ref={field}
        type="search"
        id="search"
        placeholder="Search  /"
        aria-label="Search in all messages"
        onInput={(event) => {
          const text = event.currentTarget.value;
          clearTimeout(waiting);
          waiting = setTimeout(() => void ask(text), 120);
        }}
        onKeyDown={async ({ currentTarget: { value }, key }) => {
          if (key !== "Enter") return;
          clearTimeout(waiting);
          field.current?.blur();
          await ask(value);
          if (state.hits.peek()) reveal("messages", LIST);
        }}
      />
      {hits && state.query.value ? (
        <span class="dim" role="status">
          {plural(hits.length, "message")}
        </span>
      ) : null}
    </span>
  );
}
