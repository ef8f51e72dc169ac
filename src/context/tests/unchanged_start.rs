//! An edit: what comes before it is neither built nor checked again.

use super::*;
use crate::context::request::unchanged_start::unchanged_start;
use crate::context::session::call_ids::reread;
use crate::prune::{Change, Rule};
use crate::validity::PUSHED;

fn options() -> Value {
    json!({ "window": { "contextTokens": 30_000, "maxOutputTokens": 2000 }, "format": "anthropic" })
}

/// Shortens the first block of a message as a decision does.
fn shorten(host: &mut Host, message: u32) {
    let session = &mut host.session;
    let block = session.transcript.ledger.blocks_of(MessageId::from(message)).start;
    let before = session.transcript.ledger.block(block).unwrap().now;
    session.decisions.placeholders.text.insert(block, "[a shorter text]".into());
    session.transcript.ledger.set_form(block, Form::Stubbed, 6);
    session.note(Change { block, rule: Rule::HardFit, before });
    session.request.last.settled = false;
}

/// Small results, and a request that an edit of the first has opened: there are states all along it.
fn checked() -> Host {
    let mut host = Host::new(&options());
    host.ask("find it");
    for at in 0..20 {
        host.work(&format!("c{at}"), &json!({ "path": at.to_string() }), "found");
    }
    host.request();
    shorten(&mut host, 2);
    assert_eq!(host.request().first_changed, Some(2));
    host
}

fn result(at: usize) -> String {
    format!("line {at} of src/file_{at}.rs\n").repeat(60)
}

#[test]
fn an_edit_checks_only_what_follows_it() {
    let mut host = Host::new(&options());
    host.ask("find it");
    let (mut edits, mut last) = (0, 0usize);
    for at in 0..200 {
        host.work(&format!("c{at}"), &json!({ "path": format!("src/file_{at}.rs") }), &result(at));
        let before = PUSHED.get();
        let answer = host.request();
        let (pushed, first) = (PUSHED.get() - before, answer.first_changed);
        if answer.event == Some(Event::Edit) && last > 0 {
            let all = host.session.request.last.items.len();
            let follows = all - usize::try_from(first.unwrap()).unwrap();
            // The check that goes on, and the whole one that a debug assertion compares with it.
            let checked = pushed - all;
            let most = follows + last.div_ceil(8).max(8);
            assert!((follows..=most).contains(&checked), "{checked} for {follows} of {all}");
            edits += usize::from(follows < all / 2);
        }
        if first.is_some() {
            last = host.session.request.last.items.len();
        }
        if answer.event == Some(Event::Fold) {
            last = 0;
        }
    }
    assert!(edits > 2, "{edits}");
}

#[test]
fn an_edit_builds_only_what_follows_it() {
    let mut host = checked();
    let mut from = |message: u32| {
        shorten(&mut host, message);
        let start = unchanged_start(&host.session, None).map(|it| it.messages);
        assert_eq!(host.request().first_changed, Some(i64::from(message)));
        start
    };
    // The states are eight messages apart; the first is after eight.
    assert_eq!([30, 38, 20, 6].map(&mut from), [Some(24), Some(32), Some(16), None]);
}

#[test]
fn states_of_a_long_request_are_an_eighth_of_it_apart() {
    let mut host =
        Host::new(&json!({ "window": { "contextTokens": 1_000_000 }, "format": "anthropic" }));
    host.ask("find it");
    for at in 0..200 {
        host.work(&format!("c{at}"), &json!({ "path": at.to_string() }), "found");
    }
    host.request();
    shorten(&mut host, 2);
    host.request();
    shorten(&mut host, 340);
    // Of 401 messages.
    assert_eq!(unchanged_start(&host.session, None).map(|it| it.messages), Some(300));
}

