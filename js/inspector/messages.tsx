/** Every message of the history at a call, and how it was sent. Only the rows on the screen exist. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { wantExcerpts } from "./actions.js";
import { categoryOf, partName } from "./categories.js";
import { BucketSwatch, Share } from "./icons.js";
import type { Table } from "./protocol.js";
import * as state from "./state.js";
import { count, oneLine, plural, STATES } from "./words.js";

const ROW = 32;
/** More than a session has messages. */
const PLACES = 2 ** 21;

/** The messages that the list shows, in its order. */
export function rowsOf(
  table: Table,
  by: {
    filter: state.Filter;
    bucket: string | null;
    range: readonly [number, number] | null;
    hits: ReadonlySet<number> | null;
    largestFirst: boolean;
  },
): Uint32Array {
  const bucket = by.bucket === null ? -1 : table.buckets.indexOf(by.bucket);
  const found: number[] = [];
  const [from, to] = by.range ?? [0, table.tokens.length];
  for (let at = from; at < Math.min(to, table.tokens.length); at += 1) {
    if (by.bucket !== null && table.bucket[at] !== bucket) continue;
    if (by.filter === "changed" && table.state[at] === 0) continue;
    if (by.filter === "hits" && by.hits && !by.hits.has(at)) continue;
    found.push(at);
  }
  const rows = new Uint32Array(found);
  const { sent, tokens } = table;
  const size = (at: number) => (by.filter === "changed" || by.range ? tokens : sent)[at] ?? 0;
  if (!by.largestFirst) return rows;
  // One number for size and place: numbers alone are sorted ten times as fast as by a function.
  const keys = new Float64Array(rows.length);
  rows.forEach((at, place) => {
    keys[place] = at - size(at) * PLACES;
  });
  keys.sort().forEach((key, place) => {
    rows[place] = ((key % PLACES) + PLACES) % PLACES;
  });
  return rows;
}

export function Messages(): JSX.Element | null {
  const standing = state.standing.value;
  const hits = state.hits.value;
  const [filter, bucket, range] = [state.filter.value, state.bucket.value, state.range.value];
  const largestFirst = state.largestFirst.value;
  const rows = useMemo(() => {
    if (!standing) return new Uint32Array();
    const found = hits && new Set(hits.map(({ index }) => index));
    return rowsOf(standing.table, { filter, bucket, range, hits: found, largestFirst });
  }, [standing, filter, bucket, range, hits, largestFirst]);
  if (!standing) return null;
  const filters: ReadonlyArray<readonly [state.Filter, string]> = [
    ["all", "All"],
    ["changed", "Changed"],
    ...(hits ? ([["hits", `Found ${count(hits.length)}`]] as const) : []),
  ];
  return (
    <section class="card messages" aria-label="Messages">
      <header class="row-head">
        <h2>Messages</h2>
        <div class="choices" role="group" aria-label="Which">
          {filters.map(([name, words]) => (
            <button
              type="button"
              key={name}
              aria-pressed={filter === name}
              onClick={() => {
                state.filter.value = name;
              }}
            >
              {words}
            </button>
          ))}
        </div>
        <button
          type="button"
          aria-pressed={largestFirst}
          onClick={() => {
            state.largestFirst.value = !largestFirst;
          }}
        >
          Largest first
        </button>
        <Chips />
        <p class="where">{plural(rows.length, "message")} at this call</p>
      </header>
      {rows.length === 0 ? (
        <p class="empty">{emptyList(filter, hits)}</p>
      ) : (
        <Rows rows={rows} table={standing.table} />
      )}
    </section>
  );
}

function emptyList(filter: state.Filter, hits: readonly unknown[] | null): string {
  if (filter === "changed") return "Every message was sent whole at this call.";
  if (filter === "hits" && hits?.length === 0) return "No message contains this text.";
  return "No message of this kind at this call.";
}

function Chips(): JSX.Element {
  const chips = [
    ...(state.bucket.value === null
      ? []
      : [{ of: state.bucket, words: partName(state.bucket.value) }]),
    ...(state.range.value === null
      ? []
      : [{ of: state.range, words: `#${state.range.value[0]} to #${state.range.value[1] - 1}` }]),
  ];
  return (
    <>
      {chips.map(({ of, words }) => (
        <button
          type="button"
          key={words}
          class="chip"
          aria-label={`Remove the filter ${words}`}
          onClick={() => {
            of.value = null;
          }}
        >
          {words} ×
        </button>
      ))}
    </>
  );
}

