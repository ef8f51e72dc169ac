/** `plimsoll/candidates`: learned text that may enter a system prompt once it has proved itself. */
export { CandidateStore } from "../inline/candidates.js";
