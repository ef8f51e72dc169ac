/** The entry for workerd, which compiles no bytes: the runtime hands the modules over. */
import { core } from "./core.js";
import { driver } from "./driver.js";
import wasm from "./plimsoll.wasm";

core.from(() => wasm);
driver.load = () => import("./workerd/compact.js");

export * from "./api.js";
export { CandidateStore } from "./workerd/candidates.js";
export * from "./workerd/prompt.js";
export * from "./workerd/render.js";
export { readSession } from "./workerd/sessions.js";