#[test]
fn a_message_is_checked_as_it_comes_and_an_edit_of_it_changes_nothing_before() {
    let mut host = checked();
    let sent = host.session.request.last.items.len();
    host.work("new", &json!({}), "found");
    shorten(&mut host, u32::try_from(sent).unwrap());
    let start = unchanged_start(&host.session, None).unwrap();
    let before = PUSHED.get();
    let first_changed = host.request().first_changed;
    let built = (start.messages, start.is_edited, first_changed);
    assert_eq!((built, PUSHED.get() - before), ((sent, false, None), 0));
}

#[test]
fn an_edit_loses_the_cached_tokens_of_what_follows_it() {
    let mut host = Host::new(&options());
    let mut start = Host::new(&options());
    for at in 0..10 {
        host.ask(&format!("question {at}"));
        host.say(&words(20 + at, "a"));
    }
    for message in &host.messages[..13] {
        start.append(message.clone());
    }
    let (all, kept) = (host.request().tokens, start.request().tokens);
    shorten(&mut host, 13);
    let answer = host.request();
    assert_eq!((answer.first_changed, answer.cached_tokens_lost), (Some(13), all - kept));
}

#[test]
fn cache_markers_that_have_moved_are_counted_where_they_are() {
    let mut host = checked();
    let mark = |host: &mut Host, messages: std::ops::Range<u32>, is_marked: bool| {
        for index in messages {
            let part = host.messages[index as usize]["content"][0].as_object_mut().unwrap();
            part.remove("cache_control");
            if is_marked {
                part.insert("cache_control".into(), json!({ "type": "ephemeral" }));
            }
            let message = host.messages[index as usize].to_string();
            reread(&mut host.session, index.into(), message.as_bytes()).unwrap();
        }
    };
    // Four are as many as the provider takes.
    mark(&mut host, 31..35, true);
    shorten(&mut host, 4);
    assert_eq!(host.request().marked, 4);
    mark(&mut host, 31..35, false);
    mark(&mut host, 37..41, true);
    assert_eq!(host.request().marked, 4);
    shorten(&mut host, 36);
    let answer = host.request();
    assert_eq!((answer.first_changed, answer.marked), (Some(36), 4));
    assert_eq!((answer.repairs, violations_sent(&host.session)), (vec![], vec![]));
}

/// A block with a cache marker.
fn marked(text: &str) -> Value {
    json!({ "type": "text", "text": text, "cache_control": { "type": "ephemeral" } })
}

#[test]
fn a_shortened_result_loses_the_cache_markers_of_its_blocks_with_them() {
    let mut host = Host::new(&options());
    host.ask("find it");
    let call = json!({ "type": "tool_use", "id": "c", "name": "read", "input": {} });
    host.append(json!({ "role": "assistant", "content": [call] }));
    let mut result = json!({ "type": "tool_result", "tool_use_id": "c" });
    result["content"] = ["a", "b", "c"].map(marked).into();
    result["cache_control"] = json!({ "type": "ephemeral" });
    host.append(json!({ "role": "user", "content": [result] }));
    host.say("so");
    let more = ["d", "e", "f"].map(marked);
    host.append(json!({ "role": "user", "content": more }));
    host.request();
    assert_eq!(violations_sent(&host.session), []);
    shorten(&mut host, 2);
    host.request();
    let sent: Value = serde_json::from_str(&crate::json::write(&host.view()[2])).unwrap();
    let ops = json!([
        { "op": "add", "path": "/content/0/content", "value": "[a shorter text]" },
        { "op": "remove", "path": "/content/0/cache_control" },
    ]);
    assert_eq!(sent, json!({ "index": 2, "ops": ops }));
}

