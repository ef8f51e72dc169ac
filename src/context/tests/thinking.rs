//! Bound reasoning: dropped or kept after an edit, by the provider's rule or the host's.

use super::*;
use crate::context::report::explain::explain;
use crate::context::request::build_request::violations_sent;
use crate::context::session::snapshot::set_options;
use crate::model::{BlockId, Kind};

fn under(provider: &str, format: &str, thinking: Option<&str>, tokens: u32) -> Value {
    let mut options = window(tokens);
    options["provider"] = provider.into();
    options["format"] = format.into();
    if let Some(thinking) = thinking {
        options["thinking"] = thinking.into();
    }
    options
}

impl Host {
    /// Turns of a call with reasoning before it, requested one by one; the hints of the last request that had any.
    fn think(&mut self, turns: std::ops::Range<usize>) -> Option<&'static str> {
        let mut hints = None;
        for at in turns {
            let id = format!("c{at}");
            let (thought, result) = (words(30, &format!("t{at}t")), words(200, &format!("x{at}y")));
            if self.session.transcript.dialect.format == Format::Anthropic {
                let thinking = json!({ "type": "thinking", "thinking": thought, "signature": format!("s{at}") });
                let call = json!({ "type": "tool_use", "id": id, "name": "read", "input": {} });
                self.append(json!({ "role": "assistant", "content": [thinking, call] }));
                let result = json!({ "type": "tool_result", "tool_use_id": id, "content": result });
                self.append(json!({ "role": "user", "content": [result] }));
            } else {
                let call = json!({ "id": id, "type": "function", "function": { "name": "read", "arguments": "{}" } });
                self.append(json!({ "role": "assistant", "content": null, "reasoning_content": thought, "tool_calls": [call] }));
                self.append(json!({ "role": "tool", "tool_call_id": id, "content": result }));
            }
            hints = self.request().hints.or(hints);
            assert_eq!(violations_sent(&self.session), []);
        }
        hints
    }

    /// Blocks of reasoning that are sent, and those that went by each rule.
    fn thoughts(&self) -> (usize, Vec<&'static str>) {
        let blocks = BlockId::FIRST.on().zip(&self.session.transcript.ledger.blocks);
        let thinking = blocks.filter(|(_, block)| block.kind == Kind::Thinking);
        let (sent, gone): (Vec<_>, Vec<_>) =
            thinking.partition(|(_, block)| block.form != Form::Gone);
        let mut rules: Vec<_> = gone
            .iter()
            .map(|(at, _)| self.session.decisions.reasons.get(*at).unwrap().rule.name())
            .collect();
        rules.sort_unstable();
        rules.dedup();
        (sent.len(), rules)
    }

    fn switch(&mut self, options: &Value) {
        let again =
            set_options(&mut self.session, Options::parse(&options.to_string()).unwrap(), false);
        if again {
            let messages = std::mem::take(&mut self.messages);
            for message in messages {
                self.append(message);
            }
        }
    }
}

fn thinking(provider: &str, format: &str, thinking: Option<&str>) -> (Host, Option<&'static str>) {
    let mut host = Host::new(&under(provider, format, thinking, 10_000));
    host.ask("go");
    let hints = host.think(0..25);
    assert!(host.session.request.last.epoch > 0, "something was edited");
    (host, hints)
}

