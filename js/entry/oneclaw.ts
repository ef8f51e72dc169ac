/** `plimsoll/oneclaw`: a context put together and compressed as OneClaw does. */
export { buildContext, compressText } from "../inline/prompt.js";
