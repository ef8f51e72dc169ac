//! Figures of other systems' presets, and what their steps do exactly at a limit.

use super::super::presets::{self, with_margin};
use super::super::protect::newest;
use super::*;

const WINDOW: u64 = 40_000;

fn setting(window: u64, fixed: u64) -> Setting {
    Setting { window, usable: window, fixed, mended: 0, cap: u64::MAX }
}

/// A preset that protects no message.
fn unprotected(preset: &str) -> Story {
    let mut story = Story::of(preset);
    story.pruner.policy.protect = Protect::default();
    story
}

fn decide(story: &mut Story, fixed: u64, folds: Folds) -> Decision {
    let Story { ledger, pruner, call, .. } = story;
    let moment = Moment { call: *call, folds, ..Story::REQUEST };
    pruner.decide(ledger, &setting(WINDOW, fixed), moment, &mut Plain)
}

/// First messages that are not edited and not folded, of a request of so many messages of so many tokens.
fn bounds(preset: &str, window: u64, count: u32, tokens: u32) -> (u32, u32) {
    bounds_of(Story::of(preset), window, count, tokens)
}

fn bounds_of(mut story: Story, window: u64, count: u32, tokens: u32) -> (u32, u32) {
    for _ in 0..count {
        story.say(tokens);
    }
    let bounds = story.pruner.bounds_of(&story.ledger, &setting(window, 0));
    (bounds.edit.get(), bounds.fold.get())
}

fn shortens(preset: &str, kind: Kind, chars: u32, repeated: bool) -> Option<Shorten> {
    let mut story = Story::of(preset);
    let at = story.alone(kind, 100, Mask::FREE);
    let block = Block { chars, repeated, ..story.ledger.blocks[at.index()] };
    story.pruner.policy.seed?.shortens(&block)
}

#[test]
fn hermes_shortens_results_arguments_and_images_but_no_reasoning() {
    let of = |kind, repeated, chars: [u32; 2]| {
        chars.map(|chars| shortens("hermes", kind, chars, repeated))
    };
    assert_eq!(of(Kind::Result, false, [200, 201]), [None, Some(Shorten::Line)]);
    assert_eq!(of(Kind::Result, true, [199, 200]), [None, Some(Shorten::Repeated)]);
    assert_eq!(of(Kind::Call, false, [500, 501]), [None, Some(Shorten::Leaves(200))]);
    assert_eq!(of(Kind::Image, false, [0, 1]), [Some(Shorten::Image); 2]);
    assert_eq!(of(Kind::Thinking, false, [0, 1_000]), [None; 2]);
}

#[test]
fn aceclaw_shortens_results_and_reasoning_but_no_arguments_and_images() {
    let of = |kind, repeated, chars: [u32; 2]| {
        chars.map(|chars| shortens("aceclaw", kind, chars, repeated))
    };
    let head = Some(Shorten::Head(200, Marker::Pruned));
    for repeated in [false, true] {
        assert_eq!(of(Kind::Result, repeated, [400, 401]), [None, head]);
    }
    assert_eq!(of(Kind::Call, false, [0, 1_000]), [None; 2]);
    assert_eq!(of(Kind::Image, false, [0, 1_000]), [None; 2]);
    assert_eq!(of(Kind::Thinking, false, [0, 1]), [Some(Shorten::Gone); 2]);
}

#[test]
fn hermes_acts_at_a_smaller_share_of_a_window_from_512000_on() {
    let seed = Story::of("hermes").pruner.policy.seed.unwrap();
    let limit = |window| seed.limit(&setting(window, 0));
    assert_eq!([511_999, 512_000].map(limit), [383_999, 256_000]);
}

#[test]
fn goclaw_protects_20_messages_or_every_second_one_since_the_last_fold() {
    let of = |count| bounds("goclaw", WINDOW, count, 10);
    assert_eq!([40, 42, 100].map(of), [(20, 20), (21, 21), (50, 50)]);
    let mut folded = Story::of("goclaw");
    folded.pruner.start = MessageId::from(20);
    assert_eq!(bounds_of(folded, WINDOW, 100, 10), (60, 60));
}

#[test]
fn openclaw_protects_at_most_50_percent_of_the_trigger() {
    // 20,000 tokens, or 50 % of 40,000 less 16,384.
    assert_eq!(bounds("openclaw", 128_000, 30, 1_000), (10, 10));
    assert_eq!(bounds("openclaw", WINDOW, 30, 1_000), (19, 19));
}

#[test]
fn hermes_protects_30_percent_of_the_trigger_and_edits_messages_beyond_it() {
    // 30 % of 34,000 are 10,200: the last 8 messages have less than that, more, and their last 3 also more.
    let of = |tokens| bounds("hermes", WINDOW, 30, tokens);
    assert_eq!([1_000, 2_000, 4_000].map(of), [(20, 20), (27, 22), (30, 22)]);
    let of = |tokens| {
        let mut story = Story::of("hermes");
        story.pruner.policy.seed.as_mut().unwrap().yields = false;
        bounds_of(story, WINDOW, 30, tokens)
    };
    assert_eq!([1_000, 2_000, 4_000].map(of), [(20, 20), (22, 22), (22, 22)]);
}

