/** A session in the core for the time of one question. */
import { messagesOf } from "../core/arguments.js";
import { argumentJson, messageJson } from "../core/json.js";
import { call, send } from "../core/main.js";
import * as glue from "../glue/plimsoll_bg.js";
import { counterOf, push } from "../session/counter.js";
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
    for (let index = 0; index < messages.length; index++) {
      const message = messageJson(messages[index], index);
      // False: the format shows only now, and what came before is read again.
      if (!push(during, manager, message, counter)) index = -1;
    }
    return JSON.parse(work(manager));
  } finally {
    manager.free();
  }
}
