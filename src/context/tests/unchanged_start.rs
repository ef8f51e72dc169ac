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
