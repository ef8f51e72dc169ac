/** Server-sent events: written to the gateway's clients, read from a model that streams. */

const BEAT_MS = 15_000;

/** Starts an event stream and returns the function that writes to it. Proxies close a stream that is silent, so it has a heartbeat. */
export function eventStream(response) {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  response.flushHeaders();
  const beat = setInterval(() => response.write(": working\n\n"), BEAT_MS);
  response.on("close", () => clearInterval(beat));
  return (event, data) => response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** Yields the data of each event in the body of a `fetch` response. */
export async function* readEvents(body) {
  let rest = "";
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split(/\r?\n/);
    rest = lines.pop();
    for (const line of lines) if (line.startsWith("data:")) yield line.slice(5).trim();
  }
}
