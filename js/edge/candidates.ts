/** Candidates in edge runtimes. */
import * as own from "../candidates.js";
import wasm from "../candidates.wasm?module";
import type { CandidateStoreOptions } from "../types.js";

export class CandidateStore extends own.CandidateStore {
  constructor(options: CandidateStoreOptions) {
    own.candidates.from(() => wasm);
    super(options);
  }
}
