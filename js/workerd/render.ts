/** Reports as text, and budgets, in workerd. */
import wasm from "../inspect.wasm";
import * as own from "../render.js";

function here<A extends unknown[], R>(work: (...given: A) => R, given: A): R {
  own.inspections.from(() => wasm);
  return work(...given);
}

export const renderList: typeof own.renderList = (...given) => here(own.renderList, given);
export const renderDetail: typeof own.renderDetail = (...given) => here(own.renderDetail, given);

export class ContextBudget extends own.ContextBudget {
  constructor(options: own.ContextBudgetOptions) {
    own.inspections.from(() => wasm);
    super(options);
  }
}
