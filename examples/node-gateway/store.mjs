/** Opens the store of the gateway: `memory:`, `file:FOLDER`, `sqlite:PATH` or `redis://HOST:PORT`. */
export async function openStore(place) {
  const [kind, path] = place.split(/:(.*)/s);
  if (kind === "memory") return (await import("plimsoll/store/memory")).memoryStore();
  if (kind === "file") return (await import("plimsoll/store/file")).fileStore(path);
  if (kind === "sqlite") return (await import("plimsoll/store/sqlite")).sqliteStore(path);
  if (kind === "redis" || kind === "rediss") {
    // Only this store needs the package: npm install redis
    const { createClient } = await import("redis");
    const client = createClient({ url: place });
    client.on("error", (error) => console.error(`redis: ${error.message}`));
    const { redisStore } = await import("plimsoll/store/redis");
    return redisStore(await client.connect(), { prefix: "gateway:" });
  }
  throw new Error(
    `no store ${place}: there are memory:, file:FOLDER, sqlite:PATH, redis://HOST:PORT`,
  );
}
