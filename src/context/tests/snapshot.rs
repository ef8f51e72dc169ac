//! Sessions that are parked and woken, and histories that branch off.

use super::*;

impl Told {
    /// The same session in another process: nothing but the snapshot and the host's messages.
    pub(super) fn woken(&self, options: &Value) -> Self {
        let options = Options::parse(&options.to_string()).unwrap();
        let state = State::restore(options, &self.state.snapshot()).unwrap();
        let mut woken = Self { state, messages: Vec::new(), now_ms: self.now_ms };
        woken.tell_all(self.messages.clone());
        woken
    }

    fn tell_all(&mut self, messages: Vec<Value>) {
        for message in messages {
            self.tell(message);
        }
    }

    /// What went out last, in full.
    pub(super) fn view(&self) -> Vec<Written> {
        let mut whole = self.state.clone();
        whole.sent.unheld = true;
        whole.sent.settled = true;
        let Step::Done(answer) = whole.request(0) else { panic!("asks for texts") };
        answer.items
    }
}

impl Told {
    pub(super) fn pin(&mut self, message: u32) -> u32 {
        let bytes = self.messages[message as usize].to_string();
        self.state.pin(message, bytes.as_bytes()).unwrap()
    }

    /// One of the messages that are not sent as they were: dropped ones, or any.
    fn cut_message(&self, at: usize, kind: u8) -> Option<u32> {
        let is_cut = |form: Form| if kind == 10 { form == Form::Gone } else { form != Form::Full };
        let blocks = self.state.ledger.blocks.iter().filter(|block| is_cut(block.form));
        let messages: Vec<u32> = blocks.map(|block| block.message).collect();
        messages.get(at * 7 % messages.len().max(1)).copied()
    }
}

/// What a host's history may hold next.
pub(super) fn turn(told: &mut Told, kind: u8, at: usize) {
    match kind {
        0 => told.ask(&words(40, &format!("ask{at}n"))),
        1 => told.say(&format!("x{}y{} is what src/f{at}.rs says", at / 2, at % 300)),
        2 => told.now_ms += 400_000,
        3 => told.work(&format!("c{at}"), &json!({ "path": "same.rs" }), &words(300, "same")),
        4 => told.work(&format!("c{at}"), &json!({ "text": words(400, "in") }), "done"),
        5 => told.work(&format!("c{at}"), &json!({ "path": at }), &words(4000, &format!("x{at}y"))),
        _ => {
            let text =
                format!("src/mod_{}.rs src/shared.rs {}", at / 3, words(500, &format!("x{at}y")));
            told.work(&format!("c{at}"), &json!({ "path": at }), &text);
        }
    }
}

