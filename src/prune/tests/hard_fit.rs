//! Order in which blocks are cut and dropped where a request does not fit.

use super::*;

/// May be cut, but not dropped.
const STAYS: Mask = Mask { may_edit: true, may_drop: false, atomic: false };

/// Makes a session fit so many tokens less than it has.
fn fit(story: &mut Story, over: u64) -> Decision {
    let usable = story.context(0) - over;
    let setting = Setting { window: usable, usable, fixed: 0, mended: 0, cap: u64::MAX };
    let mut decision = Decision::default();
    story.pruner.hard_fit(&mut story.ledger, &setting, &mut Plain, &mut decision);
    decision
}

fn now<const N: usize>(story: &Story, blocks: [BlockId; N]) -> [u32; N] {
    blocks.map(|at| story.ledger.blocks[at.index()].now)
}

#[test]
fn long_texts_of_the_model_are_cut_before_those_of_people_and_the_last_message() {
    let cut = |over| {
        let mut story = Story::new();
        let blocks = [
            story.ask(6_000, Mask::FREE),
            story.say(5_000),
            story.say(200),
            story.say(201),
            story.say(5_500),
        ];
        fit(&mut story, over);
        now(&story, blocks)
    };
    assert_eq!(cut(1_000), [6_000, 4_000, 200, 201, 5_500]);
    // First the long ones to 150 tokens, but not the one of 200; then the largest of all.
    assert_eq!(cut(4_950), [5_951, 150, 200, 150, 5_500]);
}

#[test]
fn what_is_largest_is_cut_if_it_has_more_than_300_tokens_and_then_the_newest_to_50() {
    let cut = |over| {
        let mut story = Story::new();
        let blocks = [story.ask(301, STAYS), story.ask(300, STAYS)];
        story.alone(Kind::Text, 10, Mask::FIXED);
        fit(&mut story, over);
        now(&story, blocks)
    };
    assert_eq!([cut(151), cut(301)], [[150, 300], [150, 50]]);
}

#[test]
fn what_has_50_tokens_or_is_stubbed_is_left_as_it_is() {
    let mut story = Story::new();
    let [small, stubbed] = [story.ask(50, STAYS), story.ask(300, STAYS)];
    story.ledger.set_form(stubbed, Form::Stubbed, 60);
    story.alone(Kind::Text, 10, Mask::FIXED);
    let decision = fit(&mut story, 5);
    assert_eq!(now(&story, [small, stubbed]), [50, 60]);
    assert_eq!(decision.changes, []);
}

#[test]
fn what_the_host_protects_is_dropped_after_everything_else() {
    let dropped = |over| {
        let mut story = Story::new();
        let groups = [0, 1].map(|_| story.work((20, Mask::FREE), &[(80, Mask::FREE)], &[])[0]);
        story.ledger.blocks[groups[0].index()].named = true;
        story.ask(10, Mask::FREE);
        fit(&mut story, over);
        groups.map(|at| story.form(at) == Form::Gone)
    };
    assert_eq!([dropped(50), dropped(150)], [[false, true], [true, true]]);
}
