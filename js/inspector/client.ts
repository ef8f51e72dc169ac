/** The page's side of a worker: questions with their answers, and progress. */
import { fromBase64, gunzip } from "./packed.js";
import type { FromWorker, Operation, Operations, ToWorker } from "./protocol.js";

/** Text of an element that carries data. */
function carried(id: string): string {
  return document.getElementById(id)?.textContent?.trim() ?? "";
}

let compiled: Promise<WebAssembly.Module> | undefined;
let address: string | undefined;

/** The Wasm inside the page: unpacked and compiled once, for all workers. */
function wasm(): Promise<WebAssembly.Module> {
  compiled ??= gunzip(fromBase64(carried("plimsoll-wasm"))).then((bytes) =>
    WebAssembly.compile(bytes),
  );
  return compiled;
}

/** A worker that practises; `null` as soon as a file is opened. */
let practising: Worker | null | undefined;

/**
 * Compiles the Wasm before it is asked for, and has a worker practise: what runs often enough is optimized, for all workers.
 * So the first file waits for less.
 */
export function warmUp(): void {
  const practise = (module: WebAssembly.Module) => {
    if (practising === null) return;
    practising = new Worker(script());
    practising.postMessage({ module, practise: true } satisfies ToWorker);
  };
  // Whoever opens a file learns of a failure.
  wasm().then(practise, () => undefined);
}

function script(): string {
  address ??= URL.createObjectURL(
    new Blob([carried("plimsoll-worker")], { type: "text/javascript" }),
  );
  return address;
}

export type Progress = Extract<
  FromWorker,
  { step: string } | { tried: number } | { played: number }
>;

/** Whoever answers questions about one session: a worker with a file, or a live session. */
export interface Asked {
  ask<O extends Operation>(
    operation: O,
    input: Operations[O]["takes"],
  ): Promise<Operations[O]["gives"]>;
  close(): void;
}

export class Client implements Asked {
  readonly #worker: Worker;
  readonly #ready: Promise<void>;
  readonly #waiting = new Map<
    number,
    { resolve: (value: never) => void; reject: (error: Error) => void }
  >();
  #asked = 0;
  #isOver = false;

  constructor(onProgress: (progress: Progress) => void) {
    practising?.terminate();
    practising = null;
    this.#worker = new Worker(script());
    this.#worker.onmessage = ({ data }: { data: FromWorker }) => {
      if (!("id" in data)) return this.#isOver ? undefined : onProgress(data);
      const waiting = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if ("error" in data) waiting?.reject(new Error(data.error.message));
      else waiting?.resolve(data.result as never);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.close(`the worker failed: ${event.message || "out of memory?"}`);
    };
    this.#ready = wasm().then((module) => this.#post({ module }));
  }

  async ask<O extends Operation>(
    operation: O,
    input: Operations[O]["takes"],
    transfer: Transferable[] = [],
  ): Promise<Operations[O]["gives"]> {
    await this.#ready;
    if (this.#isOver) throw new Error("cancelled");
    this.#asked += 1;
    const id = this.#asked;
    return await new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (value: never) => void, reject });
      this.#post({ id, operation, input } as ToWorker, transfer);
    });
  }

  /** Ends the worker; what it was asked is rejected. */
  close(reason = "cancelled"): void {
    this.#isOver = true;
    this.#worker.terminate();
    for (const { reject } of this.#waiting.values()) reject(new Error(reason));
    this.#waiting.clear();
  }

  #post(message: ToWorker, transfer: Transferable[] = []): void {
    this.#worker.postMessage(message, transfer);
  }
}
