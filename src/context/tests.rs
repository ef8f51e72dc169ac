//! A session from the host's bytes to the view, in small.

#![expect(clippy::arithmetic_side_effects, reason = "small numbers")]

mod call_ids;
mod compaction;
mod figures;
mod flush;
mod history;
mod limits;
mod lines;
mod mended;
mod merge;
mod monitor;
mod pending;
mod presets;
mod programs;
mod providers;
mod replay;
mod settings;
mod snapshot;
mod thinking;
mod tiers;
mod truncate;
mod unchanged_start;
mod undelivered;
mod waiting;
mod wanting;

use crate::context::report::explain::explain;
use crate::context::report::status::status;
use crate::context::request::build_request::violations_sent;
use crate::context::request::builder::Builder;
use crate::context::session::agent::call_agent_tool;
use crate::context::session::alignment::align;
use crate::context::session::snapshot::forgotten::starts_late;
use crate::context::session::snapshot::{restore_session, snapshot_bytes};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::estimate::Estimator;
use crate::format::Format;
use crate::model::{Form, MessageId};

/// A session, and the host's messages for whatever text is needed.
struct Host {
    session: Session,
    messages: Vec<Value>,
    now_ms: i64,
}

/// The messages of a request, by those of the one before it.
fn sent_after(before: &[Written], answer: &Answer) -> Vec<Written> {
    let mut sent = before[..answer.keep as usize].to_vec();
    for item in &answer.items {
        if let Written::Same(messages) = item {
            sent.extend_from_slice(&before[sent.len()..][..*messages as usize]);
        } else {
            sent.push(item.clone());
        }
    }
    sent
}

impl Host {
    fn new(options: &Value) -> Self {
        let options = Options::parse(&options.to_string()).unwrap();
        Self { session: Session::new(options, Format::Anthropic), messages: Vec::new(), now_ms: 0 }
    }

    fn append(&mut self, message: Value) {
        let pushed = self.session.push(message.to_string().as_bytes());
        if pushed == Ok(Append::RereadAll) {
            assert!(starts_late(&self.session) && align(&mut self.session).is_none());
            for known in self.messages.iter().chain([&message]) {
                assert_eq!(self.session.push(known.to_string().as_bytes()), Ok(Append::Appended));
            }
        } else {
            assert_eq!(pushed, Ok(Append::Appended));
        }
        self.messages.push(message);
    }

    fn ask(&mut self, text: &str) {
        self.append(json!({ "role": "user", "content": text }));
    }

    fn say(&mut self, text: &str) {
        self.append(json!({ "role": "assistant", "content": text }));
    }

    fn work(&mut self, id: &str, input: &Value, result: &str) {
        let call = json!({ "type": "tool_use", "id": id, "name": "read", "input": input });
        self.append(json!({ "role": "assistant", "content": [call] }));
        let failed = result.starts_with("error");
        let result = json!({ "type": "tool_result", "tool_use_id": id, "content": result, "is_error": failed });
        self.append(json!({ "role": "user", "content": [result] }));
    }

    fn request(&mut self) -> Answer {
        self.now_ms += 1000;
        let mut step = self.session.request(self.now_ms);
        for _ in 0..10 {
            match step {
                Step::Done(answer) => return *answer,
                Step::Need(messages) => {
                    for index in messages {
                        let bytes = self.messages[index.index()].to_string();
                        self.session.supply(index, bytes.as_bytes()).unwrap();
                    }
                    step = self.session.resume();
                }
            }
        }
        panic!("asks without end");
    }

    /// Results that nothing uses, asked for one by one.
    fn worked(options: &Value, count: usize) -> Self {
        let mut host = Self::new(options);
        host.ask("find it");
        host.request();
        for at in 0..count {
            host.work(&format!("c{at}"), &json!({ "path": at }), &words(500, &format!("x{at}y")));
            host.request();
        }
        host
    }

