/**
 * Ready-made summarizers over `fetch`, for OpenAI's Chat Completions and compatible servers (Ollama, vLLM, LM Studio) and for Anthropic's
 * Messages. A refused call is retried once if the server sends `Retry-After` with at most 20 seconds. Subpath `plimsoll/summarizers`.
 */
import { flagOf, onlyKnown, textOf } from "../core/arguments.js";
import { invalid, kindOf } from "../core/errors.js";
import type { Summarizer, SummaryControl, SummaryJob, SummaryResult } from "../types.js";

/** Options of every ready-made summarizer. */
export interface EndpointOptions {
  /** Name of the model. */
  model: string;
  /** Streams the answer, so that a slow model does not run into the deadline `summary.silenceMs`. Default true. */
  stream?: boolean | undefined;
  /** Additional headers; they replace ours of the same name. Default none. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Additional members of the request body, such as `temperature`; they replace ours of the same name. Default none. */
  body?: Readonly<Record<string, unknown>> | undefined;
}

const OPTIONS = ["model", "baseUrl", "apiKey", "stream", "headers", "body"] as const;
const LIMITS = ["max_tokens", "max_completion_tokens"] as const;

/** As long as this a server may have us wait before it is asked once more; whoever asks for longer has failed. */
const LONGEST_WAIT_MS = 20_000;

/** Error of a server, or of an answer that broke off. */
export class SummarizerError extends Error {
  /** Always `SummarizerError`. */
  override readonly name: string = "SummarizerError";
  /** HTTP status of a refusal; `undefined` if the answer broke off or reported an error, or a browser hides the status of a redirect. */
  readonly status: number | undefined;

  /** Made by the summarizers; your own code only catches it. */
  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }
}

/**
 * Creates a summarizer that calls `POST {baseUrl}/chat/completions`.
 *
 * @throws {PlimsollError} `INVALID_ARGUMENT` names the option and what is allowed.
 * @example
 * const summarize = openaiCompatible({ baseUrl: "http://localhost:11434", model: "qwen3:8b" });
 * new ContextManager({ window, summarize });
 */
export function openaiCompatible(
  options: EndpointOptions & {
    /**
     * Address with its version, such as `https://api.example.org/v1`. Without any path, as Ollama's
     * `http://localhost:11434`, `/v1` is added.
     */
    baseUrl: string;
    /** Key, sent as bearer token. Default: none is sent. */
    apiKey?: string | undefined;
    /** Member with the limit of the answer. Newer models of OpenAI need `max_completion_tokens`. Default `max_tokens`. */
    maxTokensField?: "max_tokens" | "max_completion_tokens" | undefined;
  },
): Summarizer {
  const known = onlyKnown("options", options, [...OPTIONS, "maxTokensField"]);
  const { baseUrl, apiKey, model, stream = true, maxTokensField = "max_tokens" } = known;
  refuseWrong({ baseUrl, model, stream });
  if (apiKey !== undefined) refuseNoKey(apiKey);
  if (!LIMITS.includes(maxTokensField)) {
    throw invalid("options.maxTokensField", LIMITS.join(" or "), maxTokensField);
  }
  const headers = apiKey ? { authorization: `Bearer ${apiKey}` } : {};
  return (job, control) => {
    const messages = [
      { role: "system", content: job.system },
      { role: "user", content: job.prompt },
    ];
    const body = { model, messages, [maxTokensField]: job.maxOutputTokens, stream };
    const { maxOutputChars } = job;
    const url = at(versioned(baseUrl), "chat/completions");
    return ask(url, { headers, body, options, control, maxOutputChars, read: chat });
  };
}

/**
 * Creates a summarizer that calls `POST {baseUrl}/v1/messages`.
 *
 * @throws {PlimsollError} `INVALID_ARGUMENT` names the option and what is allowed.
 * @example
 * const summarize = anthropic({ model: "claude-haiku-4-5", apiKey });
 */
export function anthropic(
  options: EndpointOptions & {
    /** Key, sent as `x-api-key`. */
    apiKey: string;
    /** Address of the API, with or without its version. Default `https://api.anthropic.com`. */
    baseUrl?: string | undefined;
  },
): Summarizer {
  const known = onlyKnown("options", options, OPTIONS);
  const { baseUrl = "https://api.anthropic.com", apiKey, model, stream = true } = known;
  refuseWrong({ baseUrl, model, stream });
  refuseNoKey(apiKey);
  const url = at(baseUrl.replace(/\/v1\/*$/, ""), "v1/messages");
  const headers = { "x-api-key": apiKey, "anthropic-version": "2023-06-01" };
  return (job: SummaryJob, control) => {
    const messages = [{ role: "user", content: job.prompt }];
    const body = { model, system: job.system, messages, max_tokens: job.maxOutputTokens, stream };
    const { maxOutputChars } = job;
    return ask(url, { headers, body, options, control, maxOutputChars, read: message });
  };
}

/** Wrong options would otherwise show only in the first compaction, which then has no summary. */
function refuseWrong({
  stream,
  ...texts
}: {
  baseUrl: string;
  model: string;
  stream: boolean;
}): void {
  for (const [name, value] of Object.entries(texts)) textOf(`options.${name}`, value);
  flagOf("options.stream", stream);
}

/** The error does not show the key. */
function refuseNoKey(apiKey: unknown): void {
  if (typeof apiKey === "string") return;
  throw invalid("options.apiKey", "a string", apiKey, kindOf(apiKey));
}

interface Answer {
  text: string;
  finishReason: string | null;
  usage: object | null;
}

/** Takes one value of an answer, whole or a piece; true: it was the last. */
type Read = (value: Wire, into: Answer) => boolean;

interface Call {
  headers: Record<string, string>;
  body: Record<string, unknown>;
  options: EndpointOptions;
  control: SummaryControl;
  /** Characters after which an answer that streams is read no further. */
  maxOutputChars: number;
  read: Read;
}

async function ask(url: string, call: Call): Promise<SummaryResult> {
  const { options, control, read } = call;
  const post = (): Promise<Response> =>
    fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...call.headers, ...options.headers },
      body: JSON.stringify({ ...call.body, ...options.body }),
      signal: control.signal,
      // Followed, it would take transcript and key to a host that nobody chose.
      redirect: "manual",
    });
  let response = await post();
  const wait = waitOf(response);
  if (wait !== null) {
    response.body?.cancel().catch(() => {});
    await pause(wait, control);
    response = await post();
  }
  if (!response.ok)
    throw new SummarizerError(await refusal(response), response.status || undefined);
  const answer: Answer = { text: "", finishReason: null, usage: null };
  const type = response.headers.get("content-type") ?? "";
  if (!type.startsWith("text/event-stream")) {
    read(wire(await response.text()), answer);
    return answer;
  }
  for await (const data of events(response, control)) {
    if (data === "[DONE]" || read(wire(data), answer)) return answer;
    if (answer.text.length > call.maxOutputChars) return answer;
  }
  if (answer.finishReason === null) throw new SummarizerError("the answer broke off");
  return answer;
}

