//! When a fold is due, when it is worth it, and what it takes.

use super::*;

const WINDOW: u64 = 40_000;

fn setting() -> Setting {
    Setting { window: WINDOW, usable: WINDOW, fixed: 0, mended: 0, cap: u64::MAX }
}

#[test]
fn a_cold_cache_is_used_for_a_fold_above_half_of_the_window() {
    let mut story = Story::new();
    let mut pays = |context, moment: Moment| {
        let Story { ledger, pruner, .. } = &mut story;
        pruner.fold_pays(ledger, &setting(), moment, context, MessageId::FIRST, false)
    };
    let cold = Moment { warm: false, ..Story::REQUEST };
    assert_eq!([20_000, 20_001].map(|context| pays(context, cold)), [false, true]);
    assert!(!pays(30_000, Story::REQUEST), "a warm one is not");
    assert!(!pays(30_000, Moment { first: true, ..cold }), "nor at the first request");
}

#[test]
fn rent_is_charged_only_where_the_cache_is_read() {
    let rent = |warm, charge| {
        let mut story = Story::new();
        story.say(1_000);
        let tail = story.say(500);
        let tail = story.ledger.blocks[tail.index()].message;
        let Story { ledger, pruner, .. } = &mut story;
        let moment = Moment { warm, ..Story::REQUEST };
        pruner.fold_pays(ledger, &setting(), moment, 1_500, tail, charge);
        pruner.fold_rent
    };
    assert_eq!([rent(true, true), rent(true, false), rent(false, true)], [100_000, 0, 0]);
}

#[test]
fn a_fold_is_paid_once_its_rent_is_above_its_price_and_it_removes_over_15_percent() {
    let mut story = Story::new();
    story.pruner.policy.phi = 10_000;
    let is_paid = |rest, rent| story.pruner.fold_is_paid(&setting(), 20_000, rest, rent);
    // Writing instead of reading 10,000 and 2,500 tokens, reading the request for the summary, and 1,500 tokens of it.
    let price = 1_150 * 12_500 + 100 * 20_000 + 5_000 * 1_500;
    assert_eq!([price, price + 1].map(|rent| is_paid(10_000, rent)), [false, true]);
    assert_eq!([6_000, 6_001].map(|rest| is_paid(rest, u64::MAX / 10_000)), [false, true]);
}

/// Whether edits that free so many tokens, and a fold that frees `folded`, are too little for a request of `context` tokens.
fn is_too_little(context: u32, by_edits: u64, folded: u32) -> bool {
    let mut story = Story::new();
    story.alone(Kind::Text, context - folded - 1_000, Mask::FIXED);
    if folded > 0 {
        story.say(folded);
    }
    story.say(1_000);
    let Story { ledger, pruner, .. } = &mut story;
    pruner.hold(ledger, &setting());
    pruner.frees_too_little(ledger, &setting(), Story::REQUEST, by_edits, &Plain)
}

#[test]
fn less_than_the_tail_of_a_fold_is_too_little_if_it_leaves_a_request_above_the_trigger() {
    assert_eq!([1_999, 2_000].map(|edits| is_too_little(40_000, edits, 0)), [true, false]);
    // Down to the trigger of 38,000.
    assert_eq!([999, 1_000].map(|edits| is_too_little(39_000, edits, 0)), [true, false]);
    assert_eq!([1_900, 2_000].map(|folded| is_too_little(40_000, 0, folded)), [true, false]);
    assert!(!is_too_little(40_001, 0, 0), "what does not fit does not wait");
}

#[test]
fn a_tail_of_a_fold_is_enough_also_if_it_leaves_a_request_above_the_trigger() {
    let is_little = |by_edits| {
        let mut story = Story::new();
        story.pruner.policy.trigger = 5_000;
        story.alone(Kind::Text, 30_000, Mask::FIXED);
        let Story { ledger, pruner, .. } = &mut story;
        pruner.hold(ledger, &setting());
        pruner.frees_too_little(ledger, &setting(), Story::REQUEST, by_edits, &Plain)
    };
    assert_eq!([1_999, 2_000].map(is_little), [true, false]);
}

#[test]
fn what_the_host_will_soon_forget_does_not_stay_in_a_fold() {
    let stays = |forgotten: u32| {
        let mut story = Story::new();
        let asked = [6, 9].map(|number| {
            while story.ledger.message_count() < number {
                story.say(1_000);
            }
            story.ask(100, Mask::FREE)
        });
        story.say(1_000);
        story.say(5_000);
        story.pruner.forgotten = MessageId::from(forgotten);
        let Story { ledger, pruner, .. } = &mut story;
        pruner.hold(ledger, &setting());
        let decision = &mut Decision::default();
        let next = pruner.next_fold(ledger, &setting(), Story::REQUEST, true, &Plain, decision);
        let (_, gone) = next.unwrap();
        asked.map(|at| !gone.contains(&at))
    };
    assert_eq!(stays(0), [true, true]);
    // Of the messages from 4 to 11 those from 8 on will be there longest.
    assert_eq!(stays(4), [false, true]);
}

#[test]
fn a_fold_of_a_preset_keeps_the_last_reply_beside_no_call() {
    let mut story = Story::of("goclaw");
    story.ask(100, Mask::FREE);
    let reply = story.say(600);
    for _ in 0..40 {
        story.ask(600, Mask::FREE);
        let group = GroupId::starting_at(story.message(Role::Assistant, true));
        story.block(Kind::Text, 100, group, Mask::FREE, &[]);
        story.block(Kind::Call, 100, group, Mask::FREE, &[]);
        story.message(Role::Tool, false);
        story.block(Kind::Result, 300, group, Mask::FREE, &[]);
    }
    let Story { ledger, pruner, .. } = &mut story;
    pruner.hold(ledger, &setting());
    let decision = &mut Decision::default();
    let next = pruner.next_fold(ledger, &setting(), Story::REQUEST, true, &Plain, decision);
    let (_, gone) = next.unwrap();
    assert!(gone.len() > 10 && !gone.contains(&reply), "{gone:?}");
}

