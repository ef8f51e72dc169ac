/** Handle to a value in the memory of a Wasm: freed on request or by the garbage collector, never touched after its instance was lost. */
import type { Instance } from "./instance.js";

/** Value of a Rust type, as wasm-bindgen exports it. */
interface Owned {
  free(): void;
}
interface Raw extends Owned {
  __wbg_ptr: number;
  __destroy_into_raw(): number;
}
interface Registered {
  prototype: object;
  address: number;
  instance: Instance;
  generation: number;
}

const collected = new FinalizationRegistry<Registered>(
  ({ prototype, address, instance, generation }) => {
    if (generation !== instance.generation) return;
    const again = Object.create(prototype) as Raw;
    again.__wbg_ptr = address;
    freeIn(instance, again);
  },
);

/** Frees a value. Nobody asks for it any more, so a trap costs the instance and fails no call. */
function freeIn(instance: Instance, value: Owned): void {
  try {
    value.free();
  } catch {
    instance.lose();
  }
}

/** Owner of one value. */
export class Handle<T extends Owned> {
  readonly value: T;
  readonly #instance: Instance;
  readonly #generation: number;
  #isFreed = false;

  /** @param make makes the value, by a call into `instance` */
  constructor(make: () => T, instance: Instance) {
    this.value = make();
    this.#instance = instance;
    this.#generation = instance.generation;
    // The finalizer of the glue knows no instances: after a trap it would free memory of another value in the new one. Ours replaces it.
    const raw = this.value as unknown as Raw;
    const address = raw.__destroy_into_raw();
    raw.__wbg_ptr = address;
    const prototype = Object.getPrototypeOf(raw) as object;
    collected.register(raw, { prototype, address, instance, generation: this.#generation }, raw);
  }

  /** False after `free`, and after the instance was lost. */
  get isAlive(): boolean {
    return !this.#isFreed && this.#generation === this.#instance.generation;
  }

  /** Frees the value once; a second call does nothing. */
  free(): void {
    if (collected.unregister(this.value) && this.isAlive) freeIn(this.#instance, this.value);
    this.#isFreed = true;
  }
}
