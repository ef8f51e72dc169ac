//! Refusals: summaries that are not smaller, requests that a provider refused, and plans that were changed.

use super::*;
use crate::context::compaction::ceiling::Ceiling;
use crate::context::compaction::commit::record_usage;
use crate::context::compaction::folds::unsummarized_blocks;
use crate::context::compaction::guard::{Failure, Guard};
use crate::context::session::calibration::Counted;

/// Folds without a summary, as after a failure of the summarizer.
fn fold_degraded(host: &mut Host) {
    let plan = host.plan(true);
    let planned = json!({ "base": plan["plan"]["base"], "gone": plan["plan"]["gone"],
        "degraded": true, "messages": plan["messages"] });
    commit_plan(&mut host.session, &planned.to_string(), host.now_ms).unwrap();
    assert!(!unsummarized_blocks(&host.session).is_empty());
}

/// Commits the plan with summaries of many sizes, each on a copy of the session: sizes before and after, and whether it was carried out.
fn commits(host: &Host, plan: &Value, sizes: std::ops::Range<usize>) -> Vec<(u64, u64, bool)> {
    let commit = |size: usize| {
        let mut copy = host.session.clone();
        let planned = json!({ "base": plan["plan"]["base"], "gone": plan["plan"]["gone"],
            "summary": "w".repeat(size), "messages": plan["messages"] });
        let done = commit_plan(&mut copy, &planned.to_string(), host.now_ms).unwrap();
        let done: Value = serde_json::from_str(done.json()).unwrap();
        let size = |name: &str| done[name].as_u64().unwrap();
        (size("tokensBefore"), size("tokensAfter"), done["carried"] == json!(true))
    };
    sizes.step_by(4).map(commit).collect()
}

/// Sizes of a summary around the one at which a request is as large as `most`.
fn sizes_around(host: &Host, plan: &Value, most: u64) -> std::ops::Range<usize> {
    let (_, after, _) = commits(host, plan, 400..401)[0];
    let size = 400 + usize::try_from(most - after).unwrap() * 4;
    size - 80..size + 80
}

#[test]
fn a_summary_is_refused_unless_the_request_is_smaller_with_it() {
    let mut host = talked(&options(&json!({ "window": { "contextTokens": 200_000 } })), 20);
    host.request();
    let plan = host.plan(true);
    let (before, _) = host.session.sizes();
    let all = commits(&host, &plan, sizes_around(&host, &plan, before));
    for (before, after, carried) in &all {
        assert_eq!(*carried, after < before, "{after} of {before}");
    }
    assert!(all.iter().any(|(before, after, _)| before == after));
}

#[test]
fn a_late_summary_alone_may_cost_less_than_what_went_without_one() {
    let mut host = talked(&options(&json!({ "window": { "contextTokens": 200_000 } })), 20);
    host.request();
    fold_degraded(&mut host);
    host.request();
    let plan = host.plan(true);
    assert_eq!(plan["plan"]["gone"], json!([]), "{plan}");
    let (before, _, carried) = commits(&host, &plan, 400..401)[0];
    assert!(carried && before > host.session.sizes().0);
    let all = commits(&host, &plan, sizes_around(&host, &plan, before));
    for (before, after, carried) in &all {
        assert_eq!(*carried, after < before, "{after} of {before}");
    }
    assert!(all.iter().any(|(before, after, _)| before == after));
}

#[test]
fn a_fold_with_a_late_summary_must_make_the_request_smaller() {
    let mut host = talked(&options(&json!({ "window": { "contextTokens": 200_000 } })), 20);
    host.request();
    fold_degraded(&mut host);
    for at in 0..20 {
        host.ask(&format!("more {at}"));
        host.say(&prose(300));
    }
    host.request();
    let plan = host.plan(true);
    assert_ne!(plan["plan"]["gone"], json!([]), "{plan}");
    let (now, _) = host.session.sizes();
    for (before, after, carried) in commits(&host, &plan, sizes_around(&host, &plan, now)) {
        assert!(now < before && after < before);
        assert_eq!(carried, after < now, "{after} of {now}");
    }
}

#[test]
fn a_fold_without_a_summary_settles_no_earlier_one() {
    let mut host = talked(&options(&json!({})), 20);
    host.request();
    fold_degraded(&mut host);
    for at in 0..20 {
        host.ask(&format!("more {at}"));
        host.say(&prose(300));
    }
    let wanting = unsummarized_blocks(&host.session);
    let (before, _) = host.session.sizes();
    let plan = host.plan(true);
    let done = host.commit(&plan, None).unwrap();
    assert_eq!((&done["carried"], &done["tokensBefore"]), (&json!(true), &json!(before)));
    assert_eq!(unsummarized_blocks(&host.session), wanting);
}

