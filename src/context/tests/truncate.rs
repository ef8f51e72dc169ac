//! Histories whose end is another each turn.

use super::snapshot::turn;
use super::*;

/// The same session, which reads all its messages again whenever its history ends otherwise.
fn again(told: &Told) -> Told {
    Told { state: told.state.clone(), messages: Vec::new(), now_ms: told.now_ms }
}

fn few() -> ProptestConfig {
    ProptestConfig { cases: 24, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(few())]

    #[test]
    fn what_is_not_read_again_is_decided_as_if_it_were(kinds in prop::collection::vec(0u8..10, 10..60), tokens in 6_000u32..40_000, ends in prop::collection::vec(0u8..4, 60)) {
        let mut told = Told::new(&window(tokens));
        told.ask("find it");
        told.request();
        for (at, (kind, end)) in kinds.into_iter().zip(ends).enumerate() {
            turn(&mut told, kind, at);
            let same = told.messages.len();
            match end {
                0 => {}
                1 => told.work("last", &json!({ "path": at }), &words(900, "last")),
                _ => told.ask(&format!("reminder {at} of src/f{at}.rs {}", words(60, "more"))),
            }
            told.request();
            if end == 0 {
                continue;
            }
            told.messages.truncate(same);
            let mut other = again(&told);
            other.state.measured = None;
            other.state.resync();
            for message in told.messages.clone() {
                other.tell(message);
            }
            let kept = told.state.truncate(u32::try_from(same).unwrap(), false);
            for message in told.messages.split_off(kept as usize) {
                told.tell(message);
            }
            for one in [&mut told, &mut other] {
                one.say(&format!("answer {at}"));
            }
            let (got, wanted) = (told.request(), other.request());
            prop_assert_eq!(&got, &wanted);
            prop_assert_eq!(told.view(), other.view());
            prop_assert_eq!(told.state.snapshot(), other.state.snapshot());
        }
    }
}

#[test]
fn only_what_parted_is_measured_again() {
    let mut told = Told::new(&window(1_000_000));
    let mut costs = Vec::new();
    for at in 0..200 {
        told.ask(&format!("question {at}"));
        let same = told.messages.len();
        told.ask(&format!("reminder {at}"));
        told.request();
        told.messages.truncate(same);
        let before = told.state.counters().bytes_measured;
        let kept = told.state.truncate(u32::try_from(same).unwrap(), false);
        for message in told.messages.split_off(kept as usize) {
            told.tell(message);
        }
        told.say(&format!("answer {at}"));
        costs.push(told.state.counters().bytes_measured - before);
    }
    let (early, late) = (costs[20], costs[199]);
    assert!(late <= early + 20, "{late} bytes, {early} before");
}
