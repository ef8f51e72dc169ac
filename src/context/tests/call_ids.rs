//! Calls that the host renames in messages that say the same.

use super::mended::{call, result};
use super::providers::host;
use super::*;
use crate::context::session::arrival::is_same_message;
use crate::context::session::call_ids::{renew_repairs, reread};
use crate::context::session::snapshot::truncate::truncate;

/// The host passes the same messages with other ids.
fn rename(host: &mut Host, from: &str, to: &str) -> bool {
    let (from, to) = (format!("\"{from}\""), format!("\"{to}\""));
    for (at, message) in (0u32..).zip(&mut host.messages) {
        *message = serde_json::from_str(&message.to_string().replace(&from, &to)).unwrap();
        reread(&mut host.session, at.into(), message.to_string().as_bytes()).unwrap();
    }
    let comes_again = renew_repairs(&mut host.session);
    if comes_again {
        for message in std::mem::take(&mut host.messages) {
            host.append(message);
        }
    }
    comes_again
}

fn answered_late(id: &str) -> Host {
    let mut host = host("anthropic", "anthropic", 0);
    host.ask("q");
    host.append(json!({ "role": "assistant", "content": [call(id)] }));
    host.ask("wait");
    host.append(json!({ "role": "user", "content": [result(id, "done".into())] }));
    host.say("fine");
    host.ask("next");
    host
}

