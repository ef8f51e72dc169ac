// @ts-check
/**
 * A long session of a coding agent, made up, the same every time: a call of a tool and its result over and over, after
 * every 16 of them a request of the user. Sizes are those of recorded sessions (Claude Code, Codex, pi: 2 to 10 kB a
 * call): half the results are short, a few very long; names come up again while the work is on them.
 */

/** A number generator (Lehmer). @param {number} seed @returns {(below: number) => number} */
function dice(seed) {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

const WORDS =
  "the of a to when this value reads return after check list for each line that was not found in its own place with and or first last empty input output error state".split(
    " ",
  );
const AREAS = ["ledger", "parser", "router", "session", "export", "billing", "harbour", "index"];
const NOUNS = ["Window", "Berth", "Cargo", "Signal", "Anchor", "Tide", "Chart", "Crane", "Buoy"];

/** @param {number} count of messages, about @returns {any[]} in Anthropic's format */
export function longSession(count) {
  const roll = dice(20_240_601);
  const one = (/** @type {readonly string[]} */ list) => list[roll(list.length)] ?? "";
  /** @type {any[]} */
  const messages = [];
  /** Names of the part that is worked on: it moves on slowly. */
  const name = () => {
    const at = Math.floor(messages.length / 40) + roll(24);
    const noun = NOUNS[at % NOUNS.length] ?? "";
    return roll(2) === 0
      ? `src/${AREAS[at % AREAS.length]}/${noun.toLowerCase()}_${at}.ts`
      : `${AREAS[at % AREAS.length]}${noun}${at}`;
  };
  const words = (/** @type {number} */ length) => {
    let text = "";
    while (text.length < length) text += `${roll(12) === 0 ? name() : one(WORDS)} `;
    return text.trimEnd();
  };
  const lines = (/** @type {number} */ length) => {
    let text = "";
    for (let line = 1; text.length < length; line += 1) {
      text += `${line}\t${"  ".repeat(roll(4))}${words(20 + roll(50))}\n`;
    }
    return text;
  };
  const size = () => {
    const share = roll(100);
    if (share < 50) return 80 + roll(800);
    if (share < 85) return 900 + roll(5_000);
    return share < 97 ? 5_000 + roll(12_000) : 18_000 + roll(22_000);
  };

  messages.push({ role: "user", content: words(600) });
  for (let turn = 0; messages.length < count; turn += 1) {
    const id = `toolu_${turn}`;
    const [tool, input] = /** @type {[string, object]} */ (
      [
        ["read", { path: name(), offset: roll(900) }],
        ["grep", { pattern: name(), path: "src" }],
        ["bash", { command: `npm test -- ${name()} --grep ${one(NOUNS)}` }],
        ["edit", { path: name(), old: lines(200 + roll(1_800)), new: lines(200 + roll(2_600)) }],
      ][roll(4)]
    );
    messages.push({
      role: "assistant",
      content: [
        { type: "text", text: words(40 + roll(400)) },
        { type: "tool_use", id, name: tool, input },
      ],
    });
    const content = tool === "edit" ? `Edited ${name()}.` : lines(size());
    messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id: id, content }] });
    if (turn % 16 === 15) {
      messages.push({ role: "assistant", content: [{ type: "text", text: words(900) }] });
      messages.push({ role: "user", content: words(60 + roll(400)) });
    }
  }
  return messages;
}

/** The counts of messages at which the agent asks: before each message of the model's. @param {any[]} messages */
export function requests(messages) {
  return messages.flatMap(({ role }, at) => (role === "assistant" ? [at] : []));
}

/**
 * System prompt and tool definitions of a coding agent, 77 kB as JSON: an agent with some servers of tools sends as much.
 * @returns {{ system: string, tools: { name: string, description: string, input_schema: object }[] }} in Anthropic's format
 */
export function largeParts() {
  const roll = dice(77);
  const words = (/** @type {number} */ length) => {
    let text = "";
    while (text.length < length) text += `${WORDS[roll(WORDS.length)]} `;
    return text.trimEnd();
  };
  const tools = Array.from({ length: 26 }, (_, at) => {
    const names = Array.from({ length: 6 }, (_, member) => `member_${member}`);
    const properties = Object.fromEntries(
      names.map((name) => [name, { type: "string", description: words(190) }]),
    );
    const input_schema = { type: "object", properties, required: names.slice(0, 2) };
    return { name: `tool_${at}`, description: words(760), input_schema };
  });
  return { system: words(20_000), tools };
}