#[test]
fn goclaw_folds_more_than_500_messages_since_the_last_fold() {
    for (count, folds) in [(500, false), (501, true)] {
        let mut story = Story::of("goclaw");
        for _ in 0..count {
            story.say(20);
        }
        assert_eq!(decide(&mut story, 0, Folds::Carried).folded, folds);
        story.say(20);
        assert_eq!(decide(&mut story, 0, Folds::Carried).folded, !folds, "{count} and one more");
    }
}

/// An old result of 1,000 tokens, beside a fixed part, after a decision of `aceclaw`, whose trigger is 34,000.
fn shortened(fixed: u64, minimum_gain: u64) -> (u32, Option<&'static str>) {
    let mut story = unprotected("aceclaw");
    story.pruner.policy.minimum_gain = minimum_gain;
    let result = story.work((10, Mask::FREE), &[(1_000, Mask::FREE)], &[])[0];
    let refused = decide(&mut story, fixed, Folds::Carried).refused;
    (story.ledger.blocks[result.index()].now, refused)
}

#[test]
fn old_results_are_shortened_if_that_gains_the_minimum() {
    // 200 of 4,000 characters and a marker of 24 tokens are left.
    let now = |minimum_gain| shortened(33_500, minimum_gain).0;
    assert_eq!([926, 927].map(now), [74, 1_000]);
}

#[test]
fn a_fold_is_tried_only_if_shortening_leaves_more_than_the_trigger() {
    let is_tried = |fixed| {
        let (now, refused) = shortened(fixed, 0);
        assert_eq!(now, 74);
        refused.is_some()
    };
    assert_eq!([34_000 - 84, 34_001 - 84].map(is_tried), [false, true]);
}

#[test]
fn a_result_that_would_not_get_smaller_is_not_shortened() {
    let now = |tokens| {
        let mut story = unprotected("aceclaw");
        let result = story.work((1_000, Mask::FREE), &[(tokens, Mask::FREE)], &[])[0];
        story.ledger.blocks[result.index()].chars = 4_000;
        decide(&mut story, 33_500, Folds::Carried);
        story.ledger.blocks[result.index()].now
    };
    // One token of its text and 24 of the marker.
    assert_eq!([25, 26].map(now), [25, 25]);
}

#[test]
fn old_reasoning_goes_unless_its_message_would_be_empty() {
    let mut story = unprotected("aceclaw");
    let only = story.alone(Kind::Thinking, 600, Mask::FREE);
    let beside_text = story.alone(Kind::Thinking, 600, Mask::FREE);
    story.block(Kind::Text, 10, GroupId::NONE, Mask::FREE, &[]);
    decide(&mut story, 33_000, Folds::Carried);
    assert_eq!([only, beside_text].map(|at| story.form(at)), [Form::Full, Form::Gone]);
}

#[test]
fn aiclaw_folds_no_fewer_than_5_messages_and_hermes_no_fewer_than_4() {
    for (preset, least) in [("aiclaw", 5), ("hermes", 4)] {
        let mut story = Story::of(preset);
        let seed = story.pruner.policy.seed.clone().unwrap();
        story.pruner.bounds.first = MessageId::from(1);
        let refuses = |messages: u32| story.pruner.refuses(&seed, (1 + messages).into()).is_some();
        assert_eq!([least - 1, least].map(refuses), [true, false], "{preset}");
    }
}

