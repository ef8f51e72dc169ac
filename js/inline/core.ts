/** Has the main Wasm inside the JavaScript start at the first call that needs it; the driver of summarizers is loaded when it is wanted. */
import { driver } from "../compaction/lazy-driver.js";
import { core } from "../core/main.js";
import { wasm } from "../glue/plimsoll_text.js";

core.from(wasm);
driver.load = () => import("./compact.js");