function Rows({ rows, table }: { rows: Uint32Array; table: Table }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = useSignal(480);
  const selected = state.selected.value;
  state.excerptsKnown.value;
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      height.value = element.clientHeight;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [height]);
  useEffect(() => {
    const element = box.current;
    const at = selected === null ? -1 : rows.indexOf(selected);
    if (!element || at < 0) return;
    if (at * ROW < element.scrollTop) element.scrollTop = at * ROW;
    else if ((at + 1) * ROW > element.scrollTop + element.clientHeight)
      element.scrollTop = (at + 1) * ROW - element.clientHeight;
  }, [selected, rows]);
  const first = Math.max(0, Math.min(rows.length - 1, Math.floor(top.value / ROW)) - 4);
  const room = Math.ceil(height.value / ROW) + 8;
  const shown = rows.subarray(first, first + room);
  const most = useMemo(() => {
    let value = 1;
    for (const at of rows) value = Math.max(value, table.tokens[at] ?? 0);
    return value;
  }, [rows, table]);
  if (!state.session.value?.isLive) wantExcerpts([...shown]);
  const move = (step: number) => {
    const at = selected === null ? -1 : rows.indexOf(selected);
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + step))];
    if (next !== undefined) state.selected.value = next;
  };
  return (
    <div
      class="list"
      ref={box}
      tabIndex={0}
      role="listbox"
      aria-label="Messages"
      aria-activedescendant={
        selected !== null && shown.includes(selected) ? `message-${selected}` : undefined
      }
      onScroll={(event) => {
        top.value = event.currentTarget.scrollTop;
      }}
      onKeyDown={(event) => {
        const page = Math.floor(height.value / ROW) - 1;
        const steps: Record<string, number> = {
          ...{ ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page },
        };
        const step = steps[event.key];
        if (step === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        move(step);
      }}
    >
      <div style={{ height: `${rows.length * ROW}px` }} role="presentation">
        <div style={{ transform: `translateY(${first * ROW}px)` }} role="presentation">
          {Array.from(shown, (index, at) => (
            <Row
              // By place, not by message: to use the elements of rows that left is faster than to make new ones.
              key={(first + at) % room}
              index={index}
              place={first + at}
              of={rows.length}
              table={table}
              most={most}
              isSelected={index === selected}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

function Row({
  index,
  place,
  of,
  table,
  most,
  isSelected,
}: {
  index: number;
  place: number;
  of: number;
  table: Table;
  most: number;
  isSelected: boolean;
}): JSX.Element {
  // A component with signals is drawn again only if one of them, or its input, is another.
  state.excerptsKnown.value;
  const bucket = table.buckets[table.bucket[index] ?? 0] ?? "";
  const category = categoryOf(bucket);
  const sent = table.sent[index] ?? 0;
  const tokens = table.tokens[index] ?? 0;
  const name = table.states[table.state[index] ?? 0] ?? "kept";
  const hit =
    state.filter.value === "hits" ? state.hits.value?.find((one) => one.index === index) : null;
  const excerpt = state.session.value?.isLive
    ? `turn ${count(table.turn[index] ?? 0)}`
    : state.excerpts.get(index);
  const text = hit?.excerpt ?? excerpt;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles keys, its rows are never focused
    // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus and names the active row
    <div
      class={`message ${name} ${isSelected ? "on" : ""}`}
      id={`message-${index}`}
      role="option"
      aria-selected={isSelected}
      aria-setsize={of}
      aria-posinset={place + 1}
      onClick={() => {
        state.selected.value = index;
      }}
    >
      <span class="index">#{index}</span>
      <BucketSwatch bucket={bucket} />
      <span class="kind">{partName(bucket)}</span>
      <Share category={category} part={sent} whole={tokens} of={most} />
      <span class="number">
        {name === "kept" || sent === tokens ? count(sent) : `${count(tokens)} → ${count(sent)}`}
      </span>
      <span class="fate">{name === "kept" ? "" : STATES[name]}</span>
      <span class="text">{text === undefined ? "…" : oneLine(text)}</span>
    </div>
  );
}
