/** Receipt of the file: what was read of it, and what it does not contain. */
import type { JSX } from "preact";
import { open } from "./actions.js";
import * as state from "./state.js";
import { count, megabytes, percent, plain, plural } from "./words.js";

export function File(): JSX.Element | null {
  const opened = state.session.value;
  if (!opened?.file) return null;
  const { name, facts, file } = opened;
  const { receipt, calibration } = facts;
  const branches = receipt.branches ?? [];
  const bad = [...receipt.broken, ...(receipt.unreadable ?? [])];
  return (
    <section class="card" aria-label="The file">
      <header class="row-head">
        <h2>What was read</h2>
      </header>
      <dl class="receipt">
        <dt>File</dt>
        <dd>
          {plain(name)}, {megabytes(facts.bytes)}, {facts.format}
        </dd>
        <dt>Lines</dt>
        <dd>
          {count(receipt.lines)}: {count(receipt.read)} read, {count(receipt.unknown)} of an unknown
          kind, {count(receipt.broken.length)} broken
        </dd>
        <dt>Models</dt>
        <dd>
          {facts.models.length === 0
            ? "not named in the file"
            : facts.models
                .map((one) => `${plain(one.name)} (${plural(one.calls, "call")})`)
                .join(", ")}
        </dd>
        <dt>Not in the file</dt>
        <dd>
          {facts.absent.length === 0
            ? "nothing that is known to be missing"
            : facts.absent.join(", ")}
        </dd>
        <dt>Token counts</dt>
        <dd>
          {calibration
            ? `The provider counted ${plural(calibration.calls, "call")}. Our estimates were fitted to them: ` +
              `times ${calibration.factor}, plus ${count(calibration.overhead)} for what is not in the file; ` +
              `half of the calls are within ${percent(calibration.errorP50, 1)}, nine of ten within ${percent(calibration.errorP90, 1)}.`
            : "The file has none: every figure is our estimate."}
        </dd>
        {branches.length > 1 ? (
          <>
            <dt>Branches</dt>
            <dd>
              <label>
                Read another branch or run{" "}
                <select onChange={(event) => void open(name, file, event.currentTarget.value)}>
                  {branches.map((id) => (
                    <option key={id} value={id} selected={id === (receipt.leaf ?? branches.at(-1))}>
                      {plain(id)}
                    </option>
                  ))}
                </select>
              </label>
            </dd>
          </>
        ) : null}
        <dt>Time</dt>
        <dd>
          read in {Math.round(facts.milliseconds.read)} ms, counted in{" "}
          {Math.round(facts.milliseconds.measure)} ms, here in this page
        </dd>
      </dl>
      {bad.length > 0 ? (
        <table class="results">
          <thead>
            <tr>
              <th scope="col" class="number">
                Line
              </th>
              <th scope="col">What is wrong with it</th>
            </tr>
          </thead>
          <tbody>
            {bad.slice(0, 200).map((one, at) => (
              <tr key={at}>
                <td class="number">{"line" in one ? count(one.line) : ""}</td>
                <td>{plain(one.reason)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : null}
    </section>
  );
}
