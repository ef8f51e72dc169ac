//! Histories whose end is another each turn.

use super::snapshot::turn;
use super::*;
use crate::context::session::snapshot::resync;
use crate::context::session::snapshot::snapshot_bytes;
use crate::context::session::snapshot::truncate::truncate;

/// The same session, which reads all its messages again whenever its history ends otherwise.
fn again(host: &Host) -> Host {
    Host { session: host.session.clone(), messages: Vec::new(), now_ms: host.now_ms }
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
            let mut other = again(&host);
            other.session.restoration.measured = None;
            resync(&mut other.session);
            for message in host.messages.clone() {
                other.append(message);
            }
            let kept = truncate(&mut host.session, u32::try_from(same).unwrap().into(), false);
            for message in host.messages.split_off(kept.index()) {
                host.append(message);
            }
            for one in [&mut host, &mut other] {
                one.say(&format!("answer {at}"));
            }
            let (got, wanted) = (host.request(), other.request());
            prop_assert_eq!(&got, &wanted);
            prop_assert_eq!(host.view(), other.view());
            prop_assert_eq!(snapshot_bytes(&host.session), snapshot_bytes(&other.session));
        }
    }
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
