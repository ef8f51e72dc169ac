/** Loads and compiles Wasm files for `plimsoll/slim`, each once; a file is recognized by its imports. */
import type { Bytes, Response, URL, WasmModule } from "../types/web.js";
import { invalid, PlimsollError } from "./errors.js";

/** Source of a Wasm that can be used synchronously. */
export type SyncSource = WasmModule | Bytes;
/** Source of a Wasm, or its address. */
export type Source = SyncSource | Response | URL | string;

/** The Wasm files there are. */
const NAMES: readonly string[] = ["plimsoll", "sessions", "prompt", "compact", "candidates"];

const compiled = new Map<string, WasmModule>();
/** What was taken before is not fetched or compiled again. */
const addresses = new Set<string>();
const objects = new WeakSet<object>();

/**
 * Registers a Wasm of the package: `plimsoll.wasm`, `sessions.wasm`, `prompt.wasm`, `compact.wasm` or `candidates.wasm`. It starts with the
 * first call that needs it. A file that is registered already is ignored.
 *
 * @param source bytes, or a compiled module
 * @throws {PlimsollError} `INVALID_ARGUMENT` if it is another Wasm.
 * @example
 * initSync(readFileSync("node_modules/plimsoll/dist/plimsoll.wasm"));
 */
export function initSync(source: SyncSource): void {
  if (objects.has(source)) return;
  const module = isModule(source) ? source : new WebAssembly.Module(source as BufferSource);
  const name = nameOf(module);
  if (!compiled.has(name)) compiled.set(name, module);
  objects.add(source);
}

/**
 * Registers a Wasm as `initSync` does. From an address or a response it is compiled while it loads.
 *
 * @param source bytes, a compiled module, a `Response`, or an address to fetch
 * @throws {PlimsollError} `INVALID_ARGUMENT` if it is another Wasm.
 * @example
 * await init(new URL("plimsoll/plimsoll.wasm", import.meta.url));
 */
export async function init(source: Source | Promise<Source>): Promise<void> {
  const resolved = await source;
  const address =
    typeof resolved === "string" || resolved instanceof URL
      ? String(resolved)
      : isResponse(resolved)
        ? resolved.url
        : "";
  if (addresses.has(address)) return;
  const found =
    typeof resolved === "string" || resolved instanceof URL ? await fetch(resolved) : resolved;
  initSync(isResponse(found) ? await compile(found) : found);
  if (address !== "") addresses.add(address);
}

/** The Wasm of that name: the one that was taken, else what `give` gives. */
export function moduleOf(name: string, give: (() => SyncSource) | undefined): WasmModule {
  if (!compiled.has(name) && give) initSync(give());
  const module = compiled.get(name);
  if (module) return module;
  const argument = `plimsoll/${name}.wasm`;
  const expected = "it, passed to `await init(source)` or `initSync(bytes)`";
  const info = { code: "INVALID_ARGUMENT", argument, expected, got: "nothing" } as const;
  throw new PlimsollError(
    info,
    `plimsoll/slim: call \`await init(source)\` or \`initSync(bytes)\` first, with ${argument}`,
  );
}

/** By the module of JavaScript that it wants, which bears its name. */
function nameOf(module: WebAssembly.Module): string {
  const wanted = WebAssembly.Module.imports(module)[0]?.module ?? "nothing";
  const name = wanted.replace(/^\.\/(.*)_bg\.js$/, "$1");
  if (NAMES.includes(name)) return name;
  const ours = NAMES.map((own) => `plimsoll/${own}.wasm`).join(" or ");
  throw invalid("source", ours, `a Wasm that imports ${wanted}`);
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
