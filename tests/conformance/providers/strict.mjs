// @ts-check
/**
 * The strict providers: what each API takes, and what an SDK's own messages must be, written from the providers'
 * published rules and from the errors people reported, and from nothing of the package under test.
 *
 * Each function returns a list of violations; an empty list means that the provider would take the request.
 * Rules carry the names of the reliability notes (I1..I31); `shape` is a message the format does not know.
 *
 * @example
 * strictAnthropic([{ role: "assistant", content: "hello" }]).map((found) => found.rule); // ["I7", "I8"]
 */
export { strictAiSdk } from "./strict/ai-sdk.mjs";
export { strictAnthropic } from "./strict/anthropic.mjs";
export { strictBedrock } from "./strict/bedrock.mjs";
export { strictGemini } from "./strict/gemini.mjs";
export { strictLangchain } from "./strict/langchain.mjs";
export { strictOpenAiAgents } from "./strict/openai-agents.mjs";
export { strictOpenAiChat } from "./strict/openai-chat.mjs";
export { strictOpenAiResponses } from "./strict/openai-responses.mjs";
export { strictPi } from "./strict/pi.mjs";
export { carriedThinking, unchangedThinking } from "./strict/thinking.mjs";
