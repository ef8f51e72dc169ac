/** A Worker that makes chat requests fit: the body of an OpenAI chat request in, the body to send out. */
import { ContextManager, PlimsollError } from "plimsoll";
import { renderList } from "plimsoll/inspect";

const window = { contextTokens: 16_000, maxOutputTokens: 1_000 }; // small, to see it work: use your model's
/** As long as this isolate lives; after that a session starts again from its history. */
const sessions = new Map();

export default {
  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    const id = searchParams.get("session") ?? "default";
    if (request.method === "POST" && pathname === "/chat") return chat(id, request);
    if (request.method === "GET" && pathname === "/inspect") return inspect(id);
    return new Response("POST /chat or GET /inspect, with ?session=ID\n", { status: 404 });
  },
};

async function chat(id, request) {
  try {
    const { messages, tools, ...rest } = Object(await request.json());
    const prepared = sessionOf(id).request(messages, { tools });
    if (!prepared.fits) return refusal(413, "TOO_LARGE", prepared.why.help.join("; "));
    return Response.json(prepared.apply({ ...rest, tools }));
  } catch (error) {
    if (error instanceof PlimsollError) return refusal(400, error.code, error.message);
    if (error instanceof SyntaxError) return refusal(400, "NOT_JSON", error.message);
    throw error;
  }
}

function inspect(id) {
  const context = sessions.get(id);
  if (!context) return new Response(`no session ${id}\n`, { status: 404 });
  return new Response(renderList(context.inspect(), { width: 80 }));
}

function sessionOf(id) {
  const context = sessions.get(id) ?? new ContextManager({ id, window, format: "openai-chat" });
  sessions.delete(id);
  sessions.set(id, context); // the one used last is at the end
  if (sessions.size > 100) {
    const [[oldest, unused]] = sessions;
    sessions.delete(oldest);
    unused[Symbol.dispose]();
  }
  return context;
}

const refusal = (status, code, message) => Response.json({ error: { code, message } }, { status });
