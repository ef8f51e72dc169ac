/** Candidates in workerd. */
import * as own from "../candidates.js";
import wasm from "../candidates.wasm";
import type { CandidateStoreOptions } from "../types.js";

export class CandidateStore extends own.CandidateStore {
  constructor(options: CandidateStoreOptions) {
    own.candidates.from(() => wasm);
    super(options);
  }
}
