import * as main from "plimsoll";
import { CandidateStore } from "plimsoll/candidates";
import { renderDetail, renderList } from "plimsoll/inspect";
import { readSession } from "plimsoll/sessions";
import { check } from "../../check.mjs";

export const dynamic = "force-dynamic";

export function GET() {
  return new Response(check({ ...main, CandidateStore, renderDetail, renderList, readSession }));
}
