//! Sessions that are parked and woken, and histories that branch off.

use super::*;
use crate::context::report::explain::explain;
use crate::context::report::status::status;
use crate::context::request::build_request::violations_sent;
use crate::context::session::agent::call_agent_tool;
use crate::context::session::agent::recalled_text;
use crate::context::session::agent::referenced_message;
use crate::context::session::pinning::pin_message;
use crate::context::session::pinning::pin_text;
use crate::context::session::pinning::unpin;
use crate::context::session::snapshot::resync;
use crate::context::session::snapshot::set_options;
use crate::context::session::snapshot::snapshot_bytes;
use crate::model::BlockId;
use crate::prune::{Change, Rule};

impl Host {
    /// The same session in another process: nothing but the snapshot and the host's messages.
    pub(super) fn woken(&self, options: &Value) -> Self {
        let options = Options::parse(&options.to_string()).unwrap();
        let state = restore_session(options, &snapshot_bytes(&self.session)).unwrap();
        let mut woken = Self { session: state, messages: Vec::new(), now_ms: self.now_ms };
        woken.append_all(self.messages.clone());
        woken
    }

    pub(super) fn append_all(&mut self, messages: Vec<Value>) {
        for message in messages {
            self.append(message);
        }
    }

    /// What went out last, in full.
    pub(super) fn view(&self) -> Vec<Written> {
        let mut all = self.session.clone();
        all.request.last.resend_all = true;
        all.request.last.settled = true;
        let Step::Done(answer) = all.request(0) else { panic!("asks for texts") };
        answer.items
    }
}

impl Host {
    pub(super) fn pin(&mut self, message: u32) -> u32 {
        let bytes = self.messages[message as usize].to_string();
        pin_message(&mut self.session, message.into(), bytes.as_bytes()).unwrap()
    }

    /// Another model from now on; and the same session in another process, parked before its next request.
    fn switch_and_wake(&mut self, options: &Value) -> Self {
        let parsed = Options::parse(&options.to_string()).unwrap();
        let rereads = set_options(&mut self.session, parsed, false);
        let woken = self.woken(options);
        if rereads {
            let messages = std::mem::take(&mut self.messages);
            self.append_all(messages);
        }
        woken
    }

    /// One of the messages that are not sent as they were: dropped ones, or any.
    fn cut_message(&self, at: usize, kind: u8) -> Option<u32> {
        let is_cut = |form: Form| if kind == 10 { form == Form::Gone } else { form != Form::Full };
        let blocks =
            self.session.transcript.ledger.blocks.iter().filter(|block| is_cut(block.form));
        let messages: Vec<u32> = blocks.map(|block| block.message.get()).collect();
        messages.get(at * 7 % messages.len().max(1)).copied()
    }
}

/// What a host's history may hold next.
pub(super) fn turn(host: &mut Host, kind: u8, at: usize) {
    match kind {
        0 => host.ask(&words(40, &format!("ask{at}n"))),
        1 => host.say(&format!("x{}y{} is what src/f{at}.rs says", at / 2, at % 300)),
        2 => host.now_ms += 400_000,
        3 => host.work(&format!("c{at}"), &json!({ "path": "same.rs" }), &words(300, "same")),
        4 => host.work(&format!("c{at}"), &json!({ "text": words(400, "in") }), "done"),
        5 => host.work(&format!("c{at}"), &json!({ "path": at }), &words(4000, &format!("x{at}y"))),
        _ => {
            let text =
                format!("src/mod_{}.rs src/shared.rs {}", at / 3, words(500, &format!("x{at}y")));
            host.work(&format!("c{at}"), &json!({ "path": at }), &text);
        }
    }
}

/// What the model may be next: another window, provider or estimator.
fn model(kind: u8, tokens: u32) -> Value {
    let mut options = window(if kind == 12 { tokens / 2 } else { tokens });
    if kind == 13 {
        options["provider"] = "bedrock".into();
    }
    if kind == 14 {
        options["estimator"] = "claude".into();
    }
    options
}

