/** Start of the page. */
import { render } from "preact";
import { open } from "./actions.js";
import { keepAddress, parameters } from "./address.js";
import { App } from "./app.js";
import { warmUp } from "./client.js";
import { openFile } from "./header.js";
import { listen } from "./keys.js";
import { follow } from "./live.js";
import { connectionsOf, targetOf } from "./live-source.js";
import { fromBase64, gunzip } from "./packed.js";
// Before anything else: it reads the page as it was loaded.
import { source } from "./share.js";
import * as state from "./state.js";

/** Forbids every connection but these from now on. A policy can be narrowed, never widened. */
function allowOnly(connections: string): void {
  const policy = document.createElement("meta");
  policy.httpEquiv = "Content-Security-Policy";
  policy.content = `connect-src ${connections}`;
  document.head.append(policy);
}

/** Opens the session inside the page, if it carries one. */
async function openCarried(): Promise<void> {
  const carried = document.getElementById("plimsoll-session");
  if (!carried) return;
  const content = fromBase64((carried.textContent ?? "").trim());
  const bytes = carried.dataset.encoding === "gzip" ? await gunzip(content) : content;
  await open(carried.dataset.name ?? "session", new Blob([bytes]));
}

function acceptDrops(): void {
  addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("dropping");
  });
  addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    const [file, other] = event.dataTransfer?.files ?? [];
    if (file) openFile(file);
    if (other)
      state.failure.value = `Only ${file?.name} was opened. Compare it with another file below.`;
  });
}

if (source !== "") {
  const target = targetOf(parameters());
  allowOnly(connectionsOf(target));
  render(<App />, document.getElementById("app") as HTMLElement);
  listen();
  acceptDrops();
  keepAddress();
  if (!target) setTimeout(warmUp);
  if (target instanceof Error) state.failure.value = target.message;
  else if (target) follow(target);
  openCarried().catch((error: Error) => {
    state.failure.value = `The session in this page cannot be unpacked: ${error.message}`;
  });
}

/** For tests, and for whoever opens the console: the reports behind the page. */
Object.assign(globalThis, {
  __inspector: {
    state,
    report: (call: number = state.call.peek(), run = state.run.peek()) =>
      state.session.peek()?.client.ask("report", { run, call }),
  },
});
