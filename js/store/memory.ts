/** A store in this process: for tests, and for hosts that keep sessions as long as they run. */
import type { Store } from "../types.js";

/**
 * A store that forgets all when the process ends.
 *
 * @example
 * const store = memoryStore();
 * const context = await ContextManager.open(store, "session-1", options);
 * await context.save();
 */
export function memoryStore(): Store {
  const held = new Map<string, { bytes: Uint8Array; revision: number }>();
  return {
    multiWriter: false,
    load: async (key) => {
      const record = held.get(key);
      return record ? { bytes: record.bytes.slice(), revision: record.revision } : null;
    },
    commit: async (key, bytes, expected) => {
      const found = held.get(key)?.revision ?? null;
      if (found !== expected) return null;
      const revision = (found ?? 0) + 1;
      held.set(key, { bytes: bytes.slice(), revision });
      return revision;
    },
    delete: async (key) => void held.delete(key),
  };
}
