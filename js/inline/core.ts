/** Has the main Wasm inside the JavaScript start at the first call that needs it; the driver of summarizers is loaded when it is wanted. */
import { core } from "../core.js";
import { driver } from "../driver.js";
import { wasm } from "../glue/plimsoll_text.js";

core.from(wasm);
driver.load = () => import("./compact.js");
