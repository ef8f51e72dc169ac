//! The report, in small: `AceClaw`'s sample, and what holds in every report.

#![expect(clippy::arithmetic_side_effects, reason = "small numbers")]

use crate::context::snapshot_bytes;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::report;
use crate::context::{Options, Session, Step};
use crate::format::Format;
use crate::prune::Policy;

/// A session, its messages, and the parts as they were sent.
struct TestSession {
    state: Session,
    messages: Vec<Value>,
    beside: Value,
    now_ms: i64,
}

impl TestSession {
    fn new(options: &Value) -> Self {
        let options = Options::parse(&options.to_string()).unwrap();
        let state = Session::new(options, Format::Anthropic);
        Self { state, messages: Vec::new(), beside: json!({}), now_ms: 0 }
    }

    fn beside(mut self, parts: Value) -> Self {
        self.state.set_parts(&parts.to_string()).unwrap();
        self.beside = parts;
        self
    }

    fn push(&mut self, message: Value) {
        self.state.push(message.to_string().as_bytes()).unwrap();
        self.messages.push(message);
    }

    fn work(&mut self, at: usize, result: &str) {
        let id = format!("c{at}");
        if !self.messages.is_empty() {
            self.push(json!({ "role": "assistant", "content": "done, ".repeat(40) }));
        }
        self.push(json!({ "role": "user", "content": format!("step {at}") }));
        let call = json!({ "type": "tool_use", "id": id, "name": "read", "input": { "path": id } });
        self.push(json!({ "role": "assistant", "content": [call] }));
        let result = json!({ "type": "tool_result", "tool_use_id": id, "content": result });
        self.push(json!({ "role": "user", "content": [result] }));
    }

    fn request(&mut self) {
        self.now_ms += 1000;
        let mut step = self.state.request(self.now_ms);
        while let Step::Need(messages) = step {
            for index in messages {
                let text = self.messages[index.index()].to_string();
                self.state.supply(index, text.as_bytes()).unwrap();
            }
            step = self.state.resume();
        }
    }

    fn report(&self) -> Value {
        self.ask(json!({}))
    }

    fn ask(&self, mut ask: Value) -> Value {
        ask["beside"] = self.beside.clone();
        let answer = report(&self.state, &ask.to_string(), self.now_ms).unwrap();
        serde_json::from_str(answer.json()).unwrap()
    }
}

fn window(tokens: u32) -> Value {
    json!({ "window": { "contextTokens": tokens, "maxOutputTokens": 1000 }, "estimator": "chars/4" })
}

/// What holds in every report.
fn holds(report: &Value) {
    let number = |of: &Value| of.as_i64().unwrap();
    let window = &report["window"];
    let total = number(&report["contextWindowTokens"]);
    let sum = number(&window["used"]) + number(&window["reserve"]) + number(&window["free"]);
    assert_eq!(sum, total, "used + reserve + free = window");
    assert_eq!(window["used"], report["status"]["used"]);
    let list = |name: &str| report[name].as_array().unwrap().clone();
    let buckets = list("buckets");
    let sum: i64 = buckets.iter().map(|it| number(&it["tokens"])).sum();
    assert_eq!(sum, number(&window["used"]), "{buckets:#?}");
    let of = |names: &[&str]| -> i64 {
        let named = |it: &&Value| names.contains(&it["bucket"].as_str().unwrap());
        buckets.iter().filter(named).map(|it| number(&it["tokens"])).sum()
    };
    let beside = ["tools", "head", "pins", "made", "unseen"];
    let prompt = ["rules", "candidates", "skills", "learned", "memory", "core"];
    let messages: i64 = list("messages").iter().map(|it| number(&it["sentTokens"])).sum();
    let system = if buckets.iter().any(|it| it["bucket"] == "core") {
        of(&prompt)
    } else {
        number(&report["estimatedTokens"])
    };
    assert_eq!(messages + system + of(&beside), number(&window["used"]), "messages and the rest");
}

/// The JSON in `AceClaw`'s document: the section's tokens are ours besides.
fn sample() -> Value {
    json!({
        "sessionId": "s",
        "totalChars": 42000,
        "estimatedTokens": 10500,
        "contextWindowTokens": 200_000,
        "systemPromptSharePct": 5.25,
        "requestFocus": {
            "querySummary": "fix the streaming bug",
            "activeFilePaths": ["src/agent/StreamingAgentLoop.java"],
            "activeSymbols": ["StreamingAgentLoop"],
            "planSignals": ["code change requested"]
        },
        "budget": { "maxPerTierChars": 20000, "maxTotalChars": 150_000 },
        "truncatedSectionKeys": [],
        "sections": [{
            "key": "memory:soul",
            "sourceType": "memory",
            "scopeType": "always-on",
            "inclusionReason": "8-tier memory hierarchy",
            "priority": 100,
            "protected": true,
            "originalChars": 1200,
            "finalChars": 1200,
            "included": true,
            "truncated": false,
            "evidence": ["tier=Soul", "priority=100"]
        }]
    })
}

