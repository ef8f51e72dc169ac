/** A session in the core for the time of one question. */
import { messagesOf } from "../core/arguments.js";
import { argumentJson, copied, messageJson } from "../core/json.js";
import { call, send } from "../core/main.js";
import * as glue from "../glue/plimsoll_bg.js";
import { counterOf, push } from "../session/counter.js";
import { appendKnown, keepMeasures, keptOf } from "../session/measures.js";
import type { Estimator, Format, Provider } from "../types.js";

/** Does `work` on a session in the core that holds these messages and nothing else. */
export function within(
  during: string,
  messages: readonly unknown[],
  options: { provider?: Provider; format?: Format; estimator?: Estimator; imageTokens?: number },
  work: (manager: glue.Manager) => string,
): unknown {
  messagesOf(messages);
  const counter = counterOf(options.estimator);
  const coreOptions = counter ? { ...options, estimator: null } : options;
  const json = argumentJson(coreOptions, "options");
  const manager = call(during, () => new glue.Manager(send(json)));
  try {
    const copies: unknown[] = [];
    let index = 0;
    while (index < messages.length) {
      const known = keptOf(messages[index]);
      const isKnown = (at: number): boolean => keptOf(messages[at]) !== undefined;
      const count = known && appendKnown(during, manager, messages, index, isKnown);
      for (let at = index; at < index + (count ?? 0); at++) copies[at] = keptOf(messages[at])?.copy;
      if (count) {
        index += count;
        continue;
      }
      const message = messageJson(messages[index], index);
      const copy = copied(messages[index]);
      if (count !== null && push(during, manager, message, counter)) {
        copies[index] = copy;
        index++;
      } else {
        // The format shows only now, and what came before is read again.
        index = 0;
      }
    }
    keepMeasures(manager, messages, copies);
    return JSON.parse(work(manager));
  } finally {
    manager.free();
  }
}
