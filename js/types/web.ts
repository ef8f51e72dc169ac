/**
 * Types of the web platform. If your program has a browser's types or Node's, these are used; if not, small types of our own. So the
 * declarations compile without either.
 */

/** Instances of a class of this name in a scope, or `Else` if the scope has no such class. */
type Own<Scope, Name extends string, Else> =
  Scope extends Record<
    Name,
    {
      /** What its instances are. */
      prototype: infer Instance;
    }
  >
    ? Instance
    : Else;

/** Aborts a call. */
export type AbortSignal = Own<
  typeof globalThis,
  "AbortSignal",
  {
    /** True after it was aborted. */
    readonly aborted: boolean;
    /** Why it was aborted. */
    readonly reason: unknown;
    /** Calls `listener` when it is aborted. */
    addEventListener(type: "abort", listener: () => void, options?: object): void;
    /** Calls `listener` no longer. */
    removeEventListener(type: "abort", listener: () => void): void;
  }
>;

/** A stream of parts. */
export type ReadableStream = Own<typeof globalThis, "ReadableStream", object>;

/** Answer of `fetch`. */
export type Response = Own<typeof globalThis, "Response", object>;

/** An address. */
export type URL = Own<typeof globalThis, "URL", object>;

/** A compiled Wasm. */
export type WasmModule =
  typeof globalThis extends Record<"WebAssembly", infer Scope>
    ? Own<Scope, "Module", object>
    : object;

/** Bytes in memory. */
export type Bytes = ArrayBufferView | ArrayBuffer;
