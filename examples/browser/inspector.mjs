/** The inspector in a frame. It asks for reports over a port, as it would ask a gateway; nothing leaves this page. */
import { createInspectHandler } from "plimsoll/inspect";

const PAGE = "./node_modules/plimsoll/dist/inspector.html";

/** Loads the inspector into a frame. @param {() => object | null} session gives the replay that is shown now */
export function fill(frame, session) {
  const handle = createInspectHandler({ get: session });
  addEventListener("message", ({ source, origin, data }) => {
    if (source !== frame.contentWindow || origin !== location.origin) return;
    if (data?.type !== "plimsoll-inspector-ready") return;
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = async ({ data }) => port1.postMessage(await handle(data));
    const answer = { type: "plimsoll-inspector-connect", sessionId: "session" };
    source.postMessage(answer, origin, [port2]);
  });
  // The frame talks to the page of this origin, and to no other.
  frame.src = `${PAGE}#embed=${location.origin}`;
}
