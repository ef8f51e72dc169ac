/**
 * A system prompt of 400 sections, half of which fit: our `assemblePrompt` beside `@vscode/prompt-tsx` rendering the same
 * texts under the same priorities in the same room, with the cheapest counter there is (characters by four). Ours also
 * lifts priorities by a focus, estimates tokens by byte pairs, and reports on each section.
 */
import {
  OutputMode,
  PromptElement,
  renderPrompt,
  SystemMessage,
  TextChunk,
} from "@vscode/prompt-tsx";
import { assemblePrompt, requestFocus } from "../../npm/dist/index.node.js";

const SECTIONS = 400;
const CHARS = 600;
const WARM_MS = 3_000;
const TURN_MS = 60;
const line = "A line of a section, as prompts have them, with words in it. ";
const sections = Array.from({ length: SECTIONS }, (_, at) => ({
  key: `section${at}`,
  content: `# Section ${at}\n${line.repeat(20)}`.slice(0, CHARS),
  priority: (at * 37) % 101,
}));
const room = (SECTIONS * CHARS) / 2;
const focus = requestFocus("fix `parseLine` in src/parser.ts");
const budget = { maxPerTierChars: CHARS, maxTotalChars: room };

class Prompt extends PromptElement {
  render() {
    const chunks = sections.map(({ content, priority }) => vscpp(TextChunk, { priority }, content));
    return vscpp(SystemMessage, {}, ...chunks);
  }
}

const length = (text) => Math.ceil(text.length / 4);
const tokenizer = {
  mode: OutputMode.Raw,
  tokenLength: (part) => length(part.text ?? ""),
  countMessageTokens: ({ content }) =>
    content.reduce((sum, part) => sum + length(part.text ?? ""), 0),
};

/** How many sections of a text are whole. */
const fullSections = (text) => sections.filter(({ content }) => text.includes(content)).length;

export const runs = [
  ["plimsoll assemblePrompt", () => assemblePrompt(sections, { budget, focus }).prompt],
  [
    "@vscode/prompt-tsx renderPrompt",
    async () => {
      const props = { modelMaxPromptTokens: room / 4 };
      const { messages } = await renderPrompt(Prompt, {}, props, tokenizer);
      return messages.flatMap(({ content }) => content.map(({ text }) => text)).join("");
    },
  ],
];

/**
 * Sides take turns, each after it was warmed up for as long as the other: at each turn garbage is collected, and a side goes on
 * for as long as the slower one needs for a call. The median call of a turn, and the first after the collection.
 */
export async function bench(rounds, median) {
  const results = runs.map(([name, run]) => ({ name, run, calls: [], firsts: [], text: "" }));
  for (const { run } of results) {
    const begun = performance.now();
    while (performance.now() - begun < WARM_MS) await run();
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const side of results) {
      globalThis.gc?.();
      const times = [];
      const begun = performance.now();
      for (let at = begun; at - begun < TURN_MS; ) {
        side.text = await side.run();
        const now = performance.now();
        times.push(now - at);
        at = now;
      }
      side.firsts.push(times[0]);
      side.calls.push(median(times));
    }
  }
  console.log(
    `\na prompt of ${SECTIONS} sections of ${CHARS} chars in ${room}, median of ${rounds} turns\n`,
  );
  for (const { name, calls, firsts, text } of results) {
    const [call, first] = [median(calls), median(firsts)].map((ms) => ms.toFixed(2).padStart(8));
    console.log(
      `${name.padEnd(36)} ${call} ms, first ${first} ms, ${fullSections(text)} sections whole in ${text.length} chars`,
    );
  }
  const ratio = (of) => (median(results[1][of]) / median(results[0][of])).toFixed(0);
  console.log(`\nratio to prompt-tsx: ${ratio("calls")}, of first calls ${ratio("firsts")}`);
  return results.map(({ name, calls, firsts }) => ({
    name,
    ms: median(calls),
    firstMs: median(firsts),
  }));
}
