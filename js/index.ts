/** The main entry: each Wasm is inside, and starts at the first call that needs it. */
import { core } from "./core.js";
import { driver } from "./driver.js";
import * as inlined from "./glue/plimsoll_text.js";
import { unpacked } from "./inline.js";

core.from(() => unpacked(inlined));
driver.load = () => import("./inline/compact.js");

export * from "./api.js";
export { CandidateStore } from "./inline/candidates.js";
export * from "./inline/prompt.js";
export * from "./inline/render.js";
export { readSession } from "./inline/sessions.js";
