/** Checks of every entry of the package, for `check.mjs`. */
export * from "plimsoll";
export { CandidateStore } from "plimsoll/candidates";
export { renderDetail, renderList } from "plimsoll/inspect";
export { readSession } from "plimsoll/sessions";
