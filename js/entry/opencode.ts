/** `plimsoll/opencode`: opencode, by a plugin. */
import "../inline/core.js";

export {
  type OpencodeHooks,
  type OpencodeInput,
  type OpencodeSession,
  plugin,
} from "../hosts/opencode.js";
