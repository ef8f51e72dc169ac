/** `plimsoll/ai-sdk`: the AI SDK, by `prepareStep` or as a middleware of its models; Mastra, by a processor. */
import "../inline/core.js";

export {
  type AiSdkMiddleware,
  type AiSdkSession,
  middleware,
  prepareStep,
} from "../hosts/ai-sdk.js";
export { type MastraProcessor, processor } from "../hosts/mastra.js";