/// Its stubs are as large as what they stand for.
struct Heavy;

impl Writer for Heavy {
    fn stub(&mut self, ledger: &Ledger, block: BlockId, _: &[u32], _: u32) -> u32 {
        ledger.blocks[block.index()].now
    }
    fn cap(&mut self, _: &Ledger, _: BlockId, tokens: u32) -> u32 {
        tokens
    }
    fn shorten(&mut self, _: &Ledger, _: BlockId, _: Shorten) -> Option<u32> {
        None
    }
    fn summarize(&mut self, _: &mut Ledger, _: &[BlockId], _: bool) -> bool {
        false
    }
    fn head_tokens(&self, _: &Ledger, _: &[u32], digest_tokens: u32, _: bool) -> u32 {
        10 + digest_tokens
    }
}

/// A request of 39,000 tokens, of which edits free 18,000 by their estimate, and of which nothing else may go.
fn editable() -> Story {
    let mut story = Story::new();
    let stays = Mask { may_edit: true, may_drop: false, atomic: false };
    for _ in 0..18 {
        story.work((10, Mask::FIXED), &[(1_050, stays)], &[]);
    }
    story.alone(Kind::Text, 39_000 - 18 * 1_060 - 6_000, Mask::FIXED);
    story.alone(Kind::Text, 6_000, Mask::FIXED);
    story
}

#[test]
fn edits_are_made_where_no_fold_could_free_enough() {
    let decision = editable().decide_at(WINDOW, Moment { first: true, ..Story::REQUEST });
    assert_eq!((decision.changes.len(), decision.folded), (18, false));
}

#[test]
fn edits_that_free_less_than_expected_are_followed_by_a_fold_at_once() {
    let mut story = Story::new();
    for _ in 0..18 {
        story.work((10, Mask::FREE), &[(1_050, Mask::FREE)], &[]);
    }
    story.say(38_900 - 18 * 1_060 - 6_000);
    story.say(6_000);
    let Story { ledger, pruner, call, .. } = &mut story;
    let moment = Moment { call: *call, first: true, folds: Folds::Deferred, ..Story::REQUEST };
    let decision = pruner.decide(ledger, &setting(), moment, &mut Heavy);
    assert_eq!((decision.folded, decision.fold_due), (true, false));
}

#[test]
fn a_second_fold_at_the_same_cut_is_not_made() {
    let next = |head: Option<Head>, without_head| {
        let mut story = Story::new();
        for _ in 0..4 {
            story.say(5_000);
        }
        story.pruner.start = MessageId::from(3);
        story.pruner.head = head;
        let Story { ledger, pruner, .. } = &mut story;
        pruner.hold(ledger, &setting());
        let decision = &mut Decision::default();
        let next =
            pruner.next_fold(ledger, &setting(), Story::REQUEST, without_head, &Plain, decision);
        next.map(|(cut, _)| cut.get())
    };
    let head = Head { tokens: 10, digest: Vec::new(), summary: false, folds: 1 };
    assert_eq!(next(Some(head), true), None);
    assert_eq!([next(None, true), next(None, false)], [Some(3), None]);
}

#[test]
fn a_fold_of_a_preset_frees_more_than_a_digest_may_cost() {
    let refused = |tokens| {
        let mut story = Story::of("goclaw");
        for _ in 0..30 {
            story.ask(tokens, Mask::FREE);
            story.say(tokens);
        }
        let Story { ledger, pruner, .. } = &mut story;
        let full = Setting { fixed: 39_000, ..setting() };
        let moment = Moment { call: 30, ..Story::REQUEST };
        let decision = pruner.decide(ledger, &full, moment, &mut Plain);
        (decision.refused, decision.folded)
    };
    let reason = "what could go is no larger than what would stand for it";
    assert_eq!(refused(20), (Some(reason), false));
    assert_eq!(refused(600), (None, true));
}

/// Which of ten messages are sent once the host has forgotten those before one: all, or none of the forgotten ones.
fn sent_without(forgotten: u32, tokens: u32, lost: bool, folds: Folds) -> Vec<u32> {
    let mut story = Story::new();
    for _ in 0..10 {
        story.say(tokens);
    }
    story.pruner.forgotten = MessageId::from(forgotten);
    story.pruner.lost = lost;
    let decision = story.decide_at(1_000_000, Moment { folds, ..Story::REQUEST });
    assert_eq!(decision.folded, story.pruner.head.is_some());
    story.ledger.live().iter().map(|at| at.get()).collect()
}

#[test]
fn forgotten_messages_go_once_they_are_more_than_the_others() {
    let all: Vec<u32> = (0..10).collect();
    let sent = |forgotten| sent_without(forgotten, 1_000, false, Folds::Carried);
    assert_eq!([sent(4), sent(5)], [all.clone(), all.clone()]);
    assert_eq!(sent(6), [6, 7, 8, 9]);
    assert_eq!(sent_without(6, 1_000, false, Folds::Never), all);
    // Some of them are not there any more.
    assert_eq!(sent_without(2, 1_000, true, Folds::Carried), all[2..]);
    // The line that would stand for them is larger.
    assert_eq!(sent_without(6, 1, false, Folds::Carried), all);
}
