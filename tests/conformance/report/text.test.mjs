// @ts-check
/** A report as text, as `renderList` and `renderDetail` draw it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { sized } from "../../support/size.mjs";
import { api, skip } from "../support/agent-session.mjs";

const WIDE = { width: 80 };

const section = (
  /** @type {string} */ key,
  /** @type {string} */ sourceType,
  /** @type {number} */ originalChars,
  /** @type {number} */ finalChars,
) => ({
  ...{
    key,
    sourceType,
    scopeType: "always-on",
    inclusionReason: "fits",
    originalChars,
    finalChars,
  },
  ...{ priority: 64, basePriority: 60, protected: key === "memory:soul" },
  estimatedTokens: Math.floor(finalChars / 4),
  included: finalChars > 0,
  truncated: finalChars < originalChars,
  evidence: ["tier=Soul", "+4 active file a.rs"],
  wholeFromTotalChars: 152_731,
});

const message = (
  /** @type {number} */ index,
  /** @type {string | undefined} */ tool,
  /** @type {number} */ tokens,
  /** @type {number} */ sentTokens,
  /** @type {string} */ state,
) => ({
  ...{ index, role: "tool", kind: "toolResult", tokens, sentTokens, state },
  ...{ rule: "timed", turn: 2, group: 1 },
  ...(tool === undefined ? {} : { tool }),
});

/** @returns {any} */
const report = () => ({
  schema: "context.inspect/1",
  sessionId: "s-1",
  totalChars: 42_000,
  estimatedTokens: 10_500,
  contextWindowTokens: 200_000,
  systemPromptSharePct: 5.25,
  requestFocus: {
    querySummary: "fix the streaming bug",
    activeFilePaths: ["a.rs", "b.rs", "c.rs", "d.rs", "e.rs"],
    activeSymbols: ["StreamingAgentLoop"],
    planSignals: ["code change requested"],
  },
  budget: { maxPerTierChars: 20_000, maxTotalChars: 150_000 },
  truncatedSectionKeys: ["k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8"],
  sections: [
    section("memory:soul", "memory", 1200, 1200),
    section("rules:a", "rules", 1000, 700),
    section("memory:auto", "learned-signals", 400, 0),
  ],
  window: { used: 168_204, reserve: 8192, free: 23_604, trigger: 163_037, target: 115_085 },
  buckets: [
    { bucket: "result read", tokens: 120_204, sharePct: 71.46, retainedPct: 24.5 },
    { bucket: "user", tokens: 36_000, sharePct: 21.4, retainedPct: 100 },
    { bucket: "head", tokens: 1200, sharePct: 0.7, retainedPct: 0 },
    { bucket: "core", tokens: 10_800, sharePct: 6.4, retainedPct: 100 },
  ],
  messages: [
    message(0, undefined, 10, 10, "kept"),
    message(1, "read", 5900, 74, "stubbed"),
    message(2, "bash", 9000, 0, "dropped"),
  ],
  status: {
    ...{ used: 168_204, usable: 191_808, remaining: 23_604, usedPct: 87, pressure: "high" },
    ...{ trend: "rising", peakTokens: 181_022, compactions: 2 },
  },
  monitor: {
    ...{ samples: [10_000, 90_000, 181_022], inputTokens: 500_000, outputTokens: 9000 },
    requests: { total: 14, bySource: { main_turn: 12, planner: 2 } },
    compactions: {
      ...{ total: 3, byPhase: { PRUNED: 2, SUMMARIZED: 1 }, tokensSaved: 96_410 },
      last: { phase: "PRUNED", at: 5, tokensBefore: 98_311, tokensAfter: 71_200 },
    },
  },
  next: {
    ...{ outcome: "summarize", reason: "the window is nearly full" },
    ...{ tokensBefore: 168_204, tokensAfterEstimate: 119_991 },
  },
});

const list = (/** @type {any} */ of, /** @type {any} */ options = WIDE) =>
  /** @type {string} */ (api.renderList(of, options));
const detail = (
  /** @type {any} */ of,
  /** @type {string} */ key,
  /** @type {any} */ options = WIDE,
) => /** @type {string} */ (api.renderDetail(of, key, options));

