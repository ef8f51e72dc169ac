/** Sources of live reports: a gateway over HTTP, or the page around this one. Both answer `context.inspect` of JSON-RPC 2.0. */

/** A session to follow, as the address of the page names it. */
export type Target =
  | { kind: "gateway"; url: URL; session: string }
  | { kind: "embedder"; origin: string };

export interface LiveSource {
  /** Where it is, in words. */
  name: string;
  send(request: object, signal: AbortSignal): Promise<unknown>;
}

/** The session that an address asks for; an `Error` if the page may not connect there. */
export function targetOf(parameters: URLSearchParams): Target | Error | undefined {
  const [live, embed] = [parameters.get("live"), parameters.get("embed")];
  if (live !== null) {
    const url = allowed(live);
    const session = parameters.get("session") ?? "";
    if (!url)
      return new Error(`live: expected an address of this computer or of this page's server`);
    if (session === "") return new Error("live: the address names no session: add &session=ID");
    return { kind: "gateway", url, session };
  }
  if (embed === null) return undefined;
  // `*` and the origin of files would let any page in.
  const origin = URL.canParse(embed) ? new URL(embed).origin : "null";
  if (origin === "null" || origin !== embed)
    return new Error("embed: expected the origin of the page around, such as https://example.org");
  if (window.parent === window) return new Error("embed: this page is not inside another one");
  return { kind: "embedder", origin };
}

/** The content security policy for a target: it, and nothing else. */
export function connectionsOf(target: Target | Error | undefined): string {
  return target && "url" in target ? target.url.origin : "'none'";
}

/** An address that the page may read: of this computer, or of the server that the page is from. */
function allowed(text: string): URL | undefined {
  if (!URL.canParse(text, location.href)) return undefined;
  const url = new URL(text, location.href);
  if (!/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
    return undefined;
  const isLoopback = url.protocol === "http:" && /^(127\.0\.0\.1|localhost)$/.test(url.hostname);
  return isLoopback || url.origin === location.origin ? url : undefined;
}

/** A gateway over HTTP. */
export function overHttp(url: URL): LiveSource {
  return {
    name: url.href,
    async send(request, signal) {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(request),
        cache: "no-store",
        redirect: "error",
        referrerPolicy: "no-referrer",
        signal,
      }).catch((error: Error) => {
        throw error.name === "TypeError" ? new Error("it cannot be reached") : error;
      });
      if (!response.ok) throw new Error(`it answered with status ${response.status}`);
      return await response.json().catch(() => {
        throw new Error("its answer is no JSON");
      });
    },
  };
}

/** The page around this one, over a port that it handed in. */
function overPort(port: MessagePort, origin: string): LiveSource {
  const waiting = new Map<unknown, (answer: unknown) => void>();
  port.onmessage = ({ data }) => {
    waiting.get(data?.id)?.(data);
    waiting.delete(data?.id);
  };
  return {
    name: origin,
    send: (request, signal) =>
      new Promise((resolve, reject) => {
        const { id } = request as { id: number };
        waiting.set(id, resolve);
        signal.addEventListener("abort", () => {
          waiting.delete(id);
          reject(signal.reason);
        });
        port.postMessage(request);
      }),
  };
}

/** Milliseconds after which the page says again that it is ready: the page around may start to listen later. */
const AGAIN = 500;

/**
 * Says to the page around, and to no other, that this one is ready, and takes its answers: each names a session and brings a port for
 * JSON-RPC. Messages of other windows or origins are ignored.
 */
export function meetEmbedder(
  origin: string,
  connect: (source: LiveSource, session: string) => void,
): void {
  const say = () => window.parent.postMessage({ type: "plimsoll-inspector-ready" }, origin);
  const saying = setInterval(say, AGAIN);
  addEventListener("message", (event) => {
    if (event.source !== window.parent || event.origin !== origin) return;
    const { type, sessionId } = (event.data ?? {}) as Record<string, unknown>;
    const [port] = event.ports;
    if (type !== "plimsoll-inspector-connect" || typeof sessionId !== "string" || !port) return;
    clearInterval(saying);
    connect(overPort(port, origin), sessionId);
  });
  say();
}