fn small() -> ProptestConfig {
    ProptestConfig { cases: 24, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(small())]

    #[test]
    fn a_restored_session_sends_the_same_bytes(kinds in prop::collection::vec(0u8..16, 10..70), tokens in 6_000u32..40_000) {
        let mut options = window(tokens);
        let mut host = Host::new(&options);
        let mut woken = host.woken(&options);
        for (at, kind) in kinds.into_iter().enumerate() {
            let before = woken.messages.len();
            if at == 0 {
                host.ask("find it");
            } else if kind > 11 {
                options = model(kind, tokens);
                woken = host.switch_and_wake(&options);
                continue;
            } else if kind < 10 {
                turn(&mut host, kind, at);
            } else if let Some(pinned) = host.cut_message(at, kind) {
                // Pinned too late, in both.
                prop_assert_eq!(host.pin(pinned), woken.pin(pinned));
                host.ask(&words(40, &format!("pin{at}n")));
            }
            let new = host.messages[before..].to_vec();
            woken.now_ms = host.now_ms;
            woken.append_all(new);
            let (live, restored) = (host.request(), woken.request());
            // A restored session reports its whole view again.
            prop_assert_eq!(host.view(), restored.items);
            prop_assert_eq!(
                (live.epoch, live.first_changed, live.tokens, live.fits, live.edits, live.fold, live.tokens_before),
                (restored.epoch, restored.first_changed, restored.tokens, restored.fits, restored.edits, restored.fold, restored.tokens_before)
            );
            prop_assert_eq!(status(&host.session), status(&woken.session));
            let last = host.session.transcript.ledger.message_count() - 1;
            for index in [0, last / 2, last] {
                prop_assert_eq!(explain(&host.session, index.into()), explain(&woken.session, index.into()));
            }
            prop_assert_eq!(snapshot_bytes(&host.session), snapshot_bytes(&woken.session));
            // Parked, and woken for a retry.
            woken = host.woken(&options);
            prop_assert_eq!(snapshot_bytes(&host.session), snapshot_bytes(&woken.session));
            let again = woken.session.clone().request(host.now_ms + 10_000_000);
            let Step::Done(again) = again else { panic!("asks for texts") };
            prop_assert_eq!(&host.view(), &again.items);
            prop_assert_eq!((again.epoch, again.first_changed, again.edits.len()), (live.epoch, None, 0));
        }
    }

    #[test]
    fn messages_before_a_branch_keep_their_edits(kinds in prop::collection::vec(0u8..10, 30..70), at in 0usize..100, tokens in 6_000u32..40_000, parked: bool) {
        let options = window(tokens);
        let mut host = Host::new(&options);
        host.ask("find it");
        host.request();
        for (at, kind) in kinds.into_iter().enumerate() {
            turn(&mut host, kind, at);
            host.request();
        }
        let at = at % host.messages.len();
        let before = host.view();
        let (epoch, first_block) = (host.session.request.last.epoch, host.session.decisions.pruner.start.index() <= at);
        let mut branch = host.messages[..at].to_vec();
        branch.push(json!({ "role": "user", "content": "no, the other one" }));
        let mut other = if parked {
            let parsed = Options::parse(&options.to_string()).unwrap();
            let state = restore_session(parsed, &snapshot_bytes(&host.session)).unwrap();
            Host { session: state, messages: Vec::new(), now_ms: host.now_ms }
        } else {
            resync(&mut host.session);
            Host { session: host.session, messages: Vec::new(), now_ms: host.now_ms }
        };
        other.append_all(branch);
        let answer = other.request();
        prop_assert_eq!(answer.epoch, epoch + 1);
        prop_assert!(answer.fits && violations_sent(&other.session).is_empty());
        // What changed is said: before it nothing did.
        let same = usize::try_from(answer.first_changed.unwrap()).unwrap();
        let now = other.view();
        if first_block {
            prop_assert_eq!(&now[..same.min(now.len())], &before[..same.min(now.len())]);
        }
        let stubs = |view: &[Written]| view.iter().filter(|it| matches!(it, Written::Edit { .. })).count();
        if first_block && same > 0 && answer.edits.is_empty() {
            prop_assert!(stubs(&now[..same]) == stubs(&before[..same]));
        }
    }
}

#[test]
fn a_branch_keeps_the_stubs_before_it() {
    let options = window(30_000);
    let mut host = Host::worked(&options, 25);
    let stubbed = host.forms().iter().filter(|form| **form == Form::Stubbed).count();
    assert!(stubbed > 5);
    let mut messages = host.messages.clone();
    *messages.last_mut().unwrap() = json!({ "role": "user", "content": "stop" });
    messages.remove(messages.len() - 2);
    host.messages.clear();
    resync(&mut host.session);
    host.append_all(messages);
    let answer = host.request();
    assert_eq!(host.forms().iter().filter(|form| **form == Form::Stubbed).count(), stubbed);
    assert!(answer.keep > 40, "{}", answer.keep);
}

