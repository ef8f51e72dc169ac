/**
 * Type test of our exports against the contract, name by name: `tsc` over this file is the test. The surface has grown out of the contract in
 * five places: a session file has `checkpoints`, percentages are named `usedPct`, a bucket has `sentTokens`, a fold without a summary is `folded`, and functions of one
 * subject are in an entry of their own.
 */
import type * as Contract from "#contract";
import type * as main from "../../js/api.js";
import type { CandidateStore } from "../../js/candidates/store.js";
import type * as entries from "../../js/slim.js";
import type * as ours from "../../js/types.js";

/** Each is assignable to the other. */
type Same<A, B> = [A, B] extends [B, A] ? true : ["ours", A, "theirs", B];
/** What is ours is theirs too; something of theirs is not built yet. */
type Part<A, B> = [A] extends [B] ? true : ["ours", A, "theirs", B];
/** Of what both have, ours is theirs too. */
type Shared<A, B> = Part<Pick<A, keyof A & keyof B>, Pick<B, keyof A & keyof B>>;

/** One line for each type that is built. */
export const same: [
  Same<ours.BudgetCheck, Contract.BudgetCheck>,
  Same<ours.CandidateObservation, Contract.CandidateObservation>,
  Same<ours.CandidateState, Contract.CandidateState>,
  Same<ours.CompactionRecord, Contract.CompactionRecord>,
  Same<ours.ContextWindow, Contract.ContextWindow>,
  Same<ours.Edit, Contract.Edit>,
  Same<ours.Estimate, Contract.Estimate>,
  Same<ours.Estimator, Contract.Estimator>,
  Same<ours.Explanation, Contract.Explanation>,
  Same<Exclude<ours.Format, "openai-agents">, Contract.Format>,
  Same<ours.Locale, Contract.Locale>,
  Same<ours.Op, Contract.Edit["ops"][number]>,
  Same<ours.PromptBudget, Contract.PromptBudget>,
  Same<ours.Provider, Contract.Provider>,
  Same<ours.RequestFocus, Contract.RequestFocus>,
  Same<ours.Section, Contract.Section>,
  Same<ours.SectionReport, Contract.SectionReport>,
  Same<
    Omit<ours.SessionFile, "messageFormat" | "checkpoints" | "models" | "compactions">,
    Omit<Contract.SessionFile, "messageFormat" | "compactions">
  >,
  Same<
    Omit<ours.FileCompaction, "at" | "call" | "opaque">,
    Contract.SessionFile["compactions"][number]
  >,
  Same<Omit<ours.Status, "usedPct" | "nextEdit">, Omit<Contract.Status, "pct">>,
  Same<ours.ToolDefinition, Contract.ToolDefinition>,
  Same<ours.Violation, Contract.Violation>,
] = [
  ...([true, true, true, true, true, true, true, true, true, true, true] as const),
  ...([true, true, true, true, true, true, true, true, true, true, true] as const),
];

/** An outcome as the contract names it. */
type Outcome = Omit<ours.CompactionOutcome, "status"> & {
  status: Exclude<ours.CompactionOutcome["status"], "folded">;
};
type Ended<Event> = Event extends { outcome: ours.CompactionOutcome }
  ? Omit<Event, "outcome"> & { outcome: Outcome }
  : Event;
/** All that knows no outcome, and no percentage. */
type Methods<Manager> = Omit<
  Manager,
  "request" | "prepare" | "observe" | "compact" | "recover" | "status" | "inspect"
>;

/** What comes out of which a part is built: whoever reads it by the contract reads it rightly. */
type Epoch = Extract<Contract.ContextEvent, { type: "epoch" }>;
/** `LOCKED`, which the file store has, is more than there is in the contract. */
type Known = { code: Contract.ErrorInfo["code"] };
/** `compaction-deferred` is more than there is in the contract. */
type Attempts = Exclude<ours.CompactionEvent, { type: "compaction-deferred" }>;
export const out: [
  Part<ours.Candidate, Contract.Candidate>,
  Part<typeof CandidateStore, typeof Contract.CandidateStore>,
  Part<Outcome, Contract.CompactionOutcome>,
  Part<Extract<ours.ErrorInfo, Known>, Contract.ErrorInfo>,
  Part<Omit<ours.InspectReport, "status">, Omit<Contract.InspectReport, "status">>,
  Part<Omit<ours.Prepared<object>, "compaction">, Omit<Contract.Prepared<object>, "compaction">>,
  Part<ours.SummaryJob, Contract.SummaryJob>,
  Part<ours.PromptPlan, Contract.PromptPlan>,
  Shared<ours.EpochEvent, Epoch>,
  Part<Ended<Attempts>, Contract.ContextEvent>,
  Shared<ours.CompactionPlan, Contract.CompactionPlan>,
  Shared<Methods<main.ContextManager<object>>, Methods<Contract.ContextManager<object>>>,
  Shared<Omit<ours.Replay, "report">, Contract.Replay>,
] = [true, true, true, true, true, true, true, true, true, true, true, true, true];

/**
 * Options of which a part is built: the contract takes whatever we take, but for the presets `capacity` and `goclaw` and a summary's templates, the format `openai-agents` and
 * `thinking: "drop"`, which its declarations do not have yet. `create` receives more than it declares: a `create` of the contract's is one of ours.
 */
type Options = Omit<
  ours.ContextManagerOptions<object>,
  "on" | "preset" | "format" | "summarize" | "summary" | "create" | "thinking"
>;
type Summary<All extends { summary?: object }> = Omit<NonNullable<All["summary"]>, "template">;
type Create = Pick<Contract.ContextManagerOptions<object>, "create">;
export const into: [
  Part<Options, Contract.ContextManagerOptions<object>>,
  Part<
    Summary<ours.ContextManagerOptions<object>>,
    Summary<Contract.ContextManagerOptions<object>>
  >,
  Part<Create, Pick<ours.ContextManagerOptions<object>, "create">>,
  Part<ours.Parts, Contract.Parts>,
  Part<Omit<ours.PolicyOptions, "preset">, Contract.PolicyOptions>,
  Part<Omit<ours.ReplayOptions, "preset">, Parameters<typeof Contract.replay>[1]>,
  Same<
    Exclude<ours.PolicyOptions["preset"], "capacity" | "goclaw">,
    Contract.PolicyOptions["preset"]
  >,
] = [true, true, true, true, true, true, true];

/** Every other function that is built takes and gives what the contract says; `compact` and `pruneForRequest` take a policy, as above. */
type Apart =
  | "ContextBudget"
  | "ContextManager"
  | "PlimsollError"
  | "renderDetail"
  | "renderList"
  | "pruneForRequest"
  | "readSession"
  | "replay"
  | "compact";
type Functions = Exclude<keyof typeof entries & keyof typeof Contract, Apart>;
export const functions = (built: typeof entries): Pick<typeof Contract, Functions> => built;
