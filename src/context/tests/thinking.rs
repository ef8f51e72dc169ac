//! What reasoning that is kept is bound to: by the provider, or as the host says.

use super::*;
use crate::model::Kind;

fn under(provider: &str, format: &str, thinking: Option<&str>, tokens: u32) -> Value {
    let mut options = window(tokens);
    options["provider"] = provider.into();
    options["format"] = format.into();
    if let Some(thinking) = thinking {
        options["thinking"] = thinking.into();
    }
    options
}

impl Told {
    /// Turns of a call with reasoning before it, requested one by one; the hints of the last request that had any.
    fn think(&mut self, turns: std::ops::Range<usize>) -> Option<&'static str> {
        let mut hints = None;
        for at in turns {
            let id = format!("c{at}");
            let (thought, result) = (words(30, &format!("t{at}t")), words(200, &format!("x{at}y")));
            if self.state.format == Format::Anthropic {
                let thinking = json!({ "type": "thinking", "thinking": thought, "signature": format!("s{at}") });
                let call = json!({ "type": "tool_use", "id": id, "name": "read", "input": {} });
                self.tell(json!({ "role": "assistant", "content": [thinking, call] }));
                let result = json!({ "type": "tool_result", "tool_use_id": id, "content": result });
                self.tell(json!({ "role": "user", "content": [result] }));
            } else {
                let call = json!({ "id": id, "type": "function", "function": { "name": "read", "arguments": "{}" } });
                self.tell(json!({ "role": "assistant", "content": null, "reasoning_content": thought, "tool_calls": [call] }));
                self.tell(json!({ "role": "tool", "tool_call_id": id, "content": result }));
            }
            hints = self.request().hints.or(hints);
            assert_eq!(self.state.violations(), []);
        }
        hints
    }

    /// Blocks of reasoning that are sent, and those that went by each rule.
    fn thoughts(&self) -> (usize, Vec<&'static str>) {
        let blocks = (0u32..).zip(&self.state.ledger.blocks);
        let thinking = blocks.filter(|(_, block)| block.kind == Kind::Thinking);
        let (sent, gone): (Vec<_>, Vec<_>) =
            thinking.partition(|(_, block)| block.form != Form::Gone);
        let mut rules: Vec<_> =
            gone.iter().map(|(at, _)| self.state.why.get(at).unwrap().rule.name()).collect();
        rules.sort_unstable();
        rules.dedup();
        (sent.len(), rules)
    }

    fn switch(&mut self, options: &Value) {
        let again = self.state.set_options(Options::parse(&options.to_string()).unwrap());
        if again {
            let messages = std::mem::take(&mut self.messages);
            for message in messages {
                self.tell(message);
            }
        }
    }
}

fn thinking(provider: &str, format: &str, thinking: Option<&str>) -> (Told, Option<&'static str>) {
    let mut told = Told::new(&under(provider, format, thinking, 10_000));
    told.ask("go");
    let hints = told.think(0..25);
    assert!(told.state.sent.epoch > 0, "something was edited");
    (told, hints)
}