#[test]
fn a_branch_of_a_parked_session_is_reported_from_its_first_message_on() {
    let options = window(30_000);
    let mut host = Host::worked(&options, 5);
    let snapshot = snapshot_bytes(&host.session);
    let session = restore_session(Options::parse(&options.to_string()).unwrap(), &snapshot);
    let now_ms = host.now_ms;
    let mut other = Host { session: session.unwrap(), messages: Vec::new(), now_ms };
    host.messages.truncate(9);
    other.append_all(host.messages);
    other.say("done");
    assert_eq!(other.request().first_changed, Some(9));
}

/// Whoever can write the store could remove a call without its result.
#[test]
fn a_snapshot_whose_request_breaks_a_rule_is_not_believed() {
    let options = window(1_000_000);
    let mut host = Host::new(&options);
    host.ask("find it");
    host.work("c", &json!({}), "found");
    host.say("done");
    host.ask("go on");
    host.request();
    let ledger = &mut host.session.transcript.ledger;
    let call = ledger.blocks_of(1.into()).start;
    let before = ledger.block(call).unwrap().now;
    ledger.set_form(call, Form::Gone, 0);
    host.session.note(Change { block: call, rule: Rule::HardFit, before });
    host.session.request.last.settled = false;
    host.request();
    assert_ne!(violations_sent(&host.session), []);
    for has_more in [false, true] {
        let mut woken = host.woken(&options);
        if has_more {
            woken.ask("more");
        }
        woken.request();
        let sent = woken.view();
        assert!(sent.iter().all(|it| matches!(it, Written::Keep { .. })), "{sent:?}");
        assert_eq!(sent.len(), woken.messages.len());
    }
}

/// Nothing was sent, so that nothing can have changed.
#[test]
fn a_session_restored_before_its_first_request_starts_in_the_first_epoch() {
    let options = window(30_000);
    let mut woken = Host::new(&options).woken(&options);
    woken.ask("find it");
    let answer = woken.request();
    assert_eq!((answer.epoch, answer.first_changed, answer.cached_tokens_lost), (0, None, 0));
}

#[test]
fn a_session_parked_after_a_change_of_model_keeps_its_epoch() {
    for kind in 12..16 {
        let mut host = Host::worked(&window(60_000), 5);
        let mut woken = host.switch_and_wake(&model(kind, 60_000));
        for host in [&mut host, &mut woken] {
            host.say("done");
            host.ask("go on");
            let answer = host.request();
            assert_eq!((answer.epoch, answer.first_changed), (0, None), "{kind}");
        }
        assert_eq!(host.view(), woken.view());
    }
}

#[test]
fn a_snapshot_of_another_session_is_not_applied() {
    let options = window(30_000);
    let parked = snapshot_bytes(&Host::worked(&options, 25).session);
    let state = restore_session(Options::parse(&options.to_string()).unwrap(), &parked).unwrap();
    let mut other = Host { session: state, messages: Vec::new(), now_ms: 0 };
    other.ask("something else");
    let answer = other.request();
    assert_eq!((answer.items.len(), answer.keep, answer.first_changed), (1, 0, Some(0)));
    assert!(!other.forms().contains(&Form::Stubbed));
}

#[test]
fn a_changed_snapshot_is_refused() {
    let options = Options::parse(&window(30_000).to_string()).unwrap();
    let host = Host::worked(&window(30_000), 25);
    let bytes = snapshot_bytes(&host.session);
    for at in 0..bytes.len() {
        let mut other = bytes.clone();
        other[at] ^= 1;
        let error = restore_session(options.clone(), &other).unwrap_err();
        assert!(error.to_string().starts_with("snapshot does not verify: "), "{error}");
        assert!(restore_session(options.clone(), &bytes[..at]).is_err());
    }
    assert!(restore_session(options, &bytes).is_ok());
}