/** A value of an answer. A web page instead of one tells of a wrong `baseUrl`: the error shows how it begins. */
function wire(text: string): Wire {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // Refused below.
  }
  const began = text.slice(0, 200) || "nothing";
  throw new SummarizerError(`the answer is no JSON object; it begins: ${began}`);
}

/** How long a server that refuses has us wait (`Retry-After`), in milliseconds; null: it does not say, or it is too long. */
function waitOf(response: Response): number | null {
  const retryAfter = response.ok ? null : response.headers.get("retry-after");
  if (!retryAfter) return null;
  const ms = /^\d+$/.test(retryAfter)
    ? Number(retryAfter) * 1000
    : Date.parse(retryAfter) - Date.now();
  return ms <= LONGEST_WAIT_MS ? Math.max(0, ms) : null;
}

/** Waits; an abort ends it with its reason. */
function pause(ms: number, { signal, alive }: SummaryControl): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      alive?.();
      resolve();
    }, ms);
    alive?.();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
  });
}

/** What a model says: a text, or parts of which those that are text count. */
type Content = string | null | Array<{ type?: string; text?: string }>;

/** What the servers say: of either, what is read. */
interface Wire {
  type?: string;
  error?: { message?: string; type?: string } | string;
  choices?: Array<{
    delta?: { content?: Content; refusal?: string | null };
    message?: { content?: Content; refusal?: string | null };
    finish_reason?: string | null;
  }>;
  content?: Content;
  delta?: { type?: string; text?: string; stop_reason?: string | null };
  stop_reason?: string | null;
  usage?: object | null;
}

const chat: Read = (value, into) => {
  throwError(value);
  const choice = value.choices?.[0];
  const piece = choice?.delta ?? choice?.message;
  into.text += contentText(piece?.content) || (piece?.refusal ?? "");
  into.finishReason = choice?.finish_reason ?? into.finishReason;
  into.usage = value.usage ?? into.usage;
  return false;
};

const message: Read = (value, into) => {
  throwError(value);
  into.text += contentText(value.content);
  if (value.delta?.type === "text_delta") into.text += value.delta.text ?? "";
  into.finishReason = value.delta?.stop_reason ?? value.stop_reason ?? into.finishReason;
  into.usage = value.usage ?? into.usage;
  return value.type === "message_stop";
};

function contentText(content: Content | undefined): string {
  if (!Array.isArray(content)) return content ?? "";
  return content.map(({ type, text }) => (type === "text" ? (text ?? "") : "")).join("");
}

/** An error in a stream that had begun well. */
function throwError({ error }: Wire): void {
  if (!error) return;
  throw new SummarizerError(
    typeof error === "string" ? error : (error.message ?? error.type ?? "an error"),
  );
}

/** The data of each server-sent event; whatever comes tells that the server lives. */
async function* events(response: Response, control: SummaryControl): AsyncGenerator<string> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      control.alive?.();
      rest += done ? "\n" : decoder.decode(value, { stream: true });
      const lines = rest.split(/\r\n?|\n/);
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const data = line.startsWith("data:") && line.slice(5).trim();
        if (data) yield data;
      }
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** What a server says with its status: the message of its error, else the beginning of its body. */
async function refusal(response: Response): Promise<string> {
  if (redirects(response)) {
    response.body?.cancel().catch(() => {});
    const target = response.headers.get("location") ?? "another address";
    return `the server redirects to ${target}, which is not followed: set baseUrl to where it is`;
  }
  const body = await response.text().catch(() => "");
  try {
    const { error } = JSON.parse(body) as Wire;
    const message =
      typeof error === "string" ? error : [error?.type, error?.message].filter(Boolean).join(": ");
    if (message) return `${response.status} ${message}`;
  } catch {
    // No JSON: as it stands.
  }
  return `${response.status} ${body.slice(0, 500) || "(no body)"}`;
}

/** Browsers do not show the status of a redirect that they do not follow. */
function redirects({ type, status }: Response): boolean {
  return type === "opaqueredirect" || [301, 302, 303, 307, 308].includes(status);
}

/** An address without a path is a server's own, as Ollama tells it: its API is below `/v1`. */
function versioned(baseUrl: string): string {
  return /^\w+:\/\/[^/]+\/*$/.test(baseUrl) ? at(baseUrl, "v1") : baseUrl;
}

function at(baseUrl: string, path: string): string {
  return `${baseUrl.replace(/\/+$/, "")}/${path}`;
}
