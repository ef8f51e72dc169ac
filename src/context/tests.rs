//! A session from the host's bytes to the view, in small.

#![expect(clippy::arithmetic_side_effects, reason = "small numbers")]

mod compaction;
mod flush;
mod limits;
mod mended;
mod merge;
mod monitor;
mod presets;
mod providers;
mod snapshot;
mod thinking;
mod tiers;
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
        assert_eq!(self.state.push(message.to_string().as_bytes()), Ok(Pushed::Taken));
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
        let overhead = lines.overheads[*at as usize];
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
    assert_eq!(parts.get(1), Some(&crate::model::MadePart::Text("find \u{fffd} it".into())));
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

#[test]
fn explains_by_rule_evidence_and_time() {
    let told = Told::worked(&window(30_000), 25);
    let kept = told.state.explain(0).unwrap();
    assert_eq!((kept.state, kept.rule, kept.since), ("kept", "keep", None));
    assert_eq!((kept.group, kept.turn, kept.restore), (0, 1, "nothing to bring back"));
    let stubbed = told.state.explain(2).unwrap();
    assert_eq!((stubbed.state, stubbed.rule, stubbed.group), ("stubbed", "timed", 1));
    assert_eq!(stubbed.evidence.len(), 3);
    assert!(stubbed.tokens_before > 10 * stubbed.tokens_after && stubbed.tokens_after > 0);
    let refused = |index| told.state.explain(index).unwrap_err().to_string();
    assert_eq!(refused(51), "index: expected a message of the history (0 to 50), got 51");
    let empty = Told::new(&window(0)).state;
    assert_eq!(
        empty.explain(0).unwrap_err().to_string(),
        "index: expected a message of the history, which is empty, got 0"
    );
}

