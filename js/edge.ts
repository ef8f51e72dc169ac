/** The entry for edge runtimes that take a module by `?module`. */
import { core } from "./core.js";
import { driver } from "./driver.js";
import wasm from "./plimsoll.wasm?module";

core.from(() => wasm);
driver.load = () => import("./edge/compact.js");

export * from "./api.js";
export { CandidateStore } from "./edge/candidates.js";
export * from "./edge/prompt.js";
export * from "./edge/render.js";
export { readSession } from "./edge/sessions.js";
