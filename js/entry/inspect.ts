/** `plimsoll/inspect`: a session's report as text, and over JSON-RPC. */
export { renderDetail, renderList } from "../inline/render.js";
export type { RenderOptions, ShownReport } from "../render.js";
export {
  createInspectHandler,
  type Inspected,
  type InspectedSessions,
  type InspectResponse,
} from "../rpc.js";
