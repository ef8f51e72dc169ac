//! Limits of the policy: what happens exactly at each, and one token beside it.

use super::super::economy::Cache;
use super::super::need::gain;
use super::*;

const WINDOW: u64 = 40_000;

fn setting(window: u64, fixed: u64) -> Setting {
    Setting { window, usable: window, fixed, mended: 0, cap: u64::MAX }
}

#[test]
fn a_request_of_1024_tokens_is_cached_and_one_of_fewer_is_not() {
    let charge = |tokens| Cache::new(Prices::ANTHROPIC, 1000).charge(&[(1, tokens)], 0);
    assert_eq!([23, 24].map(charge), [1023 * 1000, 1024 * 1250]);
}

#[test]
fn only_folds_and_discards_take_something_out_of_the_history() {
    let takes: Vec<Rule> = Rule::ALL.into_iter().filter(|rule| rule.takes()).collect();
    assert_eq!(takes, [Rule::Discard, Rule::Fold]);
}

#[test]
fn the_target_is_55_percent_of_the_trigger() {
    let story = Story::new();
    assert_eq!(story.pruner.line(&setting(WINDOW, 0)), 38_000);
    assert_eq!(story.pruner.target(&setting(WINDOW, 0)), 20_900);
}

#[test]
fn a_target_of_the_hosts_is_a_share_of_the_usable_window() {
    let target = |cap| {
        let mut story = Story::new();
        story.pruner.policy.aim = Some(5_000);
        story.pruner.target(&Setting { cap, ..setting(WINDOW, 0) })
    };
    // With a cap of 30,000 tokens 55 % of that.
    assert_eq!([target(u64::MAX), target(30_000)], [20_000, 16_500]);
}

#[test]
fn a_result_of_a_tool_that_is_kept_or_in_a_protected_message_is_not_cut_at_arrival() {
    let cut = |named: bool, last: u32| {
        let mut story = Story::new();
        story.pruner.policy.protect.last = last;
        let result = story.work((10, Mask::FREE), &[(5000, Mask::FREE)], &[])[0];
        story.ledger.blocks[result.index()].named = named;
        let Story { ledger, pruner, .. } = &mut story;
        pruner.ingest(ledger, result, 10_000, &mut Plain).is_some()
    };
    assert_eq!([cut(false, 0), cut(true, 0), cut(false, 1)], [true, false, false]);
}

#[test]
fn a_share_of_all_cuts_nothing_at_arrival() {
    let mut policy = Policy::preset("balanced").unwrap();
    policy.ingest_cap = 9999;
    assert!(Pruner::new(policy.clone()).cuts_at_arrival(20_000, 20_000));
    policy.ingest_cap = 10_000;
    assert!(!Pruner::new(policy).cuts_at_arrival(20_001, 20_000));
}

#[test]
fn a_decision_looks_once_at_each_block_that_can_never_be_edited() {
    let mut story = Story::new();
    let visited = [5, 3].map(|new| {
        for _ in 0..new {
            story.say(10);
        }
        story.decide(WINDOW, false).visited
    });
    assert_eq!(visited, [5, 3]);
}

#[test]
fn a_block_that_came_back_is_looked_at_again_in_its_place_and_once() {
    let mut story = Story::new();
    let results: Vec<BlockId> =
        (0..3).map(|_| story.work((10, Mask::FREE), &[(300, Mask::FREE)], &[])[0]).collect();
    let text = story.say(10);
    let Story { ledger, pruner, .. } = &mut story;
    pruner.look_at_new(ledger);
    assert_eq!(pruner.open, results);
    pruner.open.remove(1);
    for at in [results[1], results[1], text] {
        pruner.reopen(ledger, at);
    }
    assert_eq!(pruner.open, results);
    // The next decision looks at it, because it is new.
    let new = story.alone(Kind::Thinking, 300, Mask::FREE);
    let Story { ledger, pruner, .. } = &mut story;
    pruner.reopen(ledger, new);
    assert_eq!(pruner.open, results);
    pruner.look_at_new(ledger);
    assert_eq!(pruner.open, [results, vec![new]].concat());
}