/// Row A98.
#[test]
fn the_sample_of_the_document_comes_out_field_by_field() {
    let sample = sample();
    let mut section = sample["sections"][0].clone();
    section["offset"] = json!(100);
    let plan = json!({ "prompt": "prompt ".repeat(6000), "sections": [section],
        "focus": sample["requestFocus"], "budget": sample["budget"], "truncatedSectionKeys": [] });
    let session = TestSession::new(
        &json!({ "window": { "contextTokens": 200_000 }, "estimator": "chars/4" }),
    )
    .beside(json!({ "system": plan }));
    let report = session.ask(json!({ "sessionId": "s" }));
    for (name, value) in sample.as_object().unwrap() {
        if name != "sections" {
            assert_eq!(&report[name], value, "{name}");
        }
    }
    for (name, value) in sample["sections"][0].as_object().unwrap() {
        assert_eq!(&report["sections"][0][name], value, "{name}");
    }
    // A99, which the sample leaves out.
    assert_eq!(report["sections"][0]["estimatedTokens"], 300);
    assert_eq!(report["schema"], "context.inspect/1");
    assert!(report.get("detail").is_none(), "no text unless it is asked for");
    holds(&report);
}

/// Row A98.
#[test]
fn without_a_window_there_are_no_shares_and_nothing_is_divided() {
    let session = TestSession::new(&json!({ "window": { "contextTokens": 0 } }))
        .beside(json!({ "system": "words" }));
    let report = session.report();
    assert_eq!(report["systemPromptSharePct"], 0);
    assert_eq!(
        (&report["window"]["trigger"], &report["window"]["target"]),
        (&Value::Null, &Value::Null)
    );
    holds(&report);
}

#[test]
fn percents_have_four_places() {
    let show = |part, total| report::percent(part, total).json().to_owned();
    assert_eq!(
        (show(10_500, 200_000), show(1, 3), show(2, 3)),
        ("5.25".into(), "33.3333".into(), "66.6667".into())
    );
    assert_eq!((show(7, 0), show(0, 7), show(3, 2)), ("0".into(), "0".into(), "150".into()));
}

/// A plan of sections: key, source, text, characters before it was cut.
fn plan(sections: &[(&str, &str, &str, u64)]) -> Value {
    let (mut prompt, mut listed) = (String::new(), Vec::new());
    for (key, source, text, original) in sections {
        let offset = prompt.encode_utf16().count();
        let chars = text.encode_utf16().count();
        prompt.push_str(text);
        listed.push(json!({ "key": key, "sourceType": source, "originalChars": original,
            "finalChars": chars, "offset": if chars > 0 { json!(offset) } else { Value::Null } }));
    }
    json!({ "system": { "prompt": prompt, "sections": listed } })
}

/// Row A104.
#[test]
fn the_prompt_is_reported_by_section() {
    let long = "word ".repeat(80);
    let session = TestSession::new(&window(10_000)).beside(plan(&[
        ("base", "base", &long, 400),
        ("memory:soul", "memory", &long, 400),
        ("memory:journal", "memory", "", 1200),
        ("rules:a", "rules", &long, 800),
        ("memory:auto", "learned-signals", &long, 400),
        ("skills", "skills", &long, 400),
        ("candidates", "candidates", &long, 400),
    ]));
    let report = session.report();
    holds(&report);
    let bucket = |name: &str| {
        let all = report["buckets"].as_array().unwrap();
        let it = all.iter().find(|it| it["bucket"] == name).unwrap();
        (
            it["tokens"].as_u64().unwrap(),
            it["retainedPct"].as_f64().unwrap(),
            it["sharePct"].as_f64().unwrap(),
        )
    };
    assert_eq!(bucket("core"), (100, 100.0, 16.6667));
    assert_eq!(bucket("memory"), (100, 25.0, 16.6667));
    assert_eq!(("half", bucket("rules").1), ("half", 50.0));
    for name in ["learned", "skills", "candidates"] {
        assert_eq!(bucket(name).0, 100, "{name}");
    }
    let sum: u64 = report["sections"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["estimatedTokens"].as_u64().unwrap())
        .sum();
    assert_eq!(sum, report["estimatedTokens"].as_u64().unwrap());
}

/// Row A105.
#[test]
fn the_text_of_a_key_comes_with_it_alone() {
    let session = TestSession::new(&window(10_000)).beside(plan(&[
        ("base", "base", "né😀👩‍👩‍👧\n", 12),
        ("rules:tests", "rules", "Đường dẫn 文脈", 13),
    ]));
    let of = |key: &str| session.ask(json!({ "detailKey": key }));
    assert_eq!(of("base")["detail"], json!({ "key": "base", "content": "né😀👩‍👩‍👧\n" }));
    assert_eq!(of("rules:tests")["detail"]["content"], "Đường dẫn 文脈");
    assert_eq!(of("system")["detail"]["content"], "né😀👩‍👩‍👧\nĐường dẫn 文脈");
    let missing = of("rules:tst");
    assert!(missing.get("detail").is_none());
    assert_eq!(missing["keys"], json!(["base", "rules:tests", "system"]));
}

