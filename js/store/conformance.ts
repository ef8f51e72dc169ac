/** Test suite for stores. */
import type { Store } from "../types.js";

/** Result of one check of a store. */
export interface StoreCheck {
  /** What a store has to do, in words. */
  name: string;
  /** Whether this store does it. */
  ok: boolean;
  /** What it did instead, if `ok` is false. */
  detail?: string;
}

/** Two handles of the store under test, on the same data where it has several writers; and keys that nobody else has. */
interface Bench {
  one: Store;
  other: Store;
  /** A new one, or this; it is deleted at the end. */
  key(name?: string): string;
}

type Check = (bench: Bench) => Promise<void>;

/**
 * Checks everything that `ContextManager.open` and `save` need from a store. Each check uses keys of its own, which are deleted at the end,
 * even if you stop early.
 *
 * @param make opens the store under test. It is called twice if the store is `multiWriter`; both must then have the same data.
 * @example
 * for await (const { name, ok, detail } of storeConformance(async () => myStore(url))) {
 *   test(name, () => assert.ok(ok, detail));
 * }
 */
export async function* storeConformance(make: () => Promise<Store>): AsyncIterable<StoreCheck> {
  const one = await make();
  const other = one.multiWriter ? await make() : one;
  const used: string[] = [];
  const key = (name = `conformance ${crypto.randomUUID()}`): string => {
    used.push(name);
    return name;
  };
  try {
    for (const [name, check] of Object.entries(CHECKS)) {
      try {
        await check({ one, other, key });
        yield { name, ok: true };
      } catch (error) {
        yield { name, ok: false, detail: String((error as Error)?.message ?? error) };
      }
    }
  } finally {
    for (const made of used) await one.delete(made).catch(() => undefined);
  }
}