/// I12: behind a change reasoning goes, or a hint says so, unless the host says that it is free.
#[test]
fn what_reasoning_is_bound_to_is_the_providers_word_or_the_hosts() {
    for (provider, format, said, binds, hinted) in [
        ("anthropic", "anthropic", None, true, true),
        ("anthropic", "anthropic", Some("bound"), true, true),
        ("anthropic", "anthropic", Some("drop"), true, false),
        ("anthropic", "anthropic", Some("free"), false, false),
        ("openai-chat", "openai-chat", None, false, false),
        ("openai-chat", "openai-chat", Some("bound"), true, false),
    ] {
        let (told, hints) = thinking(provider, format, said);
        let rules = told.thoughts().1;
        assert_eq!(rules.contains(&"bound-thinking"), binds, "{provider} {said:?}: {rules:?}");
        assert_eq!(hints.is_some(), hinted, "{provider} {said:?}");
    }
    let error = Options::parse(r#"{"thinking":"off"}"#).unwrap_err().to_string();
    assert_eq!(error, r#"thinking: expected one of bound, drop, free, none, got "off""#);
}

#[test]
fn a_model_without_reasoning_is_sent_none() {
    for (provider, format) in [("anthropic", "anthropic"), ("openai-chat", "openai-chat")] {
        let mut told = Told::new(&under(provider, format, Some("none"), 1_000_000));
        told.ask("go");
        assert_eq!(told.think(0..3), None);
        assert_eq!(told.thoughts(), (0, vec!["no-thinking"]));
        assert_eq!(told.state.sent.epoch, 0, "it goes before it is first sent");
        let told = told.state.explain(1).unwrap();
        assert_eq!((told.state, told.rule), ("thinned", "no-thinking"));
    }
    // I23: what stays or goes with its calls stays.
    let mut told = Told::new(&under("deepseek", "openai-chat", Some("none"), 1_000_000));
    told.ask("go");
    told.think(0..3);
    assert_eq!(told.thoughts(), (3, vec![]));
}

#[test]
fn with_another_model_reasoning_is_bound_or_goes_from_then_on() {
    let options = |thinking| under("anthropic", "anthropic", Some(thinking), 10_000);
    let (mut told, _) = thinking("anthropic", "anthropic", Some("free"));
    let (sent, _) = told.thoughts();
    assert!(sent > 1);
    let mut woken = told.woken(&options("bound"));
    let epoch = told.state.sent.epoch;
    told.switch(&options("bound"));
    for told in [&mut told, &mut woken] {
        let answer = told.request();
        let (sent, rules) = told.thoughts();
        assert_eq!((sent, rules.contains(&"bound-thinking")), (1, true), "the newest stays");
        assert!(answer.hints.is_some() && answer.epoch == epoch + 1);
    }
    told.switch(&options("free"));
    assert_eq!(told.request().hints, None);
    let mut woken = told.woken(&options("none"));
    told.switch(&options("none"));
    for told in [&mut told, &mut woken] {
        let answer = told.request();
        assert_eq!((told.thoughts().0, answer.hints, answer.epoch), (0, None, epoch + 2));
    }
    // What has changed already voids all of it, the newest too, and no hint is needed.
    for before in ["free", "bound"] {
        let (mut told, _) = thinking("anthropic", "anthropic", Some(before));
        let mut woken = told.woken(&options("drop"));
        told.switch(&options("drop"));
        for told in [&mut told, &mut woken] {
            let answer = told.request();
            assert_eq!((told.thoughts().0, answer.hints), (0, None), "{before}");
            assert_eq!(told.state.violations(), []);
        }
    }
    // A model that binds where nothing was changed has nothing to refuse.
    let mut told = Told::new(&under("openai-chat", "anthropic", None, 1_000_000));
    told.ask("go");
    told.think(0..5);
    told.switch(&under("anthropic", "anthropic", None, 1_000_000));
    let answer = told.request();
    assert_eq!((told.thoughts(), answer.first_changed, answer.hints), ((5, vec![]), None, None));
}

/// A pin brings its message back when an epoch opens. If all that comes back is reasoning that must go again, none opens.
#[test]
fn a_pin_on_reasoning_that_cannot_come_back_opens_no_epoch() {
    let mut told = Told::new(&under("bedrock", "pi", Some("drop"), 600));
    told.ask(&words(500, "task"));
    let thought =
        json!({ "type": "thinking", "thinking": words(50, "t"), "thinkingSignature": "s" });
    let said = json!({ "type": "text", "text": "Reading." });
    // pi does not send an answer that failed, so that its reasoning is not the newest.
    told.tell(json!({ "role": "assistant", "content": [thought, said], "stopReason": "error" }));
    told.tell(json!({ "role": "toolResult", "toolCallId": "c", "content": words(300, "x") }));
    told.request();
    assert_eq!(told.thoughts(), (0, vec!["hard-fit"]));
    told.pin(1);
    let more = json!({ "type": "text", "text": words(100, "more") });
    told.tell(json!({ "role": "assistant", "content": [more], "stopReason": "stop" }));
    let answer = told.request();
    assert_eq!(told.thoughts(), (0, vec!["bound-thinking"]));
    assert_eq!((answer.epoch, answer.first_changed), (0, None));
}
