/** `plimsoll/sessions`: session files of agents, replays of them under a policy, and the lines of a session's own record. */
import "../inline/core.js";

export { readSession } from "../inline/sessions.js";
export { recordedView } from "../session-files/recorded.js";
export { recordLine, resumeMessages } from "../session-files/records.js";
export { replay } from "../session-files/replay.js";
