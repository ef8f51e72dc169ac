/** `plimsoll rpc FILE...`: the reports of sessions over standard input and output, a JSON-RPC 2.0 message a line. */
import type { Readable, Writable } from "node:stream";
import { createInspectHandler, type InspectedCalls } from "../entry/inspect.js";
import { reportAt, type Source } from "./source.js";
import { harmlessJson } from "./text.js";
import { view } from "./view.js";

/** Answers every line until the input ends. Nothing else is written. */
export async function rpc(
  sources: readonly Source[],
  input: Readable,
  output: Writable,
): Promise<void> {
  const sessions = named(sources);
  const handle = createInspectHandler({ get: (id) => sessions.get(id) });
  for await (const line of lines(input)) {
    const answer = await handle(line);
    if (answer === undefined) continue;
    await written(output, `${harmlessJson(JSON.stringify(answer))}\n`);
  }
}

/** Resolves when there is room for more; rejects where nobody reads any longer. */
function written(output: Writable, text: string): Promise<void> {
  return new Promise((done, failed) => {
    output.write(text, (error) => (error ? failed(error) : done()));
  });
}

/** By the name on the command line, and by the end of its path where no other ends so. */
function named(sources: readonly Source[]): Map<string, InspectedCalls> {
  const byName = new Map<string, InspectedCalls>();
  const ends = sources.map(({ file }) => file.split(/[\\/]/).at(-1) ?? file);
  for (const [at, source] of sources.entries()) {
    const { file } = source;
    const played = view(source);
    const last = played.calls.length - 1;
    const session: InspectedCalls = {
      calls: played.own,
      report: (call = last, options = {}) => reportAt(source, played, call + 1, options.detailKey),
    };
    const end = ends[at] ?? file;
    if (ends.indexOf(end) === ends.lastIndexOf(end) && !byName.has(end)) byName.set(end, session);
    byName.set(file, session);
  }
  return byName;
}

/** Lines end with a line feed alone: JSON may hold every other line separator. */
async function* lines(input: Readable): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of input) {
    const [first = "", ...more] = decoder.decode(chunk, { stream: true }).split("\n");
    const parts = [rest + first, ...more];
    rest = parts.pop() ?? "";
    yield* parts.filter((line) => line.trim() !== "");
  }
  rest += decoder.decode();
  if (rest.trim() !== "") yield rest;
}
