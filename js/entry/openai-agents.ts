/** `plimsoll/openai-agents`: the OpenAI Agents SDK, by `callModelInputFilter`. */
import "../inline/core.js";

export {
  callModelInputFilter,
  type OpenAiAgentsFilter,
  type OpenAiAgentsSession,
} from "../hosts/openai-agents.js";
