// @ts-check
/** The published suite on every store that is published, and on stores that fail it. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { api } from "../conformance/support/agent-session.mjs";
import { HOSTS } from "../support/matrix.mjs";
import { opened, RUNTIMES, runTask, skip, specOf, subpath } from "./stores.mjs";

for (const kind of /** @type {const} */ (["memory", "file", "sqlite", "redis"])) {
  test(`${kind} passes the conformance suite for stores`, { skip: skip(kind) }, async (t) => {
    const checks = await runTask("conformance", await specOf(t, kind));
    assert.ok(checks.length >= 15, `${checks.length} checks`);
    const failed = checks.filter(({ ok }) => !ok);
    assert.deepEqual(failed, []);
    console.log(`${kind}: ${checks.length} checks`);
  });
}

test("sqlite in memory passes the conformance suite for stores", {
  skip: skip("sqlite"),
}, async () => {
  const checks = await runTask("conformance", { kind: "sqlite", place: ":memory:" });
  assert.deepEqual(
    checks.filter(({ ok }) => !ok),
    [],
  );
  assert.ok(checks.length >= 15);
});

for (const [name, kinds] of /** @type {const} */ ([
  ["deno", ["file", "sqlite"]],
  ["bun", ["file"]],
])) {
  const [program = "", ...options] = RUNTIMES[name] ?? [];
  const reason = HOSTS[name].missing();
  const missing = reason !== null && `skipped: ${name} is ${reason}`;
  for (const kind of kinds) {
    test(`${kind} in ${name} passes the conformance suite for stores`, {
      skip: skip("file") || missing,
    }, async (t) => {
      const spec = await specOf(t, kind);
      const checks = await runTask("conformance", spec, {}, [program, ...options]);
      assert.deepEqual(
        checks.filter(({ ok }) => !ok),
        [],
      );
      assert.ok(checks.length >= 15);
    });
  }
}

/** Stores that do one thing wrong, and the check that must say so. @type {Array<[string, RegExp, (store: any) => object]>} */
const WRONG = [
  [
    "overwrites",
    /against another revision/,
    (store) => ({
      commit: async (/** @type {string} */ key, /** @type {Uint8Array} */ bytes) =>
        store.commit(key, bytes, (await store.load(key))?.revision ?? null),
    }),
  ],
  [
    "looks, waits and writes",
    /at once/,
    (store) => ({
      commit: async (
        /** @type {string} */ key,
        /** @type {Uint8Array} */ bytes,
        /** @type {any} */ expected,
      ) => {
        const before = (await store.load(key))?.revision ?? null;
        if (before !== expected) return null;
        await new Promise((done) => setTimeout(done));
        return store.commit(key, bytes, (await store.load(key))?.revision ?? null);
      },
    }),
  ],
  [
    "makes text of bytes",
    /bytes come back/,
    (store) => ({
      commit: (
        /** @type {string} */ key,
        /** @type {Uint8Array} */ bytes,
        /** @type {any} */ expected,
      ) => store.commit(key, new TextEncoder().encode(new TextDecoder().decode(bytes)), expected),
    }),
  ],
  [
    "gives its own bytes out",
    /nobody else's/,
    (store) => {
      const stored = new Map();
      return {
        load: async (/** @type {string} */ key) => {
          const found = await store.load(key);
          if (found && !stored.has(key + found.revision)) stored.set(key + found.revision, found);
          return found && stored.get(key + found.revision);
        },
      };
    },
  ],
  [
    "folds keys to lower case",
    /another than every other/,
    (store) => ({
      load: (/** @type {string} */ key) => store.load(key.toLowerCase()),
      commit: (
        /** @type {string} */ key,
        /** @type {Uint8Array} */ bytes,
        /** @type {any} */ expected,
      ) => store.commit(key.toLowerCase(), bytes, expected),
    }),
  ],
  [
    "makes UTF-8 of keys",
    /another than every other/,
    (store) => {
      const utf8 = (/** @type {string} */ key) => Buffer.from(key).toString();
      return {
        load: (/** @type {string} */ key) => store.load(utf8(key)),
        commit: (
          /** @type {string} */ key,
          /** @type {Uint8Array} */ bytes,
          /** @type {any} */ expected,
        ) => store.commit(utf8(key), bytes, expected),
      };
    },
  ],
  ["deletes nothing", /is deleted is not there/, () => ({ delete: async () => {} })],
  [
    "counts anew after a deletion",
    /comes again/,
    () => {
      const stored = new Map();
      return {
        load: async (/** @type {string} */ key) => stored.get(key) ?? null,
        commit: async (
          /** @type {string} */ key,
          /** @type {Uint8Array} */ bytes,
          /** @type {any} */ expected,
        ) => {
          if ((stored.get(key)?.revision ?? null) !== expected) return null;
          stored.set(key, { bytes: bytes.slice(), revision: (expected ?? 0) + 1 });
          return (expected ?? 0) + 1;
        },
        delete: async (/** @type {string} */ key) => void stored.delete(key),
      };
    },
  ],
  [
    "deletes measures with a record only",
    /measures without a record/,
    (store) => ({
      delete: async (/** @type {string} */ key) => {
        if (await store.load(key)) await store.delete(key);
      },
    }),
  ],
  ["is one of many without knowing", /all see, if several/, () => ({ multiWriter: true })],
];

/** A store in memory, with something else in it. @param {(store: any) => object} change */
const changed = async (change) => {
  const store = await opened({ kind: "memory", place: "" });
  return { ...store, ...change(store) };
};