#[test]
fn openclaw_drops_the_older_half_of_what_is_not_protected() {
    let mut story = Story::of("openclaw");
    story.pruner.policy.seed.as_mut().unwrap().strategy = presets::Strategy::Discard;
    for _ in 0..25 {
        story.say(1_000);
    }
    // The trigger is 23,616 tokens. Half of them protect the last 11 messages; 20,000 are left once five of the 14 others went.
    let changes = decide(&mut story, 0, Folds::Carried).changes;
    let dropped: Vec<u32> = changes.iter().map(|it| it.block.get()).collect();
    assert_eq!(dropped, [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn only_a_fold_that_was_asked_for_stays_wanted_while_it_is_deferred() {
    let after = |texts, wanted, folds| {
        let mut story = unprotected("aceclaw");
        for _ in 0..texts {
            story.say(5_000);
        }
        story.pruner.fold_wanted = wanted;
        let decision = decide(&mut story, 0, folds);
        (decision.folded, decision.fold_due, story.pruner.fold_wanted)
    };
    assert_eq!(after(6, true, Folds::Carried), (true, false, false));
    assert_eq!(after(6, true, Folds::Deferred), (false, true, true));
    assert_eq!(after(7, false, Folds::Deferred), (false, true, false));
}

#[test]
fn a_sixty_fourth_of_the_window_is_left_for_mending_and_at_most_256_tokens() {
    let usable = |window, mended| with_margin(&Setting { mended, ..setting(window, 0) }).usable;
    assert_eq!([usable(640, 0), usable(640, 4), usable(640, 11)], [630, 634, 640]);
    assert_eq!(usable(128_000, 0), 127_744);
}

#[test]
fn the_first_and_the_last_messages_are_protected() {
    let mut story = Story::new();
    for _ in 0..5 {
        story.say(10);
    }
    let protect = Protect { first: 2, last: 1, ..Protect::default() };
    let messages = MessageId::FIRST.to(story.ledger.next_message());
    let protected: Vec<bool> = messages.map(|at| protect.holds(&story.ledger, at)).collect();
    assert_eq!(protected, [true, true, false, false, true]);
}

#[test]
fn results_in_messages_side_by_side_start_one_turn_by_role() {
    let mut story = Story::new();
    for role in [Role::User, Role::Assistant, Role::Tool, Role::Tool, Role::Assistant, Role::User] {
        story.message(role, true);
    }
    let tail = |turns| Protect { turns, by_role: true, ..Protect::default() }.tail(&story.ledger);
    assert_eq!([1, 2, 3].map(|turns| tail(turns).get()), [5, 2, 0]);
}

#[test]
fn no_tokens_protect_not_even_an_empty_message() {
    let mut story = Story::new();
    story.say(10);
    story.say(10);
    story.message(Role::Assistant, true);
    let from = |tokens| newest(&story.ledger, tokens).get();
    assert_eq!([0, 9, 10, 19, 20].map(from), [3, 2, 1, 1, 0]);
}

#[test]
fn figures_between_the_rows_are_rounded_to_the_nearest() {
    let policy = Policy::retaining(10).unwrap();
    // 5,159.8 and 507.4.
    assert_eq!((policy.lambda, policy.hot), (5_160, 507));
}

#[test]
fn a_preset_aims_for_its_share_and_at_most_for_70_percent_of_the_hosts_cap() {
    let aim = |cap| {
        let mut story = Story::of("goclaw");
        story.pruner.policy.target = 5_000;
        story.pruner.aim(&Setting { cap, ..setting(WINDOW, 0) })
    };
    assert_eq!([u64::MAX, 30_000, 20_005].map(aim), [20_000, 20_000, 14_000]);
}

/// Ten messages of 1,000 tokens beside 25,000, for a preset with a trigger of 34,000 that aims for 32,000, after a decision.
fn without_summaries(change: impl Fn(&mut Seed), chars: [u32; 10]) -> Vec<(u32, Rule)> {
    let mut story = unprotected("aceclaw");
    story.pruner.policy.target = 8_000;
    change(story.pruner.policy.seed.as_mut().unwrap());
    for chars in chars {
        let at = story.say(1_000);
        story.ledger.blocks[at.index()].chars = chars;
    }
    let decision = decide(&mut story, 25_000, Folds::Carried);
    decision.changes.iter().map(|it| (it.block.get(), it.rule)).collect()
}

#[test]
fn the_oldest_are_dropped_one_by_one_or_in_chunks_until_the_target_is_reached() {
    let dropped = |parts| {
        let change =
            |seed: &mut Seed| (seed.strategy, seed.parts) = (presets::Strategy::Discard, parts);
        let changes = without_summaries(change, [4_000; 10]);
        assert!(changes.iter().all(|(_, rule)| *rule == Rule::Discard));
        changes.iter().map(|(at, _)| *at).collect::<Vec<u32>>()
    };
    assert_eq!(dropped(0), [0, 1, 2]);
    // Halves: five messages. Quarters: two of ten, then two of eight.
    assert_eq!(dropped(2), [0, 1, 2, 3, 4]);
    assert_eq!(dropped(4), [0, 1, 2, 3]);
}

#[test]
fn old_texts_of_more_than_twice_the_characters_that_would_stay_are_cut() {
    let change = |seed: &mut Seed| seed.strategy = presets::Strategy::Truncate;
    let mut chars = [400; 10];
    [chars[1], chars[3]] = [401, 4_000];
    let cut = without_summaries(change, chars);
    assert_eq!(cut, [(1, Rule::Truncate), (3, Rule::Truncate)]);
}

#[test]
fn messages_without_tokens_are_one_chunk() {
    let mut story = Story::new();
    for _ in 0..3 {
        story.message(Role::Assistant, true);
    }
    let chunk = |ledger| oldest_chunk(ledger, MessageId::FIRST, MessageId::from(3), 2);
    assert_eq!(chunk(&story.ledger), None);
}

#[test]
fn only_a_preset_that_protects_turns_counts_them_by_role() {
    let by_role = |preset| Policy::preset(preset).unwrap().protect.by_role;
    assert_eq!(["aceclaw", "goclaw", "hermes"].map(by_role), [true, false, false]);
}
