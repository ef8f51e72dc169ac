//! Sessions played under a policy.

use super::*;
use crate::context::replay::Unreadable;
use crate::context::report::breakdown::list_messages;
use crate::context::request::answer::Event;
use crate::context::request::build_request::{resend, violations_sent};
use crate::number::count;

/// A session of `count` calls, as `readSession` gives it; the last message of the model names what an old result held.
fn session(count: usize) -> Value {
    let mut host = Host::new(&window(0));
    host.ask("find it");
    for at in 0..count {
        host.work(
            &format!("c{at}"),
            &json!({ "step": at }),
            &format!("src/file_{at}.rs {}", words(400, "of it ")),
        );
    }
    host.say("it is in src/file_0.rs");
    let calls: Vec<Value> = (0..=count).map(|at| json!({ "sent": 1 + 2 * at })).collect();
    json!({ "messageFormat": "anthropic", "messages": host.messages, "calls": calls })
}

fn replay(session: &Value, options: &Value) -> Replay {
    let recording = recorded(session);
    recording.replay(&Options::for_replay(&options.to_string()).unwrap()).unwrap()
}

fn recorded(session: &Value) -> Recording {
    Recording::parse(&session.to_string(), Estimator::Chars4).unwrap()
}

#[test]
fn a_replay_in_steps_is_the_same_as_in_one_go() {
    let session = session(25);
    let recording = recorded(&session);
    let all = replay(&session, &window(30_000));
    let mut steps = recording.begin(&Options::for_replay(&window(30_000).to_string()).unwrap());
    assert!(!recording.advance(&mut steps, 10).unwrap());
    assert_eq!((all.calls.len(), steps.calls.len()), (26, 10));
    assert_eq!(steps.calls, all.calls[..10]);
    while !recording.advance(&mut steps, 7).unwrap() {}
    assert_eq!((&steps.calls, &steps.totals), (&all.calls, &all.totals));
    assert_eq!(steps.changes(0, u32::MAX), all.changes(0, u32::MAX));
    assert_eq!(steps.layers.tokens(), all.layers.tokens());
    assert!(recording.advance(&mut steps, 1).unwrap(), "there is nothing left to play");
    assert_eq!(steps.calls.len(), 26);
    let full = all;
    assert_eq!(full.totals.bill, full.calls.iter().map(|call| call.bill).sum::<u64>());
    assert!(full.totals.epochs > 0 && full.totals.edits > 0);
}

/// Only our own requests are repaired: what an agent sent went out as it was.
#[test]
fn a_recorded_call_counts_no_repair_of_ours() {
    let mut session = session(3);
    session["messages"][2]["content"][0]["content"] = json!("");
    session["messages"][6]["content"] = json!([]);
    let recording = recorded(&session);
    let options = Options::for_replay(&window(30_000).to_string()).unwrap();
    let at = recording.recorded_at(&recording.recorded_view(&options), u32::MAX);
    let played = recording.replay(&options).unwrap();
    let rules = |session: &Session| -> Vec<_> {
        list_messages(session).iter().map(|it| (it.state, it.rule)).collect()
    };
    assert_eq!(rules(&at.session), [("kept", "keep"); 7]);
    assert_eq!(rules(&played.session)[2], ("kept", "repair"));
    let of_empty = |session| list_messages(session)[2].sent_tokens;
    assert_eq!(of_empty(&at.session), list_messages(&at.session)[2].tokens);
    assert!(of_empty(&played.session) > of_empty(&at.session));
}

#[test]
fn malformed_messages_are_listed_and_in_no_request() {
    let mut session = session(12);
    session["messages"][4]["content"][0]["is_error"] = json!(-5.5);
    let recording = recorded(&session);
    let reason = "message 4, at /content/0/is_error: expected a boolean".to_owned();
    assert_eq!(recording.unreadable, [Unreadable { index: 4, reason }]);
    let shown = recording.text(4.into());
    assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), session["messages"][4]);
    assert_eq!(recording.find("-5.5", false, 9).len(), 1, "it is found as it is shown");
    let options = Options::for_replay(&window(30_000).to_string()).unwrap();
    let view = recording.recorded_view(&options);
    assert_eq!(view.recorded.calls.len(), 13);
    let replay = recording.replay(&options).unwrap();
    let mut last = recording.at_call(&replay, 12).unwrap();
    assert_eq!(violations_sent(&last.session), []);
    assert!(recording.plan(&mut last).is_ok());
}