#[test]
fn an_estimate_sums_to_its_tokens_and_a_request_without_edits_has_as_many() {
    let mut told = Told::new(&window(100_000));
    told.state
        .set_parts(r#"{"system":"be kind","tools":[{"name":"read"}],"unseenTokens":7}"#)
        .unwrap();
    told.ask("find src/a.rs");
    told.work("a", &json!({ "path": "src/a.rs" }), "it is here");
    let Estimate { tokens, by_kind, .. } = told.state.estimate();
    let ByKind { text, thinking, tool_call, tool_result, image, tools, system, overhead } = by_kind;
    assert_eq!(
        tokens,
        text + thinking + tool_call + tool_result + image + tools + system + overhead
    );
    assert_eq!((text, tool_result, thinking, image), (4, 3, 0, 0));
    assert_eq!(overhead, 7 + 3 * 4 + 20 + 1 + 10);
    assert_eq!(told.request().tokens, tokens);
}

/// A41: six figures; what is held back for the answer may be more than the window.
#[test]
fn a41_a_request_is_checked_against_its_window() {
    let mut told = Told::new(&window(0));
    told.state
        .set_parts(r#"{"system":"be kind","tools":[{"name":"read"}],"unseenTokens":7}"#)
        .unwrap();
    told.ask("find src/a.rs");
    let total = told.state.estimate().tokens;
    let check = |window: &str| told.state.check_budget(window).unwrap();
    let all = check(r#"{"contextTokens":40,"maxOutputTokens":10}"#);
    let parts = all.system_prompt_tokens + all.tool_definition_tokens + all.message_tokens;
    assert_eq!((parts + 7, all.total_estimated), (total, total));
    assert_eq!((all.available_tokens, all.over_budget, all.excess_tokens), (30, true, total - 30));
    let exact = check(&format!(r#"{{"contextTokens":{total}}}"#));
    assert_eq!((exact.available_tokens, exact.over_budget, exact.excess_tokens), (total, false, 0));
    let none = check(r#"{"contextTokens":4096,"maxOutputTokens":8192}"#);
    assert_eq!((none.available_tokens, none.over_budget, none.excess_tokens), (0, true, total));
    assert!(!check(r#"{"contextTokens":0}"#).over_budget, "an unknown window is never full");
    let error = told.state.check_budget(r#"{"contextTokens":-1}"#).unwrap_err().to_string();
    assert_eq!(error, "window: expected a window: { contextTokens, maxOutputTokens }, got -1");
}

#[test]
fn status_floors_its_share() {
    let mut told = Told::new(&window(1000));
    told.ask("x");
    let own = told.request().tokens;
    for (used, pct, pressure) in [(699, 69, "low"), (700, 70, "medium"), (900, 90, "high")] {
        told.state.set_parts(&format!(r#"{{"unseenTokens":{}}}"#, used - own)).unwrap();
        told.request();
        let status = told.state.status();
        assert_eq!((status.used, status.pct, status.pressure), (used, pct, pressure));
        assert_eq!(status.remaining, 1000 - used);
        assert_eq!((status.peak_tokens, status.tokens_saved), (used, 0));
    }
    assert_eq!(Told::new(&window(0)).state.status().pct, 0);
}

#[test]
fn buckets_and_the_list_sum_to_the_request() {
    let mut told = Told::worked(&window(30_000), 25);
    told.state.set_parts(r#"{"system":"be kind","tools":[{"name":"read"}]}"#).unwrap();
    let used = told.request().tokens;
    let buckets = told.state.buckets();
    assert_eq!(buckets.iter().map(|bucket| bucket.sent).sum::<u64>(), used);
    let result = buckets.iter().find(|bucket| bucket.bucket == "result read").unwrap();
    assert_eq!((result.blocks, result.kept + result.stubbed), (25, 25));
    assert!(result.stubbed > 0);
    assert!(buckets.windows(2).all(|pair| pair[0].sent >= pair[1].sent));
    let list = told.state.list().unwrap();
    let beside = told.state.parts.total();
    assert_eq!(list.iter().map(|one| one.sent_tokens).sum::<u64>() + beside, used);
    assert_eq!(
        (list[2].role, list[2].kind, list[2].tool.as_deref()),
        ("user", "toolResult", Some("read"))
    );
}

/// A session of `count` calls, as `readSession` gives it; the last message of the model names what an old result held.
fn session(count: usize) -> Value {
    let mut told = Told::new(&window(0));
    told.ask("find it");
    for at in 0..count {
        told.work(
            &format!("c{at}"),
            &json!({ "step": at }),
            &format!("src/file_{at}.rs {}", words(400, "of it ")),
        );
    }
    told.say("it is in src/file_0.rs");
    let calls: Vec<Value> = (0..=count).map(|at| json!({ "sent": 1 + 2 * at })).collect();
    json!({ "messageFormat": "anthropic", "messages": told.messages, "calls": calls })
}

fn replay(session: &Value, options: &Value, last: Option<u32>) -> Replay {
    let recording = Recording::parse(&session.to_string(), Estimator::Chars4).unwrap();
    recording.replay(&Options::parse(&options.to_string()).unwrap(), last).unwrap()
}

#[test]
fn a_replay_stops_where_it_is_told_and_goes_the_same_way() {
    let session = session(25);
    let whole = replay(&session, &window(30_000), None);
    let half = replay(&session, &window(30_000), Some(9));
    assert_eq!((whole.calls.len(), half.calls.len()), (26, 10));
    assert_eq!(half.calls, whole.calls[..10]);
    assert_eq!(whole.totals.bill, whole.calls.iter().map(|call| call.bill).sum::<u64>());
    assert!(whole.totals.epochs > 0 && whole.totals.edits > 0);
}

#[test]
fn recall_asks_what_the_next_message_still_found() {
    let free = replay(&session(2), &window(1_000_000), None).totals.recall;
    assert_eq!(
        (free.recall.found, free.content_recall.found),
        (free.recall.wanted, free.content_recall.wanted)
    );
    assert_eq!(free.recall.wanted, 2_000_000, "a path and its file");
    let tight = replay(&session(25), &window(30_000), None).totals.recall;
    assert_eq!(tight.recall.wanted, free.recall.wanted);
    assert_eq!(tight.content_recall.found, 0, "its result was cut");
}

#[test]
fn user_text_is_what_each_request_still_held_of_it() {
    let mut told = Told::new(&window(0));
    told.ask(&words(3000, "first "));
    told.say("noted");
    told.ask(&words(1000, "then "));
    told.say("noted too");
    let messages = told.messages;
    let calls = json!([{ "sent": 1 }, { "sent": 3 }]);
    let session = json!({ "messageFormat": "anthropic", "messages": messages, "calls": calls });
    let kept = |tokens| replay(&session, &window(tokens), None).totals.recall.user_text;
    assert_eq!((kept(1_000_000).found, kept(1_000_000).wanted), (2_000_000, 2_000_000));
    let Share { found, wanted } = kept(5000);
    assert_eq!(wanted, 2_000_000, "each request counts the same");
    assert!((1_150_000..1_350_000).contains(&found), "all, then a quarter: {found}");
}

#[test]
fn the_bill_of_a_replay_is_in_the_prices_given() {
    let session = session(5);
    let recording = Recording::parse(&session.to_string(), Estimator::Chars4).unwrap();
    let bill = |options: Value| {
        let options = Options::for_replay(&options.to_string()).unwrap();
        recording.replay(&options, None).unwrap().totals.bill
    };
    let economy =
        json!({ "cacheRead": 0.1, "cacheWrite": 1.25, "output": 5, "cacheTtlMs": 300_000 });
    let plain = json!({ "cacheRead": 1, "cacheWrite": 1, "output": 5, "cacheTtlMs": 0 });
    let priced = |prices: &Value| {
        bill(
            json!({ "window": { "contextTokens": 1_000_000 }, "preset": "economy", "economy": prices }),
        )
    };
    assert_eq!(priced(&economy), bill(window(1_000_000)));
    assert!(priced(&plain) > 2 * priced(&economy));
    let theirs = json!({ "preset": "aceclaw", "economy": plain });
    assert_eq!(Options::for_replay(&theirs.to_string()).unwrap().policy.prices.write, 1000);
    for (options, named) in [
        (json!({ "economy": { "cacheRead": 2 } }), "economy.cacheWrite"),
        (json!({ "economy": 1 }), "economy"),
        (json!({ "stubChars": 1, "economy": economy }), "stubChars"),
        (json!([]), "options"),
    ] {
        let refused = Options::for_replay(&options.to_string()).unwrap_err().to_string();
        assert!(refused.starts_with(&format!("{named}: ")), "{refused}");
    }
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
        let names = ["balanced", "economy", "retention", "aceclaw", "aiclaw", "openclaw", "context-budget", "hermes"];
        let mut options = window(tokens);
        options["preset"] = names[preset].into();
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

/// A109: against the request before; within 2 % of the window, and at least 256 tokens, it is as large.
#[test]
fn a109_the_trend_is_against_the_request_before() {
    for (tokens, near) in [(0, 256), (30_000, 600)] {
        let mut told = Told::new(&window(tokens));
        let ask = |told: &mut Told, tokens: usize| {
            told.ask(&"x".repeat(4 * tokens - 16));
            told.request();
            told.state.status().trend
        };
        told.ask("go");
        assert_eq!(told.state.status().trend, "unknown");
        told.request();
        assert_eq!(told.state.status().trend, "unknown");
        assert_eq!(ask(&mut told, near), "stable");
        assert_eq!(ask(&mut told, near + 1), "rising");
        let woken = told.woken(&window(tokens));
        told.request();
        assert_eq!(told.state.status().trend, "rising", "a retry is no sample");
        assert_eq!(woken.state.snapshot(), told.state.snapshot());
    }
    let mut told = Told::worked(&window(30_000), 25);
    told.state.pruner.fold_wanted = true;
    told.state.sent.settled = false;
    told.request();
    assert_eq!(told.state.status().trend, "falling");
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
