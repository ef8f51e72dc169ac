//! A summary that is still wanting (F118), files that add up over compactions (G23), and folds that wait for nothing.

use super::compaction::{options, prose, talked};
use super::*;
use crate::context::compaction::commit::commit_plan;
use crate::context::compaction::commit::compaction_failed;
use crate::context::compaction::cool_down::may_ask_summarizer;
use crate::context::compaction::flat_message::extracted_so_far;
use crate::context::compaction::folds::unsummarized_blocks;
use crate::context::report::status::status;
use crate::context::session::snapshot::restore_from;
use crate::context::session::snapshot::snapshot_bytes;

/// A session whose fold had to do without a summary: an extract of ours stands in.
fn degraded() -> Host {
    let mut host = talked(&options(&json!({})), 40);
    host.request();
    let plan = host.plan(true);
    let base = &plan["plan"];
    let planned = json!({ "base": base["base"], "gone": base["gone"], "summary": "an extract",
        "degraded": true, "failure": "temporary", "extracted": {}, "lost": [] });
    commit_plan(&mut host.session, &planned.to_string(), host.now_ms).unwrap();
    host.request();
    host
}

/// Row F118.
#[test]
fn a_missing_summary_is_requested_again_and_replaces_the_extract() {
    let mut host = degraded();
    let head = host.session.decisions.placeholders.head.clone();
    host.ask("go on");
    assert!(host.request().fold_due, "a summary is wanting");
    assert!(!may_ask_summarizer(&mut host.session, host.now_ms + 1), "not at once");
    host.now_ms += 60_001;
    assert!(may_ask_summarizer(&mut host.session, host.now_ms));
    let plan = host.plan(false);
    assert_eq!(plan["plan"]["outcome"], "summarize");
    assert_eq!((&plan["plan"]["gone"], &plan["degrades"]), (&json!([]), &json!(false)));
    assert!(plan["go"].as_array().unwrap().len() > 50, "{plan}");
    let epoch = status(&host.session).epoch;
    let done = host.commit(&plan, Some("They read forty files.")).unwrap();
    assert_eq!(done["carried"], true, "{done}");
    let answer = host.request();
    assert_eq!(answer.epoch, epoch + 1);
    let fold = answer.fold.unwrap();
    assert!(!fold.degraded && fold.head != head && fold.head.contains("forty files"));
    assert!(answer.outcome.unwrap().tokens_after < done["tokensBefore"].as_u64().unwrap());
    assert!(!host.request().fold_due && host.plan(false)["plan"]["outcome"] == "none");
}

