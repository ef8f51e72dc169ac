import * as main from "plimsoll";
import { CandidateStore } from "plimsoll/candidates";
import { renderDetail, renderList } from "plimsoll/inspect";
import { readSession } from "plimsoll/sessions";
import { check } from "../../check.mjs";

export const runtime = "edge";

export function GET() {
  if (typeof EdgeRuntime !== "string") throw new Error("this is not an edge runtime");
  return new Response(check({ ...main, CandidateStore, renderDetail, renderList, readSession }));
}
