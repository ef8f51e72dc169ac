/** A request that is ready to send: merged into the body and headers that the host sends. */
import { own } from "../core/arguments.js";
import { edited } from "../core/edit.js";
import { invalid } from "../core/errors.js";
import { argumentJson, messageJson } from "../core/json.js";
import { call, send } from "../core/main.js";
import * as glue from "../glue/plimsoll_bg.js";
import type { Body, Op, Prepared } from "../types.js";
import type { Answer } from "./answer.js";

/** How the core knows a request that it decided. */
type Known = Pick<Answer, "format" | "provider" | "hints" | "systemNote" | "marked">;
const known = new WeakMap<object, Known>();

/** What the core makes of a request and the host's own body and headers. */
interface Applied {
  member: string;
  body: Op[];
  headers: Op[];
  marks: Array<[number, Op[]]>;
}

/** The members of a request, without its methods. */
export type Fields<M> = Omit<Prepared<M>, "apply" | "applyHeaders">;

/** A request, with methods that a copy of its members does not have. */
class Ready<M> {
  constructor(fields: Fields<M>) {
    Object.assign(this, fields);
  }

  apply<B extends object>(body: B): B & Body<M> {
    return applyRequest(this as unknown as Prepared<M>, body);
  }

  applyHeaders(headers: Record<string, string> = {}): Record<string, string> {
    if (headers === null || typeof headers !== "object") {
      throw invalid("headers", "an object of headers", headers);
    }
    // An instance of `Headers` has no members of its own.
    const plain = Symbol.iterator in headers ? Object.fromEntries(headers as never) : headers;
    const { headers: ops } = merged(this, `"headers":${argumentJson({ ...plain }, "headers")}`);
    return edited({ ...plain } as Record<string, string>, ops);
  }
}

/** A request as the host gets it. */
export function ready<M>(fields: Fields<M>, answer: Answer): Prepared<M> {
  const { format, provider, hints, systemNote, marked } = answer;
  const made = new Ready(fields) as unknown as Prepared<M>;
  known.set(made, { format, provider, hints, systemNote, marked });
  return made;
}

/**
 * The host's request body with the messages of `prepared`, cache markers, and what the provider must be told; the same as
 * `prepared.apply(body)`. See there.
 *
 * @throws {PlimsollError} `INVALID_ARGUMENT` for what is no request of a `ContextManager`, or no object.
 */
export function applyRequest<M, B extends object>(prepared: Prepared<M>, body: B): B & Body<M> {
  if (body === null || typeof body !== "object") throw invalid("body", "an object", body);
  const read: Record<string, unknown> = {};
  const fields = own(body) as Record<string, unknown>;
  for (const name of reads()) if (fields[name] !== undefined) read[name] = fields[name];
  const { messages, cacheBreakpoints = [] } = prepared ?? {};
  const ends = cacheBreakpoints.filter((at) => messages[at] !== undefined);
  // Only these messages are written as JSON; the others go out as they are.
  const listed = ends.map((at) => `[${at},${messageJson(messages[at], at)}]`);
  const json = `"body":${argumentJson(read, "body")},"messages":[${listed}]`;
  const applied = merged(prepared, json);
  const sent = messages.slice();
  for (const [at, ops] of applied.marks) sent[at] = edited(sent[at] as M, ops);
  const put: Op = { op: "add", path: `/${applied.member}`, value: sent };
  return edited(body, [...applied.body, put]) as B & Body<M>;
}

let members: string[] | undefined;

/** The members of a body that the core reads. */
function reads(): string[] {
  members ??= JSON.parse(call("apply", () => glue.apply_reads())) as string[];
  return members;
}

function merged(prepared: object, json: string): Applied {
  const of = known.get(prepared);
  if (!of) throw invalid("prepared", "what `request` or `prepare` returned, not a copy", "another");
  const { format, provider, marked, systemNote } = of;
  const note = systemNote ?? undefined;
  const head = argumentJson({ format, provider, marked, note }, "prepared").slice(0, -1);
  const request = `${head},"hints":${of.hints ?? "{}"},${json}}`;
  return JSON.parse(call("apply", () => glue.apply(send(request)))) as Applied;
}