test("the text list shows the whole session (A103)", { skip }, () => {
  assert.equal(
    list(report()),
    `\
Session   s-1
Window    200,000   █████████░ 87% of 191,808 usable   used 168,204
          reserve 8,192 (╱)   free 23,604 (·)   pressure HIGH   trend rising
[SSSSHUUUUUUUUUUUUUURRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRR·········╱╱╱]
Trigger   163,037   target 115,085
Next      summarize, 168,204 -> 119,991   the window is nearly full
Prompt    42,000 chars   ~11K tokens   5.3% of window
          budget 150,000 in all, 20,000 a section
Cut       k1, k2, k3, k4, k5, k6 +2 more
Peak      181,022   requests so far ▁▄█
Compacted 3   PRUNED 2   SUMMARIZED 1   saved 96K, 32K on average
          last PRUNED 98K -> 71K, saved 27K
Requests  14   main_turn 12   planner 2   500K tokens in, 9.0K out
Focus     "fix the streaming bug"   files: a.rs, b.rs, c.rs +2 more
          symbols: StreamingAgentLoop   plan: code change requested

What fills it
  BUCKET          ~TOKENS  SHARE  RETAINED
  result read  R     120K  71.5%     24.5%  ███████░░░
  user         U      36K  21.4%    100.0%  ██░░░░░░░░
  head         H     1.2K   0.7%         -  ░░░░░░░░░░
  core         S      11K   6.4%    100.0%  █░░░░░░░░░
Memory    reused ~300 tokens, 1 of 2 sections, 75.0% kept
          learned ~0 tokens, 0 of 1 sections, 0.0% kept

Sections of the prompt
  KEY          CHARS   SENT  ~TOKENS  PRIORITY  STATE
  memory:soul  1,200  1,200      300      60+4  protected
  rules:a      1,000    700      175      60+4  cut 30%
  memory:auto    400      0        0      60+4  DROPPED

Messages
  KEY        TURN  ROLE  TOOL  ~TOKENS  SENT  STATE    RULE
  message:2     2  tool  bash     9.0K     0  dropped  timed
  message:1     2  tool  read     5.9K    74  stubbed  timed
  message:0     2  tool             10    10  kept     timed
`,
  );
});

test("the text list says if there is no focus or window (A103)", { skip }, () => {
  const bare = report();
  bare.requestFocus = null;
  assert.ok(list(bare).includes("Focus     No request-local focus signals detected.\n"));
  bare.budget = null;
  bare.sections = [];
  assert.ok(!list(bare).includes("Focus"), "the prompt was not passed as a plan");
  bare.contextWindowTokens = 0;
  const shown = list(bare);
  assert.ok(shown.includes("Window    not known   used 168,204\n") && !shown.includes("["), shown);
  assert.ok(list({}).startsWith("Window    not known   used 0\n"));
});

test("the detail of a section shows its reason and its text (A105)", { skip }, () => {
  const asked = report();
  asked.detail = { key: "rules:a", content: "Use tables.\nAlways." };
  assert.equal(
    detail(asked, "rules:a"),
    `\
rules:a
State     cut 30%   1,000 -> 700 chars   ~175 tokens
Priority  60+4
Source    rules
Scope     always-on
Why       fits
Evidence  tier=Soul   +4 active file a.rs
Whole     from a total of 152,731 chars on
────────────────────────────────────────────────────────────────────────────────
Use tables.
Always.
`,
  );
  assert.ok(!detail(asked, "memory:soul").includes("Use tables"), "no text of another key");
  assert.ok(detail(report(), "message:1").includes("State     stubbed   ~5,900 -> 74 tokens\n"));
  const bucket = detail(report(), "result read");
  assert.ok(bucket.includes("~120,204 tokens   71.5% of what is used   24.5% retained"), bucket);
  assert.ok(bucket.includes("message:1") && !bucket.includes("message:2"), bucket);
});

test("a text is cut after 12,000 characters, and never within one (A105)", { skip }, () => {
  const of = (/** @type {string} */ content) =>
    detail({ ...report(), detail: { key: "system", content } }, "system");
  assert.ok(!of("x".repeat(12_000)).includes("truncated"));
  const cut = of("x".repeat(12_001));
  assert.ok(cut.endsWith("x\n...[truncated]\n"), String(cut.length));
  assert.equal(cut.split("x").length - 1, 12_000);
  assert.ok(of(`${"x".repeat(11_999)}😀x`).endsWith("x\n...[truncated]\n"));
});

