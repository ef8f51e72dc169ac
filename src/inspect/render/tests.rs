//! How reports are shown, in small.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::screen::{Screen, bar, columns, percent, short};
use super::{Look, render_detail, render_list};

const PLAIN: Look = Look { width: 80, color: false, ascii: false };

fn section(key: &str, source: &str, original: u64, now: u64) -> Value {
    json!({ "key": key, "sourceType": source, "scopeType": "always-on", "inclusionReason": "fits",
        "priority": 64, "basePriority": 60, "protected": key == "memory:soul", "originalChars": original,
        "finalChars": now, "estimatedTokens": now / 4, "included": now > 0, "truncated": now < original,
        "evidence": ["tier=Soul", "+4 active file a.rs"], "wholeFromTotalChars": 152_731 })
}

fn message(index: u64, tool: Option<&str>, tokens: u64, sent: u64, state: &str) -> Value {
    let mut one = json!({ "index": index, "role": "tool", "kind": "toolResult", "tokens": tokens,
        "sentTokens": sent, "state": state, "rule": "timed", "turn": 2, "group": 1 });
    if let Some(tool) = tool {
        one["tool"] = json!(tool);
    }
    one
}

fn report() -> Value {
    json!({
        "schema": "context.inspect/1", "sessionId": "s-1", "totalChars": 42_000, "estimatedTokens": 10_500,
        "contextWindowTokens": 200_000, "systemPromptSharePct": 5.25,
        "requestFocus": { "querySummary": "fix the streaming bug",
            "activeFilePaths": ["a.rs", "b.rs", "c.rs", "d.rs", "e.rs"],
            "activeSymbols": ["StreamingAgentLoop"], "planSignals": ["code change requested"] },
        "budget": { "maxPerTierChars": 20_000, "maxTotalChars": 150_000 },
        "truncatedSectionKeys": ["k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8"],
        "sections": [section("memory:soul", "memory", 1200, 1200), section("rules:a", "rules", 1000, 700),
            section("memory:auto", "learned-signals", 400, 0)],
        "window": { "used": 168_204, "reserve": 8192, "free": 23_604, "trigger": 163_037, "target": 115_085 },
        "buckets": [{ "bucket": "result read", "tokens": 120_204, "sharePct": 71.46, "retainedPct": 24.5 },
            { "bucket": "user", "tokens": 36_000, "sharePct": 21.4, "retainedPct": 100 },
            { "bucket": "head", "tokens": 1200, "sharePct": 0.7, "retainedPct": 0 },
            { "bucket": "core", "tokens": 10_800, "sharePct": 6.4, "retainedPct": 100 }],
        "messages": [message(0, None, 10, 10, "kept"), message(1, Some("read"), 5900, 74, "stubbed"),
            message(2, Some("bash"), 9000, 0, "dropped")],
        "status": { "used": 168_204, "usable": 191_808, "remaining": 23_604, "usedPct": 87, "pressure": "high",
            "trend": "rising", "peakTokens": 181_022, "compactions": 2 },
        "monitor": { "samples": [10_000, 90_000, 181_022], "inputTokens": 500_000, "outputTokens": 9000,
            "requests": { "total": 14, "bySource": { "main_turn": 12, "planner": 2 } },
            "compactions": { "total": 3, "byPhase": { "PRUNED": 2, "SUMMARIZED": 1 }, "tokensSaved": 96_410,
                "last": { "phase": "PRUNED", "at": 5, "tokensBefore": 98_311, "tokensAfter": 71_200 } } },
        "next": { "outcome": "summarize", "reason": "the window is nearly full", "tokensBefore": 168_204,
            "tokensAfterEstimate": 119_991 }
    })
}

fn list(report: &Value, look: Look) -> String {
    render_list(&report.to_string(), look)
}

fn detail(report: &Value, key: &str) -> String {
    render_detail(&report.to_string(), key, PLAIN)
}

#[test]
fn a103_the_list_tells_the_whole_session() {
    let shown = list(&report(), PLAIN);
    let expected = "\
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
Focus     \"fix the streaming bug\"   files: a.rs, b.rs, c.rs +2 more
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
";
    assert_eq!(shown, expected, "\n{shown}");
}

#[test]
fn a103_without_focus_or_window_the_list_says_so() {
    let mut bare = report();
    bare["requestFocus"] = Value::Null;
    assert!(list(&bare, PLAIN).contains("Focus     No request-local focus signals detected.\n"));
    bare["budget"] = Value::Null;
    bare["sections"] = json!([]);
    assert!(!list(&bare, PLAIN).contains("Focus"), "the prompt was no plan");
    bare["contextWindowTokens"] = json!(0);
    let shown = list(&bare, PLAIN);
    assert!(
        shown.contains("Window    not known   used 168,204\n") && !shown.contains('['),
        "{shown}"
    );
    assert!(list(&json!({}), PLAIN).starts_with("Window    not known   used 0\n"));
}

