/** `plimsoll/sessions`: session files of agents, replays of them under a policy, and the lines of a session's own record. */
export {
  readSession,
  recordedView,
  redact,
  redactSession,
  replay,
  SessionReader,
} from "../inline/sessions.js";
export { recordLine, resumeMessages } from "../session-files/records.js";
