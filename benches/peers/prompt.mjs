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
import { assemblePrompt, requestFocus } from "../../npm/dist/index.js";

const SECTIONS = 400;
const CHARS = 600;
const WARM_MS = 3_000;
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
const whole = (text) => sections.filter(({ content }) => text.includes(content)).length;

export const runs = [
  ["plimsoll assemblePrompt", () => assemblePrompt(sections, { budget, focus }).prompt],
  [
    "@vscode/prompt-tsx renderPrompt",
    async () => {
      const given = { modelMaxPromptTokens: room / 4 };
      const { messages } = await renderPrompt(Prompt, {}, given, tokenizer);
      return messages.flatMap(({ content }) => content.map(({ text }) => text)).join("");
    },
  ],
];

/** Medians of runs that take turns, after each was warmed up for as long as the other, and what they gave. */
export async function bench(rounds, median) {
  const results = runs.map(([name]) => ({ name, times: [], text: "" }));
  for (const [, run] of runs) {
    const begun = performance.now();
    while (performance.now() - begun < WARM_MS) await run();
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, [, run]] of runs.entries()) {
      globalThis.gc?.();
      const begun = performance.now();
      results[at].text = await run();
      results[at].times.push(performance.now() - begun);
    }
  }
  console.log(
    `\na prompt of ${SECTIONS} sections of ${CHARS} chars in ${room}, median of ${rounds} runs\n`,
  );
  const [ours, theirs] = results.map(({ name, times, text }) => {
    const ms = median(times);
    console.log(
      `${name.padEnd(36)} ${ms.toFixed(2).padStart(8)} ms, ${whole(text)} sections whole in ${text.length} chars`,
    );
    return ms;
  });
  console.log(`\nratio to prompt-tsx: ${(theirs / ours).toFixed(0)}`);
}