#[test]
fn a105_the_detail_of_a_section_tells_why_and_shows_its_text() {
    let mut asked = report();
    asked["detail"] = json!({ "key": "rules:a", "content": "Use tables.\nAlways." });
    let expected = "\
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
";
    assert_eq!(detail(&asked, "rules:a"), expected);
    // Nothing of another key's text.
    assert!(!detail(&asked, "memory:soul").contains("Use tables"));
    assert!(detail(&report(), "message:1").contains("State     stubbed   ~5,900 -> 74 tokens\n"));
    let bucket = detail(&report(), "result read");
    assert!(
        bucket.contains("~120,204 tokens   71.5% of what is used   24.5% retained"),
        "{bucket}"
    );
    assert!(bucket.contains("message:1") && !bucket.contains("message:2"), "{bucket}");
}

#[test]
fn a105_a_text_is_cut_at_twelve_thousand_characters() {
    let of = |chars: usize| {
        let mut asked = report();
        asked["detail"] = json!({ "key": "system", "content": "x".repeat(chars) });
        detail(&asked, "system")
    };
    assert!(!of(12_000).contains("truncated"));
    let cut = of(12_001);
    assert!(cut.ends_with("x\n...[truncated]\n"), "{}", cut.len());
    assert_eq!(cut.matches('x').count(), 12_000);
}

#[test]
fn a105_of_a_key_that_there_is_not_the_nearest_are_named() {
    let shown = detail(&report(), "rule:a");
    assert_eq!(shown, "Nothing under \"rule:a\".\nClose     rules:a, result read, memory:soul\n");
    assert_eq!(render_detail("{}", "x", PLAIN), "Nothing under \"x\".\n");
}

#[test]
fn f152_what_a_session_holds_is_shown_and_not_obeyed() {
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}key\nnext\u{9b}31m";
    let mut hostile = report();
    hostile["sessionId"] = json!(evil);
    hostile["requestFocus"]["querySummary"] = json!(evil);
    hostile["sections"] = json!([section(evil, evil, 10, 10)]);
    hostile["buckets"][0]["bucket"] = json!(evil);
    hostile["messages"][0]["tool"] = json!(evil);
    hostile["next"]["reason"] = json!(evil);
    hostile["detail"] = json!({ "key": evil, "content": evil });
    hostile["truncatedSectionKeys"] = json!([evil]);
    hostile["monitor"]["requests"]["bySource"] = json!({ evil: 3 });
    for shown in [list(&hostile, PLAIN), detail(&hostile, evil), detail(&hostile, "\u{1b}[31m?")] {
        let bad = |c: char| c != '\n' && (c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c));
        assert!(!shown.contains(bad), "{shown:?}");
        assert!(!shown.contains("owned") && !shown.contains("2J"), "{shown}");
    }
    assert!(list(&hostile, PLAIN).starts_with("Session   key next\n"));
    let painted = list(&hostile, Look { color: true, ..PLAIN });
    let codes: Vec<&str> = painted.split('\u{1b}').skip(1).collect();
    assert!(
        codes.iter().all(|it| it.starts_with('[') && it.find('m').is_some_and(|at| at < 6)),
        "{codes:?}"
    );
}

#[test]
fn a_state_is_a_word_with_colour_and_without() {
    let strip = |text: &str| -> String {
        let parts: Vec<&str> = text.split('\u{1b}').collect();
        let rest = parts.iter().skip(1).map(|it| it.split_once('m').unwrap().1);
        parts[0].to_owned() + &rest.collect::<String>()
    };
    let painted = list(&report(), Look { color: true, ..PLAIN });
    assert!(painted.contains("\u{1b}[1;31mpressure HIGH\u{1b}[0m"), "{painted}");
    assert_eq!(strip(&painted), list(&report(), PLAIN));
}

#[test]
fn signs_of_ascii_are_enough() {
    let shown = list(&report(), Look { ascii: true, ..PLAIN });
    assert!(shown.is_ascii(), "{shown}");
    assert!(shown.contains("#########. 87%") && shown.contains("_=#"), "{shown}");
}

