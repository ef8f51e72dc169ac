import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createInspectHandler } from "plimsoll/inspect";
import { Refused, Sessions } from "./session.mjs";
import { eventStream } from "./sse.mjs";
import { compactBetweenTurns, partsOf, runTurn } from "./turn.mjs";

const MAX_BODY_BYTES = 1_000_000;

/**
 * The HTTP server of the gateway.
 *
 * @param {object} gateway
 * @param {import("plimsoll").Store} gateway.store
 * @param {object} gateway.context options of every session's `ContextManager`
 * @param {Function} gateway.model see chat.mjs
 * @param {{ definitions: object[], run(name: string, args: object): Promise<{ text: string }> }} gateway.tools
 * @param {number} gateway.limit sessions that stay open in memory
 */
export function createGateway({ store, context, model, tools, limit }) {
  const sessions = new Sessions({ store, context, limit });

  async function postTurn(request, response, id) {
    const { text, after } = parsed(await readJson(request));
    if (typeof text !== "string" || !text) throw new Refused(400, "BAD_REQUEST", "text is missing");
    if (after !== undefined && !Number.isInteger(after))
      throw new Refused(400, "BAD_REQUEST", "after must be a number of turns");
    await sessions.use(id, async (session) => {
      await session.begin(after);
      const emit = eventStream(response);
      const gone = new AbortController();
      response.on("close", () => response.writableFinished || gone.abort());
      try {
        await runTurn({ session, text, model, tools, signal: gone.signal, emit });
        session.isBusy = false;
        await compactBetweenTurns(session, tools);
      } catch (error) {
        // What a failed turn has left in memory goes; the next request reads the session from the store.
        sessions.forget(id);
        if (!gone.signal.aborted) emit("error", errorOf(error));
      } finally {
        response.end();
      }
    });
  }

  /** A session as its last turn left it, or undefined if it has no turn. */
  const find = (id) =>
    sessions.use(id, async (session) => {
      if (!session.isBusy) await session.catchUp();
      return session.turns > 0 ? session : undefined;
    });

  async function getSession(_, response, id) {
    const session = await find(id);
    if (!session) throw new Refused(404, "NOT_FOUND", `there is no session ${id}`);
    sendJson(response, 200, { id, turns: session.turns, messages: session.history });
  }

  async function inspected(id) {
    const session = await find(id);
    if (!session || session.isBusy) return session?.context;
    // A session that was just read from the store has made no request yet.
    session.context.request(session.history, { ...partsOf(session.context, tools), open: true });
    return session.context;
  }
  const inspect = createInspectHandler({ get: inspected });

  async function postRpc(request, response) {
    const answer = await inspect(await readJson(request));
    if (answer === undefined) response.writeHead(204).end();
    else sendJson(response, 200, answer);
  }

  /** The inspector. It reads `/rpc` of this server: /inspector#live=/rpc&session=ID */
  async function getInspector(_, response) {
    const page = await readFile(new URL(import.meta.resolve("plimsoll/inspector.html")));
    response.writeHead(200, {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": "frame-ancestors 'none'",
    });
    response.end(page);
  }

  const routes = [
    ["POST", /^\/sessions\/([\w-]{1,64})\/turns$/, postTurn],
    ["GET", /^\/sessions\/([\w-]{1,64})$/, getSession],
    ["POST", /^\/rpc$/, postRpc],
    ["GET", /^\/inspector$/, getInspector],
  ];

  return createServer(async (request, response) => {
    try {
      const pathname = pathOf(request.url);
      for (const [method, path, handle] of routes) {
        const match = request.method === method && path.exec(pathname);
        if (match) return await handle(request, response, match[1]);
      }
      throw new Refused(404, "NOT_FOUND", `there is no ${request.method} ${pathname}`);
    } catch (error) {
      const answer = errorOf(error);
      const status = error instanceof Refused ? error.status : 500;
      // The rest of a body that is too large is not read: the client must not use the connection again.
      if (status === 413) response.setHeader("connection", "close");
      if (!response.headersSent) sendJson(response, status, answer);
    }
  });
}

/** The path that is asked for; of what is no URL, all of it, which no route has. */
const pathOf = (url) =>
  URL.canParse(url, "http://gateway") ? new URL(url, "http://gateway").pathname : url;

/** An error as the client sees it; details of unexpected ones are only in the gateway's log. */
function errorOf(error) {
  const { code, message, turns } = error;
  if (error instanceof Refused) return { code, message, turns };
  console.error(error);
  return { code: "FAILED", message: "the turn failed; read the session before you send it again" };
}

function sendJson(response, status, value) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

async function readJson(request) {
  // A page in a browser cannot send this type to another origin without asking first.
  if (!request.headers["content-type"]?.startsWith("application/json")) {
    throw new Refused(415, "BAD_REQUEST", "the content-type must be application/json");
  }
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Refused(413, "TOO_LARGE", "at most 1 MB");
  }
  return Buffer.concat(chunks).toString();
}

function parsed(json) {
  try {
    return Object(JSON.parse(json));
  } catch {
    throw new Refused(400, "BAD_REQUEST", "the body must be JSON");
  }
}
