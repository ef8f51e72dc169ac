//! Requests that the host could not carry out: the next one is the same, and so is everything after it.

use super::*;
use crate::context::session::pinning::fronts;
use crate::context::session::pinning::pin_text;
use crate::context::session::pinning::unpin;
use crate::context::session::snapshot::snapshot_bytes;
use crate::model::MessageId;

/// One more message, or a call and its result.
fn grow(host: &mut Host, at: usize, size: usize, kind: u8) {
    match kind {
        0 => host.say(&words(size, &format!("a{at}b"))),
        1 => host.ask(&words(size, &format!("u{at}v"))),
        _ => host.work(&format!("c{at}"), &json!({ "n": at }), &words(size, &format!("x{at}y"))),
    }
}

/// A session whose results are shortened: each request that edits needs texts.
fn shortening() -> Value {
    let mut options = window(12_000);
    options["preset"] = "context-budget".into();
    options["strategy"] = "truncate".into();
    options
}

/// The first request that needs a text, in a session where each result is larger than a part of the window.
fn needing() -> (Host, Vec<MessageId>) {
    let mut host = Host::new(&shortening());
    host.ask("go");
    for at in 0..200 {
        host.work(&format!("c{at}"), &json!({ "path": at }), &words(400, &format!("x{at}y")));
        host.now_ms += 1000;
        let before = host.session.clone();
        if let Step::Need(messages) = host.session.request(host.now_ms) {
            return (host, messages);
        }
        host.session = before;
        host.now_ms -= 1000;
        host.request();
    }
    panic!("no text was ever needed")
}

#[test]
fn a_request_whose_texts_could_not_be_read_asks_for_them_again() {
    let (mut host, messages) = needing();
    let mut other =
        Host { session: host.session.clone(), messages: host.messages.clone(), now_ms: 0 };
    assert_eq!(other.session.request(99_000_000), Step::Need(messages));
    let step = other.request();
    host.now_ms -= 1000;
    assert_eq!(host.request(), step);
    assert_eq!(snapshot_bytes(&host.session), snapshot_bytes(&other.session));
}

#[test]
fn a_decision_made_before_its_texts_were_read_is_reported_with_the_next_request() {
    let (mut host, _) = needing();
    let before = host.session.request.last.tokens;
    host.say("so be it");
    host.ask("go on");
    let answer = host.request();
    assert!(!answer.edits.is_empty() && answer.first_changed.is_some());
    assert_eq!(answer.outcome.map(|it| it.tokens_before > before), Some(true));
}

#[test]
fn a_snapshot_that_is_made_while_texts_are_still_to_come_keeps_what_they_become() {
    let (mut host, _) = needing();
    let mut woken = host.woken(&shortening());
    let (here, there) = (host.request(), woken.request());
    assert_eq!(host.view(), there.items);
    assert_eq!(here.epoch, there.epoch);
}

#[test]
fn a_pin_is_removed_even_if_the_last_request_is_first_sent_again_in_full() {
    let mut host = Host::worked(&window(30_000), 5);
    let id = pin_text(&mut host.session, "keep this");
    host.ask("and?");
    host.session.request.last.rebuild = true;
    host.request();
    unpin(&mut host.session, id);
    host.session.resend_all();
    assert!(!fronts(&host.session, "keep this"));
    assert!(host.request().first_changed.is_some());
    host.ask("and then?");
    assert_eq!(host.request().first_changed, None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_request_that_was_not_carried_out_is_sent_again_in_full(
        sizes in prop::collection::vec((1usize..400, 0u8..4, 0u8..4), 1..40),
        tokens in 2_000u32..20_000,
        preset in 0usize..8,
    ) {
        let mut options = window(tokens);
        options["preset"] = crate::prune::Policy::PRESETS[preset].into();
        let (mut host, mut failing) = (Host::new(&options), Host::new(&options));
        host.ask("go");
        failing.ask("go");
        for (at, (size, kind, fails)) in sizes.into_iter().enumerate() {
            grow(&mut host, at, size, kind);
            grow(&mut failing, at, size, kind);
            let answer = host.request();
            if fails == 0 {
                // Its texts cannot be read, if it needs any.
                let mut state = failing.session.clone();
                if let Step::Need(_) = state.request(host.now_ms) {
                    failing.session = state;
                }
            }
            let mut same = failing.request();
            prop_assert_eq!(&answer, &same);
            if fails <= 1 {
                failing.session.resend_all();
                let again = failing.request();
                failing.now_ms = host.now_ms;
                same.items = host.view();
                prop_assert_eq!(&again.items, &same.items);
                prop_assert_eq!((again.keep, again.epoch, again.first_changed), (0, same.epoch, None));
                prop_assert_eq!((again.tokens, again.fits, again.hints), (same.tokens, same.fits, same.hints));
                prop_assert_eq!(again.tokens_before, same.tokens);
                prop_assert_eq!(again.cache_breakpoints, same.cache_breakpoints);
            }
            if fails == 2 && failing.session.request.last.items.len() > 1 {
                // Not even that could be carried out before the history went on.
                grow(&mut host, at + 1000, size, kind);
                grow(&mut failing, at + 1000, size, kind);
                failing.session.resend_all();
                let (answer, full) = (host.request(), failing.request());
                prop_assert_eq!(host.view(), full.items);
                prop_assert_eq!(
                    (answer.epoch, answer.first_changed, answer.tokens, answer.edits, answer.fold),
                    (full.epoch, full.first_changed, full.tokens, full.edits, full.fold)
                );
            }
            prop_assert_eq!(snapshot_bytes(&host.session), snapshot_bytes(&failing.session));
        }
    }
}