#[test]
fn a_message_is_a_key_too() {
    let mut session = TestSession::new(&window(10_000));
    session.work(7, "what the file holds");
    let of = |at: usize| {
        session
            .ask(json!({ "detailKey": format!("message:{at}"), "message": session.messages[at] }))
    };
    assert_eq!(of(0)["detail"]["content"], "step 7");
    assert_eq!(of(1)["detail"]["content"], r#"read {"path":"c7"}"#);
    assert_eq!(of(2)["detail"]["content"], "what the file holds");
    let missing = session.ask(json!({ "detailKey": "message:9" }));
    assert_eq!(missing["keys"], json!(["message:2"]));
}

#[test]
fn the_trigger_shown_is_the_one_that_acts() {
    for preset in Policy::PRESETS {
        let mut options = window(20_000);
        options["preset"] = json!(preset);
        let mut session = TestSession::new(&options);
        let first = (0..120).find(|&at| {
            session.work(at, &"plain words ".repeat(60));
            let before = session.report();
            let due = before["window"]["used"].as_u64() > before["window"]["trigger"].as_u64();
            session.request();
            holds(&session.report());
            let moved = session.report()["status"]["epoch"] != before["status"]["epoch"];
            assert_eq!(moved, due, "{preset} at {at}");
            moved
        });
        assert!(first.is_some_and(|at| at > 10), "{preset}: {first:?}");
    }
}

#[test]
fn what_the_provider_counts_beyond_our_estimates_is_unseen() {
    let mut session =
        TestSession::new(&window(20_000)).beside(json!({ "system": "words", "unseenTokens": 50 }));
    session.work(0, "result");
    session.request();
    let unseen = |report: &Value| {
        let all = report["buckets"].as_array().unwrap();
        all.iter().find(|it| it["bucket"] == "unseen").unwrap()["tokens"].as_i64().unwrap()
    };
    assert_eq!(unseen(&session.report()), 50);
    let used = session.report()["window"]["used"].as_i64().unwrap();
    for more in [900, -30] {
        let usage = json!({ "input_tokens": used + more, "output_tokens": 1 });
        session.state.observe(&usage.to_string(), None);
        let report = session.report();
        holds(&report);
        assert_eq!(report["window"]["used"].as_i64(), Some(used + more));
        assert_eq!(unseen(&report), 50 + more);
    }
}

#[test]
fn compactions_are_listed_the_last_with_its_text() {
    let mut session = TestSession::new(&window(8000));
    let mut folds = 0;
    for at in 0..400 {
        session.work(at, &format!("result of src/file_{at}.rs"));
        session.request();
        let report = session.report();
        let records = report["compactions"].as_array().unwrap();
        folds = report["status"]["compactions"].as_u64().unwrap();
        assert_eq!(records.len() as u64, folds.min(32));
        for (place, record) in records.iter().enumerate() {
            let last = place + 1 == records.len();
            assert_eq!(record["head"] != "", last);
            assert!(record["tokensAfter"].as_u64() < record["tokensBefore"].as_u64(), "{record}");
        }
    }
    assert!(folds > 1, "{folds}");
}

#[test]
fn a_question_other_than_the_known_ones_is_refused() {
    let session = TestSession::new(&window(8000));
    for ask in ["[]", r#"{"other":1}"#, r#"{"detailKey":7}"#, r#"{"beside":[]}"#, "{"] {
        let error = report(&session.state, ask, 0).unwrap_err().to_string();
        assert!(
            error.starts_with(
                "inspect: expected { sessionId, detailKey, beside, message, next }, got "
            ),
            "{error}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_report_holds_and_moves_nothing(
        steps in proptest::collection::vec((0usize..3000, any::<bool>()), 1..40),
        tokens in 2000u32..20_000,
        preset in 0usize..8,
    ) {
        let mut options = window(tokens);
        options["preset"] = json!(Policy::PRESETS[preset]);
        let (mut session, mut other) = (TestSession::new(&options), TestSession::new(&options));
        for (at, (chars, asks)) in steps.into_iter().enumerate() {
            let result = "some words ".repeat(chars / 11);
            session.work(at, &result);
            other.work(at, &result);
            if asks {
                session.request();
                other.request();
                let before = snapshot_bytes(&session.state);
                holds(&session.report());
                prop_assert_eq!(snapshot_bytes(&session.state), before);
            }
        }
        session.request();
        other.request();
        holds(&session.report());
        prop_assert_eq!(snapshot_bytes(&session.state), snapshot_bytes(&other.state));
    }
}