for (const [fault, check, change] of WRONG) {
  test(`the conformance suite finds a store that ${fault}`, { skip: skip("memory") }, async () => {
    const { storeConformance } = await subpath("store/conformance");
    const make = () => changed(change);
    const failed = [];
    for await (const { name, ok, detail } of storeConformance(make)) {
      if (ok) continue;
      assert.ok(detail);
      failed.push(name);
    }
    assert.ok(
      failed.some((name) => check.test(name)),
      `failed: ${failed}`,
    );
  });
}

test("the conformance suite ends on a store that always refuses", {
  skip: skip("memory"),
  timeout: 20_000,
}, async () => {
  const { storeConformance } = await subpath("store/conformance");
  const make = () =>
    changed((store) => ({
      commit: async (
        /** @type {string} */ key,
        /** @type {Uint8Array} */ bytes,
        /** @type {any} */ expected,
      ) => {
        // So that a suite without end can be stopped.
        await new Promise((done) => setTimeout(done));
        return expected === null ? store.commit(key, bytes, null) : null;
      },
    }));
  const failed = [];
  for await (const { name, ok, detail } of storeConformance(make))
    if (!ok) failed.push(`${name}: ${detail}`);
  assert.ok(failed.some((it) => /a commit is refused that no other was before/.test(it)));
});

test("the conformance suite leaves no keys and no pending work behind", {
  skip: skip("memory"),
}, async () => {
  const { storeConformance } = await subpath("store/conformance");
  const store = await opened({ kind: "memory", place: "" });
  const stored = new Set();
  const noted = {
    ...store,
    commit: (
      /** @type {string} */ key,
      /** @type {Uint8Array} */ bytes,
      /** @type {any} */ expected,
    ) => {
      stored.add(key);
      return store.commit(key, bytes, expected);
    },
    delete: (/** @type {string} */ key) => {
      stored.delete(key);
      return store.delete(key);
    },
  };
  for await (const { name } of storeConformance(async () => noted)) {
    if (!/every string/.test(name)) continue;
    assert.ok(stored.size > 20);
    break;
  }
  assert.deepEqual([...stored], []);

  let loads = 0;
  let isOver = false;
  const make = () =>
    changed((full) => ({
      load: (/** @type {string} */ key) => {
        loads += 1;
        if (isOver) throw new Error("it is over");
        return full.load(key);
      },
      commit: (
        /** @type {string} */ key,
        /** @type {Uint8Array} */ bytes,
        /** @type {any} */ expected,
      ) => {
        if (bytes.length === 40_000 && expected === 20) throw new Error("no space left");
        return full.commit(key, bytes, expected);
      },
    }));
  const failed = [];
  for await (const { name, ok } of storeConformance(make)) if (!ok) failed.push(name);
  assert.ok(failed.some((name) => /reads whole records/.test(name)));
  const before = loads;
  await new Promise((done) => setTimeout(done, 50));
  isOver = true;
  assert.equal(loads, before, "whoever reads has ended");
});

test("sqliteStore closes a file that is no database and creates none without a name", {
  skip: skip("sqlite"),
}, async (t) => {
  const spec = await specOf(t, "sqlite");
  writeFileSync(spec.place, "no database".repeat(100));
  const [{ errors, handles }] = await runTask("unopened", spec, { paths: ["", 7, spec.place] });
  assert.deepEqual(errors.slice(0, 2), [
    'path: expected the path of a database, got ""',
    "path: expected the path of a database, got 7",
  ]);
  assert.match(errors[2], /not a database/);
  assert.equal(handles, 0);
});

test("sqliteStore waits as long as others commit, and is LOCKED after 30 seconds in which none does", {
  skip: skip("sqlite"),
}, async (t) => {
  const spec = await specOf(t, "sqlite");
  const [{ before, revision, refused }] = await runTask("locked", spec);
  assert.deepEqual({ before, revision }, { before: 0, revision: 2 });
  const info = { code: "LOCKED", path: spec.place, holder: "an unknown process" };
  assert.deepEqual(refused, { info, message: `${spec.place} is held by an unknown process` });
});

test("bad arguments of stores are typed errors", { skip: skip("memory") }, async (t) => {
  const { fileStore } = await subpath("store/file");
  const { redisStore } = await subpath("store/redis");
  const { sqliteStore } = await subpath("store/sqlite");
  assert.throws(() => fileStore(""), { code: "INVALID_ARGUMENT" });
  assert.throws(
    () => redisStore({}),
    /client: expected a client of the `redis` package, 5 or newer, got an object$/,
  );
  const client = { withTypeMapping: () => ({}) };
  for (const [options, message] of /** @type {Array<[any, RegExp]>} */ ([
    [{ prefx: "gateway:" }, /Unknown option "prefx"\. Did you mean "prefix"\?/],
    [{ prefix: 5 }, /options\.prefix: expected a string, got 5/],
    ["gateway:", /options: expected an object of options, got "gateway:"/],
  ])) {
    assert.throws(() => redisStore(client, options), { code: "INVALID_ARGUMENT", message });
  }
  if (!process.getBuiltinModule?.("node:sqlite")) {
    assert.throws(
      () => sqliteStore(":memory:"),
      (/** @type {any} */ error) => {
        assert.ok(error instanceof api.PlimsollError);
        assert.match(
          error.message,
          /^sqliteStore: expected a runtime with node:sqlite \(Node 22\.13 or newer, Deno 2\.2 or newer\), got "Node 20/,
        );
        return error.code === "INVALID_ARGUMENT";
      },
    );
  }
  const store = await opened(await specOf(t, "file"));
  await assert.rejects(store.load(7), { code: "INVALID_ARGUMENT" });
});
