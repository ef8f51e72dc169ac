//! Forecasts against what comes, in sessions in which each call brings the same.

use super::super::forecast::Forecast;
use super::*;

const WINDOW: u64 = 40_000;
const TRIGGER: &str = "that is the trigger";
const EDIT: &str = "editing then costs less than resending";
const FOLD: &str = "folding then costs less than resending";

/// Tokens of the arguments and of the result that each call brings.
type Brought = (u32, u32);

fn go_on(story: &mut Story, (arguments, result): Brought) {
    story.work((arguments, Mask::FREE), &[(result, Mask::FREE)], &[]);
}

fn setting() -> Setting {
    Setting { window: WINDOW, usable: WINDOW, fixed: 0, mended: 0, cap: u64::MAX }
}

fn forecast(story: &Story, summarizes: bool) -> Option<Forecast> {
    story.pruner.forecast(&story.ledger, &setting(), story.call, summarizes)
}

/// A session after so many calls and requests.
fn lived(preset: &str, brought: Brought, calls: u32, summarizes: bool) -> Story {
    let mut story = Story::of(preset);
    story.ask(100, Mask::FREE);
    for call in 0..calls {
        go_on(&mut story, brought);
        story.decide_at(WINDOW, Moment { first: call == 0, summarizes, ..Story::REQUEST });
    }
    story
}

/// The request that changes something next: its tokens before that, and why.
fn next_change(story: &Story, brought: Brought, summarizes: bool) -> (u64, &'static str) {
    let mut story = story.clone();
    loop {
        go_on(&mut story, brought);
        let tokens = story.context(WINDOW);
        let decision = story.decide_at(WINDOW, Moment { summarizes, ..Story::REQUEST });
        if !decision.changes.is_empty() {
            let is_early = tokens <= story.pruner.line(&setting());
            let reason = if decision.folded { FOLD } else { EDIT };
            return (tokens, if is_early { reason } else { TRIGGER });
        }
    }
}

#[test]
fn a_session_that_goes_on_as_it_went_is_changed_where_the_forecast_has_it() {
    for preset in ["economy", "balanced", "retention", "capacity"] {
        for brought in [(20, 150), (20, 400), (20, 900), (20, 2_500), (300, 900), (500, 20)] {
            for summarizes in [true, false] {
                for calls in [6, 12, 18, 30, 42, 48, 54] {
                    let story = lived(preset, brought, calls, summarizes);
                    let expected = forecast(&story, summarizes).unwrap();
                    let (tokens, reason) = next_change(&story, brought, summarizes);
                    let place = format!("{preset} {brought:?} {summarizes} {calls}");
                    assert_eq!(expected.reason, reason, "{place}");
                    if reason == TRIGGER {
                        assert_eq!(expected.tokens, story.pruner.line(&setting()), "{place}");
                    } else {
                        let apart = expected.tokens.abs_diff(tokens);
                        assert!(
                            100 * apart <= 12 * tokens,
                            "{place}: {} {tokens}",
                            expected.tokens
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn a_forecast_of_a_long_session_goes_by_its_newest_calls() {
    let mut story = lived("balanced", (20, 150), 100, true);
    // 300 blocks that can be edited: more than a forecast looks at.
    for _ in 0..300 {
        go_on(&mut story, (20, 2_500));
        story.decide_at(WINDOW, Story::REQUEST);
    }
    let expected = forecast(&story, true).unwrap();
    let (tokens, reason) = next_change(&story, (20, 2_500), true);
    assert_eq!(expected.reason, reason);
    assert!(100 * expected.tokens.abs_diff(tokens) <= 12 * tokens, "{expected:?} {tokens}");
}

#[test]
fn before_the_first_call_there_is_no_forecast() {
    let mut story = Story::new();
    story.ask(100, Mask::FREE);
    assert_eq!(forecast(&story, true), None);
}

#[test]
fn what_must_stay_as_it_is_brings_no_edit() {
    let mut story = Story::new();
    for call in 0..10 {
        story.work((300, Mask::FIXED), &[(900, Mask::FIXED)], &[]);
        story.decide_at(WINDOW, Moment { first: call == 0, ..Story::REQUEST });
    }
    assert_eq!(forecast(&story, false), Some(Forecast { tokens: 38_000, reason: TRIGGER }));
}
