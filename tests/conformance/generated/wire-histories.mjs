// @ts-check
/**
 * Histories in Responses' items and Gemini's contents that no agent should write and some do, and what a request of
 * them must look like, told from the providers' documentation alone.
 */

const WORDS = ["alpha", "src/foo.rs", "parseThing", "my_value_x", "4711234", "日本語", "😀", " "];

/** @param {() => number} next */
function dice(next) {
  const below = (/** @type {number} */ n) => Math.floor(next() * n);
  const chance = (/** @type {number} */ share) => next() < share;
  const text = (/** @type {number} */ most) =>
    Array.from({ length: below(most) + 1 }, () => WORDS[below(WORDS.length)]).join(" ");
  return { below, chance, text, long: () => text(chance(0.2) ? 3000 : 60) };
}

/** @param {() => number} next */
export function responses(next) {
  const { below, chance, text, long } = dice(next);
  /** @type {any[]} */
  const items = chance(0.2) ? [{ role: "developer", content: text(20) }] : [];
  let count = 0;
  /** @type {any[]} */
  const made = [];
  for (let turn = below(30) + 1; turn > 0; turn -= 1) {
    const kind = next();
    if (kind < 0.25) {
      items.push(
        chance(0.5)
          ? { role: "user", content: text(100) }
          : { type: "message", role: "user", content: parts(text, chance) },
      );
    } else if (kind < 0.75) {
      if (chance(0.5)) items.push(reasoning(`rs_${items.length}`, text, chance));
      if (chance(0.4)) items.push(messageItem(`msg_${items.length}`, chance(0.1) ? "" : text(40)));
      const calls = Array.from({ length: below(4) }, () => {
        count += 1;
        return call(chance(0.1) ? "dup" : `c${count}`, `fc_${count}`, long, chance);
      });
      items.push(...calls);
      made.push(...calls);
      for (const one of calls) if (chance(0.9)) items.push(result(one, long, chance));
    } else if (kind < 0.8 && made.length > 0)
      items.push(result(made[below(made.length)], long, chance));
    else if (kind < 0.83)
      items.push({ type: "web_search_call", id: `ws_${count}`, status: "completed" });
    else if (kind < 0.85)
      items.push({ type: "compaction", id: "cmp_1", encrypted_content: "gAAA" });
  }
  return items;
}

/** @param {(most: number) => string} text @param {(share: number) => boolean} chance */
function parts(text, chance) {
  const image = { type: "input_image", image_url: "data:image/png;base64,AAAA" };
  return [
    { type: "input_text", text: chance(0.1) ? " " : text(300) },
    ...(chance(0.2) ? [image] : []),
  ];
}

/** @param {string} id @param {(most: number) => string} text @param {(share: number) => boolean} chance */
function reasoning(id, text, chance) {
  const summary = chance(0.5) ? [{ type: "summary_text", text: text(30) }] : [];
  return { type: "reasoning", id, summary, encrypted_content: `gAAA${id}` };
}

/** @param {string} id @param {string} text */
function messageItem(id, text) {
  const content = [{ type: "output_text", text, annotations: [] }];
  return { type: "message", id, role: "assistant", status: "completed", content };
}

/** @param {string} call_id @param {string} id @param {() => string} long @param {(share: number) => boolean} chance */
function call(call_id, id, long, chance) {
  if (chance(0.15)) return { type: "custom_tool_call", id, call_id, name: "patch", input: long() };
  if (chance(0.1)) {
    return { type: "shell_call", id, call_id, action: { commands: [long()] }, status: "completed" };
  }
  const args = chance(0.05) ? "{bad" : JSON.stringify({ path: long() });
  return { type: "function_call", id, call_id, name: "read", arguments: args };
}

/** @param {any} of @param {() => string} long @param {(share: number) => boolean} chance */
function result(of, long, chance) {
  const { call_id } = of;
  if (of.type === "shell_call") {
    const outcome = { type: "exit", exit_code: 0 };
    return {
      type: "shell_call_output",
      call_id,
      output: [{ stdout: long(), stderr: "", outcome }],
    };
  }
  const output = chance(0.1) ? "" : long();
  return { type: `${of.type}_output`, call_id, output };
}

