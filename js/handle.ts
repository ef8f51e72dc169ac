/** Handles into the core: freed when dropped, given up without a touch when their instance is lost. */
import { generation, onLoss } from "./loader.js";

/** What wasm-bindgen makes of a Rust type. */
interface Owned {
  free(): void;
  __destroy_into_raw?(): number;
}

const alive = new Set<WeakRef<Owned>>();
const collected = new FinalizationRegistry<WeakRef<Owned>>((ref) => alive.delete(ref));

// A finalizer that ran later would free a stranger's memory in the new instance.
onLoss(() => {
  for (const ref of alive) ref.deref()?.__destroy_into_raw?.();
  alive.clear();
});

/** A value in the core, and the instance that holds it. */
export class Handle<T extends Owned> {
  readonly value: T;
  readonly #generation: number;
  readonly #ref: WeakRef<Owned>;

  constructor(make: () => T) {
    this.value = make();
    this.#generation = generation();
    this.#ref = new WeakRef<Owned>(this.value);
    alive.add(this.#ref);
    collected.register(this.value, this.#ref);
  }

  /** The instance that holds it still runs. */
  get isAlive(): boolean {
    return this.#generation === generation();
  }

  free(): void {
    if (alive.delete(this.#ref) && this.isAlive) this.value.free();
  }
}
