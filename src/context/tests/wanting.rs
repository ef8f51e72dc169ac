//! A summary that is still wanting (F118), files that add up over compactions (G23), and folds that wait for nothing.

use super::compaction::{options, prose, talked};
use super::*;

/// A session whose fold had to do without a summary: an extract of ours stands in.
fn degraded() -> Told {
    let mut told = talked(&options(&json!({})), 40);
    told.request();
    let plan = told.plan(true);
    let base = &plan["plan"];
    let planned = json!({ "base": base["base"], "gone": base["gone"], "summary": "an extract",
        "degraded": true, "failure": "temporary", "extracted": {}, "lost": [] });
    told.state.commit(&planned.to_string(), told.now_ms).unwrap();
    told.request();
    told
}

#[test]
fn f118_what_went_without_a_summary_is_asked_for_again_and_replaced() {
    let mut told = degraded();
    let head = told.state.lines.head.clone();
    told.ask("go on");
    assert!(told.request().fold_due, "a summary is wanting");
    assert!(!told.state.may_summarize(told.now_ms + 1), "not at once");
    told.now_ms += 60_001;
    assert!(told.state.may_summarize(told.now_ms));
    let plan = told.plan(false);
    assert_eq!(plan["plan"]["outcome"], "summarize");
    assert_eq!((&plan["plan"]["gone"], &plan["degrades"]), (&json!([]), &json!(false)));
    assert!(plan["go"].as_array().unwrap().len() > 50, "{plan}");
    let epoch = told.state.status().epoch;
    let done = told.commit(&plan, Some("They read forty files.")).unwrap();
    assert_eq!(done["carried"], true, "{done}");
    let answer = told.request();
    assert_eq!(answer.epoch, epoch + 1);
    let fold = answer.fold.unwrap();
    assert!(!fold.degraded && fold.head != head && fold.head.contains("forty files"));
    assert!(answer.outcome.unwrap().tokens_after < done["tokensBefore"].as_u64().unwrap());
    assert!(!told.request().fold_due && told.plan(false)["plan"]["outcome"] == "none");
}

#[test]
fn f118_it_is_asked_for_three_times_and_then_with_the_next_fold() {
    let mut told = degraded();
    for _ in 0..2 {
        assert!(told.request().fold_due);
        told.now_ms += 10_000_000;
        told.state.compaction_failed("temporary", told.now_ms);
    }
    told.ask("go on");
    assert!(!told.request().fold_due, "the bound");
    let before = told.plan(true)["go"].as_array().unwrap().len();
    for at in 0..20 {
        told.ask(&format!("more {at}"));
        told.say(&prose(300));
    }
    let plan = told.plan(true);
    assert_ne!(plan["plan"]["gone"], json!([]));
    assert!(plan["go"].as_array().unwrap().len() > before, "what went is summarized with it");
    told.commit(&plan, Some("s")).unwrap();
    assert!(told.state.wanting().is_empty());
}

#[test]
fn f118_it_outlives_a_restart() {
    let told = degraded();
    let snapshot = told.state.snapshot();
    let mut other = Told::new(&options(&json!({})));
    other.state.wake(&snapshot).unwrap();
    for message in told.messages.clone() {
        other.tell(message);
    }
    other.request();
    assert_eq!(other.state.wanting(), told.state.wanting());
    assert!(!other.state.wanting().is_empty());
}

#[test]
fn g23_files_add_up_over_compactions_and_commands_do_not() {
    let mut told = talked(&options(&json!({})), 20);
    told.request();
    told.compact("one");
    told.request();
    let first = told.state.extracted().clone();
    assert_eq!(first.modified_files, [""; 0]);
    told.ask("go on");
    told.plan(true);
    let found = told.state.extracted();
    assert_eq!(found.modified_files, ["a.rs"], "as the last record told");
    assert_eq!(found.commands, [""; 0]);
}

#[test]
fn a_fold_too_small_for_a_summary_waits_for_none() {
    let small = options(&json!({ "summary": { "minimumTokens": 1_000_000 } }));
    let mut told = talked(&small, 1);
    for at in 0..200 {
        told.ask(&format!("go {at}"));
        told.now_ms += 1000;
        let Some(Step::Done(answer)) = told.state.prepare(told.now_ms) else { panic!("asks") };
        assert!(!answer.fold_due, "nobody is waited for");
        if let Some(fold) = answer.fold {
            assert!(!fold.degraded, "no summary was wanted");
            let Some(Step::Done(again)) = told.state.prepare(told.now_ms + 1) else {
                panic!("asks")
            };
            assert_eq!((again.epoch, again.first_changed), (answer.epoch, None));
            return;
        }
        told.say(&prose(400));
    }
    panic!("never folded");
}

/// A head that took all the room would leave none for what comes next.
#[test]
fn f108_a_summary_has_half_of_what_is_left_below_the_line() {
    for (last, least) in [(1, false), (2_000, false), (11_800, true)] {
        let mut told = talked(&options(&json!({})), 24);
        told.ask(&prose(last));
        let (_, line) = told.state.sizes();
        let plan = told.plan(true);
        let room = plan["room"].as_u64().unwrap();
        assert_eq!(plan["summaryWanted"], true);
        let without = plan["plan"]["tokensAfterEstimate"].as_u64().unwrap() - room.min(1_500);
        let half = line.saturating_sub(without) / 2;
        assert!(room <= half.max(500), "{last}: {room} of {half}");
        assert_eq!(room == 500, least, "{last}: {room}");
    }
}
