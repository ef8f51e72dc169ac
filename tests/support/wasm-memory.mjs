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

/** Its bytes. */
export const wasmBytes = () => memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
