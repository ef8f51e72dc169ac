//! The way of `aiclaw`.

use super::*;

/// Row I8.
#[test]
fn aiclaw_cuts_results_to_200_between_the_first_and_the_last_twenty() {
    let mut host = preset("aiclaw", 12_000, &json!({}));
    worked(&mut host, 12, 2000);
    let answer = host.request();
    let stubs = results(&answer);
    let count = host.messages.len();
    assert!(stubs.iter().all(|(at, _)| (*at as usize) < count - 20), "{stubs:?}");
    assert!(stubs.len() >= 6 && answer.fold.is_none());
    assert!(stubs.iter().all(|(_, stub)| stub.ends_with("\n...(truncated)") && stub.len() == 215));
}

/// I1, I4, I6, F082, F088: fewer than five between what is protected are not folded, nor is anything of 26 messages, and it is
/// said why.
/// Row I6.
#[test]
fn a_fold_of_fewer_than_five_messages_is_refused_with_its_reason() {
    for (messages, last, folds) in
        [(24, 20, false), (26, 20, false), (27, 20, true), (26, 19, true)]
    {
        let mut host = preset("aiclaw", 16_000, &json!({ "protectLast": last }));
        for at in 0..messages {
            if at % 2 == 0 {
                host.ask(&format!("question {at}"));
            } else {
                host.say(&text(at, 4000));
            }
        }
        let answer = host.request();
        assert_eq!(answer.fold.is_some(), folds, "{messages}");
        let reason = "too few messages stand between what is protected";
        let outcome = answer.outcome.unwrap();
        assert_eq!(outcome.reason, if folds { "fold by digest and hot set" } else { reason });
        assert!(answer.fits);
    }
    // I4: nor are its results cut, before the request would not fit.
    for (steps, cut) in [(12, false), (13, true)] {
        let mut host = preset("aiclaw", 40_000, &json!({}));
        host.ask("go");
        for at in 0..steps {
            host.work(&format!("c{at}"), &json!({}), &text(at, 8000));
        }
        let answer = host.request();
        assert!(answer.tokens > 20_000 || cut);
        assert_eq!(answer.edits.iter().any(|edit| edit.rule == "prune"), cut, "{steps}");
    }
}