/// The ids that go out, as far as a repair writes them.
fn ids(host: &Host) -> Vec<String> {
    let items = request::build_request::resend(&host.session, None).items;
    let items = crate::json::write(&items);
    let ids = items.split("id\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    let paths = items.split("id\",\"value\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    ids.chain(paths).map(str::to_owned).collect()
}

#[test]
fn a_moved_result_goes_out_under_the_id_that_its_call_has_now() {
    let mut host = answered_late("a");
    let first = host.request();
    assert_eq!(ids(&host), ["a"]);
    let measured = host.session.counters().bytes_measured;
    assert!(!rename(&mut host, "a", "b"));
    let second = host.request();
    assert_eq!(ids(&host), ["b"]);
    assert_eq!((second.epoch, second.first_changed), (first.epoch + 1, Some(1)));
    assert_eq!(host.session.counters().bytes_measured, measured, "no message is read again");
    assert_eq!(violations_sent(&host.session), []);
}

/// A cache reads the ids too, and reasoning is bound to them.
#[test]
fn a_new_id_opens_an_epoch_at_its_call() {
    let mut host = host("anthropic", "anthropic", 0);
    host.ask("q");
    host.append(json!({ "role": "assistant", "content": [call("a")] }));
    host.append(json!({ "role": "user", "content": [result("a", "done".into())] }));
    let first = host.request();
    assert!(!rename(&mut host, "a", "b"));
    let second = host.request();
    assert_eq!((second.epoch, second.first_changed), (first.epoch + 1, Some(1)));
    let third = host.request();
    assert_eq!((third.epoch, third.first_changed), (second.epoch, None));
}

#[test]
fn a_result_of_ours_goes_out_under_the_id_that_its_call_has_now() {
    let mut host = host("anthropic", "anthropic", 0);
    host.ask("q");
    host.append(json!({ "role": "assistant", "content": [call("a")] }));
    host.ask("go on");
    host.request();
    assert!(!rename(&mut host, "a", "b"));
    host.request();
    assert_eq!(ids(&host), ["b"]);
}

/// A call that waits is another one under another id, so its history comes again.
#[test]
fn a_result_of_ours_has_the_new_id_after_the_history_has_come_again() {
    let mut host = host("anthropic", "anthropic", 0);
    host.ask("q");
    host.append(json!({ "role": "assistant", "content": [call("a")] }));
    host.ask("go on");
    let epoch = host.request().epoch;
    let renamed = host.messages[1].to_string().replace("\"a\"", "\"b\"");
    assert_eq!(is_same_message(&mut host.session, 1.into(), renamed.as_bytes()), Ok(false));
    truncate(&mut host.session, 1.into(), false);
    for message in std::mem::take(&mut host.messages) {
        host.append(serde_json::from_str(&message.to_string().replace("\"a\"", "\"b\"")).unwrap());
    }
    let answer = host.request();
    assert_eq!((ids(&host), answer.first_changed), (vec!["b".to_owned()], Some(1)));
    assert_eq!(answer.epoch, epoch + 1);
}

#[test]
fn an_id_that_becomes_illegal_is_renamed_and_one_that_becomes_legal_is_not() {
    let mut host = host("anthropic", "anthropic", 0);
    host.ask("q");
    host.append(json!({ "role": "assistant", "content": [call("a")] }));
    host.append(json!({ "role": "user", "content": [result("a", "done".into())] }));
    host.say("fine");
    host.ask("next");
    host.request();
    assert!(!rename(&mut host, "a", "not legal"));
    host.request();
    assert_eq!(ids(&host), ["not_legal", "not_legal"]);
    assert_eq!(violations_sent(&host.session), []);
    assert!(!rename(&mut host, "not legal", "b"));
    let answer = host.request();
    assert_eq!((ids(&host), answer.repairs), (vec![], vec![]));
}

/// A host that stores our request has the ids that we sent: nothing is new for the provider.
#[test]
fn an_id_that_comes_back_as_it_was_sent_opens_no_epoch() {
    let mut host = host("anthropic", "anthropic", 0);
    host.ask("q");
    host.append(json!({ "role": "assistant", "content": [call("not legal")] }));
    host.append(json!({ "role": "user", "content": [result("not legal", "done".into())] }));
    let epoch = host.request().epoch;
    assert!(!rename(&mut host, "not legal", "not_legal"));
    let answer = host.request();
    assert_eq!((answer.epoch, answer.first_changed, answer.items.len()), (epoch, None, 0));
}

/// A session that only renames is the one that has had these ids from the start.
#[test]
fn later_messages_are_paired_by_the_new_ids() {
    let mut host = answered_late("a");
    host.request();
    rename(&mut host, "a", "b");
    for (at, id) in ["a", "b"].into_iter().enumerate() {
        host.work(id, &json!({ "path": at }), "done");
    }
    host.request();
    let mut fresh = answered_late("b");
    for (at, id) in ["a", "b"].into_iter().enumerate() {
        fresh.work(id, &json!({ "path": at }), "done");
    }
    fresh.request();
    assert_eq!(ids(&host), ids(&fresh));
    assert_eq!(host.session.repairs.fixes, fresh.session.repairs.fixes);
}

#[test]
fn results_that_answer_other_calls_now_have_all_messages_come_again() {
    let mut host = host("openai-chat", "openai-chat", 0);
    let call = |id: &str, path: &str| json!({ "id": id, "type": "function", "function": { "name": "read", "arguments": path } });
    host.ask("q");
    host.append(json!({ "role": "assistant", "content": null, "tool_calls": [call("a", "{\"p\":1}"), call("b", "{\"p\":2}")] }));
    for id in ["a", "b"] {
        host.append(json!({ "role": "tool", "tool_call_id": id, "content": id.repeat(3) }));
    }
    host.say("fine");
    host.ask("next");
    host.request();
    let id = |at: usize| host.messages[at]["tool_call_id"].clone();
    let (one, other) = (id(2), id(3));
    host.messages[2]["tool_call_id"] = other;
    host.messages[3]["tool_call_id"] = one;
    assert!(rename(&mut host, "none", "none"));
    host.request();
    let pairs: Vec<u32> = host
        .session
        .transcript
        .ledger
        .blocks
        .iter()
        .skip(3)
        .take(2)
        .map(|it| it.pair.get())
        .collect();
    assert_eq!(pairs, [2, 1]);
    assert_eq!(violations_sent(&host.session), []);
}
