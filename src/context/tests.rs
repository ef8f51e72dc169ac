//! A session from the host's bytes to the view, in small.

#![expect(clippy::arithmetic_side_effects, reason = "small numbers")]

mod compaction;
mod figures;
mod flush;
mod history;
mod limits;
mod mended;
mod merge;
mod monitor;
mod presets;
mod providers;
mod replay;
mod snapshot;
mod thinking;
mod tiers;
mod truncate;
mod undelivered;
mod wanting;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::estimate::Estimator;
use crate::format::Format;
use crate::model::Form;

/// A session, and the host's messages for whatever text is needed.
struct Told {
    state: State,
    messages: Vec<Value>,
    now_ms: i64,
}

impl Told {
    fn new(options: &Value) -> Self {
        let options = Options::parse(&options.to_string()).unwrap();
        Self { state: State::new(options, Format::Anthropic), messages: Vec::new(), now_ms: 0 }
    }

    fn tell(&mut self, message: Value) {
        let pushed = self.state.push(message.to_string().as_bytes());
        if pushed == Ok(Pushed::StartAgain) {
            assert!(self.state.starts_late() && self.state.align().is_none());
            for known in self.messages.iter().chain([&message]) {
                assert_eq!(self.state.push(known.to_string().as_bytes()), Ok(Pushed::Taken));
            }
        } else {
            assert_eq!(pushed, Ok(Pushed::Taken));
        }
        self.messages.push(message);
    }

    fn ask(&mut self, text: &str) {
        self.tell(json!({ "role": "user", "content": text }));
    }

    fn say(&mut self, text: &str) {
        self.tell(json!({ "role": "assistant", "content": text }));
    }

    fn work(&mut self, id: &str, input: &Value, result: &str) {
        let call = json!({ "type": "tool_use", "id": id, "name": "read", "input": input });
        self.tell(json!({ "role": "assistant", "content": [call] }));
        let failed = result.starts_with("error");
        let result = json!({ "type": "tool_result", "tool_use_id": id, "content": result, "is_error": failed });
        self.tell(json!({ "role": "user", "content": [result] }));
    }

    fn request(&mut self) -> Answer {
        self.now_ms += 1000;
        let mut step = self.state.request(self.now_ms);
        for _ in 0..10 {
            match step {
                Step::Done(answer) => return *answer,
                Step::Need(messages) => {
                    for index in messages {
                        let bytes = self.messages[index as usize].to_string();
                        self.state.supply(index, bytes.as_bytes()).unwrap();
                    }
                    step = self.state.resume();
                }
            }
        }
        panic!("asks without end");
    }

    /// Results that nothing uses, asked for one by one.
    fn worked(options: &Value, count: usize) -> Self {
        let mut told = Self::new(options);
        told.ask("find it");
        told.request();
        for at in 0..count {
            told.work(&format!("c{at}"), &json!({ "path": at }), &words(500, &format!("x{at}y")));
            told.request();
        }
        told
    }

    fn forms(&self) -> Vec<Form> {
        self.state.ledger.blocks.iter().map(|block| block.form).collect()
    }
}

fn words(count: usize, of: &str) -> String {
    let words: Vec<String> = (0..count).map(|at| format!("{of}{at}")).collect();
    words.join(" ")
}

fn window(tokens: u32) -> Value {
    json!({ "window": { "contextTokens": tokens }, "estimator": "chars/4" })
}

#[test]
fn the_same_request_again_moves_nothing() {
    let mut told = Told::worked(&window(30_000), 25);
    assert!(told.forms().contains(&Form::Stubbed));
    let (forms, counters) = (told.forms(), told.state.counters());
    let before = told.request();
    let again = told.request();
    assert_eq!(again, before);
    assert_eq!((again.items.len(), again.edits.len(), again.first_changed), (0, 0, None));
    assert_eq!((told.forms(), told.state.counters()), (forms, counters));
}

#[test]
fn a_text_that_is_no_longer_there_ends_no_request_in_a_loop() {
    let mut told = Told::new(&window(3000));
    told.ask("go");
    let text = |text: &str| json!({ "type": "text", "text": text });
    told.tell(json!({ "role": "assistant", "content": [text("so"), text(&words(2000, "w"))] }));
    told.messages[1] = json!({ "role": "assistant", "content": [text("so")] });
    told.state.lines.wanted.insert(2, lines::Want::Cap(100));
    told.request();
    assert!(told.state.lines.wanted.is_empty());
}

