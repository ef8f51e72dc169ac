/** Reports over JSON-RPC 2.0. */
import { PlimsollError } from "../core/errors.js";
import { PAGING, part, partOf } from "./part.js";
import { Refused, wrong } from "./refused.js";

/** A session that the handler can report on, such as a `ContextManager`. */
export interface Inspected {
  /** Returns the report of the session. */
  inspect(options?: {
    /** Key of a text to include. */
    detailKey?: string;
  }): {
    /** Id of the session; if it is empty, the handler fills in the id that was asked for. */
    sessionId: string;
    /** The nearest keys, if `detailKey` does not exist. */
    nearestKeys?: string[];
  };
}

/** A session that the handler can report on at any of its calls, such as a recorded view or a replay. */
export interface InspectedCalls {
  /** Returns the report of a call, from 0; of the last if it is not named. */
  report(
    call?: number,
    options?: Parameters<Inspected["inspect"]>[0],
  ): ReturnType<Inspected["inspect"]>;
  /** Its calls, as far as the answer shows them. */
  readonly calls: readonly object[];
}

/** Source of the sessions that a handler reports on. */
export interface InspectedSessions {
  /**
   * Returns the session with this id, or nothing if it is unknown or inactive.
   *
   * @param queryHint what the user is about to ask, for a system prompt that depends on it
   */
  get(id: string, queryHint?: string): Shown | undefined | null | Promise<Shown | undefined | null>;
}

/** Session of a handler: one that answers for its last request, or for any call. */
type Shown = Inspected | InspectedCalls;

/** Response of the handler, as JSON-RPC 2.0 defines it. */
export type InspectResponse = {
  jsonrpc: "2.0";
  /** Id of the request; `null` if it could not be read. */
  id: string | number | null;
} & (
  | {
      /** The report. */
      result: unknown;
    }
  | {
      /** Why there is none. */
      error: RpcError;
    }
);

/** Error of a response. */
interface RpcError {
  /** -32700 parse error, -32600 invalid request, -32601 unknown method, -32602 invalid params, -32603 internal error, -32001 unknown session. */
  code: number;
  /** What is wrong, in words. */
  message: string;
  /** Details, such as the parameter or `validKeys`. */
  data?: unknown;
}

type Id = string | number | null;
type Fields = Record<string, unknown>;

const METHOD = "context.inspect";
const NO_SESSION = -32_001;
const PARAMS = new Set(["sessionId", "queryHint", "detailKey", ...PAGING]);

/**
 * Creates a JSON-RPC 2.0 handler with one method, `context.inspect`, whose params are `{ sessionId, queryHint?, detailKey?, call?,
 * include?, limit?, cursor? }` and whose result is the report of that session. The report contains a text only if `detailKey` asks for it.
 * An unknown key is error -32602 with the nearest keys in `data.validKeys`; an unknown session is error -32001.
 *
 * `call` is the number of a call, from 0, of a recorded view or a replay; others show their last request. `include` lists the parts that
 * the report should have: `messages` and `sections` by default, and `calls`, which only views and replays have. With `limit` the report
 * has so many messages and calls, and a `nextCursor`: pass it as `cursor` for those that follow, until it is `null`.
 *
 * The handler takes a request, a batch, or either as text. It resolves to the response, or to `undefined` if none is to be sent. It never
 * rejects.
 *
 * @param sessions where the handler finds sessions
 * @example
 * const handle = createInspectHandler({ get: (id) => gateway.session(id)?.context });
 * socket.on("message", async (text) => {
 *   const answer = await handle(String(text));
 *   if (answer !== undefined) socket.send(JSON.stringify(answer));
 * });
 */
export function createInspectHandler(
  sessions: InspectedSessions,
): (request: unknown) => Promise<InspectResponse | InspectResponse[] | undefined> {
  return async (request) => {
    let parsed = request;
    if (typeof request === "string") {
      try {
        parsed = JSON.parse(request);
      } catch {
        return failed(null, new Refused(-32_700, "Parse error"));
      }
    }
    if (!Array.isArray(parsed)) return answered(sessions, parsed);
    if (parsed.length === 0) return failed(null, new Refused(-32_600, "Invalid Request"));
    const answers = await Promise.all(parsed.map((one) => answered(sessions, one)));
    const replies = answers.filter((one) => one !== undefined);
    return replies.length > 0 ? replies : undefined;
  };
}

/** The answer to one request; a notification has none, whatever comes of it. */
async function answered(
  sessions: InspectedSessions,
  parsed: unknown,
): Promise<InspectResponse | undefined> {
  const call = isFields(parsed) ? parsed : {};
  const hasId = Object.hasOwn(call, "id");
  const id = isId(call.id) ? call.id : null;
  if (call.jsonrpc !== "2.0" || typeof call.method !== "string" || (hasId && !isId(call.id))) {
    return failed(id, new Refused(-32_600, "Invalid Request"));
  }
  if (call.params !== undefined && (typeof call.params !== "object" || call.params === null)) {
    return failed(id, new Refused(-32_600, "Invalid Request"));
  }
  if (!hasId) return undefined;
  try {
    if (call.method !== METHOD) {
      throw new Refused(-32_601, `Method not found: there is ${METHOD}`);
    }
    return { jsonrpc: "2.0", id, result: await inspected(sessions, call.params) };
  } catch (error) {
    return failed(id, error);
  }
}

async function inspected(sessions: InspectedSessions, params: unknown): Promise<object> {
  if (!isFields(params)) throw wrong("params", "an object with `sessionId`");
  for (const name of Object.keys(params)) {
    if (!PARAMS.has(name)) throw wrong(name, `one of ${[...PARAMS].join(", ")}`);
  }
  const { sessionId, queryHint = "", detailKey = "" } = params;
  if (typeof sessionId !== "string" || sessionId.trim() === "") {
    throw wrong("sessionId", "the id of a session");
  }
  if (typeof queryHint !== "string") throw wrong("queryHint", "a string");
  if (typeof detailKey !== "string") throw wrong("detailKey", "a string");
  const session = await found(sessions, sessionId, queryHint);
  if (!session) throw new Refused(NO_SESSION, "Unknown or inactive session", { sessionId });
  const options = detailKey === "" ? {} : { detailKey };
  const calls = "inspect" in session ? undefined : session.calls;
  const asked = part(params, calls);
  const report =
    "inspect" in session ? session.inspect(options) : session.report(asked.call, options);
  if (report.nearestKeys) {
    throw wrong("detailKey", "the key of a section, a message or the prompt", {
      validKeys: report.nearestKeys,
    });
  }
  const named = report.sessionId === "" ? { ...report, sessionId } : report;
  return partOf(named, asked, calls);
}

/** Errors on the way to a session are the host's own: those of a store tell of its folders. */
async function found(
  sessions: InspectedSessions,
  id: string,
  hint: string,
): Promise<Shown | undefined | null> {
  try {
    return await sessions.get(id, ...(hint === "" ? [] : [hint]));
  } catch {
    throw internal();
  }
}

function internal(data?: unknown): Refused {
  return new Refused(-32_603, "Internal error", data);
}

/** What a host's own code throws stays with it: only our words go out. */
function failed(id: Id, error: unknown): InspectResponse {
  const info = error instanceof PlimsollError ? error.info : undefined;
  const known = error instanceof Refused ? error : internal(info);
  const { code, message, data } = known;
  return {
    jsonrpc: "2.0",
    id,
    error: data === undefined ? { code, message } : { code, message, data },
  };
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isId(id: unknown): id is Id {
  return id === null || typeof id === "string" || Number.isFinite(id);
}
