//! Sessions played under a policy.

use super::*;
use crate::context::request::response::violations_sent;

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
fn each_call_of_a_replay_counts_the_rules_that_its_whole_request_breaks() {
    let mut session = session(25);
    session["tools"] = json!([]);
    let options = json!({ "window": { "contextTokens": 30_000 }, "provider": "bedrock" });
    let whole = replay(&session, &options, None);
    assert!(whole.totals.epochs > 0);
    for call in &whole.calls {
        let state = replay(&session, &options, Some(call.call)).state;
        assert_eq!(violations_sent(&state).len(), call.violations as usize, "call {}", call.call);
    }
    assert_eq!(whole.totals.violations, 25, "each request with a call: no tools are declared");
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
    let mut host = Host::new(&window(0));
    host.ask(&words(3000, "first "));
    host.say("noted");
    host.ask(&words(1000, "then "));
    host.say("noted too");
    let messages = host.messages;
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
        (json!({ "economy": { "cacheRead": 2 } }), "economy.cacheWrite:"),
        (json!({ "economy": 1 }), "economy:"),
        (json!({ "stubChars": 1, "economy": economy }), "unknown option stubChars;"),
        (json!([]), "options:"),
    ] {
        let refused = Options::for_replay(&options.to_string()).unwrap_err().to_string();
        assert!(refused.starts_with(named), "{refused}");
    }
}
