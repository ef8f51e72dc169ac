/**
 * The main entry: each Wasm is inside, and starts at the first call that needs it. The build makes `workerd.js` and `edge.js` of it, which
 * import each Wasm as a module.
 */
import { core } from "./core.js";
import { driver } from "./driver.js";
import { wasm } from "./glue/plimsoll_text.js";

core.from(wasm);
driver.load = () => import("./inline/compact.js");

export * from "./api.js";
export { CandidateStore } from "./inline/candidates.js";
export * from "./inline/prompt.js";
export * from "./inline/render.js";
export { readSession } from "./inline/sessions.js";