fn small() -> ProptestConfig {
    ProptestConfig { cases: 24, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(small())]

    #[test]
    fn a_woken_session_sends_the_same_bytes(kinds in prop::collection::vec(0u8..12, 10..70), tokens in 6_000u32..40_000) {
        let options = window(tokens);
        let mut told = Told::new(&options);
        told.ask("find it");
        told.request();
        let mut woken = told.woken(&options);
        for (at, kind) in kinds.into_iter().enumerate() {
            let before = told.messages.len();
            if kind < 10 {
                turn(&mut told, kind, at);
            } else if let Some(pinned) = told.cut_message(at, kind) {
                // Pinned too late, in both.
                prop_assert_eq!(told.pin(pinned), woken.pin(pinned));
                told.ask(&words(40, &format!("pin{at}n")));
            }
            let new = told.messages[before..].to_vec();
            woken.now_ms = told.now_ms;
            woken.tell_all(new);
            let (live, restored) = (told.request(), woken.request());
            // The whole view of the woken one is told anew.
            prop_assert_eq!(told.view(), restored.items);
            prop_assert_eq!(
                (live.epoch, live.first_changed, live.tokens, live.fits, live.edits, live.fold, live.tokens_before),
                (restored.epoch, restored.first_changed, restored.tokens, restored.fits, restored.edits, restored.fold, restored.tokens_before)
            );
            prop_assert_eq!(told.state.status(), woken.state.status());
            let last = told.state.ledger.message_count() - 1;
            for index in [0, last / 2, last] {
                prop_assert_eq!(told.state.explain(index), woken.state.explain(index));
            }
            prop_assert_eq!(told.state.snapshot(), woken.state.snapshot());
            // Parked, and woken for a retry.
            woken = told.woken(&options);
            prop_assert_eq!(told.state.snapshot(), woken.state.snapshot());
            let again = woken.state.clone().request(told.now_ms + 10_000_000);
            let Step::Done(again) = again else { panic!("asks for texts") };
            prop_assert_eq!(&told.view(), &again.items);
            prop_assert_eq!((again.epoch, again.first_changed, again.edits.len()), (live.epoch, None, 0));
        }
    }

    #[test]
    fn what_stays_the_same_before_a_branch_stays_known(kinds in prop::collection::vec(0u8..10, 30..70), at in 0usize..100, tokens in 6_000u32..40_000, parked: bool) {
        let options = window(tokens);
        let mut told = Told::new(&options);
        told.ask("find it");
        told.request();
        for (at, kind) in kinds.into_iter().enumerate() {
            turn(&mut told, kind, at);
            told.request();
        }
        let at = at % told.messages.len();
        let before = told.view();
        let (epoch, held) = (told.state.sent.epoch, told.state.pruner.start as usize <= at);
        let mut branch = told.messages[..at].to_vec();
        branch.push(json!({ "role": "user", "content": "no, the other one" }));
        let mut other = if parked {
            let parsed = Options::parse(&options.to_string()).unwrap();
            let state = State::restore(parsed, &told.state.snapshot()).unwrap();
            Told { state, messages: Vec::new(), now_ms: told.now_ms }
        } else {
            told.state.resync();
            Told { state: told.state, messages: Vec::new(), now_ms: told.now_ms }
        };
        other.tell_all(branch);
        let answer = other.request();
        prop_assert_eq!(answer.epoch, epoch + 1);
        prop_assert!(answer.fits && other.state.violations().is_empty());
        // What changed is said: before it nothing did.
        let same = usize::try_from(answer.first_changed.unwrap()).unwrap();
        let now = other.view();
        if held {
            prop_assert_eq!(&now[..same.min(now.len())], &before[..same.min(now.len())]);
        }
        let stubs = |view: &[Written]| view.iter().filter(|it| matches!(it, Written::Edit { .. })).count();
        if held && same > 0 && answer.edits.is_empty() {
            prop_assert!(stubs(&now[..same]) == stubs(&before[..same]));
        }
    }
}

#[test]
fn a_branch_keeps_the_stubs_before_it() {
    let options = window(30_000);
    let mut told = Told::worked(&options, 25);
    let stubbed = told.forms().iter().filter(|form| **form == Form::Stubbed).count();
    assert!(stubbed > 5);
    let mut messages = told.messages.clone();
    *messages.last_mut().unwrap() = json!({ "role": "user", "content": "stop" });
    messages.remove(messages.len() - 2);
    told.messages.clear();
    told.state.resync();
    told.tell_all(messages);
    let answer = told.request();
    assert_eq!(told.forms().iter().filter(|form| **form == Form::Stubbed).count(), stubbed);
    assert!(answer.keep > 40, "{}", answer.keep);
}

#[test]
fn a_snapshot_of_another_session_is_no_part_of_this_one() {
    let options = window(30_000);
    let parked = Told::worked(&options, 25).state.snapshot();
    let state = State::restore(Options::parse(&options.to_string()).unwrap(), &parked).unwrap();
    let mut other = Told { state, messages: Vec::new(), now_ms: 0 };
    other.ask("something else");
    let answer = other.request();
    assert_eq!((answer.items.len(), answer.keep, answer.first_changed), (1, 0, Some(0)));
    assert!(!other.forms().contains(&Form::Stubbed));
}

#[test]
fn a_snapshot_that_was_changed_is_refused() {
    let options = Options::parse(&window(30_000).to_string()).unwrap();
    let told = Told::worked(&window(30_000), 25);
    let bytes = told.state.snapshot();
    for at in 0..bytes.len() {
        let mut other = bytes.clone();
        other[at] ^= 1;
        let error = State::restore(options.clone(), &other).unwrap_err();
        assert!(error.to_string().starts_with("snapshot does not verify: "), "{error}");
        assert!(State::restore(options.clone(), &bytes[..at]).is_err());
    }
    assert!(State::restore(options, &bytes).is_ok());
}

