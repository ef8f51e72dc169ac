// @ts-check
/** Two laws that need more than one message: the user's words stay, and bound thinking goes with its prefix. */

/** The texts a person wrote in a message. @param {any} message @returns {string[]} */
function userTexts(message) {
  if (message?.role !== "user") return [];
  if (typeof message.content === "string") return [message.content];
  if (!Array.isArray(message.content)) return [];
  return message.content
    .filter((/** @type {any} */ block) => block?.type === "text")
    .map((/** @type {any} */ block) => String(block.text));
}

/** @param {string} text @param {string} part */
function occurrences(text, part) {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count += 1;
  return count;
}

/**
 * The last request of the user is in the view once, word for word. A text that the history itself holds more often may
 * come more often, and a very short one ("yes") may be found inside others.
 * @param {readonly any[]} sent
 * @param {readonly any[]} history
 * @returns {string | null} what is wrong
 */
export function keptVerbatim(sent, history) {
  const asked = history.findLast((message) =>
    userTexts(message).some((text) => text.trim() !== ""),
  );
  for (const text of userTexts(asked)) {
    if (text.trim() === "") continue;
    const count = (/** @type {readonly any[]} */ messages) =>
      messages.reduce(
        (sum, message) =>
          userTexts(message).reduce((all, own) => all + occurrences(own, text), sum),
        0,
      );
    const [had, has] = [count(history), count(sent)];
    if (has === 0) return `the last user text (${text.length} chars) is not in the request`;
    if (has > had && text.length >= 40)
      return `the last user text is in the request ${has} times, in the history ${had}`;
  }
  return null;
}

/**
 * I12: a thinking block is bound to the prefix of the request that made it. Follows the requests one by one and says
 * at which position a block stands whose prefix has changed since, or -1.
 * @param {readonly any[]} host
 */
export function boundThinking(host) {
  const signed = (/** @type {any} */ message) =>
    message?.role === "assistant" &&
    Array.isArray(message.content) &&
    message.content.some(
      (/** @type {any} */ block) => block?.type === "thinking" && block.signature,
    );
  /** @type {Set<number>} */
  const stale = new Set();
  return {
    /** @param {any} view @param {any} previous @param {number} changed first position that differs from the previous request */
    next(view, previous, changed) {
      const grew = !previous || changed === previous.messages.length;
      let found = -1;
      for (let at = 0; at < view.messages.length; at += 1) {
        const from = view.source[at];
        if (from === null || !signed(view.messages[at]) || !signed(host[from])) continue;
        // Whatever stands there was made, at the latest, by the answer to the previous request.
        if (!grew && at > changed) stale.add(from);
        if (stale.has(from) && found < 0) found = at;
      }
      return found;
    },
  };
}