/** @param {() => number} next */
export function gemini(next) {
  const { below, chance, text, long } = dice(next);
  const ids = chance(0.4);
  const signs = chance(0.5);
  const snake = chance(0.2);
  let count = 0;
  /** @type {any[]} */
  const contents = [];
  /** @type {any[]} */
  const made = [];
  const part = (/** @type {string} */ camel, /** @type {any} */ value) => ({
    [snake ? camel.replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`) : camel]: value,
  });
  const answer = (/** @type {any} */ of) => {
    const response = chance(0.7)
      ? { output: chance(0.1) ? "" : long() }
      : { rows: [long()], count: 1 };
    const id = of.id === undefined ? {} : { id: of.id };
    return part("functionResponse", { ...id, name: of.name, response });
  };
  for (let turn = below(30) + 1; turn > 0; turn -= 1) {
    const kind = next();
    if (kind < 0.25) {
      const image = part("inlineData", { mimeType: "image/png", data: "AAAA" });
      contents.push({
        role: "user",
        parts: [{ text: chance(0.1) ? " " : text(200) }, ...(chance(0.2) ? [image] : [])],
      });
    } else if (kind < 0.75) {
      const calls = Array.from({ length: below(4) }, () => {
        count += 1;
        const id = ids ? { id: chance(0.1) ? "dup" : `c${count}` } : {};
        return { ...id, name: chance(0.5) ? "read" : "grep", args: { path: long() } };
      });
      const messageItem = [
        ...(chance(0.2) ? [{ text: text(40), thought: true }] : []),
        ...(calls.length === 0 || chance(0.3) ? [{ text: chance(0.1) ? "" : text(40) }] : []),
      ];
      const parts = calls.map((of, at) => ({
        ...part("functionCall", of),
        ...(signs && at === 0 ? { thoughtSignature: `s${count}` } : {}),
      }));
      contents.push({ role: "model", parts: [...messageItem, ...parts] });
      made.push(...calls);
      const answers = calls.filter(() => chance(0.9)).map(answer);
      if (chance(0.1)) contents.push(...answers.map((one) => ({ role: "function", parts: [one] })));
      else if (answers.length > 0) contents.push({ role: "user", parts: answers });
    } else if (kind < 0.8 && made.length > 0) {
      contents.push({ role: "user", parts: [answer(made[below(made.length)])] });
    }
  }
  return contents;
}

/** What is wrong with Gemini's contents, by what the provider says of them. @param {readonly any[]} contents */
export function refusedByGemini(contents) {
  const calls = (/** @type {any} */ content) => of(content, "functionCall", "function_call");
  const results = (/** @type {any} */ content) =>
    of(content, "functionResponse", "function_response");
  for (const [at, content] of contents.entries()) {
    const before = contents[at - 1];
    if (content.parts.length === 0) return `${at}: no parts`;
    if (
      content.parts.some((/** @type {any} */ part) => part.text === "" && !part.thoughtSignature)
    ) {
      return `${at}: an empty text`;
    }
    const asked = before?.role === "model" ? calls(before) : [];
    const answered = content.role === "model" ? [] : results(content);
    if (asked.length !== answered.length)
      return `${at}: ${asked.length} calls, ${answered.length} results`;
    const left = answered.map((one) => one.name);
    for (const { name } of asked) {
      const found = left.indexOf(name);
      if (found < 0) return `${at}: no result of ${name}`;
      left.splice(found, 1);
    }
    for (const [number, one] of answered.entries()) {
      if (typeof one.response !== "object") return `${at}: result ${number} is no object`;
    }
    if (calls(content).length > 0 && (at === 0 || before.role === "model")) {
      return `${at}: a turn with calls after none of the user's`;
    }
  }
  if (contents.length > 0 && contents.at(-1).role === "model") return "it ends with the model";
  return null;
}

/** @param {any} content @param {string} camel @param {string} snake @returns {any[]} */
function of(content, camel, snake) {
  const all = content.parts.map((/** @type {any} */ part) => part[camel] ?? part[snake]);
  return all.filter((/** @type {any} */ one) => one !== undefined);
}

/** What is wrong with Responses' items. @param {readonly any[]} items */
export function refusedByResponses(items) {
  /** @type {Map<string, string>} */
  const open = new Map();
  const seen = new Set();
  for (const [at, item] of items.entries()) {
    const type = item.type ?? "message";
    if (type.endsWith("_output")) {
      if (open.get(item.call_id) !== type) return `${at}: no call for this output`;
      open.delete(item.call_id);
    } else if (item.call_id !== undefined) {
      if (seen.has(item.call_id)) return `${at}: the id ${item.call_id} again`;
      seen.add(item.call_id);
      open.set(item.call_id, `${type}_output`);
    }
    if (type === "function_call" && !isObject(item.arguments)) return `${at}: arguments`;
    if (type === "reasoning") {
      const next = items[at + 1];
      const follows =
        next && (next.role === "assistant" || /_call$|^reasoning$/.test(next.type ?? ""));
      if (!follows) return `${at}: reasoning without its required following item`;
    }
    if (type === "message" && item.content.length === 0) return `${at}: an empty message`;
  }
  return open.size === 0 ? null : `no output for ${[...open.keys()]}`;
}

/** @param {string} json */
function isObject(json) {
  try {
    return typeof JSON.parse(json) === "object";
  } catch {
    return false;
  }
}
