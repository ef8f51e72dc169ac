//! Folds beside a fixed or protected part that takes more than a third of the window.

use super::*;

const WINDOW: u64 = 100_000;

/// A fold at capacity beside so large a fixed part: what it decided, and its session.
fn fold_beside(fixed: u64) -> (Decision, Story) {
    fold_beside_both(fixed, 0)
}

/// The same with a protected result of so many tokens.
fn fold_beside_both(fixed: u64, protected: u32) -> (Decision, Story) {
    let mut story = Story::new();
    if protected > 0 {
        story.work((100, Mask::FREE), &[(protected - 100, Mask::FIXED)], &[]);
    }
    story.ask(100, Mask::FREE);
    for _ in 0..8 {
        let names: Vec<u32> =
            (0..100).map(|n| story.name(&format!("src/{}/{n}.rs", story.call), 7)).collect();
        story.work((100, Mask::FREE), &[(900, Mask::FREE)], &names);
        story.message(Role::Assistant, true);
        story.block(Kind::Text, 50, GroupId::NONE, Mask::FREE, &names);
    }
    let setting = Setting { window: WINDOW, usable: WINDOW, fixed, mended: 0, cap: u64::MAX };
    while story.pruner.context(&story.ledger, &setting) <= story.pruner.line(&setting) {
        story.say(1000);
    }
    let Story { ledger, pruner, call, .. } = &mut story;
    let moment = Moment { call: *call, ..Story::REQUEST };
    let decision = pruner.decide(ledger, &setting, moment, &mut Plain);
    assert!(decision.folded);
    (decision, story)
}

/// Tokens of the digest, and of the results that are kept with their calls.
fn kept(story: &Story) -> (u64, u64) {
    let head = story.pruner.head.as_ref().unwrap();
    let works = story.ledger.blocks.iter().filter(|it| it.group.is_some());
    (u64::from(head.tokens) - 10, works.map(|it| u64::from(it.now)).sum())
}

#[test]
fn hot_set_and_digest_shrink_so_that_a_fold_frees_its_share() {
    // Without a large fixed part: the root of 100/128 of 5,000, and all eight results, which take less than 10 %.
    let (plain, story) = fold_beside(33_333);
    assert_eq!((plain.refused, kept(&story)), (None, (4417, 8000)));
    // 95,000 less 30,000 less 40,000, less 16,500 for tail, user texts and summary, are 8,500 of 14,419: 58.95 %.
    let (crowded, story) = fold_beside(40_000);
    assert_eq!((crowded.refused, kept(&story)), (None, (2604, 5000)));
    let setting =
        Setting { window: WINDOW, usable: WINDOW, fixed: 40_000, mended: 0, cap: u64::MAX };
    assert!(story.pruner.context(&story.ledger, &setting) <= 65_000);
}

#[test]
fn a_fold_that_cannot_free_its_share_reports_that_the_fixed_part_is_too_large() {
    let reason = |fixed| fold_beside(fixed).0.refused;
    assert_eq!(reason(59_000), None);
    let reason_text = reason(64_000).expect("a reason");
    assert!(reason_text.starts_with("fixed part too large"), "{reason_text}");
    assert_eq!(kept(&fold_beside(64_000).1), (0, 0));
}

#[test]
fn hot_set_and_digest_shrink_beside_protected_messages_so_that_a_fold_frees_a_tenth() {
    let digest_and_works = |fixed, protected: u32| {
        let (decision, story) = fold_beside_both(fixed, protected);
        let (digest, works) = kept(&story);
        (decision.refused, digest, works - u64::from(protected))
    };
    // Up to 54,000 all fits beside what stays: 95,000 less 10,000, less 16,500 for tail, user texts and summary, less 14,419.
    assert_eq!(digest_and_works(0, 54_000), (None, 4417, 8000));
    // Of 60,000 are left 8,500 of 14,419, wherever they stand.
    assert_eq!(digest_and_works(0, 60_000), (None, 2604, 5000));
    assert_eq!(digest_and_works(30_000, 30_000), (None, 2604, 5000));
    let (reason, digest, works) = digest_and_works(0, 80_000);
    assert_eq!((digest, works), (0, 0));
    assert!(reason.expect("a reason").starts_with("protected part too large"), "{reason:?}");
}

/// Requests of 60 calls with results of 300 tokens beside so many protected ones: how many were other than the last one and its
/// new messages, and the largest.
fn requests_beside(protected: u32) -> (usize, u64) {
    let mut story = Story::new();
    story.ask(100, Mask::FREE);
    story.work((100, Mask::FREE), &[(protected - 100, Mask::FIXED)], &[]);
    let setting = Setting { window: WINDOW, usable: WINDOW, fixed: 0, mended: 0, cap: u64::MAX };
    let (mut changed, mut largest) = (0, 0);
    for _ in 0..60 {
        story.work((20, Mask::FREE), &[(280, Mask::FREE)], &[]);
        let Story { ledger, pruner, call, .. } = &mut story;
        let moment = Moment { call: *call, ..Story::REQUEST };
        let decision = pruner.decide(ledger, &setting, moment, &mut Plain);
        changed += usize::from(!decision.changes.is_empty());
        largest = largest.max(pruner.context(ledger, &setting));
    }
    (changed, largest)
}

#[test]
fn what_frees_little_and_leaves_a_request_above_the_trigger_waits_until_it_no_longer_fits() {
    // 92,000 and a tail of 5,000 are above the trigger of 95,000 also after a fold. Waiting for the window, one fold serves about
    // ten calls; otherwise there would be one at each of 44.
    let (changed, largest) = requests_beside(92_000);
    assert!(changed > 0 && changed <= 6, "{changed}");
    assert!(largest <= WINDOW, "{largest}");
    // Nothing but that changes where a fold brings the request below the trigger.
    assert!(requests_beside(50_000).0 <= 2);
}