#[test]
fn a_late_pin_restores_its_message_in_the_next_epoch() {
    let options = window(30_000);
    let mut host = Host::worked(&options, 25);
    let stubbed = host.forms().iter().position(|form| *form >= Form::Stubbed).unwrap();
    let block = u32::try_from(stubbed).unwrap();
    let message = host.session.transcript.ledger.blocks[stubbed].message;
    let pin = host.pin(message.get());
    assert_eq!(host.request().first_changed, None);
    assert_ne!(host.forms()[stubbed], Form::Full);
    let mut epochs = 0;
    for at in 25..220 {
        host.work(&format!("c{at}"), &json!({ "path": at }), &words(500, &format!("x{at}y")));
        let answer = host.request();
        epochs += u32::from(answer.first_changed.is_some());
        assert!(answer.fits && violations_sent(&host.session).is_empty());
        assert_eq!(host.forms()[stubbed] == Form::Full, epochs > 0);
    }
    assert!(epochs > 2 && host.session.decisions.pruner.head.is_some());
    // Verbatim, once, across a fold.
    let (message, block) = referenced_message(&host.session, &format!("r{block}")).unwrap();
    let bytes = host.messages[message.index()].to_string();
    let text = recalled_text(&host.session, message, block, bytes.as_bytes()).unwrap().unwrap();
    assert!(
        host.view().iter().any(|it| matches!(it, Written::Keep { index } if *index == message))
    );
    assert!(text.starts_with("x0y0"));
    assert!(unpin(&mut host.session, pin) && !unpin(&mut host.session, pin));
}

#[test]
fn a_pinned_text_of_no_message_is_sent_in_front_from_the_next_epoch_on() {
    let mut host = Host::worked(&window(30_000), 12);
    let mentions =
        |host: &Host| format!("{:?}", host.view()).matches("the ship sails at dawn").count();
    pin_text(&mut host.session, "the ship sails at dawn");
    assert_eq!((host.request().first_changed, mentions(&host)), (None, 0));
    let mut since = 0;
    for at in 12..220 {
        host.work(&format!("c{at}"), &json!({ "path": at }), &words(500, &format!("x{at}y")));
        since += u32::from(host.request().first_changed.is_some());
        assert_eq!(mentions(&host), usize::from(since > 0));
    }
    assert!(host.session.decisions.pruner.head.is_some());
}

