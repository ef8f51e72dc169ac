/**
 * One small program over the package, the same for every runtime and bundler: it throws if an answer is wrong, and
 * gives its answers as text, which must be the same everywhere.
 */
export function check(plimsoll) {
  const answers = {
    estimates: estimates(plimsoll),
    refusal: refusal(plimsoll),
    requests: requests(plimsoll),
    once: once(plimsoll),
    prompt: prompt(plimsoll),
    candidates: candidates(plimsoll),
    report: report(plimsoll),
    session: session(plimsoll),
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

/** A session that grows past its window, request by request. */
function requests({ ContextManager }) {
  const manager = new ContextManager({ window: { contextTokens: 6_000 }, clock: () => 0 });
  const messages = [{ role: "user", content: "Read the files of the harbour and report." }];
  const printed = [];
  for (let call = 0; call < 12; call += 1) {
    const id = `toolu_${call}`;
    const input = { path: `src/berth${call}.js` };
    messages.push(
      { role: "assistant", content: [{ type: "tool_use", id, name: "read", input }] },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: id, content: `${TEXTS.code}// ${call}` }],
      },
    );
    const before = JSON.stringify(messages);
    const { messages: sent, tokens, fits, epoch, edits, firstChanged } = manager.request(messages);
    if (JSON.stringify(messages) !== before) throw new Error("the history was changed");
    if (!fits || tokens > 6_000) throw new Error(`call ${call}: ${tokens} tokens do not fit`);
    printed.push([sent.length, tokens, epoch, edits.length, firstChanged]);
  }
  if (!printed.some(([, , , edits]) => edits > 0)) throw new Error("nothing was edited");
  return printed;
}

/** One request after which nothing is kept: a call whose result is missing. */
function once({ pruneForRequest, repair }) {
  const messages = [
    { role: "user", content: TEXTS.code },
    { role: "assistant", content: [{ type: "tool_use", id: "toolu_0", name: "read", input: {} }] },
    { role: "user", content: "And now?" },
  ];
  const { messages: repaired, repairs } = repair(messages, "anthropic");
  if (repairs.length === 0) throw new Error("a call without a result was left");
  const { applied, prunedTokens } = pruneForRequest(messages, { window: { contextTokens: 6_000 } });
  return [repaired, applied, prunedTokens];
}

/** A system prompt over its budget, shaped by a request in two languages. */
function prompt({ assemblePrompt, matchRules, promptBudget, requestFocus, truncateText }) {
  const focus = requestFocus("修复 `parseLine` in src/a.ts");
  const rule = { path: "rules/ts.md", content: "---\npaths: '*.ts'\n---\nNo any." };
  const base = { key: "base", content: TEXTS.mixed, priority: 95, protected: true, stable: true };
  const notes = { key: "memory:user", content: `parseLine ${TEXTS.chinese}`, priority: 70 };
  const sections = [notes, base, ...matchRules([rule], focus.activeFilePaths)];
  const plan = assemblePrompt(sections, {
    budget: { ...promptBudget({ contextTokens: 8_000 }), maxTotalChars: 1_200 },
    focus,
    order: "stable-first",
  });
  if (plan.totalChars !== plan.prompt.length || plan.totalChars > 1_200)
    throw new Error(`a prompt of ${plan.prompt.length} chars, told as ${plan.totalChars}`);
  if (!plan.truncatedSectionKeys.includes("memory:user")) throw new Error("nothing was cut");
  return [plan, truncateText(TEXTS.mixed, 100)];
}

/** What was learned twice, and goes into a prompt. */
function candidates({ CandidateStore, requestFocus }) {
  const store = new CandidateStore({ sign: { key: new Uint8Array(32).fill(7) } });
  const seen = { kind: "WORKFLOW", category: "tests", content: "先运行全部测试 first", score: 0.9 };
  const outcome = { source: "user", trusted: true, success: true };
  store.upsert({ ...seen, ...outcome, at: 1 });
  store.upsert({ ...seen, ...outcome, content: "要先运行全部测试 first", at: 2 });
  const [moved, more] = store.evaluateAll(3);
  if (moved?.to !== "PROMOTED" || more) throw new Error("one candidate was to be promoted");
  const { section, ids } = store.section(requestFocus("运行测试"), { at: 4 });
  if (ids[0] !== moved.id) throw new Error("the candidate is not told");
  return [store.list(), moved, section];
}

/** A session's report as text, and a budget beside it. */
function report({ ContextBudget, ContextManager, renderDetail, renderList }) {
  const manager = new ContextManager({
    window: { contextTokens: 2_000 },
    clock: () => 0,
    id: "船",
  });
  const { tokens } = manager.request([{ role: "user", content: TEXTS.chinese }]);
  const printed = manager.inspect({ detailKey: "message:0" });
  const { used, reserve, free } = printed.window;
  if (used !== tokens || used + reserve + free !== 2_000) throw new Error("the window is not told");
  if (printed.detail?.content !== TEXTS.chinese) throw new Error("the text is not told");
  const budget = new ContextBudget({ contextTokens: 131_072 });
  budget.updateFromResponse(45_231, 0);
  const line = budget.statusLine();
  if (line !== "📚 Context: 45,231/131,072 (34%)") throw new Error(line);
  return [
    renderList(printed, { width: 60, color: true }),
    renderDetail(printed, "message:0"),
    line,
  ];
}

const PI = [
  { type: "session", version: 3, id: "harbour", cwd: "/harbour" },
  { type: "message", id: "a", parentId: null, message: { role: "user", content: "Count 船." } },
  {
    type: "message",
    id: "b",
    parentId: "a",
    message: { role: "assistant", content: [{ type: "text", text: "Seven." }], stopReason: "stop" },
  },
];

/** A session file, as text and as bytes, with a line in it that cannot be read. */
function session({ readSession }) {
  const text = `${PI.map((line) => JSON.stringify(line)).join("\n")}\n{ broken\n`;
  const read = readSession(text);
  const { format, messages, calls, receipt } = read;
  if (messages.length !== 2 || calls.length !== 1) throw new Error("the session was misread");
  if (receipt.broken.length !== 1) throw new Error("a broken line is not in the receipt");
  const ascii = text.replace("船", "\\u8239");
  const again = readSession(Uint8Array.from(ascii, (char) => char.charCodeAt(0)));
  if (JSON.stringify(again) !== JSON.stringify(read)) throw new Error("bytes are read differently");
  return [format, messages, calls, receipt];
}
