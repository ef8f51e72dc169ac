/** Handles into a Wasm, the main one unless another is named: freed when dropped or collected, given up without a touch when their instance is lost. */
import type { Seam } from "./instance.js";
import { core } from "./main.js";

/** What wasm-bindgen makes of a Rust type. */
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
  seam: Seam;
  made: number;
}

const collected = new FinalizationRegistry<Registered>(({ prototype, address, seam, made }) => {
  if (made !== seam.generation) return;
  const again = Object.create(prototype) as Raw;
  again.__wbg_ptr = address;
  again.free();
});

/** A value in the core, and the instance that holds it. */
export class Handle<T extends Owned> {
  readonly value: T;
  readonly #seam: Seam;
  readonly #generation: number;
  #isFreed = false;

  constructor(make: () => T, seam: Seam = core) {
    this.value = make();
    this.#seam = seam;
    this.#generation = seam.generation;
    // The glue's finalizer does not know instances: it could free a stranger's memory in the next one. Ours takes its place.
    const raw = this.value as unknown as Raw;
    const address = raw.__destroy_into_raw();
    raw.__wbg_ptr = address;
    const prototype = Object.getPrototypeOf(raw) as object;
    collected.register(raw, { prototype, address, seam, made: this.#generation }, raw);
  }

  /** It was not freed, and the instance that holds it still runs. */
  get isAlive(): boolean {
    return !this.#isFreed && this.#generation === this.#seam.generation;
  }

  free(): void {
    if (collected.unregister(this.value) && this.isAlive) this.value.free();
    this.#isFreed = true;
  }
}
