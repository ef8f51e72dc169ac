/** Store in Redis, with the client of npm's `redis` package, for gateways on many machines. */
import { onlyKnown, textOf } from "../core/arguments.js";
import { invalid, kindOf } from "../core/errors.js";
import type { Store } from "../types.js";
import { copied, nameOf } from "./record.js";

/** Client of the package `redis`, 5 or newer: the result of `createClient`, `createCluster` or `createSentinel`. */
export interface RedisClient {
  /** False after the client was closed; a lost answer is then not asked for again. */
  readonly isOpen: boolean;
  /** Returns the commands with other types of replies; the store reads byte strings. */
  withTypeMapping(mapping: object): RedisCommands;
}

/** Commands of the client that the store uses. */
export interface RedisCommands {
  /** `EVAL`. */
  eval(script: string, options: object): Promise<unknown>;
  /** `HMGET`. */
  hmGet(key: string, fields: string[]): Promise<unknown>;
}

/** The type of byte strings on the wire, `$`: they come as they are, and not as text. */
const AS_BYTES = { 36: Buffer };

/** Commits of one call after the first, for an answer that was lost. */
const AGAIN = 2;

/** Deleted keys keep their revision for so long, so that a writer that is late does not take a new session for the old one. */
const DELETED_SECONDS = 30 * 24 * 3600;

// PERSIST: a key that was deleted and is made again must not expire with the old one.
const COMMIT = `
local held = redis.call('HMGET', KEYS[1], 'revision', 'commit')
if held[2] == ARGV[3] then return held[1] end
local there = redis.call('HEXISTS', KEYS[1], 'bytes') == 1
if ARGV[1] == '' then
  if there then return false end
elseif not there or held[1] ~= ARGV[1] then
  return false
end
redis.call('HSET', KEYS[1], 'bytes', ARGV[2], 'commit', ARGV[3])
redis.call('PERSIST', KEYS[1])
return tostring(redis.call('HINCRBY', KEYS[1], 'revision', 1))
`;

const SAVE_MEASURES = `
redis.call('HSET', KEYS[1], 'measures', ARGV[1])
return false
`;

const DELETE = `
if redis.call('HDEL', KEYS[1], 'bytes', 'commit', 'measures') > 0 then
  redis.call('EXPIRE', KEYS[1], ARGV[1])
end
return false
`;

/**
 * Creates a store in Redis, one hash for each session. Many machines may write: a commit is one script. If the answer to a commit is lost,
 * the commit is repeated under the same id, so that it is not made twice. How durable a commit is depends on the settings of Redis
 * (`appendfsync`, replicas). A deleted key keeps its revision for 30 days, so that a late commit is rejected.
 *
 * @param client a connected client
 * @throws {PlimsollError} `INVALID_ARGUMENT` for another kind of client, and for unknown options; errors of the client.
 * @example
 * import { createClient } from "redis";
 * const store = redisStore(await createClient({ url }).connect(), { prefix: "gateway:" });
 * const context = await ContextManager.open(store, sessionId, options);
 */
export function redisStore(
  client: RedisClient,
  options: {
    /** Start of every key in Redis. Default `plimsoll:`. */
    prefix?: string | undefined;
  } = {},
): Store & Disposable {
  if (typeof client?.withTypeMapping !== "function") {
    throw invalid("client", "a client of the `redis` package, 5 or newer", client, kindOf(client));
  }
  const { prefix = "plimsoll:" } = onlyKnown("options", options, ["prefix"]);
  textOf("options.prefix", prefix);
  const commands = client.withTypeMapping(AS_BYTES);
  const nameIn = (key: string): string => prefix + nameOf(key);
  const run = (script: string, key: string, args: Array<string | Buffer>): Promise<unknown> =>
    commands.eval(script, { keys: [nameIn(key)], arguments: args });
  return {
    multiWriter: true,
    load: async (key) => {
      const [revision, bytes] = (await commands.hmGet(nameIn(key), [
        "revision",
        "bytes",
      ])) as Array<Buffer | null>;
      return revision && bytes ? { bytes: copied(bytes), revision: Number(revision) } : null;
    },
    commit: async (key, bytes, expected) => {
      // The bytes are copied, since the host may change them before a retry. One id for all tries,
      // so that the script knows a commit that it has made.
      const args = [String(expected ?? ""), Buffer.from(copied(bytes).buffer), crypto.randomUUID()];
      for (let left = AGAIN; ; left--) {
        try {
          const revision = await run(COMMIT, key, args);
          return revision === null ? null : Number(revision);
        } catch (error) {
          if (left === 0 || !client.isOpen) throw error;
        }
      }
    },
    delete: async (key) => void (await run(DELETE, key, [String(DELETED_SECONDS)])),
    loadMeasures: async (key) => {
      const [bytes] = (await commands.hmGet(nameIn(key), ["measures"])) as Array<Buffer | null>;
      return bytes ? copied(bytes) : null;
    },
    saveMeasures: async (key, bytes) => {
      await run(SAVE_MEASURES, key, [Buffer.from(copied(bytes).buffer)]);
    },
    // The client is the host's.
    [Symbol.dispose]: () => {},
  };
}