#[test]
fn a_pin_that_comes_too_late_brings_its_message_back_with_the_next_epoch() {
    let options = window(30_000);
    let mut told = Told::worked(&options, 25);
    let stubbed = told.forms().iter().position(|form| *form >= Form::Stubbed).unwrap();
    let block = u32::try_from(stubbed).unwrap();
    let message = told.state.ledger.blocks[stubbed].message;
    let pin = told.pin(message);
    assert_eq!(told.request().first_changed, None);
    assert_ne!(told.forms()[stubbed], Form::Full);
    let mut epochs = 0;
    for at in 25..220 {
        told.work(&format!("c{at}"), &json!({ "path": at }), &words(500, &format!("x{at}y")));
        let answer = told.request();
        epochs += u32::from(answer.first_changed.is_some());
        assert!(answer.fits && told.state.violations().is_empty());
        assert_eq!(told.forms()[stubbed] == Form::Full, epochs > 0);
    }
    assert!(epochs > 2 && told.state.pruner.head.is_some());
    // Verbatim, once, across a fold.
    let (message, block) = told.state.referred(&format!("r{block}")).unwrap();
    let bytes = told.messages[message as usize].to_string();
    let text = told.state.recalled(message, block, bytes.as_bytes()).unwrap().unwrap();
    assert!(
        told.view().iter().any(|it| matches!(it, Written::Keep { index } if *index == message))
    );
    assert!(text.starts_with("x0y0"));
    assert!(told.state.unpin(pin) && !told.state.unpin(pin));
}

#[test]
fn a_text_that_stands_nowhere_goes_out_in_front_from_the_next_epoch_on() {
    let mut told = Told::worked(&window(30_000), 12);
    let says = |told: &Told| format!("{:?}", told.view()).matches("the ship sails at dawn").count();
    told.state.pin_text("the ship sails at dawn");
    assert_eq!((told.request().first_changed, says(&told)), (None, 0));
    let mut since = 0;
    for at in 12..220 {
        told.work(&format!("c{at}"), &json!({ "path": at }), &words(500, &format!("x{at}y")));
        since += u32::from(told.request().first_changed.is_some());
        assert_eq!(says(&told), usize::from(since > 0));
    }
    assert!(told.state.pruner.head.is_some());
}