#[test]
fn a_stub_mentions_recall_only_if_the_agent_has_the_tool() {
    let promised = |tools: &str| {
        let mut host = Host::new(&window(30_000));
        host.session.set_parts(&format!(r#"{{"tools":{tools}}}"#)).unwrap();
        host.ask("find it");
        for at in 0..25 {
            host.work(&format!("c{at}"), &json!({ "path": at }), &words(500, &format!("x{at}y")));
            host.request();
        }
        format!("{:?}", host.view()).contains(", context_recall r")
    };
    assert!(promised(r#"[{"name":"context_recall"}]"#));
    assert!(promised(r#"[{"type":"function","function":{"name": "context_recall"}}]"#));
    assert!(promised(r#"{"context_recall":{"description":"-"}}"#));
    assert!(!promised(r#"[{"name":"read","description":"not \"context_recall\""}]"#));
    assert!(!promised(r#"[{"name":"read","enum":["context_recall"]}]"#));
    assert!(!promised(r#"[{"name":"read","title":"context_recall"}]"#));
}

/// A model without the tool must not be asked to call it; with the tool again, the stubs are what they were.
#[test]
fn a_stub_stops_mentioning_recall_once_the_agent_lacks_the_tool() {
    let with = r#"{"tools":[{"name":"context_recall"},{"name":"read"}]}"#;
    let without = r#"{"tools":[{"name":"read"}]}"#;
    let mut host = Host::new(&window(30_000));
    host.session.set_parts(with).unwrap();
    host.ask("find it");
    for at in 0..25 {
        host.work(&format!("c{at}"), &json!({ "path": at }), &words(500, &format!("x{at}y")));
        host.request();
    }
    let mentions = |host: &Host| format!("{:?}", host.view()).matches(", context_recall r").count();
    let (before, promised) = (host.view(), mentions(&host));
    let stubs = host.forms().iter().filter(|form| **form == Form::Stubbed).count();
    assert!(promised > 5 && promised == stubs, "{promised} of {stubs}");
    let mut woken = host.woken(&window(30_000));
    for host in [&mut host, &mut woken] {
        host.session.set_parts(without).unwrap();
        let answer = host.request();
        assert_eq!((answer.first_changed, mentions(host)), (Some(-1), 0));
        // What the lines cost is what they say.
        let counted: u32 =
            host.session.transcript.ledger.blocks.iter().map(|block| block.now).sum();
        let stub = |at: &BlockId| &host.session.transcript.ledger.blocks[at.index()];
        let lines = host.session.decisions.placeholders.text.iter();
        let cost: u32 = lines
            .map(|(at, line)| host.session.decisions.placeholders.cost(stub(at), *at, line))
            .sum();
        let all =
            host.session.transcript.ledger.blocks.iter().filter(|block| block.form == Form::Full);
        assert_eq!(counted, cost + all.map(|block| block.now).sum::<u32>());
        assert_eq!(host.request().first_changed, None);
        host.session.set_parts(with).unwrap();
        host.request();
        assert_eq!(host.view(), before);
    }
}

/// As a fold: what went for the sake of messages that are not there is there again.
#[test]
fn a_branch_restores_messages_dropped_for_later_ones() {
    for (preset, strategy) in [("aiclaw", "summarize"), ("context-budget", "discard")] {
        let mut options = window(20_000);
        (options["preset"], options["strategy"]) = (preset.into(), strategy.into());
        let mut host = Host::new(&options);
        host.ask("find it");
        let mut then = 0;
        for at in 0..60 {
            host.work(&format!("c{at}"), &json!({ "path": at }), &words(900, &format!("x{at}y")));
            let answer = host.request();
            if at == 7 {
                then = answer.tokens;
            }
        }
        let gone = |host: &Host| host.forms()[..17].iter().filter(|it| **it == Form::Gone).count();
        assert!(then > 10_000 && gone(&host) > 10, "{preset} {then} {}", gone(&host));
        let branch = host.messages[..17].to_vec();
        host.messages.clear();
        resync(&mut host.session);
        host.append_all(branch);
        host.ask("no, the other one");
        let answer = host.request();
        assert!(answer.fits && violations_sent(&host.session).is_empty());
        assert!(answer.tokens > then, "{preset}: {} of {then}", answer.tokens);
        assert_eq!(explain(&host.session, 1.into()).unwrap().state, "kept", "{preset}");
    }
}

#[test]
fn the_tools_of_the_agent_answer_its_calls() {
    let mut host = Host::worked(&window(30_000), 20);
    let mut ask = |name, arguments| call_agent_tool(&mut host.session, name, arguments);
    let Ok(AgentReply::Text(status)) = ask("context_status", "{}") else { panic!() };
    assert!(status.contains("of 30000 usable tokens"), "{status}");
    for arguments in [r#"{"ref":"r3"}"#, r#""{\"ref\": \"r3\"}""#] {
        let Ok(AgentReply::Recall(message, block)) = ask("context_recall", arguments) else {
            panic!()
        };
        assert_eq!((message.get(), block.get()), (3, 3));
    }
    assert!(matches!(ask("context_recall", r#"{"ref":7}"#), Ok(AgentReply::Text(_))));
    assert!(matches!(ask("context_recall", r#""r3""#), Ok(AgentReply::Text(_))));
    assert!(ask("context_delete", "{}").is_err());
    assert!(ask("context_compact", "null").is_ok());
    let answer = host.request();
    assert_eq!(answer.event, Some(Event::Fold));
    assert_eq!(host.request().event, None);
}

#[test]
fn a_call_that_fails_half_way_changes_nothing() {
    let mut host = Host::worked(&window(30_000), 25);
    let before = host.request();
    let view = host.view();
    for cut in [1, 7, 20] {
        resync(&mut host.session);
        for message in &host.messages[..cut] {
            host.session.push(message.to_string().as_bytes()).unwrap();
        }
        let other = json!({ "role": "assistant", "content": "other" });
        host.session.push(other.to_string().as_bytes()).unwrap();
        assert!(host.session.push(b"{}").is_err());
        let messages = std::mem::take(&mut host.messages);
        resync(&mut host.session);
        host.append_all(messages);
        let answer = host.request();
        assert!(answer.fits && answer.tokens <= before.tokens.max(30_000));
        let sent = host.session.request.last.items.len();
        assert_eq!(sent, host.view().len(), "{cut}");
        assert_eq!(host.view().len(), view.len(), "{cut}");
    }
}

#[test]
fn a_session_restored_with_a_smaller_window_is_cut_to_it() {
    let mut host = Host::worked(&window(60_000), 20);
    let before = host.request().tokens;
    let mut woken = host.woken(&window(4_000));
    let answer = woken.request();
    assert!(before > 4_000 && answer.tokens <= 4_000 && answer.fits, "{before} {}", answer.tokens);
}
