//! Checkpoints: what one would be made of, and how long it is kept.

use super::*;
use crate::context::compaction::checkpoint::{checkpoint_state, plan_checkpoint, set_checkpoints};
use crate::context::compaction::folds::base_of;

fn checkpoint(host: &mut Host, from: u32) -> Value {
    serde_json::from_str(plan_checkpoint(&mut host.session, from.into()).json()).unwrap()
}

fn state(host: &Host) -> Option<String> {
    checkpoint_state(&host.session).map(|state| state.json().to_owned())
}

#[test]
fn a_checkpoint_lists_the_messages_from_the_one_named_on() {
    let mut host = Host::new(&options(&json!({})));
    host.ask("one");
    host.say("two two two");
    host.ask("three three three");
    host.say("four");
    let next = host.session.transcript.ledger.next_message();
    let tokens: u32 =
        host.session.transcript.ledger.blocks.iter().skip(2).map(|it| it.tokens).sum();
    let expected = json!({
        "base": base_of(&host.session, next),
        "messages": 4,
        "turns": 2,
        "folds": 0,
        "tokens": host.session.sizes().0,
        "usable": 19_000,
        "checkpoints": null,
        "go": [2, 3],
        "droppedTokens": tokens,
        "previousSummary": null,
        "pins": []
    });
    assert_eq!(checkpoint(&mut host, 2), expected);
}

#[test]
fn a_checkpoint_lists_what_was_folded_without_a_summary_too() {
    let mut host = talked(&options(&json!({})), 20);
    host.request();
    let plan = host.plan(true);
    let planned = json!({ "base": plan["plan"]["base"], "gone": plan["plan"]["gone"],
        "degraded": true, "failure": "temporary" });
    commit_plan(&mut host.session, &planned.to_string(), host.now_ms).unwrap();
    let plan = checkpoint(&mut host, 79);
    let go = plan["go"].as_array().unwrap();
    assert_eq!(go.last(), Some(&json!(79)));
    assert!(go.contains(&json!(1)) && !go.contains(&json!(78)), "{plan}");
    assert_eq!(plan["folds"], 1);
}

#[test]
fn a_checkpoint_is_kept_only_for_the_history_that_it_was_made_of() {
    let mut host = talked(&options(&json!({})), 2);
    let base = checkpoint(&mut host, 0)["base"].as_str().unwrap().to_owned();
    assert!(!set_checkpoints(&mut host.session, "8.0.0", "{}"));
    assert_eq!(state(&host), None);
    assert!(set_checkpoints(&mut host.session, &base, r#"{"made":1}"#));
    assert_eq!(state(&host).as_deref(), Some(r#"{"made":1}"#));
    host.ask("more");
    assert!(
        set_checkpoints(&mut host.session, &base, r#"{"made":2}"#),
        "what came later is no change"
    );
    assert_eq!(state(&host).as_deref(), Some(r#"{"made":2}"#));
}

#[test]
fn a_restored_session_has_its_checkpoint_before_and_after_its_first_request() {
    let options = options(&json!({}));
    let mut host = talked(&options, 2);
    host.request();
    let base = checkpoint(&mut host, 0)["base"].as_str().unwrap().to_owned();
    let kept = r#"{"checkpoint":{"messageCountAtCheckpoint":8}}"#;
    assert!(set_checkpoints(&mut host.session, &base, kept));
    let mut woken = Host::new(&options);
    restore_from(&mut woken.session, &snapshot_bytes(&host.session)).unwrap();
    assert_eq!(state(&woken).as_deref(), Some(kept));
    let mut woken = host.woken(&options);
    assert_eq!(state(&woken).as_deref(), Some(kept), "its messages have come");
    woken.request();
    assert_eq!(state(&woken).as_deref(), Some(kept));
}

#[test]
fn a_checkpoint_of_an_earlier_process_counts_until_the_history_is_folded() {
    let last =
        json!({ "summary": "So far.", "tokensAtCheckpoint": 1900, "messageCountAtCheckpoint": 4 });
    let summary = json!({ "minimumTokens": 0, "checkpoints": { "last": last } });
    let mut host = talked(&options(&json!({ "summary": summary })), 20);
    let kept: Value = serde_json::from_str(&state(&host).unwrap()).unwrap();
    assert_eq!(kept["checkpoint"], last);
    assert_eq!(checkpoint(&mut host, 0)["checkpoints"], kept);
    host.compact("short");
    assert_eq!(state(&host), None);
}