#[test]
fn after_a_reset_the_same_messages_go_on_in_the_same_epoch() {
    let mut told = Told::new(&window(0));
    told.ask("a");
    told.say("b");
    told.ask("c");
    let before = told.request();
    told.state.reset();
    for message in std::mem::take(&mut told.messages) {
        told.tell(message);
    }
    let after = told.request();
    assert_eq!((after.keep, after.epoch, after.first_changed), (3, before.epoch, None));
    told.state.reset();
    told.ask("x");
    let other = told.request();
    assert_eq!((other.keep, other.epoch, other.first_changed), (0, before.epoch + 1, Some(0)));
}

#[test]
fn only_system_and_tools_open_an_epoch() {
    let mut told = Told::new(&window(10_000));
    told.ask("a");
    told.state.set_parts(r#"{"system":"s","tools":[{"a":1}],"unseenTokens":1}"#).unwrap();
    let first = told.request();
    told.state.set_parts(r#"{"system":"s","tools":[{"a":1}],"unseenTokens":50}"#).unwrap();
    let unseen = told.request();
    assert_eq!((unseen.first_changed, unseen.tokens), (None, first.tokens + 49));
    told.state.set_parts(r#"{"system":"s","tools":[{"a":2}]}"#).unwrap();
    let tools = told.request();
    assert_eq!((tools.first_changed, tools.keep, tools.epoch), (Some(-1), 1, first.epoch + 1));
}

#[test]
fn a_stub_says_what_it_stands_for_and_costs_what_it_says() {
    let mut told = Told::new(&window(30_000));
    told.ask("go");
    told.request();
    for at in 0..40 {
        let result = format!("error {}", words(300, &format!("x{at}y")));
        told.work(&format!("c{at}"), &json!({ "text": words(300, &format!("i{at}w")) }), &result);
        told.request();
    }
    let State { ledger, lines, .. } = &told.state;
    for (at, line) in lines.text.iter() {
        let block = &ledger.blocks[*at as usize];
        let is_call = block.kind == crate::model::Kind::Call;
        let what = if is_call { "arguments" } else { "error" };
        assert!(line.starts_with(&format!("[{what} cut, {} tokens", block.tokens)), "{line}");
        let sent = if is_call { json!({ "cut": line }).to_string() } else { line.clone() };
        let overhead = ledger.blocks[*at as usize].overhead;
        assert_eq!(block.now, overhead + Estimator::Chars4.tokens(&sent));
    }
    assert!(lines.text.len() > 10);
}

#[test]
fn a_user_text_stands_in_the_head_as_it_was_mended() {
    let mut told = Told::new(&window(10_000));
    let half = br#"{"role":"user","content":"find \ud83d it"}"#;
    assert_eq!(told.state.push(half), Ok(Pushed::Taken));
    told.messages.push(json!({ "role": "user", "content": "find \u{fffd} it" }));
    for at in 0..60 {
        told.say(&words(100, &format!("s{at}t")));
        told.ask(&format!("and {at}?"));
        told.request();
    }
    let crate::model::Made::User(parts) = told.state.head() else {
        panic!("the head is the user's")
    };
    assert_eq!(parts.get(1), Some(&crate::model::MadePart::Host(0, 0)));
    let written = told.state.write(&crate::model::Item::Make(told.state.head()), 0);
    let Written::Make { ops, .. } = written else { panic!("made") };
    let mended = r#"[{"op":"replace","path":"/content/1/text","value":"find \ufffd it"}]"#;
    assert_eq!(crate::json::write(&ops), mended);
}

#[test]
fn a_cap_that_was_wanted_costs_no_more() {
    let mut told = Told::new(&window(10_000));
    told.ask("go");
    told.work("a", &json!({}), &words(5000, "w"));
    let answer = told.request();
    let [_, _, result] = &told.state.ledger.blocks[..] else { panic!("three blocks") };
    assert_eq!(result.form, Form::Capped);
    assert!((1100..=1200).contains(&result.now), "{}", result.now);
    assert_eq!(answer.edits.len(), 1);
    assert_eq!(answer.edits[0].tokens_after, u64::from(result.now));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// A retry, `status`, `explain`, a snapshot: whoever only asks changes nothing, and what comes next is what it would have been.
    #[test]
    fn who_only_asks_changes_nothing(
        sizes in prop::collection::vec((1usize..400, 0u8..4), 1..40),
        tokens in 2_000u32..20_000,
        preset in 0usize..8,
        late: bool,
    ) {
        let mut options = window(tokens);
        options["preset"] = crate::prune::Policy::PRESETS[preset].into();
        let (mut told, mut asked) = (Told::new(&options), Told::new(&options));
        told.ask("go");
        asked.ask("go");
        for (at, (size, kind)) in sizes.into_iter().enumerate() {
            for told in [&mut told, &mut asked] {
                match kind {
                    0 => told.say(&words(size, &format!("a{at}b"))),
                    1 => told.ask(&words(size, &format!("u{at}v"))),
                    _ => told.work(&format!("c{at}"), &json!({ "n": at }), &words(size, &format!("x{at}y"))),
                }
            }
            let (answer, same) = (told.request(), asked.request());
            prop_assert_eq!(&answer, &same);
            let (now, before) = (asked.now_ms, (asked.state.snapshot(), asked.forms(), asked.view()));
            let status = asked.state.status();
            asked.now_ms += if late { 10_000_000 } else { 0 };
            let again = asked.request();
            prop_assert_eq!((again.items.len(), again.edits.len(), again.first_changed), (0, 0, None));
            prop_assert_eq!((again.outcome, again.fold, again.event), (None, None, None));
            prop_assert_eq!((again.epoch, again.tokens, again.fits), (answer.epoch, answer.tokens, answer.fits));
            prop_assert_eq!((again.hints, &again.cache_breakpoints), (answer.hints, &answer.cache_breakpoints));
            prop_assert_eq!(asked.state.status(), status);
            asked.state.explain(0).unwrap();
            asked.state.call_agent_tool("context_status", "{}").unwrap();
            prop_assert_eq!((asked.state.snapshot(), asked.forms(), asked.view()), before);
            asked.now_ms = now;
        }
    }

    #[test]
    fn a_request_grows_at_its_end_or_says_where_it_changed(
        sizes in prop::collection::vec((1usize..400, 0u8..4), 1..40),
        tokens in 2_000u32..20_000,
    ) {
        let mut told = Told::new(&window(tokens));
        let mut epoch = 0;
        let mut sent: Vec<String> = Vec::new();
        told.ask("go");
        for (at, (size, kind)) in sizes.into_iter().enumerate() {
            match kind {
                0 => told.say(&words(size, &format!("a{at}b"))),
                1 => told.ask(&words(size, &format!("u{at}v"))),
                _ => told.work(&format!("c{at}"), &json!({ "n": at }), &words(size, &format!("x{at}y"))),
            }
            let answer = told.request();
            let keep = answer.keep as usize;
            let new = answer.items.iter().map(|item| crate::json::write(item));
            let before = sent.clone();
            sent.truncate(keep);
            sent.extend(new);
            match answer.first_changed {
                None => prop_assert_eq!((&sent[..before.len()], answer.epoch), (&before[..], epoch)),
                Some(first) => {
                    let first = usize::try_from(first).unwrap();
                    prop_assert_eq!(answer.epoch, epoch + 1);
                    prop_assert_eq!(&sent[..first], &before[..first]);
                    prop_assert_ne!(sent.get(first), before.get(first));
                }
            }
            epoch = answer.epoch;
            prop_assert!(told.state.violations().is_empty());
            prop_assert!(answer.tokens <= u64::from(tokens) || !answer.fits);
        }
    }
}

/// The same message from another place in the history is no change to who is sent it; one with another id is.
#[test]
fn the_first_change_is_the_first_message_that_reads_otherwise() {
    let (mut moved, mut alike) = (0, 0);
    for (preset, says) in [("context-budget", true), ("context-budget", false), ("aiclaw", true)] {
        let mut options = window(8000);
        options["preset"] = preset.into();
        options["strategy"] = "discard".into();
        options["protectFirst"] = 0.into();
        let mut told = Told::new(&options);
        let mut before: Vec<(String, Option<u32>)> = Vec::new();
        let mut epoch = 0;
        for at in 0..60 {
            told.ask("go on");
            if says {
                told.say(&words(60, &format!("x{}y", at / 3)));
            } else {
                told.work(&format!("c{at}"), &json!({ "path": "a" }), &words(60, "xy"));
            }
            let answer = told.request();
            let message = |at: u32| told.messages[at as usize].to_string();
            let items = answer.items.iter().map(|item| match item {
                Written::Keep { index } => (message(*index), Some(*index)),
                Written::Edit { index, ops } => {
                    (message(*index) + &crate::json::write(ops), Some(*index))
                }
                Written::Make { .. } => (crate::json::write(item), None),
            });
            let kept = before.iter().take(answer.keep as usize).cloned();
            let now: Vec<_> = kept.chain(items).collect();
            let pairs = || before.iter().zip(&now);
            let same = pairs().take_while(|((one, _), (other, _))| one == other).count();
            let changed = (same < before.len()).then_some(i64::try_from(same).unwrap());
            assert_eq!(answer.first_changed, changed, "{preset} {at}");
            assert_eq!(answer.epoch > epoch, changed.is_some(), "{preset} {at}");
            moved += pairs().take(same).filter(|((_, from), (_, to))| from != to).count();
            alike += i32::from(!says && changed == Some(1));
            (before, epoch) = (now, answer.epoch);
        }
    }
    assert!(moved > 0 && alike > 0, "{moved} {alike}");
}