#[test]
fn a_shorter_summary_alone_leaves_the_rent_for_the_next_fold() {
    let mut host = talked(&options(&json!({})), 40);
    host.request();
    let plan = host.plan(true);
    host.commit(&plan, Some(&prose(200))).unwrap();
    host.request();
    host.session.decisions.pruner.fold_rent = 5;
    let base = host.plan(true)["plan"]["base"].clone();
    let shorter = json!({ "base": base, "gone": [], "summary": "They read forty files." });
    let done = commit_plan(&mut host.session, &shorter.to_string(), host.now_ms).unwrap();
    assert!(done.json().contains(r#""carried":true"#), "{}", done.json());
    assert_eq!(host.session.decisions.pruner.fold_rent, 5);
}

/// Row F118.
#[test]
fn a_missing_summary_is_requested_three_times_and_then_with_the_next_fold() {
    let mut host = degraded();
    for _ in 0..2 {
        assert!(host.request().fold_due);
        host.now_ms += 10_000_000;
        compaction_failed(&mut host.session, "temporary", host.now_ms);
    }
    host.ask("go on");
    assert!(!host.request().fold_due, "the bound");
    assert_eq!(host.plan(false)["plan"]["outcome"], "none");
    let before = host.plan(true)["go"].as_array().unwrap().len();
    for at in 0..20 {
        host.ask(&format!("more {at}"));
        host.say(&prose(300));
    }
    let plan = host.plan(true);
    assert_ne!(plan["plan"]["gone"], json!([]));
    assert!(plan["go"].as_array().unwrap().len() > before, "what went is summarized with it");
    host.commit(&plan, Some("s")).unwrap();
    assert!(unsummarized_blocks(&host.session).is_empty());
}

/// Row F118.
#[test]
fn a_summary_that_is_still_wanted_survives_a_restart() {
    let host = degraded();
    let snapshot = snapshot_bytes(&host.session);
    let mut other = Host::new(&options(&json!({})));
    restore_from(&mut other.session, &snapshot).unwrap();
    for message in host.messages.clone() {
        other.append(message);
    }
    other.request();
    assert_eq!(unsummarized_blocks(&other.session), unsummarized_blocks(&host.session));
    assert!(!unsummarized_blocks(&other.session).is_empty());
}

/// Row G23.
#[test]
fn files_add_up_over_compactions_and_commands_do_not() {
    let mut host = talked(&options(&json!({})), 20);
    host.request();
    host.compact("one");
    host.request();
    let first = extracted_so_far(&host.session).clone();
    assert_eq!(first.modified_files, [""; 0]);
    host.ask("go on");
    host.plan(true);
    let found = extracted_so_far(&host.session);
    assert_eq!(found.modified_files, ["a.rs"], "as in the last record");
    assert_eq!(found.commands, [""; 0]);
}

#[test]
fn a_fold_too_small_for_a_summary_does_not_wait_for_one() {
    let small = options(&json!({ "summary": { "minimumTokens": 1_000_000 } }));
    let mut host = talked(&small, 1);
    for at in 0..200 {
        host.ask(&format!("go {at}"));
        host.now_ms += 1000;
        let Some(Step::Done(answer)) = host.session.prepare(host.now_ms) else { panic!("asks") };
        assert!(!answer.fold_due, "nobody is waited for");
        if let Some(fold) = answer.fold {
            assert!(!fold.degraded, "no summary was wanted");
            let reason = answer.outcome.unwrap().reason;
            assert!(reason.ends_with("less than `summary.minimumTokens` went"), "{reason}");
            let Some(Step::Done(again)) = host.session.prepare(host.now_ms + 1) else {
                panic!("asks")
            };
            assert_eq!((again.epoch, again.first_changed), (answer.epoch, None));
            return;
        }
        host.say(&prose(400));
    }
    panic!("never folded");
}

/// A head that took all the room would leave none for what comes next.
/// Row F108.
#[test]
fn a_summary_has_half_of_what_is_left_below_the_line() {
    for (last, least) in [(1, false), (2_000, false), (11_800, true)] {
        let mut host = talked(&options(&json!({})), 24);
        host.ask(&prose(last));
        let (_, line) = host.session.sizes();
        let plan = host.plan(true);
        let room = plan["room"].as_u64().unwrap();
        assert_eq!(plan["summaryWanted"], true);
        let without = plan["plan"]["tokensAfterEstimate"].as_u64().unwrap() - room.min(1_500);
        let half = line.saturating_sub(without) / 2;
        assert!(room <= half.max(500), "{last}: {room} of {half}");
        assert_eq!(room == 500, least, "{last}: {room}");
    }
}

/// Too small for a summary, unless the host asks for one; then there is nothing left.
#[test]
fn a_plan_that_comes_back_has_its_summary_or_folds_nothing() {
    let options = options(&json!({ "summary": { "minimumTokens": 100_000 } }));
    let mut host = talked(&options, 20);
    host.request();
    let back = |host: &mut Host, plan: &Value| -> Value {
        let plan = plan["plan"].to_string();
        let carried = plan_compaction(&mut host.session, false, Some(&plan), host.now_ms).unwrap();
        serde_json::from_str(carried.json()).unwrap()
    };
    let plan = host.plan(true);
    assert_ne!(plan["plan"]["calls"], 0, "{plan}");
    assert_eq!(back(&mut host, &plan)["summaryWanted"], true);
    host.compact("They chose u4w2.");
    host.request();
    let plan = host.plan(true);
    assert_eq!(plan["plan"]["outcome"], "none", "{plan}");
    assert_eq!(back(&mut host, &plan)["plan"]["outcome"], "none");
}
