// @ts-check
/** Memory of the Wasms that start after this file was imported. */
const memories = /** @type {WebAssembly.Memory[]} */ ([]);
const { Instance } = WebAssembly;

WebAssembly.Instance = class extends Instance {
  /** @param {WebAssembly.Module} module @param {WebAssembly.Imports} [imports] */
  constructor(module, imports) {
    super(module, imports);
    memories.push(/** @type {WebAssembly.Memory} */ (this.exports.memory));
  }
};

/** Its bytes; an error if none has started, since nothing would grow then. */
export function wasmBytes() {
  if (memories.length === 0) throw new Error("no Wasm has started since this file was imported");
  return memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
}
