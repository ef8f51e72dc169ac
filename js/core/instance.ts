/**
 * One Wasm: started at the first call into it, and once more after its instance was lost; text into its memory, calls
 * with their errors translated.
 */
import { TextEncoder } from "./coders.js";
import { fromCore, lost } from "./errors.js";
import { moduleOf, type SyncSource } from "./loader.js";

/** What wasm-bindgen writes for every Wasm of ours. */
interface Glue {
  __wbg_set_wasm(exports: object): void;
  input(length: number): number;
}

const encoder = new TextEncoder();

export class Seam {
  readonly #name: string;
  readonly #glue: Glue;
  #exports: WebAssembly.Exports | undefined;
  #give: (() => SyncSource) | undefined;
  #losses = 0;

  /** @param name the Wasm's, without its ending. */
  constructor(name: string, glue: Glue) {
    this.#name = name;
    this.#glue = glue;
    this.#postpone();
  }

  /** Counts the instances that were lost: a handle made under another number stands for state that is gone. */
  get generation(): number {
    return this.#losses;
  }

  /**
   * The core's memory. Any call into the core may move it: take it anew after each.
   * @internal
   */
  get memory(): WebAssembly.Memory | undefined {
    return this.#exports?.memory as WebAssembly.Memory | undefined;
  }

  /** Has the Wasm made from what `give` gives, if none was taken when it starts. */
  from(give: () => SyncSource): void {
    this.#give ??= give;
  }

  /** Writes text into the core's input buffer and gives its length in bytes, for the call that follows. */
  send(text: string): number {
    return this.sendAll([text])[0] as number;
  }

  /**
   * Writes texts into the core's input buffer, one behind the other, and gives the length of each in bytes. Takes one byte a
   * character at first and more only where a text needs it, so that a long ASCII text is not tripled.
   */
  sendAll(texts: readonly string[]): Uint32Array {
    const lengths = new Uint32Array(texts.length);
    let left = 0;
    for (const text of texts) left += text.length;
    let room = this.#room(left);
    let bytesPerChar = 1;
    let written = 0;
    let at = 0;
    for (const text of texts) {
      const start = written;
      for (let rest = text; rest !== ""; ) {
        const step = encoder.encodeInto(rest, room.subarray(written));
        written += step.written;
        left -= step.read;
        rest = rest.slice(step.read);
        if (rest === "") break;
        bytesPerChar = bytesPerChar === 1 ? 1.5 : 3;
        room = this.#room(written + Math.ceil(left * bytesPerChar));
      }
      lengths[at++] = written - start;
    }
    return lengths;
  }

  /** Writes bytes into the core's input buffer and gives their number. */
  sendBytes(bytes: Uint8Array): number {
    this.#room(bytes.length).set(bytes);
    return bytes.length;
  }

  /**
   * Calls into the core. An error of the core comes out as a `PlimsollError`; a trap costs the instance and comes out as
   * `INSTANCE_LOST`. `work` does nothing but send and call the glue: whatever it throws is taken for the core's.
   */
  call<T>(during: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (typeof error === "string") throw fromCore(error);
      throw isTrap(error) && this.lose() ? lost(during, error) : error;
    }
  }

  /** Gives the running instance up; the next call starts a new one from the same module. False: none was running. */
  lose(): boolean {
    if (!this.#exports) return false;
    // Growing by nothing detaches the old buffer, and with it every view of it that the glue has kept.
    this.memory?.grow(0);
    this.#exports = undefined;
    this.#losses += 1;
    this.#postpone();
    return true;
  }

  #room(bytes: number): Uint8Array<ArrayBuffer> {
    const at = this.#glue.input(bytes) >>> 0;
    return new Uint8Array((this.memory as WebAssembly.Memory).buffer as ArrayBuffer, at, bytes);
  }

  /** Stands in for the exports until one is touched; then the real ones take its place. */
  #postpone(): void {
    const touch = (_: object, name: string): unknown => {
      this.#exports ?? this.#start();
      return this.#exports?.[name];
    };
    this.#glue.__wbg_set_wasm(new Proxy({}, { get: touch as () => unknown }));
  }

  #start(): void {
    const module = moduleOf(this.#name, this.#give);
    const wanted = { [`./${this.#name}_bg.js`]: this.#glue as never };
    const { exports } = new WebAssembly.Instance(module, wanted);
    this.#exports = exports;
    this.#glue.__wbg_set_wasm(exports);
    (exports.__wbindgen_start as () => void)();
  }
}

/** A trap, or a stack that ran out half way through the core. By name: the error may come from another realm. */
function isTrap(error: unknown): boolean {
  const name = (error as Error | null)?.name;
  return name === "RuntimeError" || name === "RangeError" || name === "InternalError";
}