#[test]
fn a_tail_holds_what_fits_its_limit_exactly() {
    let mut story = Story::new();
    for _ in 0..4 {
        story.say(500);
    }
    let tail = |limit| story.pruner.tail(&story.ledger, limit).index();
    assert_eq!([99_999, 100_000, 149_999].map(tail), [3, 2, 2]);
    story.pruner.start = MessageId::from(2);
    assert_eq!(story.pruner.tail(&story.ledger, 1_000_000).index(), 2, "nothing of the last fold");
}

#[test]
fn an_edit_with_a_cold_cache_gains_more_than_500_tokens() {
    let mut story = Story::new();
    let net = |story: &Story, gained| story.pruner.net(0, gained, 1_000_000, false);
    assert_eq!([50_000, 50_001].map(|gained| net(&story, gained)), [None, Some(0)]);
    story.pruner.policy.minimum_gain = 600;
    assert_eq!([59_999, 60_000].map(|gained| net(&story, gained)), [None, Some(0)]);
}

/// What is too large in a window of 99,999, beside such a fixed part, for a request of `context` tokens.
fn beside_fixed(fixed: u64, context: u64) -> Option<&'static str> {
    let mut story = Story::new();
    story.say(u32::try_from(context - fixed).unwrap());
    story.pruner.too_large(&story.ledger, &setting(99_999, fixed))
}

#[test]
fn a_fixed_part_is_too_large_above_a_third_if_a_fold_leaves_more_than_65_percent() {
    // 95 % of the window less 30 %: 94,999 less 29,999.
    assert_eq!(beside_fixed(33_334, 65_000), None);
    assert!(beside_fixed(33_334, 65_001).unwrap().starts_with("fixed part too large"));
    assert_eq!(beside_fixed(33_333, 65_001), None);
}

#[test]
fn a_protected_part_is_too_large_if_nothing_is_left_and_a_fold_leaves_more_than_85_percent() {
    let beside = |protected, context: u32, tail| {
        let mut story = Story::new();
        story.alone(Kind::Text, protected, Mask::FIXED);
        story.say(context - protected - 5_000);
        // The tail of a fold.
        story.alone(Kind::Text, 5_000, tail);
        story.pruner.too_large(&story.ledger, &setting(100_000, 0))
    };
    // 85,000 less 16,500 for tail, user texts and summary.
    assert_eq!(beside(68_500, 85_000, Mask::FREE), None);
    let reason = beside(68_500, 85_001, Mask::FREE).unwrap();
    assert!(reason.starts_with("protected part too large"));
    assert_eq!(beside(60_000, 85_001, Mask::FREE), None);
    assert_eq!(beside(0, 90_000, Mask::FREE), None);
    // The tail is kept in any case.
    assert_eq!(beside(67_000, 85_001, Mask::FIXED), None);
}

#[test]
fn lines_and_head_are_smaller_than_what_they_replace() {
    let mut story = Story::new();
    let gone = [story.say(600), story.say(400)];
    let room = |story: &Story, gone: &[BlockId], head| {
        story.pruner.lines_room(&story.ledger, &setting(128_000, 0), gone, head)
    };
    assert_eq!(room(&story, &gone, 400), 0, "no lines are kept");
    story.pruner.policy.lines = true;
    assert_eq!(room(&story, &gone, 400), 599);
    assert_eq!(room(&story, &gone, 1_000), 0);
    assert_eq!(room(&story, &[], 400), 3_000);
    let many: Vec<BlockId> = (0..5).map(|_| story.say(1_000)).collect();
    assert_eq!(room(&story, &many, 400), 3_000);
}

#[test]
fn lines_take_room_from_the_hot_set_and_the_digest() {
    // 95,000 less 30,000 less the fixed part, less 16,500 for tail, user texts and summary, are 8,500 at 40,000.
    let share = |lines| {
        let mut story = Story::new();
        story.pruner.policy.lines = lines;
        story.pruner.share(&story.ledger, &setting(100_000, 40_000))
    };
    // Of 10,000 and 4,419, or of 10,000, 3,535 and 2,651.
    assert_eq!([share(false), share(true)], [5_894, 5_251]);
}

