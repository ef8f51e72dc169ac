/** What we export against the contract, name by name: `tsc` over this file is the test. */
import type * as Contract from "#contract";
import type * as ours from "../../js/api.js";

/** Each is assignable to the other. */
type Same<A, B> = [A, B] extends [B, A] ? true : ["ours", A, "theirs", B];

/** One line for each type that is built. */
export const types: [
  Same<ours.ContextWindow, Contract.ContextWindow>,
  Same<ours.Estimator, Contract.Estimator>,
  Same<ours.Format, Contract.Format>,
  Same<ours.Provider, Contract.Provider>,
  Same<ours.Violation, Contract.Violation>,
  Same<ours.Op, Contract.Edit["ops"][number]>,
] = [true, true, true, true, true, true];

/** Every code we have is the contract's, with its fields; codes that nothing throws yet are missing. */
export const errors = (error: ours.PlimsollError): Contract.PlimsollError => error;

/** Every function and class that is built takes and gives what the contract says. Nobody constructs our errors. */
type Built = Exclude<keyof typeof ours & keyof typeof Contract, "PlimsollError">;
export const values = (built: typeof ours): Pick<typeof Contract, Built> => built;
