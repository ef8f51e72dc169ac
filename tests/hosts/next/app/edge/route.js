import { check } from "../../check.mjs";
import * as plimsoll from "../plimsoll";

export const runtime = "edge";

export function GET() {
  if (typeof EdgeRuntime !== "string") throw new Error("this is not an edge runtime");
  return new Response(check(plimsoll));
}
