/** Reports as text by the Wasm inside the JavaScript: a bundle that shows none leaves it out. */
import { wasm } from "../glue/inspect_text.js";
import * as own from "../render.js";

function here<A extends unknown[], R>(work: (...given: A) => R, given: A): R {
  own.inspections.from(wasm);
  return work(...given);
}

export const renderList: typeof own.renderList = (...given) => here(own.renderList, given);
export const renderDetail: typeof own.renderDetail = (...given) => here(own.renderDetail, given);