#[test]
fn a106_tokens_in_short() {
    for (tokens, shown) in [
        (0, "0"),
        (999, "999"),
        (1000, "1.0K"),
        (1249, "1.2K"),
        (1250, "1.3K"),
        (9949, "9.9K"),
        (9999, "10.0K"),
        (10_000, "10K"),
        (10_500, "11K"),
        (128_400, "128K"),
        (-1500, "-1.5K"),
    ] {
        assert_eq!(short(tokens), shown);
    }
}

#[test]
fn a106_a_bar_has_ten_cells() {
    let screen = Screen::new(Look { ascii: true, ..PLAIN });
    for (tenths, shown) in [
        (0, ".........."),
        (49, ".........."),
        (50, "#........."),
        (344, "###......."),
        (350, "####......"),
        (1000, "##########"),
        (1510, "##########"),
        (-100, ".........."),
    ] {
        assert_eq!(bar(&screen, tenths), shown, "{tenths}");
    }
    assert_eq!((percent(1510), percent(-25)), ("151.0%".into(), "-2.5%".into()));
    let mut over = report();
    over["status"]["usedPct"] = json!(151);
    assert!(list(&over, PLAIN).contains("██████████ 151% of 191,808 usable"));
}

#[test]
fn wide_characters_count_as_wide() {
    for (text, wide) in [
        ("abc", 3),
        ("né", 2),
        ("ne\u{301}", 2),
        ("文脈", 4),
        ("한국어", 6),
        ("ｆｕｌｌ", 8),
        ("😀", 2),
        ("👩‍👩‍👧", 2),
        ("🇻🇳", 2),
        ("❤\u{fe0f}", 2),
        ("❤", 1),
        ("Đường", 5),
        ("", 0),
    ] {
        assert_eq!(columns(text), wide, "{text}");
    }
    let mut wide = report();
    wide["sections"] = json!([
        section("規則:テスト規約とその例外", "rules", 10, 10),
        section("rules:b", "rules", 10, 10)
    ]);
    let shown = list(&wide, Look { width: 60, ..PLAIN });
    let rows: Vec<&str> = shown.lines().skip_while(|it| !it.starts_with("Sections")).collect();
    let ends: Vec<usize> =
        rows[1..4].iter().map(|it| columns(it.split("  10  ").next().unwrap())).collect();
    assert_eq!(ends[1], ends[2], "{shown}");
}

#[test]
fn an_option_that_cannot_be_is_refused() {
    let refused = |json: &str| Look::read(json).unwrap_err().to_string();
    assert_eq!(
        refused(r#"{"width":"80"}"#),
        "options.width: expected a whole number, got string \"80\""
    );
    assert!(
        refused(r#"{"wide":80}"#).contains("unknown option options.wide; the options are width")
    );
    assert_eq!(Look::read("{}").unwrap(), Look { width: 100, color: false, ascii: false });
    assert_eq!(Look::read(r#"{"width":1}"#).unwrap().width, 20);
}

#[test]
fn sums_that_are_no_numbers_any_more_still_make_a_bar() {
    let most = 1_000_000_000_000_000u64;
    let buckets = |name| (0..9300).map(move |_| json!({ "bucket": name, "tokens": most }));
    let all: Vec<Value> = buckets("user").chain(buckets("assistant")).collect();
    let shown = list(&json!({ "contextWindowTokens": most, "buckets": all }), PLAIN);
    assert_eq!(shown.lines().find(|it| it.starts_with('[')).map(columns), Some(80), "{shown}");
}

proptest! {
    #[test]
    fn no_line_is_too_long(
        width in 20usize..160,
        ascii in any::<bool>(),
        key in "[a-z文😀:é\\u{1b}\\n ]{0,40}",
        tokens in 0u64..1_000_000_000,
    ) {
        let mut odd = report();
        odd["sessionId"] = json!(key);
        odd["sections"] = json!([section(&key, &key, tokens, tokens / 2), section("b", "rules", 1, 1)]);
        odd["messages"] = json!([message(tokens, Some(&key), tokens, tokens, "thinned")]);
        odd["buckets"][0]["bucket"] = json!(key);
        odd["window"]["used"] = json!(tokens);
        let look = Look { width, color: false, ascii };
        for line in list(&odd, look).lines().chain(render_detail(&odd.to_string(), &key, look).lines()) {
            prop_assert!(columns(line) <= width.max(36), "{} > {width}: {line}", columns(line));
        }
    }

    #[test]
    fn what_is_no_report_is_shown_as_little(text in "\\PC{0,60}", key in "\\PC{0,20}") {
        render_list(&text, PLAIN);
        render_detail(&text, &key, PLAIN);
    }
}