#[test]
fn a_useless_extract_that_is_refused_counts_as_ineffective() {
    let mut host = talked(&options(&json!({})), 20);
    host.request();
    let plan = host.plan(true);
    let planned = json!({ "base": plan["plan"]["base"], "gone": plan["plan"]["gone"],
        "summary": prose(40_000), "degraded": true, "failure": "ineffective" });
    for _ in 0..2 {
        commit_plan(&mut host.session, &planned.to_string(), host.now_ms).unwrap();
    }
    assert_eq!(blocked_reason(&host.session, i64::MAX).json(), r#"{"reason":"ineffective"}"#);
}

#[test]
fn a_call_and_its_result_stay_together_if_a_plan_names_only_one() {
    let mut host = talked(&options(&json!({})), 20);
    host.request();
    let plan = host.plan(true);
    // Message 1 is a call, and message 2 its result.
    let call = host.session.transcript.ledger.blocks_of(1.into()).start.get();
    let planned = json!({ "base": plan["plan"]["base"], "gone": [[call, call + 1]] });
    let done = commit_plan(&mut host.session, &planned.to_string(), host.now_ms).unwrap();
    assert!(done.json().contains(r#""carried":false"#), "{}", done.json());
    assert!(host.live_messages().starts_with(&[0, 1, 2]));
}

#[test]
fn what_came_while_a_summarizer_worked_is_not_in_the_size_that_it_left() {
    let mut host = talked(&options(&json!({})), 20);
    let plan = host.plan(true);
    host.ask("late");
    host.say(&prose(100));
    let tokens = |host: &Host, from: usize| -> u64 {
        host.session
            .transcript
            .ledger
            .blocks
            .iter()
            .filter(|it| it.message.index() >= from)
            .map(|it| u64::from(it.now))
            .sum()
    };
    let late = tokens(&host, 80);
    host.commit(&plan, Some("short")).unwrap();
    let mut guard = Guard::default();
    guard.done(host.session.request.last.epoch + 1, host.session.sizes().0 - late, false);
    assert_eq!(host.session.compactions.guard, guard);
}

#[test]
fn a_refusal_before_any_request_counts_the_messages_that_are_known() {
    let mut host = talked(&options(&json!({})), 10);
    let (tokens, _) = host.session.sizes();
    record_refusal(&mut host.session, None, None);
    assert_eq!(host.session.compactions.limit.unwrap().tokens, tokens * 9 / 10);
}

#[test]
fn a_second_refusal_is_final_only_if_a_request_was_accepted_between() {
    for accepted in [false, true] {
        let mut first = Ceiling::refuse(None, 100_000, None);
        if accepted {
            first.accept(1, 90_000);
        }
        let mut second = Ceiling::refuse(Some(first), 95_000, None);
        second.accept(85_000, 85_500);
        assert_eq!(second.tokens, if accepted { 85_500 } else { 94_050 });
    }
}

#[test]
fn only_a_larger_request_than_the_refused_one_lifts_a_final_limit() {
    for (size, next) in [(100_000, 100_000), (100_001, 110_001), (130_000, 143_000)] {
        let mut ceiling = Ceiling::refuse(None, 100_000, Some(50_000));
        ceiling.accept(size, 50_000);
        ceiling.accept(60_000, 50_000);
        assert_eq!(ceiling.tokens, next, "{size}");
    }
}

#[test]
fn a_cool_down_ends_at_its_time() {
    let mut host = talked(&options(&json!({})), 2);
    compaction_failed(&mut host.session, "network", 0);
    assert_eq!(
        blocked_reason(&host.session, 29_999).json(),
        r#"{"reason":"cooldown","untilMs":30000}"#
    );
    assert_eq!(blocked_reason(&host.session, 30_000).json(), "null");
}

#[test]
fn a_reading_that_fits_repeats_no_warning_of_a_cool_down() {
    for (failures, warned) in [(1, true), (2, false)] {
        let mut guard = Guard::default();
        for _ in 0..failures {
            guard.fail(Failure::Ineffective, 0);
        }
        guard.warned = true;
        guard.read(0, true);
        assert_eq!(guard.warned, warned, "{failures}");
    }
}

#[test]
fn a_warning_of_another_process_is_not_repeated() {
    let base = Guard::default();
    let (mut ours, mut theirs) = (base.clone(), base.clone());
    ours.fail(Failure::Temporary, 1);
    theirs.fail(Failure::Temporary, 1);
    theirs.warned = true;
    ours.take_in(&theirs, &base, false);
    assert!(ours.warned);
}

#[test]
fn the_last_compaction_of_this_process_is_judged_after_a_merge() {
    let base = Guard::default();
    let judged = |folded: bool, ours_done: bool| {
        let (mut ours, mut theirs) = (base.clone(), base.clone());
        ours.fail(Failure::Temporary, 1);
        theirs.done(7, 50_000, false);
        if ours_done {
            ours.done(3, 60_000, false);
        }
        ours.take_in(&theirs, &base, folded);
        // Only the reading of the epoch that the guard waits for is a strike.
        ours.permits(50_000, 100_000, true, i64::MAX)
    };
    assert!(!judged(false, false), "waits for a reading of theirs");
    assert!(judged(true, false), "theirs is not of this session");
    assert!(!judged(false, true), "waits for a reading of ours");
}

/// Whether the guard learns that the request after a compaction fits, if the provider counts so many tokens in it.
fn reading(used: u64, change: fn(&mut Session)) -> bool {
    let mut host = talked(&options(&json!({})), 2);
    let guard = || {
        let mut guard = Guard::default();
        guard.done(0, 10_000, false);
        guard
    };
    let counted = Counted { epoch: 0, estimate: 10, used };
    let session = &mut host.session;
    session.compactions.guard = guard();
    change(session);
    session.counts.calibration.last = Some(counted);
    record_usage(session, counted);
    let [fits, fails] = [true, false].map(|fits| {
        let mut guard = guard();
        guard.read(0, fits);
        guard
    });
    let known = &session.compactions.guard;
    assert!((*known == fits) != (*known == fails));
    *known == fits
}

#[test]
fn a_compaction_has_helped_if_the_provider_counts_no_more_than_the_trigger() {
    // 95 % of 19,000.
    assert_eq!([18_050, 18_051].map(|used| reading(used, |_| ())), [true, false]);
    // Of the window, whatever a provider has refused since.
    assert!(reading(18_050, |it| it.decisions.usable = 5_000));
    let capped = [12_000, 12_001].map(|used| reading(used, |it| it.options.cap = 12_000));
    assert_eq!(capped, [true, false]);
}
