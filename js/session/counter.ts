/** The host's own counter: asked here, outside the core, for the texts that the core names. */
import { joined, type Written } from "../core/json.js";
import { call, send, sendAll } from "../core/main.js";
import { countedBy } from "../functions/estimate.js";
import type * as glue from "../glue/plimsoll_bg.js";
import type { Estimator } from "../types.js";

/** Tokens of a text, as the host counts them. */
export type Counter = (text: string) => number;

/** The largest number that the core takes. */
const MOST = 2 ** 32 - 1;

/** The host's counter, if the estimator is one. `failed` hears of what it throws. */
export function counterOf(
  estimator: Estimator | undefined,
  failed?: (error: unknown) => void,
): Counter | undefined {
  if (typeof estimator !== "function") return undefined;
  return (text) => countedBy(estimator, text, failed);
}

/** What a counter makes of texts (a JSON array), as the core takes it: whole numbers, as JSON. */
export function countsOf(texts: string, counter: Counter): string {
  const each = (text: string): number => Math.min(Math.ceil(counter(text)), MOST);
  return JSON.stringify((JSON.parse(texts) as string[]).map(each));
}

/** Passes a message to a session in the core, with its counts. False: the session starts again. */
export function push(
  during: string,
  manager: glue.Manager,
  message: Written,
  counter: Counter | undefined,
  isSummary = false,
): boolean {
  if (counter) {
    const texts = call(during, () => manager.texts(send(joined(message))));
    const counts = countsOf(texts, counter);
    call(during, () => manager.count(send(counts)));
  }
  if (isSummary) call(during, () => manager.next_is_summary());
  return call(during, () => manager.push(sendAll(message)));
}

/** Passes what goes out beside the messages (JSON), with its counts. */
export function setParts(
  during: string,
  manager: glue.Manager,
  parts: string,
  counter: Counter | undefined,
): void {
  if (counter) {
    const texts = call(during, () => manager.parts_texts(send(parts)));
    const counts = countsOf(texts, counter);
    call(during, () => manager.count(send(counts)));
  }
  call(during, () => manager.parts(send(parts)));
}