#[test]
fn summaries_of_a_file_are_as_long_as_the_middle_one_that_can_be_read() {
    let mut session = session(3);
    assert_eq!(recorded(&session).summary_tokens(true), 0);
    let sizes = [4_000, 0, 400, 1_200, 40];
    session["compactions"] = sizes
        .iter()
        .map(|size| json!({ "at": 1, "firstKeptIndex": 1, "summary": "a".repeat(*size) }))
        .collect();
    assert_eq!(recorded(&session).summary_tokens(true), 100, "of four, the second");
    session["compactions"][4]["head"] = "a".repeat(2_000).into();
    assert_eq!(recorded(&session).summary_tokens(true), 100, "a head holds more than the summary");
    session["compactions"][4]["summary"] = "".into();
    assert_eq!(recorded(&session).summary_tokens(true), 300, "a head alone is what stood there");
}

#[test]
fn each_call_of_a_replay_counts_the_rules_that_its_full_request_breaks() {
    let mut session = session(25);
    session["tools"] = json!([]);
    let options = json!({ "window": { "contextTokens": 30_000 }, "provider": "bedrock" });
    let full = replay(&session, &options);
    assert!(full.totals.epochs > 0);
    for call in &full.calls {
        let at = recorded(&session).at_call(&full, call.call).unwrap();
        assert_eq!(
            violations_sent(&at.session).len(),
            call.violations as usize,
            "call {}",
            call.call
        );
    }
    assert_eq!(full.totals.violations, 25, "each request with a call: no tools are declared");
}

#[test]
fn recall_measures_what_the_next_message_still_found() {
    let free = replay(&session(2), &window(1_000_000)).totals.recall;
    assert_eq!(
        (free.recall.found, free.content_recall.found),
        (free.recall.wanted, free.content_recall.wanted)
    );
    assert_eq!(free.recall.wanted, 2_000_000, "a path and its file");
    let tight = replay(&session(25), &window(30_000)).totals.recall;
    assert_eq!(tight.recall.wanted, free.recall.wanted);
    assert_eq!(tight.content_recall.found, 0, "its result was cut");
}

#[test]
fn calls_that_name_what_is_hidden_and_calls_made_again_for_it_are_counted() {
    let replayed = |calls: usize, input: Value, tokens: u32| {
        let mut session = session(calls);
        let again = json!({ "type": "tool_use", "id": "again", "name": "read", "input": input });
        let last = session["messages"].as_array_mut().unwrap().last_mut().unwrap();
        *last = json!({ "role": "assistant", "content": [again] });
        let recall = replay(&session, &window(tokens)).totals.recall;
        (recall.blind_calls, recall.refetches)
    };
    let named = json!({ "path": "src/file_0.rs" });
    let (oldest, newest) = (json!({ "step": 0 }), json!({ "step": 24 }));
    assert_eq!(replayed(2, named.clone(), 1_000_000), (0, 0), "everything is sent");
    assert_eq!(replayed(2, oldest.clone(), 1_000_000), (0, 0));
    assert_eq!(replayed(25, oldest, 30_000), (0, 1), "the first result was cut");
    assert_eq!(replayed(25, newest, 30_000), (0, 0), "the newest is still whole");
    assert_eq!(replayed(120, named, 3_000).0, 1, "the path stands nowhere");
}

#[test]
fn user_text_counts_what_each_request_still_contained_of_it() {
    let mut host = Host::new(&window(0));
    host.ask(&words(3000, "first "));
    host.say("noted");
    host.ask(&words(1000, "then "));
    host.say("noted too");
    let messages = host.messages;
    let calls = json!([{ "sent": 1 }, { "sent": 3 }]);
    let session = json!({ "messageFormat": "anthropic", "messages": messages, "calls": calls });
    let kept = |tokens| replay(&session, &window(tokens)).totals.recall.user_text;
    assert_eq!((kept(1_000_000).found, kept(1_000_000).wanted), (2_000_000, 2_000_000));
    let Share { found, wanted } = kept(5000);
    assert_eq!(wanted, 2_000_000, "each request counts the same");
    assert!((1_150_000..1_350_000).contains(&found), "all, then a quarter: {found}");
}

#[test]
fn the_bill_of_a_replay_is_in_the_prices_of_its_options() {
    let session = session(5);
    let recording = recorded(&session);
    let bill = |options: Value| {
        let options = Options::for_replay(&options.to_string()).unwrap();
        recording.replay(&options).unwrap().totals.bill
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
        (json!({ "economy": { "cacheRead": 2 } }), "economy.cacheWrite:"),
        (json!({ "economy": 1 }), "economy:"),
        (json!({ "stubChars": 1, "economy": economy }), "stubChars: expected one of the presets "),
        (json!([]), "options:"),
    ] {
        let refused = Options::for_replay(&options.to_string()).unwrap_err().to_string();
        assert!(refused.starts_with(named), "{refused}");
    }
}

