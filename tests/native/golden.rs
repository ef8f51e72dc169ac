//! Bugs that others reported, each as a small history: what the thread broke is reported, mended, or never produced.
//!
//! The cases stand in JSON files, one for each message format; a case's name is the thread. `repair`: `validate` names the rule,
//! `repair` mends it, and what comes out is valid. `report`: nothing mends it, it is reported. `untouched`: a healthy history
//! stays as it is. `never`: a growing history under a small window; no request breaks a rule, and what `expect` names holds.

use std::fs;
use std::path::Path;

use crate::carry::{self, Session, repair, validate};
use plimsoll::format::Format;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct File {
    format: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    thread: String,
    rule: String,
    kind: String,
    provider: String,
    violates: Option<String>,
    #[serde(default)]
    thinking: bool,
    system: Option<Value>,
    tools: Option<Value>,
    window: Option<u32>,
    #[serde(default)]
    expect: Vec<String>,
    #[serde(default)]
    pad: usize,
    messages: Vec<Box<RawValue>>,
    repeat: Option<Repeat>,
    #[serde(default)]
    after: Vec<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Repeat {
    times: usize,
    messages: Vec<Box<RawValue>>,
}

impl Case {
    fn texts(&self) -> Vec<String> {
        let text = |raw: &RawValue| self.filled(raw.get(), 0);
        let mut texts: Vec<String> = self.messages.iter().map(|raw| text(raw)).collect();
        if let Some(repeat) = &self.repeat {
            for at in 1..=repeat.times {
                texts.extend(repeat.messages.iter().map(|raw| self.filled(raw.get(), at)));
            }
        }
        texts.extend(self.after.iter().map(|raw| text(raw)));
        texts
    }

    fn filled(&self, text: &str, at: usize) -> String {
        let text = text.replace("{nnn}", &format!("{at:03}")).replace("{n}", &at.to_string());
        if !text.contains("{pad}") {
            return text;
        }
        let mut pad = String::new();
        for word in 0.. {
            if pad.len() >= self.pad {
                break;
            }
            let word = format!("v{at}x{word} ");
            pad.push_str(&word);
        }
        text.replace("{pad}", pad.trim_end())
    }

    fn parts(&self) -> Value {
        json!({ "system": self.system, "tools": self.tools })
    }
}

fn texts_of(messages: &[Value]) -> Vec<String> {
    messages.iter().map(Value::to_string).collect()
}

fn run(format: Format, case: &Case) {
    let (texts, parts, name) = (case.texts(), case.parts(), &case.thread);
    if case.kind == "never" {
        return never(format, case, &texts);
    }
    let provider = case.provider.as_str();
    let found = validate(format, provider, &parts, case.thinking, &texts);
    let (mended, repairs) = repair(format, provider, &parts, &texts);
    let host: Vec<Value> = texts.iter().map(|text| carry::value(text)).collect();
    if case.kind == "untouched" {
        assert_eq!(found, [], "{name}");
        assert_eq!((&mended, &repairs), (&host, &json!([])), "{name}");
        return;
    }
    let rule = case.violates.as_ref().unwrap_or(&case.rule);
    assert!(found.iter().any(|it| it.rule == rule), "{name}: {found:?}");
    let left = validate(format, provider, &parts, case.thinking, &texts_of(&mended));
    if case.kind == "report" {
        assert!(left.iter().any(|it| it.rule == rule), "{name}: {left:?}");
        assert_eq!(mended, host, "{name}");
        return;
    }
    assert_eq!(left, [], "{name}: {repairs}");
    let (again, repairs) = repair(format, provider, &parts, &texts_of(&mended));
    assert_eq!((again, repairs), (mended, json!([])), "{name}");
}

fn never(format: Format, case: &Case, texts: &[String]) {
    let name = &case.thread;
    // The preset that edits earliest, in half of the window that the case has: each must see several epochs.
    let window = json!({ "contextTokens": case.window.map(|tokens| tokens / 2) });
    let options = json!({ "provider": case.provider, "preset": "economy", "window": window });
    let mut session = Session::new(format, &options);
    let (mut epoch, mut opened) = (0, 0);
    for (at, text) in texts.iter().enumerate() {
        session.push(text);
        let speaks = |text: &String| carry::value(text)["role"] == "assistant";
        if speaks(text) || texts.get(at + 1).is_some_and(|next| !speaks(next)) {
            continue;
        }
        let (sent, answer) = session.request();
        let left = validate(format, &case.provider, &case.parts(), case.thinking, &texts_of(&sent));
        // What a fold leaves of turns before thinking was on is no matter of ours: the cases have thinking throughout.
        assert_eq!(left, [], "{name} at {at}");
        assert_eq!(answer["repairs"], json!([]), "{name} at {at}");
        for expected in &case.expect {
            expects(expected, &session.history, &sent, &answer, name);
        }
        let now = answer["epoch"].as_u64().unwrap();
        opened += u32::from(now > epoch);
        epoch = now;
    }
    assert!(opened > 1, "{name}: nothing was pruned");
}

fn thinks(message: &Value) -> bool {
    let blocks = message["content"].as_array();
    let kinds = ["thinking", "redacted_thinking"];
    message["role"] == "assistant"
        && blocks.is_some_and(|blocks| {
            blocks.iter().any(|block| kinds.iter().any(|kind| block["type"] == *kind))
        })
}

fn expects(what: &str, history: &[Value], sent: &[Value], answer: &Value, name: &str) {
    let newest = history.iter().rev().find(|message| thinks(message));
    match what {
        "newest-thinking" => assert!(newest.is_none_or(|newest| sent.contains(newest)), "{name}"),
        "bound-thinking" => {
            let Some(first) = answer["firstChanged"].as_u64() else { return };
            let behind = sent.iter().skip(usize::try_from(first).unwrap());
            for message in behind.filter(|message| thinks(message)) {
                assert_eq!(Some(message), newest, "{name}: thinking behind a change");
                assert!(answer["hints"].is_string(), "{name}: no hint");
            }
        }
        "reasoning-content" => {
            let calls = sent.iter().filter(|message| message["tool_calls"].is_array());
            for call in calls {
                let id = &call["tool_calls"][0]["id"];
                let host = history.iter().find(|host| &host["tool_calls"][0]["id"] == id).unwrap();
                assert_eq!(call["reasoning_content"], host["reasoning_content"], "{name}");
                assert!(call["reasoning_content"].is_string(), "{name}");
            }
        }
        _ => panic!("{name}: {what}"),
    }
}

#[test]
fn every_case_of_a_public_thread_is_reported_repaired_or_never_produced() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden"));
    let mut failed = Vec::new();
    let mut count = 0;
    for file in ["anthropic.json", "openai-chat.json", "pi.json"] {
        let file: File =
            serde_json::from_str(&fs::read_to_string(folder.join(file)).unwrap()).unwrap();
        let format = Format::parse(&file.format).unwrap();
        for case in file.cases {
            count += 1;
            let outcome =
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(format, &case)));
            if outcome.is_err() {
                failed.push(case.thread);
            }
        }
    }
    println!("{count} threads");
    assert!(failed.is_empty(), "{} of {count}: {failed:?}", failed.len());
}
