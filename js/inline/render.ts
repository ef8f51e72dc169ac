/** Reports as text by the Wasm inside the JavaScript: a bundle that shows none leaves it out. */
import { wasm } from "../glue/inspect_text.js";
import * as own from "../render.js";

function here<A extends unknown[], R>(work: (...args: A) => R, args: A): R {
  own.inspections.from(wasm);
  return work(...args);
}

export const renderList: typeof own.renderList = (...args) => here(own.renderList, args);
export const renderDetail: typeof own.renderDetail = (...args) => here(own.renderDetail, args);
