import { check } from "../check.mjs";
import { Client } from "./client";
import * as plimsoll from "./plimsoll";

/** A server component: its answer is written when the app is built. */
export default function Page() {
  return (
    <main>
      <script type="application/json" id="server">
        {encodeURIComponent(check(plimsoll))}
      </script>
      <Client />
    </main>
  );
}
