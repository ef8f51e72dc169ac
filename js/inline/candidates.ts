/** Candidates by the Wasm inside the JavaScript: a bundle without a store leaves it out. */
import * as own from "../candidates/store.js";
import { wasm } from "../glue/candidates_text.js";
import type { CandidateStoreOptions } from "../types.js";

export class CandidateStore extends own.CandidateStore {
  constructor(options: CandidateStoreOptions) {
    own.candidates.from(wasm);
    super(options);
  }
}
