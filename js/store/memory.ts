/** Store in the memory of this process, for tests and for hosts whose sessions end with the process. */
import type { Store } from "../types.js";
import { copied } from "./record.js";

/**
 * Creates a store in memory. Its sessions are lost when the process ends.
 *
 * @example
 * const store = memoryStore();
 * const context = await ContextManager.open(store, "session-1", options);
 * await context.save();
 */
export function memoryStore(): Store & Disposable {
  const records = new Map<string, { bytes: Uint8Array; revision: number }>();
  const measures = new Map<string, Uint8Array>();
  /** The highest revision that was deleted: no revision of a key comes again. */
  let deleted = 0;
  return {
    multiWriter: false,
    load: async (key) => {
      const record = records.get(key);
      return record ? { bytes: copied(record.bytes), revision: record.revision } : null;
    },
    commit: async (key, bytes, expected) => {
      const found = records.get(key)?.revision ?? null;
      if (found !== expected) return null;
      const revision = (found ?? deleted) + 1;
      records.set(key, { bytes: copied(bytes), revision });
      return revision;
    },
    delete: async (key) => {
      deleted = Math.max(deleted, records.get(key)?.revision ?? 0);
      records.delete(key);
      measures.delete(key);
    },
    loadMeasures: async (key) => {
      const bytes = measures.get(key);
      return bytes ? copied(bytes) : null;
    },
    saveMeasures: async (key, bytes) => void measures.set(key, copied(bytes)),
    [Symbol.dispose]: () => {
      records.clear();
      measures.clear();
    },
  };
}