test("an unknown key is answered with the nearest keys (A105)", { skip }, () => {
  assert.equal(
    detail(report(), "rule:a"),
    'Nothing under "rule:a".\nClose     rules:a, result read, memory:soul\n',
  );
  assert.equal(detail({}, "x"), 'Nothing under "x".\n');
  const keys = ["memory:journal", "memory:soul", "rules:test-conventions", "base", "rules:testing"];
  const sections = keys.map((key) => section(key, "rules", 10, 10));
  const near = (/** @type {string} */ key) => detail({ sections }, key).split("Close     ")[1];
  assert.match(near("rules:tst"), /^rules:testing, rules:test-conventions, /);
  assert.match(near("MEMORY:SOUL"), /^memory:soul, /);
  assert.match(near(""), /^base, /);
});

/** Moves, deletes, names the window, turns the direction of writing, hides. */
const EVIL = "\u001b]0;owned\u0007\u001b[2J\u202ekey\r\nnext\u009b31m\u2066\u200d\u{e0041}\u0085";
/** Nothing that is printed has one of these, but for the joiner within an emoji. */
const STEERS = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

test("control characters of a session are escaped (F152)", {
  skip,
}, () => {
  const hostile = report();
  hostile.sessionId = EVIL;
  hostile.requestFocus.querySummary = EVIL;
  hostile.sections = [section(EVIL, EVIL, 10, 10)];
  hostile.buckets[0].bucket = EVIL;
  hostile.messages[0].tool = EVIL;
  hostile.next.reason = EVIL;
  hostile.detail = { key: EVIL, content: EVIL };
  hostile.truncatedSectionKeys = [EVIL];
  hostile.monitor.requests.bySource = { [EVIL]: 3 };
  for (const options of [WIDE, { width: 20 }, { width: 300, ascii: true }]) {
    for (const shown of [
      list(hostile, options),
      detail(hostile, EVIL, options),
      detail(hostile, "\u001b[31m?", options),
    ])
      assert.doesNotMatch(shown, STEERS);
  }
  assert.ok(
    list(hostile, { width: 200 }).startsWith(
      "Session   \\u{1b}]0;owned\\u{7}\\u{1b}[2J\\u{202e}key next\\u{9b}31m\\u{2066}\\u{200d}\\u{e0041}\\u{85}\n",
    ),
  );
  const codes = list(hostile, { ...WIDE, color: true })
    .split("\u001b")
    .slice(1);
  for (const code of codes) assert.match(code, /^\[[\d;]{1,6}m/);
});

test("colour changes no text of a report", { skip }, () => {
  const painted = list(report(), { ...WIDE, color: true });
  assert.ok(painted.includes("\u001b[1;31mpressure HIGH\u001b[0m"), painted);
  assert.equal(stripVTControlCharacters(painted), list(report()));
});

test("an ASCII list has only ASCII, whatever the session contains", { skip }, () => {
  const shown = list(report(), { ...WIDE, ascii: true });
  assert.match(shown, /^[\n -~]*$/);
  assert.ok(shown.includes("#########. 87%") && shown.includes("_=#"), shown);
  const foreign = report();
  foreign.sections[0].key = "文脈";
  foreign.sections[1].key = "????";
  const rows = list(foreign, { width: 100, ascii: true }).match(/^ {2}\?+ .*$/gm) ?? [];
  assert.equal(rows.length, 2);
  const ends = rows.map((row) => row.search(/1,[02]00/));
  assert.equal(ends[0], ends[1], rows.join("\n"));
});

test("tokens are shortened from 1,000 on (A106)", { skip }, () => {
  for (const [tokens, shown] of /** @type {Array<[number, string]>} */ ([
    [0, "0"],
    [999, "999"],
    [1000, "1.0K"],
    [1249, "1.2K"],
    [1250, "1.3K"],
    [9949, "9.9K"],
    [9999, "10.0K"],
    [10_000, "10K"],
    [10_500, "11K"],
    [128_400, "128K"],
    [-1500, "-1.5K"],
  ]))
    assert.ok(list({ estimatedTokens: tokens }).includes(`~${shown} tokens`), shown);
});

test("a bar has ten cells (A106)", { skip }, () => {
  for (const [sharePct, cells, percent] of /** @type {Array<[number, string, string]>} */ ([
    [0, "..........", "0.0%"],
    [4.9, "..........", "4.9%"],
    [5, "#.........", "5.0%"],
    [34.4, "###.......", "34.4%"],
    [35, "####......", "35.0%"],
    [100, "##########", "100.0%"],
    [151, "##########", "151.0%"],
    [-2.5, "..........", "-2.5%"],
  ])) {
    const buckets = [{ bucket: "user", tokens: 1, sharePct, retainedPct: 100 }];
    const shown = list({ buckets }, { ...WIDE, ascii: true });
    assert.match(
      shown,
      new RegExp(`U +1 +${percent} +100\\.0% {2}${cells.replaceAll(".", "\\.")}$`, "m"),
    );
  }
  const over = report();
  over.status.usedPct = 151;
  assert.ok(list(over).includes("██████████ 151% of 191,808 usable"));
});

test("the width of a text is its width in a terminal", { skip }, () => {
  for (const [key, columns] of /** @type {Array<[string, number]>} */ ([
    ["abc", 3],
    ["né", 2],
    ["ne\u0301", 2],
    ["文脈", 4],
    ["한국어", 6],
    ["ｆｕｌｌ", 8],
    ["😀", 2],
    ["👩‍👩‍👧", 2],
    ["👩🏽‍🚀", 2],
    ["🏳️‍🌈", 2],
    ["👩🏻‍❤️‍💋‍👨🏿", 2],
    ["🇻🇳", 2],
    ["❤\ufe0f", 2],
    ["❤", 1],
    ["Đường", 5],
  ])) {
    const sections = [section("x".repeat(12), "rules", 10, 10), section(key, "rules", 10, 10)];
    const shown = list({ ...report(), sections });
    const row = shown.split("\n").find((line) => line.startsWith(`  ${key} `));
    assert.ok(row?.startsWith(`  ${key}${" ".repeat(12 - columns)}     10    10`), shown);
  }
});

test("a joined emoji is printed unchanged, and a joiner elsewhere is escaped", {
  skip,
}, () => {
  const shown = (/** @type {string} */ sessionId) =>
    list({ ...report(), sessionId }).split("\n")[0];
  for (const emoji of ["👩‍👩‍👧‍👦", "👩🏽‍🚀", "🏳️‍🌈", "🏴‍☠️", "🐈‍⬛"])
    assert.equal(shown(emoji), `Session   ${emoji}`);
  assert.equal(shown("a\u200db"), "Session   a\\u{200d}b");
  assert.equal(shown("👩\u200d"), "Session   👩\\u{200d}");
  assert.equal(shown("\u200d👩"), "Session   \\u{200d}👩");
  // No emoji has a fifth part: who joins more wants a line that is wider than it looks.
  assert.match(shown(["👩", "👩", "👩", "👩", "👩"].join("\u200d")), /👩\\u\{200d\}👩$/u);
  // Tags spell words that nobody sees.
  assert.equal(shown("🏴\u{e0067}\u{e007f}"), "Session   🏴\\u{e0067}\\u{e007f}");
});

test("a text is never cut within an emoji", { skip }, () => {
  for (let width = 20; width < 34; width += 1) {
    const [, line] = list({ ...report(), sessionId: "👩‍👩‍👧".repeat(20) }, { width }).split("\n");
    assert.match(line, /^ {2}(👩‍👩‍👧)+…$/u);
  }
});

test("wrong options of the text functions are refused", { skip }, () => {
  for (const [options, expected] of /** @type {Array<[any, RegExp]>} */ ([
    [{ width: "80" }, /^options\.width: expected a whole number, got "80"$/],
    [{ width: 1.5 }, /^options\.width: expected a whole number, got 1\.5$/],
    [{ ascii: "yes" }, /^options\.ascii: expected a boolean, got "yes"$/],
    [{ zzzz: 80 }, /^Unknown option "options\.zzzz"\. The options are width, color, ascii\.$/],
    [null, /^options: expected \{ width, color, ascii \}, got null$/],
    [[], /^options: expected \{ width, color, ascii \}/],
  ])) {
    for (const draw of [() => list({}, options), () => detail({}, "x", options)])
      assert.throws(draw, (/** @type {any} */ error) => {
        assert.equal(error.code, "INVALID_ARGUMENT");
        assert.match(error.message, expected);
        return true;
      });
  }
  const wide = (/** @type {any} */ width) =>
    Math.max(
      ...list(report(), { width })
        .split("\n")
        .map((line) => line.length),
    );
  assert.deepEqual([wide(undefined), wide(1), wide(1e9)], [100, 20, 500]);
});

test("a report that cannot be written as JSON is refused", { skip }, () => {
  const loop = report();
  loop.sections.push(loop);
  const thrown = {
    get window() {
      throw new Error("boo");
    },
  };
  for (const bad of [null, undefined, 5, "x", loop, thrown])
    assert.throws(() => list(bad), { code: "INVALID_ARGUMENT" });
});

test("a bar is drawn for any sizes", { skip }, () => {
  const many = (/** @type {string} */ bucket, /** @type {number} */ tokens) =>
    Array.from({ length: 9300 }, () => ({ bucket, tokens }));
  for (const tokens of [1e15, 1e308, -1e308]) {
    const buckets = [...many("user", tokens), ...many("assistant", tokens), ...many("head", 1)];
    const shown = list({ contextWindowTokens: 1e15, buckets });
    const bar = shown.split("\n").find((line) => line.startsWith("["));
    assert.equal(bar?.length, 80, shown);
  }
});

/** Numbers from 0 to below 1, the same in every run. @param {number} seed */
function numbers(seed) {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

const PIECES = [
  "a",
  "z",
  ":",
  " ",
  "\n",
  "\t",
  "\u001b",
  "\u001b[31m",
  "文",
  "😀",
  "👩‍👩‍👧",
  "é",
  "e\u0301",
  "\u202e",
  "\u200d",
  "\ud800",
  "\u{e0041}",
];

const ROUNDS = sized({ short: 30, ci: 400, long: 400 });

test("no line is wider than asked and no control character is printed, whatever the report contains", {
  skip,
}, () => {
  const next = numbers(7);
  const up = (/** @type {number} */ most) => Math.floor(next() * most);
  const columns = (/** @type {string} */ line) =>
    [...new Intl.Segmenter().segment(line)].reduce((sum, { segment }) => {
      return sum + (/[文]|\p{Emoji_Presentation}/u.test(segment) ? 2 : 1);
    }, 0);
  for (let round = 0; round < ROUNDS; round += 1) {
    const text = () => Array.from({ length: up(40) }, () => PIECES[up(PIECES.length)]).join("");
    const [key, tokens] = [text(), up(2 ** up(50))];
    const odd = report();
    Object.assign(odd, { sessionId: text(), truncatedSectionKeys: [text(), text()] });
    odd.requestFocus.querySummary = text();
    odd.sections = [
      section(key, text(), tokens, Math.floor(tokens / 2)),
      section("b", "rules", 1, 1),
    ];
    odd.messages = [message(tokens, text(), tokens, tokens, text()), ...odd.messages];
    odd.buckets[0].bucket = text();
    odd.window.used = tokens;
    odd.window.free = -tokens;
    odd.status.nextEdit = { tokens, reason: text() };
    odd.next = { outcome: text(), reason: text() };
    const options = { width: 20 + up(140), ascii: up(2) === 1 };
    for (const asked of [key, text(), "result read", `message:${tokens}`]) {
      const shown = list(odd, options) + detail(odd, asked, options);
      assert.doesNotMatch(
        shown.replace(/(\p{Extended_Pictographic})\u200d(?=\p{Extended_Pictographic})/gu, "$1"),
        STEERS,
      );
      assert.ok(shown.isWellFormed?.() ?? true);
      for (const line of shown.split("\n"))
        assert.ok(columns(line) <= options.width, `${columns(line)} > ${options.width}: ${line}`);
    }
  }
});

test("an object that is not a report is shown without an error", { skip }, () => {
  const next = numbers(3);
  const up = (/** @type {number} */ most) => Math.floor(next() * most);
  /** @returns {any} */
  const anything = () =>
    [null, true, -1, 1e300, "x", [], {}, [[{}]], { a: [1] }, "constructor"][up(10)];
  const names = [...Object.keys(report()), "detail"];
  for (let round = 0; round < sized({ short: 100, ci: 500, long: 500 }); round += 1) {
    const odd = Object.fromEntries(names.map((name) => [name, anything()]));
    assert.equal(typeof list(odd), "string");
    assert.equal(typeof detail(odd, "system"), "string");
    for (const name of ["window", "status", "monitor", "next", "sections", "buckets", "messages"]) {
      const complete = report();
      for (const member of Object.keys(complete[name]))
        if (up(3) === 0) complete[name][member] = anything();
      assert.equal(typeof list(complete), "string");
    }
  }
});
