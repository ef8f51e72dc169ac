/** Parts of the window: as a table, or as a treemap. */
import type { JSX } from "preact";
import type { Bucket } from "../generated.js";
import { categoryOf, letterOf, partName } from "./categories.js";
import { BucketSwatch, Share } from "./icons.js";
import { squarify } from "./squarify.js";
import * as state from "./state.js";
import { count, percent, short } from "./words.js";

export function Parts(): JSX.Element | null {
  const standing = state.standing.value;
  if (!standing) return null;
  const buckets = [...standing.buckets].sort((a, b) => b.sentTokens - a.sentTokens);
  const total = buckets.reduce((sum, { sentTokens }) => sum + Math.max(0, sentTokens), 0);
  return (
    <section class="card parts" aria-label="Parts">
      <header class="row-head">
        <h2>Parts</h2>
        <div class="choices" role="group" aria-label="Form">
          <button
            type="button"
            aria-pressed={!state.treemap.value}
            onClick={() => {
              state.treemap.value = false;
            }}
          >
            Table
          </button>
          <button
            type="button"
            aria-pressed={state.treemap.value}
            onClick={() => {
              state.treemap.value = true;
            }}
          >
            Treemap
          </button>
        </div>
      </header>
      {state.treemap.value ? (
        <Treemap buckets={buckets} total={total} />
      ) : (
        <Table buckets={buckets} total={total} />
      )}
    </section>
  );
}

function choose(bucket: string): void {
  state.bucket.value = state.bucket.value === bucket ? null : bucket;
  state.tab.value = "messages";
}

function Table({ buckets, total }: { buckets: Bucket[]; total: number }): JSX.Element {
  const most = buckets[0]?.sentTokens ?? 1;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Parts, as a table">
      <table>
        <thead>
          <tr>
            <th scope="col">Part</th>
            <th scope="col" class="number">
              Tokens
            </th>
            <th scope="col" class="number">
              Share
            </th>
            <th scope="col" class="wide">
              <span class="hidden">Bar</span>
            </th>
            <th scope="col">Changed</th>
          </tr>
        </thead>
        <tbody>
          {buckets.map((one) => (
            <tr key={one.bucket} class={state.bucket.value === one.bucket ? "on" : ""}>
              <td>
                <button
                  type="button"
                  class="cell"
                  aria-pressed={state.bucket.value === one.bucket}
                  title={one.bucket}
                  onClick={() => choose(one.bucket)}
                >
                  <BucketSwatch bucket={one.bucket} /> <span>{partName(one.bucket)}</span>
                </button>
              </td>
              <td class="number">{count(one.sentTokens)}</td>
              <td class="number">{percent(Math.max(0, one.sentTokens), total)}</td>
              <td class="wide">
                <Share category={categoryOf(one.bucket)} part={one.sentTokens} of={most} />
              </td>
              <td class="dim">{changed(one)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function changed({ capped, stubbed, gone }: Bucket): string {
  const words = [
    ...(stubbed ? [`${count(stubbed)} one line`] : []),
    ...(capped ? [`${count(capped)} cut`] : []),
    ...(gone ? [`${count(gone)} left out`] : []),
  ];
  return words.join(", ");
}

function Treemap({ buckets, total }: { buckets: Bucket[]; total: number }): JSX.Element {
  const positive = buckets.filter(({ sentTokens }) => sentTokens > 0);
  const boxes = squarify(
    positive.map(({ sentTokens }) => sentTokens),
    460,
    380,
  );
  return (
    <div class="treemap">
      {positive.map((one, at) => {
        const box = boxes[at] ?? { x: 0, y: 0, width: 0, height: 0 };
        const category = categoryOf(one.bucket);
        const words = `${partName(one.bucket)}: ${count(one.sentTokens)} tokens, ${percent(one.sentTokens, total)}`;
        const style = {
          left: `${box.x / 4.6}%`,
          top: `${box.y / 3.8}%`,
          width: `${box.width / 4.6}%`,
          height: `${box.height / 3.8}%`,
        };
        // Too small to be hit: the table has it.
        if (box.width < 50 || box.height < 50)
          return <span key={one.bucket} class={`tile c${category}`} style={style} title={words} />;
        return (
          <button
            type="button"
            key={one.bucket}
            class={`tile c${category} ${state.bucket.value === one.bucket ? "on" : ""}`}
            style={style}
            title={words}
            aria-label={words}
            aria-pressed={state.bucket.value === one.bucket}
            onClick={() => choose(one.bucket)}
          >
            {box.width > 60 && box.height > 28 ? (
              <>
                <b>
                  {letterOf(category)} {partName(one.bucket)}
                </b>
                <span>{short(one.sentTokens)}</span>
              </>
            ) : box.width > 14 && box.height > 16 ? (
              <b>{letterOf(category)}</b>
            ) : null}
          </button>
        );
      })}
    </div>
  );
}