/// I12: after a change reasoning goes, or a hint says so, unless the host says that it is free.
#[test]
fn reasoning_is_bound_by_the_rule_of_the_provider_or_the_host() {
    for (provider, format, option, binds, hinted) in [
        ("anthropic", "anthropic", None, true, true),
        ("anthropic", "anthropic", Some("bound"), true, true),
        ("anthropic", "anthropic", Some("drop"), true, false),
        ("anthropic", "anthropic", Some("free"), false, false),
        ("openai-chat", "openai-chat", None, false, false),
        ("openai-chat", "openai-chat", Some("bound"), true, false),
    ] {
        let (host, hints) = thinking(provider, format, option);
        let rules = host.thoughts().1;
        assert_eq!(rules.contains(&"bound-thinking"), binds, "{provider} {option:?}: {rules:?}");
        assert_eq!(hints.is_some(), hinted, "{provider} {option:?}");
    }
    let error = Options::parse(r#"{"thinking":"off"}"#).unwrap_err().to_string();
    assert_eq!(error, r#"thinking: expected one of bound, drop, free, none, got "off""#);
}

#[test]
fn a_model_without_reasoning_is_sent_none() {
    for (provider, format) in [("anthropic", "anthropic"), ("openai-chat", "openai-chat")] {
        let mut host = Host::new(&under(provider, format, Some("none"), 1_000_000));
        host.ask("go");
        assert_eq!(host.think(0..3), None);
        assert_eq!(host.thoughts(), (0, vec!["no-thinking"]));
        assert_eq!(host.session.request.last.epoch, 0, "it goes before it is first sent");
        let explained = explain(&host.session, 1.into()).unwrap();
        assert_eq!((explained.state, explained.rule), ("thinned", "no-thinking"));
    }
    // I23: what stays or goes with its calls stays.
    let mut host = Host::new(&under("deepseek", "openai-chat", Some("none"), 1_000_000));
    host.ask("go");
    host.think(0..3);
    assert_eq!(host.thoughts(), (3, vec![]));
}

#[test]
fn after_a_change_of_model_reasoning_is_bound_or_removed() {
    let options = |thinking| under("anthropic", "anthropic", Some(thinking), 10_000);
    let (mut host, _) = thinking("anthropic", "anthropic", Some("free"));
    let (sent, _) = host.thoughts();
    assert!(sent > 1);
    let mut woken = host.woken(&options("bound"));
    let epoch = host.session.request.last.epoch;
    host.switch(&options("bound"));
    for host in [&mut host, &mut woken] {
        let answer = host.request();
        let (sent, rules) = host.thoughts();
        assert_eq!((sent, rules.contains(&"bound-thinking")), (1, true), "the newest stays");
        assert!(answer.hints.is_some() && answer.epoch == epoch + 1);
    }
    host.switch(&options("free"));
    assert_eq!(host.request().hints, None);
    let mut woken = host.woken(&options("none"));
    host.switch(&options("none"));
    for host in [&mut host, &mut woken] {
        let answer = host.request();
        assert_eq!((host.thoughts().0, answer.hints, answer.epoch), (0, None, epoch + 2));
    }
    // What has changed already voids all of it, the newest too, and no hint is needed.
    for before in ["free", "bound"] {
        let (mut host, _) = thinking("anthropic", "anthropic", Some(before));
        let mut woken = host.woken(&options("drop"));
        host.switch(&options("drop"));
        for host in [&mut host, &mut woken] {
            let answer = host.request();
            assert_eq!((host.thoughts().0, answer.hints), (0, None), "{before}");
            assert_eq!(violations_sent(&host.session), []);
        }
    }
    // A model that binds where nothing was changed has nothing to refuse.
    let mut host = Host::new(&under("openai-chat", "anthropic", None, 1_000_000));
    host.ask("go");
    host.think(0..5);
    host.switch(&under("anthropic", "anthropic", None, 1_000_000));
    let answer = host.request();
    assert_eq!((host.thoughts(), answer.first_changed, answer.hints), ((5, vec![]), None, None));
}

/// Reasoning is bound to the system prompt, too.
#[test]
fn a_new_system_prompt_unbinds_all_reasoning_before_the_newest() {
    let mut host = Host::new(&under("anthropic", "anthropic", None, 1_000_000));
    host.session.set_parts(r#"{"system":"one"}"#).unwrap();
    host.ask("go");
    assert_eq!(host.think(0..5), None);
    assert_eq!(host.thoughts(), (5, vec![]));
    host.session.set_parts(r#"{"system":"two"}"#).unwrap();
    let answer = host.request();
    assert_eq!((host.thoughts(), answer.first_changed), ((1, vec!["bound-thinking"]), Some(-1)));
    assert!(answer.hints.is_some(), "the newest stays");
}

/// A pin brings its message back when an epoch opens. If all that comes back is reasoning that must go again, none opens.
#[test]
fn a_pin_on_reasoning_that_cannot_come_back_opens_no_epoch() {
    let mut host = Host::new(&under("bedrock", "pi", Some("drop"), 600));
    host.ask(&words(500, "task"));
    let thought =
        json!({ "type": "thinking", "thinking": words(50, "t"), "thinkingSignature": "s" });
    let option = json!({ "type": "text", "text": "Reading." });
    // pi does not send an answer that failed, so that its reasoning is not the newest.
    host.append(
        json!({ "role": "assistant", "content": [thought, option], "stopReason": "error" }),
    );
    host.append(json!({ "role": "toolResult", "toolCallId": "c", "content": words(300, "x") }));
    host.request();
    assert_eq!(host.thoughts(), (0, vec!["hard-fit"]));
    host.pin(1);
    let more = json!({ "type": "text", "text": words(100, "more") });
    host.append(json!({ "role": "assistant", "content": [more], "stopReason": "stop" }));
    let answer = host.request();
    assert_eq!(host.thoughts(), (0, vec!["bound-thinking"]));
    assert_eq!((answer.epoch, answer.first_changed), (0, None));
}

/// Edits take reasoning out of the turns before, and the same decision folds the rest of them.
#[test]
fn a_planned_fold_leaves_no_reasoning_behind_that_its_edits_removed() {
    let mut host = Host::new(&compaction::options(&json!({ "thinking": "free" })));
    for at in 0..20 {
        host.ask(&format!("step {at}: {}", compaction::prose(60)));
        let thinking = json!({ "type": "thinking", "thinking": words(200, "h"), "signature": "s" });
        let text = json!({ "type": "text", "text": compaction::prose(300) });
        host.append(json!({ "role": "assistant", "content": [thinking, text] }));
    }
    host.request();
    host.ask("go on");
    // The prompt cache is cold, so that edits cost nothing.
    host.now_ms += 3_600_000;
    let plan = host.plan(true);
    assert_eq!(plan["plan"]["outcome"], "summarize", "{plan}");
    let done = host.commit(&plan, None).unwrap();
    assert_eq!(done["carried"], true, "{done}");
    let ledger = &host.session.transcript.ledger;
    for &at in ledger.live() {
        let mut beside = ledger.blocks_of(ledger.block(at).unwrap().message);
        let speaks = |at| ledger.block(at).is_some_and(|it| it.kind != Kind::Thinking);
        assert!(beside.any(|at| ledger.live().contains(&at) && speaks(at)), "{at:?} is alone");
    }
}

#[test]
fn messages_whose_results_stand_in_them_are_turns_of_their_own() {
    for (rule, keeps) in [("bound", true), ("free", true), ("drop", false)] {
        let mut host = Host::new(&under("anthropic", "ai-sdk", Some(rule), 4_000));
        host.append(
            json!({ "id": "u", "role": "user", "parts": [{ "type": "text", "text": "read" }] }),
        );
        let mut newest = Vec::new();
        for at in 0..40 {
            let tool = json!({
                "type": "tool-read", "toolCallId": format!("c{at}"), "state": "output-available",
                "input": {}, "output": words(200, &format!("x{at}y")),
            });
            let metadata = json!({ "anthropic": { "signature": format!("s{at}") } });
            let thought =
                json!({ "type": "reasoning", "text": "so", "providerMetadata": metadata });
            host.append(
                json!({ "id": format!("a{at}"), "role": "assistant", "parts": [thought, tool] }),
            );
            let answer = host.request();
            assert!(answer.fits, "{rule}, {at}");
            assert_eq!(violations_sent(&host.session), []);
            let blocks = &host.session.transcript.ledger.blocks;
            let last = blocks.iter().rfind(|block| block.kind == Kind::Thinking);
            newest.push(last.unwrap().form == Form::Full);
        }
        assert_eq!(newest.iter().all(|is_sent| *is_sent), keeps, "{rule}");
        assert!(host.thoughts().0 < 40, "{rule}: what is older goes");
    }
}
