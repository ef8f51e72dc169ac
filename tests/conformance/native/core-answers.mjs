// @ts-check
/**
 * What the core inside the package answers, as the bytes that come over: through the files of the package that no entry
 * exports, for the comparison with a native build.
 */
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { loadPackage, unbundledPath } from "../support/package.mjs";

/** What the glue gives back as JSON of the core's. */
const methodsOf = {
  Manager: ["request", "resume", "explain", "status", "counters"],
  Replay: ["calls"],
  AtCall: ["buckets", "list", "report"],
  Recording: ["plan"],
};

export async function loadRaw() {
  const entry = unbundledPath();
  const { api, why } = await loadPackage(entry);
  if (!api || !entry) return { raw: null, why: why || "skipped: the package is no file" };
  const load = (/** @type {string} */ path) =>
    import(pathToFileURL(join(dirname(entry), path)).href);
  const [manager, files] = [await load("glue/plimsoll_bg.js"), await load("glue/sessions_bg.js")];
  const { sessions } = await load("session-files/wasm.js");
  // The first call hands the Wasm over.
  api.readSession('[{"role":"user","content":"go"}]');
  /** @type {string[]} */
  let log = [];
  for (const [owner, methods] of Object.entries(methodsOf)) {
    const { prototype } = manager[owner] ?? files[owner];
    for (const method of methods) {
      const own = prototype[method];
      prototype[method] = function (/** @type {any[]} */ ...args) {
        const answer = own.apply(this, args);
        log.push(answer);
        return answer;
      };
    }
  }
  return { raw: { ...api, session, listen }, why: "" };

  /** A session file as JSON. @param {Uint8Array} bytes @returns {string} */
  function session(bytes) {
    return sessions.call("session", () => {
      const reader = new files.SessionReader();
      reader.push(sessions.sendBytes(bytes));
      const open = reader.end();
      const messages = open.messages(0, open.count());
      return open.head().replace('"messages":[]', () => `"messages":${messages}`);
    });
  }

  /** All that the core answers while `work` is done. @param {() => void} work */
  function listen(work) {
    log = [];
    work();
    return log;
  }
}