    fn forms(&self) -> Vec<Form> {
        self.session.transcript.ledger.blocks.iter().map(|block| block.form).collect()
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
    let mut host = Host::worked(&window(30_000), 25);
    assert!(host.forms().contains(&Form::Stubbed));
    let (forms, counters) = (host.forms(), host.session.counters());
    let before = host.request();
    let again = host.request();
    assert_eq!(again, before);
    assert_eq!((again.items.len(), again.edits.len(), again.first_changed), (0, 0, None));
    assert_eq!((host.forms(), host.session.counters()), (forms, counters));
}

#[test]
fn a_text_that_is_no_longer_there_ends_no_request_in_a_loop() {
    let mut host = Host::new(&window(3000));
    host.ask("go");
    let text = |text: &str| json!({ "type": "text", "text": text });
    host.append(json!({ "role": "assistant", "content": [text("so"), text(&words(2000, "w"))] }));
    host.messages[1] = json!({ "role": "assistant", "content": [text("so")] });
    host.session
        .decisions
        .placeholders
        .wanted
        .insert(2.into(), request::placeholders::Want::Cap(100));
    host.request();
    assert!(host.session.decisions.placeholders.wanted.is_empty());
}

#[test]
fn after_a_reset_the_same_messages_go_on_in_the_same_epoch() {
    let mut host = Host::new(&window(0));
    host.ask("a");
    host.say("b");
    host.ask("c");
    let before = host.request();
    host.session.reset();
    for message in std::mem::take(&mut host.messages) {
        host.append(message);
    }
    let after = host.request();
    assert_eq!((after.keep, after.epoch, after.first_changed), (3, before.epoch, None));
    host.session.reset();
    host.ask("x");
    let other = host.request();
    assert_eq!((other.keep, other.epoch, other.first_changed), (0, before.epoch + 1, Some(0)));
}

#[test]
fn only_system_and_tools_open_an_epoch() {
    let mut host = Host::new(&window(10_000));
    host.ask("a");
    host.session.set_parts(r#"{"system":"s","tools":[{"a":1}],"unseenTokens":1}"#).unwrap();
    let first = host.request();
    host.session.set_parts(r#"{"system":"s","tools":[{"a":1}],"unseenTokens":50}"#).unwrap();
    let unseen = host.request();
    assert_eq!((unseen.first_changed, unseen.tokens), (None, first.tokens + 49));
    host.session.set_parts(r#"{"system":"s","tools":[{"a":2}]}"#).unwrap();
    let tools = host.request();
    assert_eq!((tools.first_changed, tools.keep, tools.epoch), (Some(-1), 1, first.epoch + 1));
}

#[test]
fn a_stub_names_what_it_replaces_and_costs_the_tokens_of_its_text() {
    let mut host = Host::new(&window(30_000));
    host.ask("go");
    host.request();
    for at in 0..40 {
        let result = format!("error {}", words(300, &format!("x{at}y")));
        host.work(&format!("c{at}"), &json!({ "text": words(300, &format!("i{at}w")) }), &result);
        host.request();
    }
    let Session { transcript, decisions, .. } = &host.session;
    let (ledger, lines) = (&transcript.ledger, &decisions.placeholders);
    for (at, line) in lines.text.iter() {
        let block = &ledger.blocks[at.index()];
        let is_call = block.kind == crate::model::Kind::Call;
        let what = if is_call { "arguments" } else { "error" };
        assert!(line.starts_with(&format!("[{what} cut, {} tokens", block.tokens)), "{line}");
        let sent = if is_call { json!({ "cut": &**line }).to_string() } else { line.to_string() };
        let overhead = ledger.blocks[at.index()].overhead;
        assert_eq!(block.now, overhead + Estimator::Chars4.tokens(&sent));
    }
    assert!(lines.text.len() > 10);
}

#[test]
fn a_user_text_is_in_the_head_as_it_was_repaired() {
    let mut host = Host::new(&window(10_000));
    let half = br#"{"role":"user","content":"find \ud83d it"}"#;
    assert_eq!(host.session.push(half), Ok(Append::Appended));
    host.messages.push(json!({ "role": "user", "content": "find \u{fffd} it" }));
    for at in 0..60 {
        host.say(&words(100, &format!("s{at}t")));
        host.ask(&format!("and {at}?"));
        host.request();
    }
    let crate::model::Made::User(parts) = Builder::new(&host.session).head() else {
        panic!("the head is the user's")
    };
    assert_eq!(parts.get(1), Some(&crate::model::MadePart::Host(0.into(), 0)));
    let written = Builder::new(&host.session)
        .write(&crate::model::Item::Make(Builder::new(&host.session).head()), 0.into());
    let Written::Make { ops, .. } = written else { panic!("made") };
    let mended = r#"[{"op":"replace","path":"/content/1/text","value":"find \ufffd it"}]"#;
    assert_eq!(crate::json::write(&ops), mended);
}

#[test]
fn a_capped_result_costs_what_is_reported_of_it() {
    let mut host = Host::new(&window(10_000));
    host.ask("go");
    host.work("a", &json!({}), &words(5000, "w"));
    let answer = host.request();
    assert_eq!(host.session.transcript.ledger.blocks.len(), 3);
    let result = &host.session.transcript.ledger.blocks[2];
    assert_eq!(result.form, Form::Capped);
    assert!((1100..=1200).contains(&result.now), "{}", result.now);
    assert_eq!(answer.edits.len(), 1);
    assert_eq!(answer.edits[0].tokens_after, u64::from(result.now));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// A retry, `status`, `explain`, a snapshot: whoever only asks changes nothing, and what comes next is what it would have been.
    #[test]
    fn questions_change_no_request(
        sizes in prop::collection::vec((1usize..400, 0u8..4), 1..40),
        tokens in 2_000u32..20_000,
        preset in 0usize..8,
        late: bool,
    ) {
        let mut options = window(tokens);
        options["preset"] = crate::prune::Policy::PRESETS[preset].into();
        let (mut host, mut asked) = (Host::new(&options), Host::new(&options));
        host.ask("go");
        asked.ask("go");
        for (at, (size, kind)) in sizes.into_iter().enumerate() {
            for host in [&mut host, &mut asked] {
                match kind {
                    0 => host.say(&words(size, &format!("a{at}b"))),
                    1 => host.ask(&words(size, &format!("u{at}v"))),
                    _ => host.work(&format!("c{at}"), &json!({ "n": at }), &words(size, &format!("x{at}y"))),
                }
            }
            let (answer, same) = (host.request(), asked.request());
            prop_assert_eq!(&answer, &same);
            let (now, before) = (asked.now_ms, (snapshot_bytes(&asked.session), asked.forms(), asked.view()));
            let status_before = status(&asked.session);
            asked.now_ms += if late { 10_000_000 } else { 0 };
            let again = asked.request();
            prop_assert_eq!((again.items.len(), again.edits.len(), again.first_changed), (0, 0, None));
            prop_assert_eq!((again.outcome, again.fold, again.event), (None, None, None));
            prop_assert_eq!((again.epoch, again.tokens, again.fits), (answer.epoch, answer.tokens, answer.fits));
            prop_assert_eq!((again.hints, &again.cache_breakpoints), (answer.hints, &answer.cache_breakpoints));
            prop_assert_eq!(status(&asked.session), status_before);
            explain(&asked.session, 0.into()).unwrap();
            call_agent_tool(&mut asked.session, "context_status", "{}").unwrap();
            prop_assert_eq!((snapshot_bytes(&asked.session), asked.forms(), asked.view()), before);
            asked.now_ms = now;
        }
    }

    #[test]
    fn a_request_grows_at_its_end_or_reports_the_first_changed_message(
        sizes in prop::collection::vec((1usize..400, 0u8..4), 1..40),
        tokens in 2_000u32..20_000,
    ) {
        let mut host = Host::new(&window(tokens));
        let mut epoch = 0;
        let mut sent: Vec<Written> = Vec::new();
        host.ask("go");
        for (at, (size, kind)) in sizes.into_iter().enumerate() {
            match kind {
                0 => host.say(&words(size, &format!("a{at}b"))),
                1 => host.ask(&words(size, &format!("u{at}v"))),
                _ => host.work(&format!("c{at}"), &json!({ "n": at }), &words(size, &format!("x{at}y"))),
            }
            let answer = host.request();
            let before = sent;
            sent = sent_after(&before, &answer);
            prop_assert_eq!(&sent, &host.view());
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
            prop_assert!(violations_sent(&host.session).is_empty());
            prop_assert!(answer.tokens <= u64::from(tokens) || !answer.fits);
        }
    }
}

/// The same message from another place in the history is no change to who is sent it; one with another id is.
#[test]
fn the_first_change_is_the_first_message_that_reads_otherwise() {
    let (mut moved, mut alike) = (0, 0);
    for (preset, speak) in [("context-budget", true), ("context-budget", false), ("aiclaw", true)] {
        let mut options = window(8000);
        options["preset"] = preset.into();
        options["strategy"] = "discard".into();
        options["protectFirst"] = 0.into();
        let mut host = Host::new(&options);
        let mut before: Vec<(String, Option<MessageId>)> = Vec::new();
        let mut sent = Vec::new();
        let mut epoch = 0;
        for at in 0..60 {
            host.ask("go on");
            if speak {
                host.say(&words(60, &format!("x{}y", at / 3)));
            } else {
                host.work(&format!("c{at}"), &json!({ "path": "a" }), &words(60, "xy"));
            }
            let answer = host.request();
            let message = |at: u32| host.messages[at as usize].to_string();
            sent = sent_after(&sent, &answer);
            let items = sent.iter().map(|item| match item {
                Written::Keep { index } => (message(index.get()), Some(*index)),
                Written::Edit { index, ops } => {
                    (message(index.get()) + &crate::json::write(ops), Some(*index))
                }
                Written::Make { .. } | Written::Same(_) => (crate::json::write(item), None),
            });
            let now: Vec<_> = items.collect();
            let pairs = || before.iter().zip(&now);
            let same = pairs().take_while(|((one, _), (other, _))| one == other).count();
            let changed = (same < before.len()).then_some(i64::try_from(same).unwrap());
            assert_eq!(answer.first_changed, changed, "{preset} {at}");
            assert_eq!(answer.epoch > epoch, changed.is_some(), "{preset} {at}");
            moved += pairs().take(same).filter(|((_, from), (_, to))| from != to).count();
            alike += i32::from(!speak && changed == Some(1));
            (before, epoch) = (now, answer.epoch);
        }
    }
    assert!(moved > 0 && alike > 0, "{moved} {alike}");
}
