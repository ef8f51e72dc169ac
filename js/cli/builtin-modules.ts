/** Gives `process.getBuiltinModule` to a Node that has none: one before 20.16 or 22.3. The Wasm files are read by it. */
import { createRequire } from "node:module";

process.getBuiltinModule ??= createRequire(import.meta.url) as typeof process.getBuiltinModule;
