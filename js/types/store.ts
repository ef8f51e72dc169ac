/**
 * Where sessions are kept: load, and commit against the revision that was loaded. Every string is a key. Whether a store of yours does
 * what is meant here, `storeConformance` of `plimsoll/store/conformance` tells.
 */
export interface Store {
  /** A record whole, as one commit wrote it; null: there is none. */
  load(key: string): Promise<{ bytes: Uint8Array; revision: number } | null>;
  /**
   * The new revision, one more than `expected`, or null when the stored revision is no longer `expected` (null: nothing is stored), and
   * nothing has changed. A first revision is 1 or, where something was deleted, higher: no revision of a key comes again.
   */
  commit(key: string, bytes: Uint8Array, expected: number | null): Promise<number | null>;
  /** Of what is not there too. A commit against the deleted revision is refused. */
  delete(key: string): Promise<void>;
  /** Several processes may write to it. */
  readonly multiWriter: boolean;
}