/// A replay of long results under a small window, so that calls edit and fold.
fn tight() -> (Recording, Replay) {
    let recording = recorded(&session(150));
    let options = Options::for_replay(&window(10_000).to_string()).unwrap();
    let replay = recording.replay(&options).unwrap();
    assert!(replay.totals.folds > 0 && replay.totals.edits > 0, "{:?}", replay.totals);
    (recording, replay)
}

#[test]
fn the_session_at_a_call_is_the_one_of_a_replay_up_to_it() {
    let (recording, replay) = tight();
    let options = Options::for_replay(&window(10_000).to_string()).unwrap();
    for call in 0..count(replay.calls.len()) {
        let mut upto = recording.begin(&options);
        recording.advance(&mut upto, call + 1).unwrap();
        let at = recording.at_call(&replay, call).unwrap();
        assert_eq!(at.at_ms, replay.calls[call as usize].at);
        assert_eq!(list_messages(&at.session), list_messages(&upto.session));
        assert_eq!(list_buckets(&at.session), list_buckets(&upto.session));
        assert_eq!(at.sent(), resend(&upto.session, None).items);
    }
}

#[test]
fn layers_are_what_each_request_consists_of_and_changes_lead_from_one_to_the_next() {
    let (recording, replay) = tight();
    let names = &replay.layers.names;
    let tokens = replay.layers.tokens();
    let mut known: Vec<(&str, u64)> = Vec::new();
    for (call, row) in (0..).zip(tokens.chunks(names.len())) {
        let at = recording.at_call(&replay, call).unwrap();
        let buckets = list_buckets(&at.session);
        for (name, sent) in names.iter().zip(row) {
            let bucket = buckets.iter().find(|bucket| bucket.bucket == *name);
            let expected = bucket.map_or(0, |bucket| bucket.sent_tokens);
            assert_eq!(u64::from(*sent), expected, "call {call}, {name}");
        }
        let sum: u64 = row.iter().map(|tokens| u64::from(*tokens)).sum();
        assert_eq!(sum, replay.calls[call as usize].used, "call {call}");
        let listed = list_messages(&at.session);
        for message in &listed[known.len()..] {
            known.push(("kept", message.tokens));
        }
        for change in replay.changes(call, call) {
            known[change.index as usize] = (change.state, change.sent_tokens);
        }
        let now: Vec<(&str, u64)> =
            listed.iter().map(|message| (message.state, message.sent_tokens)).collect();
        assert_eq!(known, now, "call {call}");
    }
    let events: Vec<u32> = replay.events.iter().map(|event| event.call).collect();
    let expected: Vec<u32> =
        replay.calls.iter().filter(|call| call.event.is_some()).map(|call| call.call).collect();
    assert_eq!(events, expected);
    for event in &replay.events {
        assert!(event.after < event.before, "{event:?}");
        assert_eq!(event.fold.is_some(), event.event == Event::Fold);
    }
}

#[test]
fn the_next_request_has_all_messages_and_lists_its_changes() {
    let (recording, replay) = tight();
    let (at, changes) = recording.next(&replay, 3_600_000).unwrap();
    assert_eq!(message_count(&at.session), recording.len());
    let last = recording.at_call(&replay, u32::MAX).unwrap();
    let (before, after) = (list_messages(&last.session), list_messages(&at.session));
    let others: Vec<u32> = (0..)
        .zip(&after)
        .filter(|(index, now)| {
            let was = before.get(*index as usize).map_or("kept", |message| message.state);
            was != now.state
        })
        .map(|(index, _)| index)
        .collect();
    assert!(!others.is_empty(), "an hour later the cache is cold: that is the time to prune");
    assert!(others.iter().all(|index| changes.iter().any(|change| change.index == *index)));
    assert_eq!(at.at_ms, last.at_ms + 3_600_000);
}

#[test]
fn a_table_has_the_entries_of_the_list_in_columns() {
    let (recording, replay) = tight();
    let at = recording.at_call(&replay, 40).unwrap();
    let (table, names) = at.table();
    let listed = list_messages(&at.session);
    let states = ["kept", "capped", "stubbed", "thinned", "summarized", "dropped"];
    let columns: Vec<&[u32]> = table.chunks(listed.len()).collect();
    assert_eq!(columns.len(), 5);
    for (row, message) in listed.iter().enumerate() {
        assert_eq!(u64::from(columns[0][row]), message.tokens);
        assert_eq!(u64::from(columns[1][row]), message.sent_tokens);
        assert_eq!(states[columns[2][row] as usize], message.state);
        assert_eq!(columns[3][row], message.turn);
        assert_eq!(names[columns[4][row] as usize], message.bucket);
    }
}

