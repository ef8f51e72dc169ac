/** What `check.mjs` asks for, of every entry of the package. */
export * from "plimsoll";
export { CandidateStore } from "plimsoll/candidates";
export { renderDetail, renderList } from "plimsoll/inspect";
export { readSession } from "plimsoll/sessions";
