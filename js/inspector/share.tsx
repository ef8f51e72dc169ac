/**
 * A copy to send to somebody: one page with the session inside, without its secrets. It can only be saved after the list of what was
 * taken out was shown and confirmed; if anything fails, there is nothing to save.
 */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { pageCarrying } from "../session-files/carried.js";
import type { RedactOptions } from "../types.js";
import { Modal } from "./modal.js";
import { toBase64 } from "./packed.js";
import type { Operations } from "./protocol.js";
import { save } from "./save.js";
import * as state from "./state.js";
import { count, megabytes, plain, plural } from "./words.js";

/** The page as it was loaded, without a session. Read before anything has changed it. */
export const source: string = pristine();

function pristine(): string {
  if (typeof document === "undefined") return "";
  const copy = document.documentElement.cloneNode(true) as HTMLElement;
  copy.querySelector("#plimsoll-session")?.remove();
  return `<!doctype html>\n${copy.outerHTML}`;
}

const TEXTS: ReadonlyArray<[NonNullable<RedactOptions["texts"]>, string]> = [
  ["full", "Texts whole, without secrets"],
  ["stubs", "The first 60 characters of each text"],
  ["numbers", "No words at all: figures only"],
];

/** The page with a session inside. */
export function pageWith(session: Uint8Array, name: string): string {
  const carrying = pageCarrying(source, toBase64(session), name);
  if (carrying === undefined) throw new Error("the page cannot find itself");
  return carrying;
}

export function Share(): JSX.Element | null {
  const opened = state.session.value;
  const texts = useSignal<NonNullable<RedactOptions["texts"]>>("full");
  const copy = useSignal<Operations["redact"]["gives"] | null>(null);
  const error = useSignal("");
  const isReviewed = useSignal(false);
  const asked = useRef(0);
  const chosen = texts.value;
  useEffect(() => {
    if (!opened) return;
    asked.current += 1;
    const number = asked.current;
    copy.value = null;
    error.value = "";
    isReviewed.value = false;
    opened.client.ask("redact", { secrets: true, paths: true, texts: chosen }).then(
      (answer) => {
        if (number === asked.current) copy.value = answer;
      },
      (reason: Error) => {
        if (number === asked.current) error.value = reason.message;
      },
    );
  }, [opened, chosen, copy, error, isReviewed]);
  if (!opened) return null;
  const ready = copy.value;
  const download = () => {
    if (!ready || !isReviewed.value) return;
    try {
      const name = opened.name.replace(/(\.jsonl?|\.traj)+$/, "");
      save(`${name}.html`, pageWith(ready.packed, `${name} (redacted)`), "text/html");
    } catch (reason) {
      error.value = (reason as Error).message;
    }
  };
  return (
    <Modal title="Share a copy">
      <p>
        One HTML file with this page and the session in it. It opens anywhere and connects to
        nothing.
      </p>
      <fieldset>
        <legend>What stays in it</legend>
        {TEXTS.map(([name, words]) => (
          <label key={name} class="radio">
            <input
              type="radio"
              name="texts"
              checked={chosen === name}
              onChange={() => {
                texts.value = name;
              }}
            />{" "}
            {words}
          </label>
        ))}
      </fieldset>
      {error.value ? (
        <p class="bad" role="alert">
          No copy was made: {error.value}
        </p>
      ) : null}
      {ready ? (
        <Review copy={ready} />
      ) : error.value ? null : (
        <p role="status">Looking for secrets …</p>
      )}
      <label class="check">
        <input
          type="checkbox"
          disabled={!ready}
          checked={isReviewed.value}
          onChange={() => {
            isReviewed.value = !isReviewed.value;
          }}
        />{" "}
        I have read the list. A secret in a form that is not known is still in the copy.
      </label>
      <p class="row-head">
        <button
          type="button"
          class="primary"
          disabled={!ready || !isReviewed.value}
          onClick={download}
        >
          Save {ready ? `(${megabytes(ready.packed.length * 1.34 + source.length)})` : ""}
        </button>
      </p>
    </Modal>
  );
}

function Review({
  copy: { hits, excerpts },
}: {
  copy: Operations["redact"]["gives"];
}): JSX.Element {
  const kinds = new Map<string, number>();
  const places = new Set(hits.map(({ place }) => place)).size;
  for (const { kind } of hits) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  return (
    <section aria-label="What was taken out">
      <h3>
        {hits.length === 0
          ? "Nothing was taken out: no secret of a known form was found"
          : `${plural(hits.length, "place")} taken out: ${[...kinds].map(([kind, amount]) => `${count(amount)} ${kind}`).join(", ")}`}
      </h3>
      {places > excerpts.length ? (
        <p class="bad">Only the first {count(excerpts.length)} are listed.</p>
      ) : null}
      {excerpts.length > 0 ? (
        <div
          class="scroll review"
          tabIndex={0}
          role="region"
          aria-label="Places, as they are in the copy"
        >
          <table>
            <thead>
              <tr>
                <th scope="col">Place</th>
                <th scope="col">As it is in the copy</th>
              </tr>
            </thead>
            <tbody>
              {excerpts.map((line) => {
                const [place = "", text = ""] = line.split("\t");
                return (
                  <tr key={place}>
                    <td>{place}</td>
                    <td class="mono">{plain(text)}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      ) : null}
    </section>
  );
}
