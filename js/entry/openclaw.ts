/** `plimsoll/openclaw`: limits of a history as OpenClaw has them. */
import "../inline/core.js";

export { historyLimitFromSessionKey, pruneHistoryForContextShare } from "../functions/prune.js";
