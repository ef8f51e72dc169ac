/** `plimsoll/pi`: pi, by an extension. */
import "../inline/core.js";

export { extension, type PiExtensionApi, type PiSession } from "../hosts/pi.js";
