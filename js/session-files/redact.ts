/** Sessions and texts that are shown to others: secrets are taken out. */
import { objectOf, onlyKnown } from "../core/arguments.js";
import { invalid } from "../core/errors.js";
import { argumentJson } from "../core/json.js";
import * as glue from "../glue/sessions_bg.js";
import type { RedactedSession, RedactedText, RedactOptions, SessionFile } from "../types.js";
import { call, send } from "./wasm.js";

/**
 * Replaces the secrets in a text that are known by their form: tokens by their prefixes, signed tokens, private keys, passwords in
 * addresses and headers, and values beside words like `password`, `DB_PASS` and `--token`. A secret in another form stays.
 *
 * @throws {PlimsollError} `INVALID_ARGUMENT`
 * @example
 * redact("export TOKEN=ghp_a1B2..."); // { text: "export TOKEN=[redacted]", hits: [{ kind: "token", at: 13, length: 40 }] }
 */
export function redact(text: string): RedactedText {
  if (typeof text !== "string") throw invalid("text", "a string", text);
  return JSON.parse(call("redact", () => glue.redact(send(text)))) as RedactedText;
}

/**
 * Returns a copy of a session to be shown to others: without the secrets that `redact` knows, and without the names of users in paths
 * such as `/home/NAME`. Names of tools, arguments, summaries, the system prompt and the tool definitions are searched, too.
 * The option `texts` also hides the words of the messages. Everything else stays, so that the copy can be replayed.
 *
 * @param session session from `readSession`
 * @throws {PlimsollError} `INVALID_ARGUMENT`
 * @example
 * const { session: copy, hits } = redactSession(session);
 * for (const { place, kind, length } of hits) console.error(`${place}: ${kind}, ${length} characters`);
 */
export function redactSession(session: SessionFile, options: RedactOptions = {}): RedactedSession {
  const known = onlyKnown("options", options, ["secrets", "paths", "texts"]);
  const asked = argumentJson(known, "options");
  const json = argumentJson(objectOf("session", session), "session");
  return JSON.parse(
    call("redactSession", () => glue.redact_session(send(json), asked)),
  ) as RedactedSession;
}
