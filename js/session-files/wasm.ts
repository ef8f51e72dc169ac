/** The Wasm of session files, `sessions.wasm`: it reads them, replays them and reports of them. */
import { Instance } from "../core/instance.js";
import * as glue from "../glue/sessions_bg.js";

export const sessions: Instance = new Instance("sessions", glue);

/** As `Instance.send`. */
export function send(text: string): number {
  return sessions.send(text);
}

/** As `Instance.call`. */
export function call<T>(during: string, work: () => T): T {
  return sessions.call(during, work);
}
