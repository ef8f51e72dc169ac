import { check } from "../../check.mjs";
import * as plimsoll from "../plimsoll";

export const dynamic = "force-dynamic";

export function GET() {
  return new Response(check(plimsoll));
}