#[test]
fn a_search_gives_utf16_positions_and_the_line_of_the_first_match() {
    let messages = json!([
        { "role": "user", "content": "naïve 😀 Ärger\nin line two: ÄRGER, ärger" },
        { "role": "assistant", "content": "nothing" },
        { "role": "user", "content": "ärger" }
    ]);
    let recording =
        recorded(&json!({ "messageFormat": "openai-chat", "messages": messages, "calls": [] }));
    let found = |text: &str, ignore_case, limit| recording.find(text, ignore_case, limit);
    let all = found("ärger", true, 100);
    assert_eq!(all.iter().map(|one| one.index).collect::<Vec<_>>(), [0, 2]);
    assert_eq!(all[0].at, [9, 28, 35]);
    assert_eq!(all[0].excerpt, "naïve 😀 Ärger");
    assert_eq!(found("ärger", false, 100)[0].at, [35]);
    assert_eq!(found("ärger", false, 100)[0].excerpt, "in line two: ÄRGER, ärger");
    assert_eq!(found("ärger", true, 2).len(), 1, "the limit is one of hits");
    assert_eq!((found("", true, 9), found("x", true, 0)), (vec![], vec![]));
}

#[test]
fn a_file_with_provider_counts_is_replayed_in_provider_tokens() {
    let mut session = session(30);
    let bare = recorded(&session);
    let options = |more: &str| {
        Options::for_replay(&format!(r#"{{"window":{{"contextTokens":1000000}}{more}}}"#)).unwrap()
    };
    let all = |calls: &[Call]| calls.iter().map(|call| call.unmanaged).collect::<Vec<_>>();
    let estimates = all(&bare.replay(&options("")).unwrap().calls);
    for (call, estimate) in session["calls"].as_array_mut().unwrap().iter_mut().zip(&estimates) {
        call["usage"] = json!({ "inputTokens": estimate * 3 / 2 + 5000 });
    }
    let counted = recorded(&session);
    let played = |more: &str| counted.replay(&options(more)).unwrap().calls;
    for (shown, estimate) in all(&played("")).into_iter().zip(&estimates) {
        let expected = estimate * 3 / 2 + 5000;
        assert!(shown.abs_diff(expected) * 100 <= expected, "{shown} {expected}");
    }
    let bare = r#","calibrate":false,"unseenTokens":0"#;
    assert_eq!(all(&played(bare)), estimates);
    let used = estimates;
    let unseen = played(r#","calibrate":false"#)[0].used - used[0];
    assert!(unseen.abs_diff(5000 * 2 / 3) < 100, "{unseen}");
    assert_eq!(played(r#","calibrate":false,"unseenTokens":7"#)[0].used, used[0] + 7);
}

#[test]
fn a_recorded_call_is_the_same_from_a_copy_and_from_the_start() {
    let mut session = session(40);
    for at in (0..40).step_by(3) {
        session["calls"][at]["usage"] = json!({ "inputTokens": 9000 + at * 1500 });
    }
    // Fewer messages than the call before it.
    session["calls"][20]["sent"] = json!(7);
    session["compactions"] =
        json!([{ "at": 33, "firstKeptIndex": 19, "kept": [[0, 1]], "summary": "it was searched" }]);
    let recording = recorded(&session);
    let options = Options::for_replay(r#"{"window":{"contextTokens":200000}}"#).unwrap();
    let fresh = recording.recorded_view(&options);
    let mut view = recording.recorded_view(&options);
    recording.recorded_layers(&mut view);
    for call in 0..45 {
        let [from_copy, anew] = [&view, &fresh].map(|view| recording.recorded_at(view, call));
        assert_eq!(format!("{:?}", from_copy.session), format!("{:?}", anew.session), "{call}");
    }
}

#[test]
fn recorded_layers_and_changes_are_those_of_each_call() {
    let mut session = session(12);
    for (at, call) in session["calls"].as_array_mut().unwrap().iter_mut().enumerate() {
        if at % 3 == 0 {
            call["usage"] = json!({ "inputTokens": 9000 + at * 1500 });
        }
    }
    session["compactions"] =
        json!([{ "at": 13, "firstKeptIndex": 9, "kept": [[0, 1]], "summary": "it was searched" }]);
    let recording = recorded(&session);
    let options = Options::for_replay(r#"{"window":{"contextTokens":200000}}"#).unwrap();
    let mut view = recording.recorded_view(&options);
    let (layers, changes) = recording.recorded_layers(&mut view);
    let mut known: Vec<(&str, u64)> = Vec::new();
    for (call, row) in (0..).zip(layers.tokens().chunks(layers.names.len())) {
        let at = recording.recorded_at(&view, call);
        let buckets = list_buckets(&at.session);
        for (name, sent) in layers.names.iter().zip(row) {
            let bucket = buckets.iter().find(|bucket| bucket.bucket == *name);
            assert_eq!(u64::from(*sent), bucket.map_or(0, |it| it.sent_tokens), "{call} {name}");
        }
        let listed = list_messages(&at.session);
        for message in &listed[known.len()..] {
            known.push(("kept", message.tokens));
        }
        for change in changes.iter().filter(|change| change.call == call) {
            known[change.index as usize] = (change.state, change.sent_tokens);
        }
        let now: Vec<(&str, u64)> =
            listed.iter().map(|message| (message.state, message.sent_tokens)).collect();
        assert_eq!(known, now, "call {call}");
    }
    assert_eq!(changes.len(), 8, "messages 1 to 8 were compacted, once");
}

#[test]
fn counts_that_do_not_fit_the_messages_are_ignored() {
    let mut session = session(30);
    let used = |session: &Value| replay(session, &window(1_000_000)).calls;
    let bare = used(&session);
    for (at, call) in session["calls"].as_array_mut().unwrap().iter_mut().enumerate() {
        call["usage"] = json!({ "inputTokens": 1 + at % 2 });
    }
    assert_eq!(used(&session), bare);
}

/// A replay with a summarizer whose summaries have so many tokens, and what its output costs.
fn summarized(preset: &str, tokens: u32, output: u32) -> (Recording, Replay) {
    let recording = recorded(&session(400));
    let economy =
        json!({ "cacheRead": 0.1, "cacheWrite": 1.25, "output": output, "cacheTtlMs": 300_000 });
    let window = json!({ "contextTokens": 36_000 });
    let options =
        json!({ "window": window, "preset": preset, "economy": economy, "summaryTokens": tokens });
    let replay = recording.replay(&Options::for_replay(&options.to_string()).unwrap()).unwrap();
    (recording, replay)
}

#[test]
fn folds_of_a_replay_carry_summaries_of_the_wanted_size_and_the_bill_contains_what_they_cost() {
    for preset in ["economy", "retention", "aceclaw"] {
        let (_, none) = summarized(preset, 0, 5);
        assert!(none.totals.folds > 0);
        assert_eq!((none.totals.summaries, none.totals.summary_bill), (0, 0));
        let (_, replay) = summarized(preset, 800, 5);
        let Totals { folds, summaries, summary_bill, bill, .. } = replay.totals;
        assert!(summaries > 1 && summaries <= folds, "{preset}: {summaries} of {folds}");
        assert_eq!((replay.totals.violations, replay.totals.over_window), (0, 0));
        assert_eq!(bill, replay.calls.iter().map(|call| call.bill).sum::<u64>());
        let lines = &replay.session.decisions.placeholders;
        assert_eq!(lines.estimator.tokens(&lines.summary), 800, "{preset}");
        assert!(replay.session.decisions.pruner.head.as_ref().is_some_and(|it| it.tokens > 800));
        let output = 5000 * 800 * u64::from(summaries);
        let input = (summary_bill - output) / 1000 / u64::from(summaries);
        assert!((5000..40_000).contains(&input), "{preset}: {input} tokens were read for each");
    }
    let bill = |output| summarized("aceclaw", 800, output).1.totals;
    let (five, six) = (bill(5), bill(6));
    assert_eq!(six.summary_bill - five.summary_bill, u64::from(five.summaries) * 800 * 1000);
    assert_eq!(six.bill - five.bill, six.summary_bill - five.summary_bill);
}

#[test]
fn a_replay_with_summaries_is_the_same_at_any_of_its_calls() {
    for preset in ["economy", "retention", "aceclaw"] {
        let (recording, replay) = summarized(preset, 800, 5);
        for call in replay.calls.iter().filter(|call| call.call % 3 == 0) {
            let at = recording.at_call(&replay, call.call).unwrap();
            assert_eq!(at.session.sizes().0, call.used, "{preset}, call {}", call.call);
        }
    }
}
