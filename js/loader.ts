/**
 * Starts the Wasm: lazily at the first call, or by `init`/`initSync`; and once more after an instance was lost.
 */
import * as glue from "./glue/plimsoll_bg.js";

/** What the Wasm can be made from at once. */
export type SyncSource = WebAssembly.Module | BufferSource;
/** What the Wasm can be made from, or where it is. */
export type Source = SyncSource | Response | URL | string;

let exports: WebAssembly.Exports | undefined;
let compiled: WebAssembly.Module | undefined;
let give: (() => SyncSource) | undefined;
let losses = 0;

postpone();

/** Counts the instances that were lost: a handle made under another number stands for state that is gone. */
export function generation(): number {
  return losses;
}

/** The core's memory. Any call into the core may move it: take it anew after each. */
export function memory(): WebAssembly.Memory | undefined {
  return exports?.memory as WebAssembly.Memory | undefined;
}

/** Starts the Wasm now, unless it runs. */
export function initSync(source: SyncSource): void {
  if (exports) return;
  compiled = isModule(source) ? source : new WebAssembly.Module(source);
  start(compiled);
}

/** Starts the Wasm now, unless it runs; from an address it compiles while it loads. */
export async function init(source: Source | Promise<Source>): Promise<void> {
  const given = await source;
  if (exports) return;
  const found = typeof given === "string" || given instanceof URL ? await fetch(given) : given;
  const module = isResponse(found) ? await compile(found) : found;
  initSync(module);
}

/** Has the Wasm started at the first call, from what `get` gives. */
export function lazily(get: () => SyncSource): void {
  give ??= get;
}

/** Gives the running instance up; the next call starts a new one from the same module. False: none was running. */
export function lose(): boolean {
  if (!exports) return false;
  // Growing by nothing detaches the old buffer, and with it every view of it that the glue has kept.
  memory()?.grow(0);
  exports = undefined;
  losses += 1;
  postpone();
  return true;
}

/** Stands in for the exports until one is touched; then the real ones take its place. */
function postpone(): void {
  const touch = (_: object, name: string): unknown => {
    if (!exports) initSync(compiled ?? given());
    return exports?.[name];
  };
  glue.__wbg_set_wasm(new Proxy({}, { get: touch as () => unknown }));
}

function given(): SyncSource {
  if (give) return give();
  throw new Error("plimsoll/slim: call `await init(source)` or `initSync(bytes)` first");
}

function start(module: WebAssembly.Module): void {
  const instance = new WebAssembly.Instance(module, { "./plimsoll_bg.js": glue as never });
  exports = instance.exports;
  glue.__wbg_set_wasm(exports);
  (exports.__wbindgen_start as () => void)();
}

async function compile(response: Response): Promise<SyncSource> {
  if (!response.ok) throw new Error(`plimsoll: ${response.url} answered ${response.status}`);
  const type = response.headers.get("content-type") ?? "";
  return type.startsWith("application/wasm")
    ? WebAssembly.compileStreaming(response)
    : response.arrayBuffer();
}

/** By tag, not `instanceof`: a module may come from another realm. */
function isModule(source: object): source is WebAssembly.Module {
  return Object.prototype.toString.call(source) === "[object WebAssembly.Module]";
}

function isResponse(source: object): source is Response {
  return Object.prototype.toString.call(source) === "[object Response]";
}
