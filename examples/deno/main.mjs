/** Shows what fills the window at the end of a session file, then compacts the session and shows what is left. */
import { ContextManager } from "plimsoll";
import { renderList } from "plimsoll/inspect";
import { readSession } from "plimsoll/sessions";

const [file = "../sessions/harbour-audit.pi.jsonl", window = "200000"] = Deno.args;
const session = readSession(await Deno.readFile(file));
const { messages, messageFormat: format, system, tools } = session;
console.log(`${file}: ${messages.length} messages, ${session.calls.length} model calls\n`);

const context = new ContextManager({ window: { contextTokens: Number(window) }, format });
context.request(messages, { system, tools });
console.log(renderList(context.inspect()));

const outcome = await context.compact(messages, { system, tools, force: true });
const sent = context.request(messages, { system, tools });
console.log(`${outcome.status}: ${outcome.reason}`);
console.log(`${outcome.tokensBefore} tokens before, ${outcome.tokensAfter} after`);
console.log(`${messages.length} messages before, ${sent.messages.length} after`);
