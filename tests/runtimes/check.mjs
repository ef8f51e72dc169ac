/**
 * One small program over the package, the same for every runtime and bundler: it throws if an answer is wrong, and
 * gives its answers as text, which must be the same everywhere.
 */
export function check(plimsoll) {
  const answers = {
    estimates: estimates(plimsoll),
    refusal: refusal(plimsoll),
  };
  return JSON.stringify(answers);
}

const TEXTS = {
  empty: "",
  english: "The quick brown fox jumps over the lazy dog. ".repeat(50),
  code: "for (let i = 0; i < items.length; i += 1) { total += items[i].price; }\n".repeat(50),
  chinese: "上下文窗口里应当放什么，什么应当离开。".repeat(50),
  mixed: `${"plain ".repeat(100)}é${"😀 ".repeat(100)}`,
  loneSurrogate: "a\ud800b",
};

function estimates({ estimateTokens }) {
  const tokens = {};
  for (const [name, text] of Object.entries(TEXTS)) {
    const count = estimateTokens(text);
    if (!Number.isInteger(count) || count < 0) throw new Error(`${name}: ${count} tokens`);
    if (count > text.length * 2)
      throw new Error(`${name}: ${count} tokens in ${text.length} chars`);
    tokens[name] = [count, estimateTokens(text, "o200k"), estimateTokens(text, "chars/4")];
  }
  if (tokens.empty[0] !== 0) throw new Error("an empty text has tokens");
  if (estimateTokens("abc", (text) => text.length) !== 3)
    throw new Error("the host's counter is not asked");
  return tokens;
}

function refusal({ estimateTokens, PlimsollError }) {
  try {
    estimateTokens("text", "no such estimator");
  } catch (error) {
    if (!(error instanceof PlimsollError)) throw error;
    if (error.name !== "PlimsollError" || error.code !== error.info.code) throw error;
    return [error.code, error.message];
  }
  throw new Error("an unknown estimator was taken");
}
