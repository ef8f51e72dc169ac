import * as plimsoll from "plimsoll";
import { check } from "../../check.mjs";

export const dynamic = "force-dynamic";

export function GET() {
  return new Response(check(plimsoll));
}