const CHECKS: Record<string, Check> = {
  "a key that was never committed has no record": async ({ one, key }) => {
    same(await one.load(key()), null, "load");
    await one.delete(key());
  },
  "a first commit gives a revision, under which it is loaded": async ({ one, key }) => {
    const at = key();
    const revision = await first(one, at, text("one"));
    await holds(one, at, text("one"), revision);
  },
  "a commit gives one revision more": async ({ one, key }) => {
    const at = key();
    let revision = await first(one, at, text("0"));
    for (let count = 1; count < 20; count++) {
      same(await one.commit(at, text(`${count}`), revision), ++revision, "revision");
      await holds(one, at, text(`${count}`), revision);
    }
  },
  "a first commit is refused where there is a record": async ({ one, key }) => {
    const at = key();
    const revision = await first(one, at, text("one"));
    same(await one.commit(at, text("two"), null), null, "commit");
    await holds(one, at, text("one"), revision);
  },
  "a commit against another revision is refused": async ({ one, key }) => {
    const at = key();
    const before = await first(one, at, text("one"));
    const revision = await one.commit(at, text("two"), before);
    for (const expected of [before, before - 1, before + 2, before + 1000]) {
      same(await one.commit(at, text("three"), expected), null, `commit against ${expected}`);
    }
    await holds(one, at, text("two"), revision);
  },
  "a commit against a revision of nothing is refused": async ({ one, key }) => {
    const at = key();
    for (const expected of [0, 1, 7])
      same(await one.commit(at, text("one"), expected), null, "commit");
    same(await one.load(at), null, "load");
  },
  "the same commit twice is made once": async ({ one, key }) => {
    const at = key();
    const before = await first(one, at, text("one"));
    const revision = await one.commit(at, text("two"), before);
    same(await one.commit(at, text("two"), before), null, "the second");
    await holds(one, at, text("two"), revision);
  },
  "bytes come back as they are: none, each of them, half of a buffer, 1 MB": async ({
    one,
    key,
  }) => {
    const all = Uint8Array.from({ length: 512 }, (_, at) => at % 256);
    const large = Uint8Array.from({ length: 1_000_000 }, (_, at) => (at * at) >> 3);
    for (const bytes of [new Uint8Array(), all, all.subarray(100, 300), large]) {
      const at = key();
      await holds(one, at, bytes, await first(one, at, bytes));
    }
  },
  "bytes are nobody else's: neither those given nor those loaded": async ({ one, key }) => {
    const at = key();
    const bytes = text("one");
    const copy = bytes.slice();
    const revision = await first(one, at, copy);
    copy.fill(0);
    (await one.load(at))?.bytes.fill(0);
    await holds(one, at, bytes, revision);
  },
  "every string is a key, and another than every other": async ({ one, key }) => {
    const at = key();
    const keys = ODD.flatMap((odd) => [key(`${odd}${at}`), key(`${at}${odd}`)]);
    for (const name of keys) await first(one, name, text(name));
    for (const name of keys) await holds(one, name, text(name), undefined);
  },
  "what is deleted is not there": async ({ one, key }) => {
    const at = key();
    await first(one, at, text("one"));
    await one.delete(at);
    same(await one.load(at), null, "load");
    await one.delete(at);
  },
  "no revision of a key comes again, also when it was deleted": async ({ one, key }) => {
    const at = key();
    let revision = await first(one, at, text("one"));
    for (let count = 0; count < 3; count++)
      revision = (await one.commit(at, text("more"), revision)) ?? 0;
    await one.delete(at);
    same(await one.commit(at, text("late"), revision), null, "a commit against what was deleted");
    const again = await first(one, at, text("again"));
    if (again <= revision) throw new Error(`revision ${again} comes after ${revision}`);
    await holds(one, at, text("again"), again);
  },
  "of commits at once against one revision one is made": async ({ one, other, key }) => {
    const at = key();
    let revision: number | null = null;
    for (let round = 0; round < 10; round++) {
      const before: number | null = revision;
      const tried = Array.from({ length: 8 }, (_, by) =>
        (by % 2 ? other : one).commit(at, text(`${round}.${by}`), before),
      );
      const revisions = await Promise.all(tried);
      const made = revisions.filter((it) => it !== null);
      same(made.length, 1, "commits made");
      revision = made[0] as number;
      await holds(one, at, text(`${round}.${revisions.indexOf(revision)}`), revision);
    }
  },
  "writers that try again all get through, one revision each": async ({ one, other, key }) => {
    const at = key();
    const start = await first(one, at, text("start"));
    const [writers, commits] = [8, 25];
    const write = async (store: Store): Promise<void> => {
      // Each refusal takes a commit of another writer's.
      let refusals = (writers - 1) * commits;
      for (let left = commits; left > 0; ) {
        const revision = (await store.load(at))?.revision ?? null;
        if ((await store.commit(at, text("more"), revision)) !== null) left--;
        else if (refusals-- === 0) throw new Error("a commit is refused that no other was before");
      }
    };
    await Promise.all(Array.from({ length: writers }, (_, by) => write(by % 2 ? other : one)));
    await holds(one, at, text("more"), start + writers * commits);
  },
  "who reads while others write reads whole records": async ({ one, other, key }) => {
    const at = key();
    const page = (round: number): Uint8Array => new Uint8Array(40_000).fill(round);
    const start = await first(one, at, page(0));
    let isWritten = false;
    const write = async (): Promise<void> => {
      try {
        for (let round = 1; round <= 40; round++)
          await one.commit(at, page(round), start + round - 1);
      } finally {
        isWritten = true;
      }
    };
    const read = async (): Promise<void> => {
      while (!isWritten) {
        const found = await other.load(at);
        same(isEqual(found?.bytes, page((found?.revision ?? 0) - start)), true, "a whole record");
        await new Promise((done) => setTimeout(done));
      }
    };
    await Promise.all([write(), read()]);
  },
  "what one has committed all see, if several may write": async ({ one, other, key }) => {
    const at = key();
    const before = await first(one, at, text("one"));
    await holds(other, at, text("one"), before);
    const revision = await other.commit(at, text("two"), before);
    same(await one.commit(at, text("three"), before), null, "a commit that is late");
    await holds(one, at, text("two"), revision);
    await one.delete(at);
    same(await other.load(at), null, "load of what was deleted");
  },
  "measures, if the store keeps any, are those that were saved last, and go with the record":
    async ({ one, other, key }) => {
      same(typeof one.saveMeasures, typeof one.loadMeasures, "saveMeasures and loadMeasures");
      if (!one.saveMeasures || !one.loadMeasures) return;
      const at = key();
      same(await one.loadMeasures(at), null, "measures of a key without any");
      const large = Uint8Array.from({ length: 1_000_000 }, (_, at) => (at * at) >> 3);
      await one.saveMeasures(at, text("before the first commit"));
      const revision = await first(one, at, text("one"));
      for (const bytes of [new Uint8Array(), large, text("last")]) {
        await one.saveMeasures(at, bytes);
        const found = (await other.loadMeasures?.(at)) ?? undefined;
        same(isEqual(found, bytes), true, "the measures that were saved");
        await holds(one, at, text("one"), revision);
      }
      await one.delete(at);
      same(await one.loadMeasures(at), null, "measures of what was deleted");
    },
  // As `save` leaves them if the commit after them fails: whoever deletes a session wants them gone, too.
  "measures without a record are deleted with their key": async ({ one, other, key }) => {
    if (!one.saveMeasures || !one.loadMeasures) return;
    const at = key();
    await one.saveMeasures(at, text("without a record"));
    await other.delete(at);
    same(await one.loadMeasures(at), null, "measures of what was deleted");
    const revision = await first(one, at, text("one"));
    same(await one.loadMeasures(at), null, "measures of a session made after that");
    await holds(one, at, text("one"), revision);
  },
};