/// A request over the trigger of 38,000 of which reasoning goes, and then such texts are left.
fn left_after_edits(texts: u32, folds: Folds) -> Decision {
    let mut story = Story::new();
    story.ask(100, Mask::FREE);
    story.alone(Kind::Thinking, 18_000, Mask::FREE);
    story.say(texts - 100 - 6_000);
    story.say(6_000);
    story.decide_at(WINDOW, Moment { first: true, folds, ..Story::REQUEST })
}

#[test]
fn edits_that_leave_a_token_more_than_the_target_are_enough() {
    let of = |texts| {
        let decision = left_after_edits(texts, Folds::Carried);
        (decision.changes.len() > 1, decision.folded)
    };
    assert_eq!([20_901, 20_902].map(of), [(false, false), (true, true)]);
}

#[test]
fn edits_that_are_enough_wait_for_no_summary() {
    let of = |texts| {
        let decision = left_after_edits(texts, Folds::Deferred);
        (decision.changes.len(), decision.fold_due)
    };
    assert_eq!([20_900, 20_901].map(of), [(1, false), (0, true)]);
}

#[test]
fn candidates_that_together_reach_the_target_are_stubbed() {
    let decide = |more: u32| {
        let mut story = Story::new();
        story.ask(100 + more, Mask::FREE);
        for at in 0..18 {
            let name = story.name(&format!("src/{at}.rs"), 30);
            // The newest source of what the model used: the last three are not stale yet.
            story.work((10, Mask::FREE), &[(1_050, Mask::FREE)], &[name]);
            story.message(Role::Assistant, true);
            story.block(Kind::Text, 5, GroupId::NONE, Mask::FREE, &[name]);
        }
        let rest = 38_900 - 100 - 18 * 1_065 - 6_000;
        story.say(rest);
        story.say(6_000);
        assert_eq!(story.context(WINDOW), u64::from(38_900 + more));
        let decision = story.decide_at(WINDOW, Moment { first: true, ..Story::REQUEST });
        let stubs = decision.changes.iter().filter(|change| change.rule == Rule::Capacity).count();
        (stubs, decision.folded)
    };
    assert_eq!([0, 1].map(decide), [(18, false), (15, true)]);
}

#[test]
fn only_the_newest_source_of_something_used_has_lines_in_its_stub() {
    let block = |change: fn(&mut Block)| {
        let mut story = Story::new();
        let at = story.work((10, Mask::FREE), &[(1_000, Mask::FREE)], &[])[0];
        let mut block = story.ledger.blocks[at.index()];
        block.used_live = 1;
        change(&mut block);
        block
    };
    let room = |change| stub_lines_room(&block(change));
    assert_eq!(room(|_| ()), Some(100), "a tenth of its tokens");
    assert_eq!(room(|it| it.now = 2_000), Some(120));
    assert_eq!(room(|it| it.used_live = 0), None);
    assert_eq!(room(|it| it.kind = Kind::Call), None);
    assert_eq!(room(|it| it.form = Form::Capped), None);
    assert_eq!(room(|it| it.duplicate = true), None);
    let gains = [false, true].map(|lines| {
        let policy = Policy { lines, ..Policy::preset("balanced").unwrap() };
        gain(&block(|_| ()), &policy)
    });
    // 1,000 less 20 for the line, less 30 for names or 100 for lines.
    assert_eq!(gains, [95_000, 88_000]);
}

#[test]
fn lines_are_of_what_was_used_and_is_in_no_newer_result() {
    let mut story = Story::new();
    let names: Vec<u32> = (0..3).map(|at| story.name(&format!("src/{at}.rs"), 3)).collect();
    let [used, unused, newer] = names[..] else { unreachable!() };
    let result = story.work((10, Mask::FREE), &[(1_000, Mask::FREE)], &names)[0];
    story.work((10, Mask::FREE), &[(1_000, Mask::FREE)], &[newer]);
    story.message(Role::Assistant, true);
    story.block(Kind::Text, 5, GroupId::NONE, Mask::FREE, &[used, newer]);
    // Three blocks that hold a name make it worth naming.
    for _ in 0..2 {
        story.ask(5, Mask::FREE);
        story.block(Kind::Text, 5, GroupId::NONE, Mask::FREE, &[unused]);
    }
    assert_eq!(stub_line_identifiers(&story.ledger, result), [used]);
}
