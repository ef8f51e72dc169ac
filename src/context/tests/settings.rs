//! Settings among Anthropic's messages (tools, effort, reminders for one turn), and the API's own summaries.

use super::providers::{host, written};
use super::*;

fn tools(name: &str) -> Value {
    let tool =
        json!({ "type": "tool_definition", "definition": { "name": name, "input_schema": {} } });
    json!({ "role": "system", "content": [{ "type": "tool_addition", "tool": tool }] })
}

fn effort() -> Value {
    json!({ "role": "system", "output_config": { "effort": "low" } })
}

fn reminder() -> Value {
    json!({ "role": "system", "clear_at": "next_user_message", "content": words(30, "remember") })
}

fn compaction() -> Value {
    let block =
        json!({ "type": "compaction", "content": "what was done before", "signature": "s" });
    json!({ "role": "assistant", "content": [block] })
}

/// Who speaks in each message that is sent, and which of the host's it is.
fn roles(host: &Host, sent: &[Written]) -> Vec<(String, Option<usize>)> {
    let role = |message: &Value| message["role"].as_str().unwrap().to_owned();
    let show = |item: &Written| match item {
        Written::Keep { index } | Written::Edit { index, .. } => {
            (role(&host.messages[index.index()]), Some(index.index()))
        }
        Written::Make { make, .. } => (role(&serde_json::from_str(make.json()).unwrap()), None),
        Written::Same(_) => unreachable!(),
    };
    sent.iter().map(show).collect()
}

#[test]
fn settings_among_the_messages_go_out_as_they_are() {
    let mut host = host("anthropic", "anthropic", 100_000);
    host.append(effort());
    host.ask("go");
    host.append(tools("grep"));
    host.say("yes");
    host.append(effort());
    host.ask("on");
    host.append(reminder());
    let answer = host.request();
    let all: Vec<Value> = (0..7).map(|index| json!({ "index": index })).collect();
    assert_eq!(written(&answer), json!(all));
    assert_eq!((answer.repairs.len(), violations_sent(&host.session)), (0, vec![]));
    // A reminder takes no marker, nor does what says nothing.
    assert_eq!(answer.cache_breakpoints, [5]);
}

#[test]
fn effort_at_the_end_lets_the_user_speak_last() {
    let mut host = host("anthropic", "anthropic", 100_000);
    host.ask("go");
    host.say("yes");
    host.append(effort());
    let answer = host.request();
    let sent = written(&answer);
    assert_eq!((&sent[2]["make"]["role"], &sent[3]), (&json!("user"), &json!({ "index": 2 })));
    assert_eq!(violations_sent(&host.session), []);
}

#[test]
fn a_change_of_tools_that_comes_first_follows_a_line_of_the_users() {
    let mut host = host("anthropic", "anthropic", 100_000);
    host.append(tools("grep"));
    host.say("yes");
    host.ask("on");
    let sent = written(&host.request());
    let indexes: Vec<&Value> = sent.as_array().unwrap().iter().map(|it| &it["index"]).collect();
    assert_eq!(indexes, [&Value::Null, &json!(0), &json!(1), &json!(2)]);
    assert_eq!(sent[0]["make"]["role"], "user");
    assert_eq!(violations_sent(&host.session), []);
}

#[test]
fn changes_of_tools_outlive_every_fold_and_stand_before_the_model() {
    for preset in ["balanced", "economy", "capacity", "openclaw"] {
        let mut options = window(16_000);
        (options["format"], options["preset"]) = ("anthropic".into(), preset.into());
        let mut host = Host::new(&options);
        // A text this long does not stay.
        host.ask(&words(2000, "find"));
        let (mut sent, mut kept, mut reminders) = (vec![], vec![], vec![]);
        for at in 0..60 {
            let id = format!("c{at}");
            host.work(&id, &json!({ "path": words(100, &id) }), &words(300, &id));
            if at % 6 == 0 {
                kept.push(host.messages.len());
                host.append(tools(&id));
            }
            if at % 7 == 0 {
                kept.push(host.messages.len());
                host.append(effort());
            }
            if at % 5 == 0 {
                reminders.push(host.messages.len());
                host.append(reminder());
            }
            if at % 4 == 0 {
                host.say("done");
                host.ask(&format!("and step {at}"));
            }
            sent = sent_after(&sent, &host.request());
            assert_eq!(violations_sent(&host.session), [], "{preset}: {at}");
            let roles = roles(&host, &sent);
            assert!(kept.iter().all(|at| roles.iter().any(|(_, index)| *index == Some(*at))));
            // What says nothing may stand anywhere, the rest between the user and the model.
            let speaks = |index: Option<usize>| {
                index.is_none_or(|at| !host.messages[at]["output_config"].is_object())
            };
            let mut speakers: Vec<&str> =
                roles.iter().filter(|it| speaks(it.1)).map(|it| &*it.0).collect();
            speakers.dedup();
            for (at, role) in speakers.iter().enumerate().filter(|(_, role)| **role == "system") {
                assert_eq!(speakers.get(at.wrapping_sub(1)), Some(&"user"), "{preset}: {role}");
                assert!([None, Some(&"assistant")].contains(&speakers.get(at + 1)), "{preset}");
            }
        }
        assert!(host.forms().contains(&Form::Gone), "{preset}");
        let roles = roles(&host, &sent);
        let is_sent = |at: &usize| roles.iter().any(|(_, index)| *index == Some(*at));
        assert!(!is_sent(&reminders[0]), "{preset}: what is read no more goes with a fold");
    }
}

#[test]
fn a_compaction_of_the_api_stays_first_through_every_fold() {
    let mut host = host("anthropic", "anthropic", 16_000);
    host.append(compaction());
    host.say("kept");
    host.ask("find it");
    let mut sent = vec![];
    for at in 0..40 {
        let id = format!("c{at}");
        host.work(&id, &json!({ "path": words(100, &id) }), &words(300, &id));
        sent = sent_after(&sent, &host.request());
        assert_eq!(sent[0], Written::Keep { index: 0.into() });
        assert_eq!(violations_sent(&host.session), []);
        if at == 0 {
            assert_eq!(sent[1], Written::Keep { index: 1.into() });
        }
    }
    assert!(matches!(sent[1], Written::Make { .. }), "the head follows it");
}

/// The API ignores all that stands before its summary.
#[test]
fn the_head_of_a_fold_follows_a_compaction_in_the_midst() {
    let mut host = host("anthropic", "anthropic", 16_000);
    host.ask("find it");
    let mut sent = vec![];
    for at in 0..60 {
        let id = format!("c{at}");
        host.work(&id, &json!({ "path": words(100, &id) }), &words(300, &id));
        if at == 3 {
            host.append(compaction());
        }
        sent = sent_after(&sent, &host.request());
        assert_eq!(violations_sent(&host.session), []);
    }
    let place = |wanted: fn(&Written) -> bool| sent.iter().position(wanted);
    let summary = place(|it| matches!(it, Written::Keep { index } if index.index() == 9));
    let head = place(|it| matches!(it, Written::Make { .. }));
    assert!(summary.is_some() && summary < head, "{summary:?} {head:?}");
}