/** Keys that something along the way could take for another, or for something else. */
const ODD = [
  ..."/ \\ . .. ../up a/b C:\\a CON nul * ? % %2F : | ~ $ ` ' \"".split(" "),
  " ",
  "\t",
  "\n",
  "\0",
  "A",
  "a",
  "\u00e9",
  "e\u0301",
  "\u4e0a\u4e0b\u6587",
  "\u{1f6a2}",
  "\ud83d",
  "\udea2",
  "\ufffd",
  "\ufeff",
  '"\\ud83d"',
  "__proto__",
  "constructor",
  "k".repeat(1000),
  "k".repeat(1001),
];

async function first(store: Store, key: string, bytes: Uint8Array): Promise<number> {
  const revision = await store.commit(key, bytes, null);
  if (Number.isSafeInteger(revision) && (revision as number) > 0) return revision as number;
  throw new Error(`a first commit gives ${revision}, and no whole number from 1 on`);
}

async function holds(
  store: Store,
  key: string,
  bytes: Uint8Array,
  revision: number | null | undefined,
): Promise<void> {
  const found = await store.load(key);
  if (!found) throw new Error("there is no record");
  if (!(found.bytes instanceof Uint8Array)) throw new Error("its bytes are no Uint8Array");
  if (revision !== undefined) same(found.revision, revision, "the revision that is held");
  same(isEqual(found.bytes, bytes), true, "the bytes that were committed");
}

function same(got: unknown, wanted: unknown, what: string): void {
  if (got !== wanted) throw new Error(`${what}: expected ${shown(wanted)}, got ${shown(got)}`);
}

function shown(value: unknown): string {
  return typeof value === "object" && value !== null ? "a record" : String(value);
}

function isEqual(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a?.length === b.length && a.every((byte, at) => byte === b[at]);
}

/** UTF-16, so that keys with lone surrogates can be told apart. */
function text(of: string): Uint8Array {
  return Uint8Array.from(
    { length: of.length * 2 },
    (_, at) => of.charCodeAt(at >> 1) >> (8 * (at % 2)),
  );
}
