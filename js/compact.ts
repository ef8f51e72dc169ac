/** Stands in for the driver of a compaction's job. */
import type { CompactionOutcome, Summarizer } from "./types.js";

/** What a job is asked for: figures and wishes, and the messages that go, flat, as JSON. */
export interface JobSpec {
  options: object;
  messages: readonly string[];
}
export interface JobControl {
  summarizers: readonly Summarizer[];
  signal: AbortSignal;
  redact?: (text: string) => string;
}
export interface JobResult {
  summary: string | null;
  degraded: boolean;
  reason: string;
  lost: string[];
  attempts: CompactionOutcome["attempts"];
  failure: string;
}

export async function runJob(spec: JobSpec, control: JobControl): Promise<JobResult> {
  const attempts: JobResult["attempts"] = [];
  const { previousSummary = null, degrade } = spec.options as {
    previousSummary?: string | null;
    degrade: boolean;
  };
  const job = {
    kind: "whole" as const,
    system: "",
    prompt: spec.messages.join("\n"),
    previousSummary,
    maxOutputTokens: 1500,
    inputTokens: 0,
    attempt: 1,
    requiredHeadings: [],
  };
  for (const [summarizer, summarize] of control.summarizers.entries()) {
    try {
      const said = await summarize(job, { signal: control.signal });
      control.signal.throwIfAborted();
      const summary = (typeof said === "string" ? said : said.text).trim();
      if (summary === "") {
        attempts.push({ kind: "whole", summarizer, result: "empty" });
        continue;
      }
      attempts.push({ kind: "whole", summarizer, result: "ok" });
      return { summary, degraded: false, reason: "", lost: [], attempts, failure: "none" };
    } catch (error) {
      control.signal.throwIfAborted();
      attempts.push({ kind: "whole", summarizer, result: "threw", detail: String(error) });
    }
  }
  const summary = degrade ? "An extract of what went." : null;
  const reason = "no summarizer gave a summary";
  return { summary, degraded: degrade, reason, lost: [], attempts, failure: "temporary" };
}

export function isContextOverflow(error: unknown): boolean {
  return /context length|too long/.test(String((error as Error)?.message));
}