#[test]
fn a_line_of_ours_takes_the_place_of_what_had_to_be_repaired() {
    let mut host = Host::new(&options());
    host.ask("find it");
    let call = json!({ "type": "tool_use", "id": "c", "name": "read", "input": {} });
    host.append(json!({ "role": "assistant", "content": [call] }));
    let blocks = ["", "found"].map(|text| json!({ "type": "text", "text": text }));
    let result = json!({ "type": "tool_result", "tool_use_id": "c", "content": blocks });
    host.append(json!({ "role": "user", "content": [result] }));
    let ops = |host: &mut Host, index: usize| {
        host.request();
        assert_eq!(violations_sent(&host.session), []);
        let sent = crate::json::write(&host.view()[index]);
        serde_json::from_str::<Value>(&sent).unwrap()["ops"].clone()
    };
    let removal = json!([{ "op": "remove", "path": "/content/0/content/0" }]);
    assert_eq!(ops(&mut host, 2), removal);
    shorten(&mut host, 2);
    let line = json!([{ "op": "add", "path": "/content/0/content", "value": "[a shorter text]" }]);
    assert_eq!(ops(&mut host, 2), line);

    let chat = json!({ "window": { "contextTokens": 30_000 }, "format": "openai-chat" });
    let mut host = Host::new(&chat);
    host.ask("find it");
    let call =
        json!({ "id": "c", "type": "function", "function": { "name": "read", "arguments": "{" } });
    host.append(json!({ "role": "assistant", "content": null, "tool_calls": [call] }));
    host.append(json!({ "role": "tool", "tool_call_id": "c", "content": "found" }));
    let repaired = ops(&mut host, 1);
    assert_eq!(repaired[0]["value"], "{}");
    shorten(&mut host, 1);
    let line = ops(&mut host, 1);
    assert_eq!(line.as_array().map(Vec::len), Some(1), "{line}");
    assert_ne!(line, repaired);
}

#[test]
fn a_shortened_result_is_the_same_message_without_its_cache_marker() {
    let mut host = Host::new(&options());
    host.ask("find it");
    let call = json!({ "type": "tool_use", "id": "c", "name": "read", "input": {} });
    host.append(json!({ "role": "assistant", "content": [call] }));
    let mut result = json!({ "type": "tool_result", "tool_use_id": "c", "content": "found" });
    result["cache_control"] = json!({ "type": "ephemeral" });
    host.append(json!({ "role": "user", "content": [result] }));
    host.request();
    shorten(&mut host, 2);
    assert_eq!(host.request().first_changed, Some(2));
    for at in 0..4 {
        host.say("so");
        let question = marked(&at.to_string());
        host.append(json!({ "role": "user", "content": [question] }));
    }
    let answer = host.request();
    assert_eq!((answer.first_changed, answer.keep, answer.marked), (None, 2, 4));
}

#[test]
fn a_late_result_changes_where_it_goes_out() {
    let mut host = checked();
    let call = json!({ "type": "tool_use", "id": "late", "name": "read", "input": {} });
    host.append(json!({ "role": "assistant", "content": [call] }));
    for at in 20..30 {
        host.work(&format!("c{at}"), &json!({ "path": at.to_string() }), "found");
    }
    let result = json!({ "type": "tool_result", "tool_use_id": "late", "content": result(0) });
    host.append(json!({ "role": "user", "content": [result] }));
    let late = u32::try_from(host.messages.len()).unwrap() - 1;
    host.say("All is there.");
    host.ask("go on");
    host.request();
    shorten(&mut host, 4);
    host.request();
    shorten(&mut host, late);
    let answer = host.request();
    // It goes out after the turn of its call, which are two messages.
    assert_eq!(answer.first_changed, Some(43));
}

#[test]
fn a_request_of_another_kind_is_checked_from_its_start() {
    let mut host = checked();
    // Rules on its end do not count: more follows.
    host.session.request.extras.open = true;
    host.session.repairs.repairer.set_open(true);
    let call = json!({ "type": "tool_use", "id": "open", "name": "read", "input": {} });
    host.append(json!({ "role": "assistant", "content": [call] }));
    shorten(&mut host, 30);
    assert_eq!(host.request().first_changed, Some(30));
    assert_eq!(host.session.request.last.violations, []);
}
