//! Changes below the trigger: which preset makes them, with a summarizer and without one.

use super::super::tuning::Early::{ColdFolds, Edits, Folds};
use super::*;

/// Ten thousand tokens of the model's words: nothing that an edit could shorten, only a fold.
fn long_talk(preset: &str) -> Story {
    let mut story = Story::of(preset);
    story.ask(100, Mask::FREE);
    for _ in 0..12 {
        story.say(1000);
    }
    story.ask(100, Mask::FREE);
    story
}

/// Whether a fold is made within so many requests with a warm cache, in a window that is not nearly full.
fn folds_by_rent(preset: &str, summarizes: bool) -> bool {
    let mut story = long_talk(preset);
    (0..1000).any(|_| {
        story.call += 1; // the same history, but rent runs on
        story.decide_at(40_000, Moment { summarizes, ..Story::REQUEST }).folded
    })
}

#[test]
fn without_a_summarizer_only_economy_folds_because_it_is_cheaper() {
    let by_rent = |summarizes| {
        ["economy", "balanced", "retention"].map(|preset| folds_by_rent(preset, summarizes))
    };
    assert_eq!(by_rent(true), [true, true, true]);
    assert_eq!(by_rent(false), [true, false, false]);
}

#[test]
fn without_a_summarizer_retention_does_not_fold_for_a_cold_cache() {
    let cold = |summarizes| {
        ["economy", "balanced", "retention"].map(|preset| {
            let moment = Moment { warm: false, summarizes, ..Story::REQUEST };
            long_talk(preset).decide_at(20_000, moment).folded
        })
    };
    assert_eq!(cold(true), [true, true, true]);
    assert_eq!(cold(false), [true, true, false]);
}

#[test]
fn a_retention_between_two_presets_folds_early_like_the_more_cautious_one() {
    let alone = [-600, 0, 1, 500, 999, 1000, 1300]
        .map(|retention| Policy::retaining(retention).unwrap().early_alone);
    assert_eq!(alone, [Folds, Folds, ColdFolds, ColdFolds, ColdFolds, Edits, Edits]);
}

#[test]
fn capacity_changes_nothing_below_the_trigger_and_makes_room_above_it() {
    let window = 40_000;
    for (warm, summarizes) in [(true, true), (true, false), (false, true), (false, false)] {
        let moment = Moment { warm, summarizes, ..Story::REQUEST };
        let changed = |preset| {
            let mut story = Story::of(preset);
            story.ask(100, Mask::FREE);
            let old = story.work((50, Mask::FREE), &[(6000, Mask::FREE)], &[])[0];
            let Story { ledger, pruner, .. } = &mut story;
            let capped = pruner.ingest(ledger, old, window, &mut Plain).is_some();
            for _ in 0..25 {
                story.say(1000);
            }
            let early = (0..200).any(|_| {
                story.call += 1;
                !story.decide_at(window, moment).changes.is_empty()
            });
            for _ in 0..8 {
                story.say(1000);
            }
            let late = !story.decide_at(window, moment).changes.is_empty();
            (capped, early, late || early)
        };
        assert_eq!(changed("capacity"), (false, false, true));
        assert_eq!(changed("balanced"), (true, true, true));
    }
}
