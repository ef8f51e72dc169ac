/** opencode's messages as the AI SDK's `UIMessage`s, which opencode itself makes of them, and back. */
import type { Prepared } from "../types.js";

/** A message of opencode's. */
export interface Message {
  info: Info;
  parts: Part[];
}

/** What opencode knows of a message. */
export interface Info {
  id: string;
  sessionID: string;
  role: "user" | "assistant";
  error?: { name?: unknown };
  /** It is a summary of opencode's. */
  summary?: unknown;
  model?: { providerID: string; modelID: string };
  tokens?: {
    input: number;
    output: number;
    reasoning?: number;
    cache?: { read?: number; write?: number };
  };
}

/** A part of a message. */
interface Part {
  type: string;
  text?: string;
  synthetic?: boolean;
  ignored?: boolean;
  mime?: string;
  url?: string;
  metadata?: unknown;
  callID?: string;
  tool?: string;
  state?: State;
}

/** What became of a call. */
interface State {
  status: string;
  input: unknown;
  output?: string;
  error?: string;
  attachments?: unknown;
  time?: { compacted?: unknown };
  metadata?: { interrupted?: unknown; output?: unknown };
}

/** A part as the SDK has it, and the number of opencode's. */
interface UiPart {
  type: string;
  of: number;
  text?: string;
  input?: unknown;
  output?: unknown;
  errorText?: string;
}

/** A message as the SDK has it. */
export interface UiMessage {
  role: "user" | "assistant";
  parts: UiPart[];
  /** A summary of opencode's. */
  isSummary?: true;
}

/** A message in both forms. */
export interface Both {
  message: Message;
  ui: UiMessage;
}

/** opencode sends these as text, whatever they hold. */
const TEXTS: Readonly<Record<string, string>> = {
  compaction: "What did we do so far?",
  subtask: "The following tool was executed by the user",
};
/** What opencode sends in place of a result that it has pruned. */
const CLEARED = "[Old tool result content cleared]";
const UNSENT = ["text/plain", "application/x-directory"];

/** The messages that are sent, in both forms. */
export function mapped(messages: readonly Message[]): Both[] {
  return messages.flatMap((message) => {
    const { role, error } = message.info;
    const parts = message.parts.flatMap((part, of) => {
      const ui = role === "user" ? userPart(part) : assistantPart(part);
      return ui ? [{ ...ui, of }] : [];
    });
    const isAborted = error?.name === "MessageAbortedError";
    const isContent = ({ type }: UiPart): boolean =>
      type !== "step-start" && (!isAborted || type !== "reasoning");
    // An answer that failed is left out, whatever of it had come.
    const isSent = (!error || isAborted) && parts.some(isContent);
    return isSent ? [{ message, ui: { role, parts, ...(isSummary(message) && SUMMARY) } }] : [];
  });
}

/** True for a summary of opencode's; a user's message may have an object there. */
export const isSummary = ({ info }: Message): boolean => info.summary === true;
const SUMMARY = { isSummary: true } as const;

/** True for what the user has said: opencode says some lines in the user's name. */
export const isAsked = ({ info, parts }: Message): boolean =>
  info.role === "user" &&
  parts.some(({ type, text, synthetic, ignored }) =>
    Boolean(type === "text" && text && !synthetic && !ignored),
  );

function userPart(part: Part): Omit<UiPart, "of"> | null {
  const { type, text, mime = "", url } = part;
  if (type === "text") return part.ignored || !text ? null : { type, text };
  const words = TEXTS[type];
  if (words !== undefined) return { type: "text", text: words };
  if (type !== "file" || UNSENT.includes(mime)) return null;
  return { type, ...{ mediaType: mime, url } };
}

function assistantPart(part: Part): Omit<UiPart, "of"> | null {
  const { type, text = "", metadata, callID, tool, state } = part;
  if (type === "step-start") return { type };
  if (type === "text") return { type, text };
  if (type === "reasoning") return { type, text, ...{ providerMetadata: metadata } };
  if (type !== "tool" || !state) return null;
  const { status, input, output, error = "[Tool execution was interrupted]" } = state;
  const call = { type: `tool-${tool}`, toolCallId: callID, input };
  const result = status === "completed" ? (state.time?.compacted ? CLEARED : output) : soFar(state);
  return result === undefined
    ? { ...call, ...{ state: "output-error" }, errorText: error }
    : { ...call, ...{ state: "output-available" }, output: result };
}

/** What an interrupted call had put out, which opencode sends as its result. */
function soFar({ status, metadata }: State): string | undefined {
  const isSent = status === "error" && metadata?.interrupted === true;
  return isSent && typeof metadata.output === "string" ? metadata.output : undefined;
}

/** The messages of a request as opencode has them. Its own objects are never changed. */
export function restored(
  { messages, source }: Prepared<UiMessage>,
  history: readonly Both[],
  user: Info,
): Message[] {
  return messages.map((ui, at) => {
    const from = source[at];
    const both = from === null || from === undefined ? undefined : history[from];
    if (!both) return made(ui, user, at);
    return both.ui === ui ? both.message : { ...both.message, parts: edited(both, ui) };
  });
}

/** The parts that are left of a message, as they are sent. */
function edited({ message, ui: before }: Both, after: UiMessage): Part[] {
  const mappedParts = new Map(before.parts.map((part) => [part.of, part]));
  const left = new Map(after.parts.map((part) => [part.of, part]));
  return message.parts.flatMap((part, of) => {
    const [ui, now] = [mappedParts.get(of), left.get(of)];
    if (!ui || ui === now) return [part];
    return now ? [changed(part, now)] : [];
  });
}

function changed(part: Part, { text, input, output, errorText }: UiPart): Part {
  const { state } = part;
  if (!state) return text === undefined ? part : { ...part, text };
  if (state.status === "completed") {
    const { attachments: _, ...rest } = state;
    return { ...part, state: { ...rest, input, output: String(output) } };
  }
  if (soFar(state) !== undefined) {
    const metadata = { ...state.metadata, output: String(output) };
    return { ...part, state: { ...state, input, metadata } };
  }
  return {
    ...part,
    state: { ...state, input, ...(state.error && errorText && { error: errorText }) },
  };
}

/** A message of ours in opencode's form. */
function made(ui: UiMessage, user: Info, at: number): Message {
  const { parts, content } = ui as UiMessage & { content?: unknown };
  const texts = (Array.isArray(content) ? (content as UiPart[]) : parts) ?? [];
  const text = typeof content === "string" ? content : texts.map((part) => part.text).join("\n");
  const id = `msg_plimsoll_${at}`;
  const info = { ...user, id, role: ui.role };
  const part = { id: `prt_plimsoll_${at}`, messageID: id, sessionID: user.sessionID };
  return { info, parts: [{ ...part, ...{ synthetic: true }, type: "text", text }] };
}
