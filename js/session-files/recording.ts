/** A session measured by the core, which replays and the recorded view share, and reports of it. */
import { outcomeOf } from "../compaction/outcome.js";
import { Handle } from "../core/handle.js";
import { argumentJson } from "../core/json.js";
import * as glue from "../glue/sessions_bg.js";
import { type CoreReport, question, withNearest } from "../report/inspect.js";
import { counterOf, countsOf } from "../session/counter.js";
import type { Estimator, InspectReport, SessionFile } from "../types.js";
import { messageOf, openedOf } from "./opened.js";
import { call, send, sessions } from "./wasm.js";

const measured = new WeakMap<SessionFile, Map<Estimator, Handle<glue.Recording>>>();

/** The session as the core has measured it: once for each estimator. */
export function recordingOf(session: SessionFile, estimator: Estimator): glue.Recording {
  const known = measured.get(session) ?? new Map<Estimator, Handle<glue.Recording>>();
  measured.set(session, known);
  let handle = known.get(estimator);
  if (!handle?.isAlive) {
    const opened = openedOf(session)?.in("replay");
    // As far as the core has the messages, they do not go there again.
    const messages = opened ? [] : session.messages;
    const { messageFormat, system, tools, calls, compactions, window } = session;
    const input = { messageFormat, messages, system, tools, calls, compactions, window };
    let text = argumentJson(input, "session");
    const counter = counterOf(estimator);
    if (counter) {
      const texts = call("replay", () =>
        opened ? opened.texts(send(text)) : glue.Recording.texts(send(text)),
      );
      text = `${text.slice(0, -1)},"counts":${countsOf(texts, counter)}}`;
    }
    const name = typeof estimator === "function" ? undefined : estimator;
    const made = (): glue.Recording =>
      opened ? opened.recording(send(text), name) : new glue.Recording(send(text), name);
    handle = new Handle(() => call("replay", made), sessions);
    known.set(estimator, handle);
    const { value } = handle;
    const unreadable = JSON.parse(call("replay", () => value.unreadable()));
    // A session that the host made may have no receipt, or a frozen one.
    const { receipt } = session;
    if (unreadable.length > 0 && Object.isExtensible(receipt)) receipt.unreadable = unreadable;
  }
  return handle.value;
}

/** Frees what the core has of a session that nobody uses any more: the garbage collector does not see how large that is. */
export function letGo(session: SessionFile): void {
  for (const handle of measured.get(session)?.values() ?? []) handle.free();
  measured.delete(session);
  openedOf(session)?.free();
}

/** The report of a session that stands at a call with so many messages. */
export function reportOf(
  session: SessionFile,
  recording: glue.Recording,
  standing: glue.AtCall,
  sent: number,
  detailKey: string | undefined,
): InspectReport {
  const next = call("report", () => recording.plan(standing));
  const ask = question({
    detailKey,
    beside: argumentJson({ system: session.system }, "session"),
    next,
    messageAt: (place) => (place < sent ? messageOf(session, place) : undefined),
  });
  const answer = call("report", () => standing.report(send(ask)));
  const report = withNearest(JSON.parse(answer) as CoreReport, detailKey);
  const compactions = report.compactions.flatMap((fold) => outcomeOf(fold).record ?? []);
  return { ...report, compactions };
}
