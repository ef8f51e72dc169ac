/**
 * A running Wasm: starts at the first call into it, and again after a trap. Copies texts and bytes into its memory, and turns its
 * errors into `PlimsollError`s.
 */
import { TextEncoder } from "./coders.js";
import { fromCore, lost } from "./errors.js";
import { moduleOf, type SyncSource } from "./loader.js";

/** The part of wasm-bindgen's glue that every Wasm of the package has. */
interface Glue {
  __wbg_set_wasm(exports: object): void;
  input(length: number): number;
}

const encoder = new TextEncoder();

export class Instance {
  readonly #name: string;
  readonly #glue: Glue;
  #exports: WebAssembly.Exports | undefined;
  #source: (() => SyncSource) | undefined;
  #losses = 0;

  /** @param name name of the Wasm, without `.wasm` */
  constructor(name: string, glue: Glue) {
    this.#name = name;
    this.#glue = glue;
    this.#postpone();
  }

  /** Number of instances that were lost. A handle made under another number refers to state that is gone. */
  get generation(): number {
    return this.#losses;
  }

  /**
   * Memory of the Wasm. Any call into the Wasm may replace its buffer, so read it again after each call.
   * @internal
   */
  get memory(): WebAssembly.Memory | undefined {
    return this.#exports?.memory as WebAssembly.Memory | undefined;
  }

  /** Sets where the Wasm comes from if `init` or `initSync` has not registered it before it starts. The first source counts. */
  from(source: () => SyncSource): void {
    this.#source ??= source;
  }

  /** Writes a text into the input buffer for the call that follows. Returns its length in bytes. */
  send(text: string): number {
    return this.sendAll([text])[0] as number;
  }

  /**
   * Writes texts into the input buffer, one after the other. Returns the length of each in bytes. Reserves one byte for each
   * character at first and more only if a text needs it, so that a long ASCII text does not reserve three times its size.
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

  /** Writes bytes into the input buffer. Returns their number. */
  sendBytes(bytes: Uint8Array): number {
    this.#room(bytes.length).set(bytes);
    return bytes.length;
  }

  /**
   * Calls into the Wasm. Its errors are thrown as `PlimsollError`. After a trap, which leaves the memory in an unknown state, the
   * instance is given up and `INSTANCE_LOST` is thrown. `work` must only send and call the glue: whatever it throws counts as an
   * error of the Wasm.
   *
   * @param during name of the public function, for the error
   */
  call<T>(during: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (typeof error === "string") throw fromCore(error);
      throw isTrap(error) && this.lose() ? lost(during, error) : error;
    }
  }

  /** Gives up the running instance; the next call starts a new one from the same module. Returns false if none was running. */
  lose(): boolean {
    if (!this.#exports) return false;
    // Growing by 0 pages detaches the old buffer, so that the views that the glue has cached cannot be used again.
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

  /** Puts a proxy in place of the exports, which starts the Wasm when one of them is read. */
  #postpone(): void {
    const touch = (_: object, name: string): unknown => {
      this.#exports ?? this.#start();
      return this.#exports?.[name];
    };
    this.#glue.__wbg_set_wasm(new Proxy({}, { get: touch as () => unknown }));
  }

  #start(): void {
    const module = moduleOf(this.#name, this.#source);
    const wanted = { [`./${this.#name}_bg.js`]: this.#glue as never };
    this.#exports = behindProxies(new WebAssembly.Instance(module, wanted).exports);
    this.#glue.__wbg_set_wasm(this.#exports);
    (this.#exports.__wbindgen_start as () => void)();
  }
}

/**
 * The exports, each function behind a proxy. V8 compiles a call of a Wasm function into its caller, and if that caller is deoptimized
 * during the call and the function returns a reference, Node 20 and 22 end the process ("unreachable code"). A call through a proxy
 * is not compiled into its caller; it takes 20 ns more.
 */
function behindProxies(exports: WebAssembly.Exports): WebAssembly.Exports {
  const hidden = Object.entries(exports).map(([name, it]): [string, WebAssembly.ExportValue] => [
    name,
    typeof it === "function" ? new Proxy(it, {}) : it,
  ]);
  return Object.fromEntries(hidden);
}

/** A trap, or a stack overflow in the middle of a call. Compares names because the error may come from another realm. */
function isTrap(error: unknown): boolean {
  const name = (error as Error | null)?.name;
  return name === "RuntimeError" || name === "RangeError" || name === "InternalError";
}
