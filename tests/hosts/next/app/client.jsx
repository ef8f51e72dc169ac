"use client";

import { useEffect } from "react";
import { check } from "../check.mjs";
import * as plimsoll from "./plimsoll";

/** A client component: rendered on the server, and once more in the browser. */
export function Client() {
  useEffect(() => {
    globalThis.answer = check(plimsoll);
  }, []);
  return <p>{plimsoll.estimateTokens("rendered on both sides")} tokens</p>;
}
