/**
 * Storage for sessions. Any string is a key. Stores use optimistic locking: a commit names the revision it loaded, and a stale commit is
 * rejected. `storeConformance` of `plimsoll/store/conformance` tests a store of your own.
 */
export interface Store {
  /** The last committed record, or `null` if there is none. */
  load(key: string): Promise<{
    /** The bytes as they were committed. */
    bytes: Uint8Array;
    /** The revision under which they were committed. */
    revision: number;
  } | null>;
  /**
   * Stores the bytes if the stored revision is `expected` (`null`: nothing is stored), and resolves to the new revision, an integer greater than
   * `expected`. Resolves to `null`, changing nothing, if it is not. A key never gets the same revision twice, not even after `delete`.
   */
  commit(key: string, bytes: Uint8Array, expected: number | null): Promise<number | null>;
  /** Removes a record if there is one, and its measures. Later commits against its revision are rejected. */
  delete(key: string): Promise<void>;
  /**
   * The measures that were saved last, or `null` if there are none. They save time and nothing else: a store may lose them, or leave
   * out both methods.
   */
  loadMeasures?(key: string): Promise<Uint8Array | null>;
  /** Stores measures in place of the ones before. Of two writers the last one counts. */
  saveMeasures?(key: string, bytes: Uint8Array): Promise<void>;
  /** True if several processes may write to it. */
  readonly multiWriter: boolean;
  /** Releases what the store holds open: `using store = sqliteStore(path)`. */
  [Symbol.dispose]?(): void;
}
