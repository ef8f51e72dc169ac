/** Provider of a model, from the names that a host has for it, and the rules that follow from it. */
import type { ContextManagerOptions, Provider } from "../types.js";

/**
 * Words in the names of services, APIs, SDK classes and models, and the provider whose rules apply. The first match counts: who
 * serves a model comes before the wire format, since a service refuses what its own models cannot read.
 */
const PROVIDERS: ReadonlyArray<[RegExp, Provider]> = [
  [/bedrock/, "bedrock"],
  [/deepseek/, "deepseek"],
  [/moonshot|kimi/, "kimi"],
  [/mistral/, "mistral"],
  // Before Google: Vertex serves Claude too, by Anthropic's rules.
  [/anthropic|claude/, "anthropic"],
  [/google|gemini|vertex/, "gemini"],
  [/responses|codex/, "openai-responses"],
  [/openai|azure|completions|ollama/, "openai-chat"],
];

/** Providers that refuse a thinking block if a message before it has changed, unless a hint has them drop it. */
const BINDS: ReadonlySet<Provider> = new Set<Provider>(["anthropic", "bedrock"]);

/** Returns the provider that these words name; `undefined` if they name none. */
export function providerOf(words: string): Provider | undefined {
  const lower = words.toLowerCase();
  return PROVIDERS.find(([pattern]) => pattern.test(lower))?.[1];
}

/** The name by which an AI SDK's model, an instance or its name, tells its provider. A gateway has it in the model's name. */
export function nameOfModel(model: unknown): string {
  if (typeof model === "string") return model;
  const { provider, modelId } = Object(model) as { provider?: unknown; modelId?: unknown };
  const name = String(provider ?? "");
  return providerOf(name) ? name : `${name} ${String(modelId ?? "")}`;
}

/** Returns the option `thinking` for a host that has no place for `Prepared.hints`: thinking that an edit made void is left out. */
export function thinkingWithoutHints(
  provider: Provider,
): NonNullable<ContextManagerOptions<unknown>["thinking"]> {
  return BINDS.has(provider) ? "drop" : "free";
}

/** The first version of Claude whose thinking is bound to the messages before it: 5.1. */
const BINDING = 501;

/** Whether a Claude model binds its thinking to the messages before it, as its name says; `undefined`: no version of Claude is in it. */
export function bindsThinking(model: unknown): boolean | undefined {
  const version = /claude-(?:[a-z]+-)?(\d+)(?:[.-](\d{1,2}))?(?!\d)/i.exec(String(model ?? ""));
  if (!version) return undefined;
  const [, major, minor = 0] = version;
  return Number(major) * 100 + Number(minor) >= BINDING;
}

/** Returns the option `thinking` for a model of this name and a host that has no place for hints; `undefined`: the provider decides. */
export function thinkingOf(model: unknown): "free" | undefined {
  return bindsThinking(model) === false ? "free" : undefined;
}

/** The id of an AI SDK's model, an instance or its name. */
export function idOfModel(model: unknown): unknown {
  return typeof model === "string" ? model : (Object(model) as { modelId?: unknown }).modelId;
}
