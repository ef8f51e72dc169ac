/**
 * Ready summarizers over `fetch`: OpenAI's Chat Completions and what speaks like it (Ollama, vLLM, LM Studio), and Anthropic's
 * Messages. Subpath `plimsoll/summarizers`.
 */
import type { Summarizer, SummaryControl, SummaryJob, SummaryResult } from "./types.js";

/** What both have. */
export interface EndpointOptions {
  model: string;
  /** The answer comes piece by piece, so that a slow model is not taken for a silent one. Default true. */
  stream?: boolean;
  headers?: Readonly<Record<string, string>>;
  /** Further members of the request's body, as `temperature`. */
  body?: Readonly<Record<string, unknown>>;
}

/** What a server answered instead of a summary. */
export class SummarizerError extends Error {
  override readonly name: string = "SummarizerError";
  /** The status of HTTP, or undefined where an answer broke off. */
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }
}

/**
 * A summarizer behind `POST {baseUrl}/chat/completions`.
 *
 * @param options `baseUrl`: with its version, as `http://localhost:11434/v1`; `maxTokensField`: `max_completion_tokens` for models of
 *   OpenAI that refuse `max_tokens` (default).
 * @example
 * const summarize = openaiCompatible({ baseUrl: "http://localhost:11434/v1", model: "qwen3:8b" });
 * new ContextManager({ window, summarize });
 */
export function openaiCompatible(
  options: EndpointOptions & {
    baseUrl: string;
    apiKey?: string;
    maxTokensField?: "max_tokens" | "max_completion_tokens";
  },
): Summarizer {
  const { baseUrl, apiKey, model, stream = true, maxTokensField = "max_tokens" } = options;
  const headers = apiKey ? { authorization: `Bearer ${apiKey}` } : {};
  return (job, control) => {
    const messages = [
      { role: "system", content: job.system },
      { role: "user", content: job.prompt },
    ];
    const body = { model, messages, [maxTokensField]: job.maxOutputTokens, stream };
    return ask(at(baseUrl, "chat/completions"), { headers, body, options, control, read: chat });
  };
}

/**
 * A summarizer behind `POST {baseUrl}/v1/messages`.
 *
 * @param options `baseUrl`: default `https://api.anthropic.com`.
 * @example
 * const summarize = anthropic({ model: "claude-haiku-4-5", apiKey });
 */
export function anthropic(
  options: EndpointOptions & { apiKey: string; baseUrl?: string },
): Summarizer {
  const { baseUrl = "https://api.anthropic.com", apiKey, model, stream = true } = options;
  const headers = { "x-api-key": apiKey, "anthropic-version": "2023-06-01" };
  return (job: SummaryJob, control) => {
    const messages = [{ role: "user", content: job.prompt }];
    const body = { model, system: job.system, messages, max_tokens: job.maxOutputTokens, stream };
    return ask(at(baseUrl, "v1/messages"), { headers, body, options, control, read: message });
  };
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
  read: Read;
}

async function ask(url: string, call: Call): Promise<SummaryResult> {
  const { options, control, read } = call;
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...call.headers, ...options.headers },
    body: JSON.stringify({ ...call.body, ...options.body }),
    signal: control.signal,
  });
  if (!response.ok) throw new SummarizerError(await refusal(response), response.status);
  const answer: Answer = { text: "", finishReason: null, usage: null };
  const type = response.headers.get("content-type") ?? "";
  if (!type.startsWith("text/event-stream")) {
    read((await response.json()) as Wire, answer);
    return answer;
  }
  for await (const data of events(response, control)) {
    if (data === "[DONE]" || read(JSON.parse(data) as Wire, answer)) return answer;
  }
  if (answer.finishReason === null) throw new SummarizerError("the answer broke off");
  return answer;
}

/** What the servers say: of either, what is read. */
interface Wire {
  type?: string;
  error?: { message?: string; type?: string } | string;
  choices?: Array<{
    delta?: { content?: string | null };
    message?: { content?: string | null };
    finish_reason?: string | null;
  }>;
  content?: Array<{ type: string; text?: string }>;
  delta?: { type?: string; text?: string; stop_reason?: string | null };
  stop_reason?: string | null;
  usage?: object | null;
}

const chat: Read = (value, into) => {
  refuse(value);
  const choice = value.choices?.[0];
  into.text += choice?.delta?.content ?? choice?.message?.content ?? "";
  into.finishReason = choice?.finish_reason ?? into.finishReason;
  into.usage = value.usage ?? into.usage;
  return false;
};

const message: Read = (value, into) => {
  refuse(value);
  for (const block of value.content ?? []) into.text += block.text ?? "";
  if (value.delta?.type === "text_delta") into.text += value.delta.text ?? "";
  into.finishReason = value.delta?.stop_reason ?? value.stop_reason ?? into.finishReason;
  into.usage = value.usage ?? into.usage;
  return value.type === "message_stop";
};

/** An error in a stream that had begun well. */
function refuse({ error }: Wire): void {
  if (!error) return;
  throw new SummarizerError(
    typeof error === "string" ? error : (error.message ?? error.type ?? "an error"),
  );
}

/** The data of each server-sent event; whatever comes tells that the server lives. */
async function* events(response: Response, control: SummaryControl): AsyncGenerator<string> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let held = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      control.alive?.();
      held += done ? "\n" : decoder.decode(value, { stream: true });
      const lines = held.split(/\r\n|\n|\r(?!$)/);
      held = lines.pop() ?? "";
      for (const line of lines) if (line.startsWith("data:")) yield line.slice(5).trim();
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** What a server says with its status: the message of its error, else the beginning of its body. */
async function refusal(response: Response): Promise<string> {
  const body = await response.text().catch(() => "");
  try {
    const { error } = JSON.parse(body) as Wire;
    const said =
      typeof error === "string" ? error : [error?.type, error?.message].filter(Boolean).join(": ");
    if (said) return `${response.status} ${said}`;
  } catch {
    // No JSON: as it stands.
  }
  return `${response.status} ${body.slice(0, 500) || "(no body)"}`;
}

function at(baseUrl: string, path: string): string {
  return `${baseUrl.replace(/\/+$/, "")}/${path}`;
}
