/**
 * The loop of an agent: ask the model, run what it calls, hand back the results, until it calls nothing.
 * The history only grows. What is *sent* is the context manager's answer to that history; without one, the history itself.
 */
export class Agent {
  history = [];
  calls = 0;

  /**
   * @param {object} parts
   * @param {(messages: object[], tools: object[], system: string) => Promise<object>} parts.model  answers with an assistant message
   * @param {import("./tools.mjs").Tools} parts.tools
   * @param {string} parts.system
   * @param {{ request(messages: object[], parts: object): { messages: object[] } } | null} [parts.context]
   * @param {{ now(): number, tick(seconds: number): void }} parts.clock
   * @param {(sent: object) => void} [parts.onRequest]
   */
  constructor({ model, tools, system, context = null, clock, onRequest = () => {} }) {
    Object.assign(this, { model, tools, system, context, clock, onRequest });
  }

  /** One turn: from what the user wrote to an answer without tool calls. */
  async turn(text, { maxCalls = 200 } = {}) {
    this.#push({ role: "user", content: [{ type: "text", text }] });
    for (let call = 0; call < maxCalls; call += 1) {
      const answer = await this.#ask();
      const toolCalls = answer.content.filter((block) => block.type === "toolCall");
      if (toolCalls.length === 0) return answer.content.map((block) => block.text ?? "").join("");
      // In order and not at once: two edits of one file must not race.
      for (const toolCall of toolCalls) await this.#run(toolCall);
    }
    throw new Error(`no answer after ${maxCalls} model calls`);
  }

  async #ask() {
    const definitions = this.tools.definitions;
    const prepared = this.context?.request(this.history, {
      system: this.system,
      tools: definitions,
    });
    const messages = prepared?.messages ?? this.history;
    this.onRequest({ call: this.calls, messages, prepared });
    this.calls += 1;
    const answer = await this.model(messages, definitions, this.system);
    this.clock.tick(2 + JSON.stringify(answer.content).length / 240);
    this.#push(answer);
    return answer;
  }

  async #run({ id, name, arguments: args }) {
    const { text, isError } = await this.tools.run(name, args);
    this.clock.tick(0.3);
    this.#push({
      role: "toolResult",
      toolCallId: id,
      toolName: name,
      content: [{ type: "text", text }],
      isError,
    });
  }

  #push(message) {
    this.history.push({ ...message, timestamp: this.clock.now() });
  }
}

/** A clock that is told how much time went by, so that a recording is the same on every machine. */
export class StepClock {
  #now;

  constructor(start) {
    this.#now = start;
  }

  now() {
    return Math.round(this.#now);
  }

  tick(seconds) {
    this.#now += seconds * 1000;
  }
}

/** The wall clock, for runs that nobody has to repeat. */
export const wallClock = { now: () => Date.now(), tick: () => {} };
