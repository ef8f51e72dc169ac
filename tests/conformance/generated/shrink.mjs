// @ts-check
/** The smallest history that still breaks the same law: turns, then parts, then texts are taken away. */

/**
 * @typedef {import("./histories.mjs").History} History
 * @param {History} history
 * @param {(history: History) => boolean} fails
 * @param {number} [tries] at most
 * @returns {History}
 */
export function shrink(history, fails, tries = 2000) {
  let best = history;
  let left = tries;
  const better = (/** @type {History["turns"]} */ turns) => {
    if (left <= 0) return false;
    left -= 1;
    const candidate = { ...best, turns };
    if (!fails(candidate)) return false;
    best = candidate;
    return true;
  };
  for (let moved = true; moved && left > 0; ) {
    moved = false;
    for (
      let size = Math.ceil(best.turns.length / 2);
      size >= 1;
      size = size === 1 ? 0 : Math.ceil(size / 2)
    ) {
      for (let at = best.turns.length - size; at >= 0; at -= 1)
        if (better(best.turns.toSpliced(at, size))) moved = true;
    }
    for (let at = best.turns.length - 1; at >= 0; at -= 1) {
      for (let part = (best.turns[at]?.parts.length ?? 0) - 1; part >= 0; part -= 1) {
        const turn = best.turns[at];
        if (!turn) break;
        if (better(best.turns.with(at, { ...turn, parts: turn.parts.toSpliced(part, 1) })))
          moved = true;
      }
    }
  }
  for (let at = 0; at < best.turns.length; at += 1) {
    for (let part = 0; part < (best.turns[at]?.parts.length ?? 0); part += 1) {
      const turn = /** @type {History["turns"][number]} */ (best.turns[at]);
      for (const simpler of simplerParts(turn.parts[part]))
        if (better(best.turns.with(at, { ...turn, parts: turn.parts.with(part, simpler) }))) break;
    }
  }
  return best;
}

/** @param {any} part @returns {any[]} */
function simplerParts(part) {
  if (part.kind === "call" && JSON.stringify(part.input).length > 20)
    return [{ ...part, input: { path: "a" } }];
  if (typeof part.text !== "string" || part.text.length <= 8) return [];
  return [
    { ...part, text: `${part.kind} text` },
    { ...part, text: part.text.slice(0, part.text.length / 2) },
  ];
}
