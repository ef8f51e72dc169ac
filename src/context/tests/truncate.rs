//! Histories whose end is another each turn.

use super::snapshot::turn;
use super::*;
use crate::context::session::snapshot::resync;
use crate::context::session::snapshot::snapshot_bytes;
use crate::context::session::snapshot::truncate::truncate;

/// The same session, with all its messages read again.
fn read_again(host: &Host) -> Host {
    let mut other =
        Host { session: host.session.clone(), messages: Vec::new(), now_ms: host.now_ms };
    other.session.restoration.measured = None;
    resync(&mut other.session);
    for message in host.messages.clone() {
        other.append(message);
    }
    other
}

/// Both send the same after one more answer, and know the same.
fn decides_alike(one: &mut Host, other: &mut Host, answer: &str) -> Result<(), TestCaseError> {
    one.say(answer);
    other.say(answer);
    prop_assert_eq!(one.request(), other.request());
    prop_assert_eq!(one.view(), other.view());
    prop_assert_eq!(snapshot_bytes(&one.session), snapshot_bytes(&other.session));
    Ok(())
}

fn few() -> ProptestConfig {
    ProptestConfig { cases: 24, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(few())]

    #[test]
    fn messages_that_are_not_read_again_are_decided_like_the_others(kinds in prop::collection::vec(0u8..10, 10..60), tokens in 6_000u32..40_000, ends in prop::collection::vec(0u8..4, 60)) {
        let mut host = Host::new(&window(tokens));
        host.ask("find it");
        host.request();
        for (at, (kind, end)) in kinds.into_iter().zip(ends).enumerate() {
            turn(&mut host, kind, at);
            let same = host.messages.len();
            match end {
                0 => {}
                1 => host.work("last", &json!({ "path": at }), &words(900, "last")),
                _ => host.ask(&format!("reminder {at} of src/f{at}.rs {}", words(60, "more"))),
            }
            host.request();
            if end == 0 {
                continue;
            }
            host.messages.truncate(same);
            let mut other = read_again(&host);
            let kept = truncate(&mut host.session, u32::try_from(same).unwrap().into(), false);
            for message in host.messages.split_off(kept.index()) {
                host.append(message);
            }
            decides_alike(&mut host, &mut other, &format!("answer {at}"))?;
        }
    }
}

/// The host writes another result in place of the one at `at`.
fn rewritten(host: &mut Host, at: usize, text: &str) -> bool {
    let Some(result) = host.messages[at].pointer_mut("/content/0/content") else { return false };
    *result = json!(text);
    true
}

/// Hands over what follows the first `same` messages, but for those that the session keeps.
fn hand_over_from(host: &mut Host, same: usize) {
    let kept = truncate(&mut host.session, u32::try_from(same).unwrap().into(), true);
    for message in host.messages.split_off(kept.index()) {
        host.append(message);
    }
}

proptest! {
    #![proptest_config(few())]

    /// Between a call and its result nothing is kept: the session is kept before the call.
    #[test]
    fn results_that_are_rewritten_are_decided_as_if_all_were_read_again(kinds in prop::collection::vec(0u8..10, 10..40), tokens in 6_000u32..40_000, back in prop::collection::vec(0usize..9, 40)) {
        let mut host = Host::new(&window(tokens));
        host.ask("find it");
        host.request();
        for (at, (kind, back)) in kinds.into_iter().zip(back).enumerate() {
            turn(&mut host, kind, at);
            host.request();
            let same = host.messages.len().saturating_sub(back + 1);
            if !rewritten(&mut host, same, &format!("cut at {at}")) {
                continue;
            }
            let mut other = read_again(&host);
            hand_over_from(&mut host, same);
            decides_alike(&mut host, &mut other, &format!("answer {at}"))?;
        }
    }
}

/// A host that shortens the results of the turns before the newest, one at each turn.
#[test]
fn only_what_follows_a_rewritten_result_is_measured_again() {
    let mut host = Host::new(&window(1_000_000));
    let mut costs = Vec::new();
    for at in 0..200 {
        host.work(&format!("c{at}"), &json!({ "path": at }), &words(40, "found"));
        host.request();
        let same = host.messages.len().saturating_sub(9);
        if at < 10 || !rewritten(&mut host, same, "cut") {
            continue;
        }
        let before = host.session.counters().bytes_measured;
        hand_over_from(&mut host, same);
        costs.push(host.session.counters().bytes_measured - before);
        host.request();
    }
    let (early, late) = (costs[10], costs[costs.len() - 1]);
    assert!(late <= early + 100, "{late} bytes, {early} before");
}

#[test]
fn only_messages_that_differ_are_measured_again() {
    let mut host = Host::new(&window(1_000_000));
    let mut costs = Vec::new();
    for at in 0..200 {
        host.ask(&format!("question {at}"));
        let same = host.messages.len();
        host.ask(&format!("reminder {at}"));
        host.request();
        host.messages.truncate(same);
        let before = host.session.counters().bytes_measured;
        let kept = truncate(&mut host.session, u32::try_from(same).unwrap().into(), false);
        for message in host.messages.split_off(kept.index()) {
            host.append(message);
        }
        host.say(&format!("answer {at}"));
        costs.push(host.session.counters().bytes_measured - before);
    }
    let (early, late) = (costs[20], costs[199]);
    assert!(late <= early + 20, "{late} bytes, {early} before");
}

/// A session longer than what a snapshot knows message by message, and all its messages, which come again.
fn long() -> (Host, Vec<Value>) {
    let mut host = Host::new(&window(60_000));
    host.ask("find it");
    for at in 0..400 {
        host.work(&format!("c{at}"), &json!({ "path": at }), &words(30, &format!("x{at}y")));
        host.request();
    }
    let messages = std::mem::take(&mut host.messages);
    (host, messages)
}

#[test]
fn an_edit_of_an_old_message_leaves_the_request_before_it_as_it_was() {
    let (mut host, mut messages) = long();
    messages[200]["content"][0]["content"] = json!("another");
    truncate(&mut host.session, MessageId::FIRST, false);
    // Each message comes once.
    for message in messages {
        host.append(message);
    }
    let answer = host.request();
    assert_eq!((answer.first_changed, answer.keep), (Some(200), 200));
}

#[test]
fn an_edit_of_the_first_message_is_seen_at_once() {
    let (mut host, mut messages) = long();
    messages[0]["content"] = json!("find another");
    truncate(&mut host.session, MessageId::FIRST, false);
    // It is looked for as a later part of the history once, and never again.
    for message in messages {
        host.append(message);
    }
    assert_eq!(host.request().keep, 0);
}
