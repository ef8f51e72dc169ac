/** `plimsoll/inspect`: a session's report as text, and over JSON-RPC. */
export {
  type RenderOptions,
  renderDetail,
  renderList,
  type ShownReport,
} from "../report/render.js";
export {
  createInspectHandler,
  type Inspected,
  type InspectedCalls,
  type InspectedSessions,
  type InspectResponse,
} from "../report/rpc.js";