#[test]
fn a_stub_promises_its_original_only_where_the_agent_can_ask_for_it() {
    let promised = |tools: &str| {
        let mut told = Told::new(&window(30_000));
        told.state.set_parts(&format!(r#"{{"tools":{tools}}}"#)).unwrap();
        told.ask("find it");
        for at in 0..25 {
            told.work(&format!("c{at}"), &json!({ "path": at }), &words(500, &format!("x{at}y")));
            told.request();
        }
        format!("{:?}", told.view()).contains(", context_recall r")
    };
    assert!(promised(r#"[{"name":"context_recall"}]"#));
    assert!(promised(r#"[{"type":"function","function":{"name": "context_recall"}}]"#));
    assert!(promised(r#"{"context_recall":{"description":"-"}}"#));
    assert!(!promised(r#"[{"name":"read","description":"not \"context_recall\""}]"#));
    assert!(!promised(r#"[{"name":"read","enum":["context_recall"]}]"#));
    assert!(!promised(r#"[{"name":"read","title":"context_recall"}]"#));
}

/// Whoever has lost the tool must not be told to call it; given back, the stubs are what they were.
#[test]
fn a_stub_promises_its_original_no_more_once_the_agent_cannot_ask() {
    let with = r#"{"tools":[{"name":"context_recall"},{"name":"read"}]}"#;
    let without = r#"{"tools":[{"name":"read"}]}"#;
    let mut told = Told::new(&window(30_000));
    told.state.set_parts(with).unwrap();
    told.ask("find it");
    for at in 0..25 {
        told.work(&format!("c{at}"), &json!({ "path": at }), &words(500, &format!("x{at}y")));
        told.request();
    }
    let says = |told: &Told| format!("{:?}", told.view()).matches(", context_recall r").count();
    let (before, promised) = (told.view(), says(&told));
    let stubs = told.forms().iter().filter(|form| **form == Form::Stubbed).count();
    assert!(promised > 5 && promised == stubs, "{promised} of {stubs}");
    let mut woken = told.woken(&window(30_000));
    for told in [&mut told, &mut woken] {
        told.state.set_parts(without).unwrap();
        let answer = told.request();
        assert_eq!((answer.first_changed, says(told)), (Some(-1), 0));
        // What the lines cost is what they say.
        let counted: u32 = told.state.ledger.blocks.iter().map(|block| block.now).sum();
        let stub = |at: &u32| &told.state.ledger.blocks[*at as usize];
        let lines = told.state.lines.text.iter();
        let cost: u32 = lines.map(|(at, line)| told.state.lines.cost(stub(at), *at, line)).sum();
        let whole = told.state.ledger.blocks.iter().filter(|block| block.form == Form::Full);
        assert_eq!(counted, cost + whole.map(|block| block.now).sum::<u32>());
        assert_eq!(told.request().first_changed, None);
        told.state.set_parts(with).unwrap();
        told.request();
        assert_eq!(told.view(), before);
    }
}

/// As a fold: what went for the sake of messages that are not there is there again.
#[test]
fn a_branch_has_what_was_dropped_for_messages_behind_it() {
    for (preset, strategy) in [("aiclaw", "summarize"), ("context-budget", "discard")] {
        let mut options = window(20_000);
        (options["preset"], options["strategy"]) = (preset.into(), strategy.into());
        let mut told = Told::new(&options);
        told.ask("find it");
        let mut then = 0;
        for at in 0..60 {
            told.work(&format!("c{at}"), &json!({ "path": at }), &words(900, &format!("x{at}y")));
            let answer = told.request();
            if at == 7 {
                then = answer.tokens;
            }
        }
        let gone = |told: &Told| told.forms()[..17].iter().filter(|it| **it == Form::Gone).count();
        assert!(then > 10_000 && gone(&told) > 10, "{preset} {then} {}", gone(&told));
        let branch = told.messages[..17].to_vec();
        told.messages.clear();
        told.state.resync();
        told.tell_all(branch);
        told.ask("no, the other one");
        let answer = told.request();
        assert!(answer.fits && told.state.violations().is_empty());
        assert!(answer.tokens > then, "{preset}: {} of {then}", answer.tokens);
        assert_eq!(told.state.explain(1).unwrap().state, "kept", "{preset}");
    }
}

#[test]
fn the_agent_asks_and_is_answered() {
    let mut told = Told::worked(&window(30_000), 20);
    let mut ask = |name, arguments| told.state.call_agent_tool(name, arguments);
    let Ok(crate::context::Told::Text(status)) = ask("context_status", "{}") else { panic!() };
    assert!(status.contains("of 30000 usable tokens"), "{status}");
    assert!(matches!(
        ask("context_recall", r#"{"ref":"r3"}"#),
        Ok(crate::context::Told::Recall(3, 3))
    ));
    assert!(matches!(
        ask("context_recall", r#""{\"ref\": \"r3\"}""#),
        Ok(crate::context::Told::Recall(3, 3))
    ));
    assert!(matches!(ask("context_recall", r#"{"ref":7}"#), Ok(crate::context::Told::Text(_))));
    assert!(matches!(ask("context_recall", r#""r3""#), Ok(crate::context::Told::Text(_))));
    assert!(ask("context_delete", "{}").is_err());
    assert!(ask("context_compact", "null").is_ok());
    let answer = told.request();
    assert_eq!(answer.event, Some(Event::Fold));
    assert_eq!(told.request().event, None);
}

#[test]
fn a_call_that_fails_half_way_costs_nothing() {
    let mut told = Told::worked(&window(30_000), 25);
    let before = told.request();
    let view = told.view();
    for cut in [1, 7, 20] {
        told.state.resync();
        for message in &told.messages[..cut] {
            told.state.push(message.to_string().as_bytes()).unwrap();
        }
        let other = json!({ "role": "assistant", "content": "other" });
        told.state.push(other.to_string().as_bytes()).unwrap();
        assert!(told.state.push(b"{}").is_err());
        let messages = std::mem::take(&mut told.messages);
        told.state.resync();
        told.tell_all(messages);
        let answer = told.request();
        assert!(answer.fits && answer.tokens <= before.tokens.max(30_000));
        let sent = told.state.sent.items.len();
        assert_eq!(sent, told.view().len(), "{cut}");
        assert_eq!(told.view().len(), view.len(), "{cut}");
    }
}

#[test]
fn a_session_that_wakes_under_a_smaller_window_is_cut_to_it() {
    let mut told = Told::worked(&window(60_000), 20);
    let before = told.request().tokens;
    let mut woken = told.woken(&window(4_000));
    let answer = woken.request();
    assert!(before > 4_000 && answer.tokens <= 4_000 && answer.fits, "{before} {}", answer.tokens);
}
