//! The monitor: sizes, warnings, compactions, who asked.

use super::*;
use crate::context::report::monitor_report::monitor_report;
use crate::context::report::monitor_report::new_pressure;
use crate::context::report::monitor_report::record_outside;
use crate::context::report::status::status;
use crate::context::session::snapshot::resync;

fn options(window: u32) -> Value {
    json!({ "window": { "contextTokens": window }, "estimator": "chars/4", "preset": "retention" })
}

fn monitored(host: &Host) -> Value {
    serde_json::from_str(monitor_report(&host.session).json()).unwrap()
}

impl Host {
    fn used(&mut self, tokens: u64) {
        let usage = json!({ "input_tokens": tokens, "output_tokens": 10 });
        self.session.observe(&usage.to_string(), None);
    }

    fn warned(&mut self) -> Option<Value> {
        new_pressure(&mut self.session).map(|it| serde_json::from_str(it.json()).unwrap())
    }

    fn record(&mut self, what: &Value) {
        record_outside(&mut self.session, &what.to_string()).unwrap();
    }
}

fn warning(from: &str, to: &str, pct: u32) -> Value {
    json!({ "from": from, "to": to, "usedPct": pct })
}

/// Row A107.
#[test]
fn the_last_32_sizes_are_kept_equal_neighbours_once() {
    let mut host = Host::new(&options(1_000_000));
    host.ask("go");
    host.request();
    host.request();
    // Another history of the same size.
    resync(&mut host.session);
    host.ask("no");
    host.request();
    assert_eq!(monitored(&host)["samples"].as_array().unwrap().len(), 1);
    for at in 0..40 {
        host.say(&format!("{at}"));
        host.ask("go on, please");
        host.request();
    }
    let samples: Vec<u64> = serde_json::from_value(monitored(&host)["samples"].clone()).unwrap();
    assert_eq!(samples.len(), 32);
    assert!(samples.is_sorted() && samples[31] == status(&host.session).used);
    assert_eq!(status(&host.session).peak_tokens, samples[31]);
}

#[test]
fn the_peak_is_the_largest_request_as_the_provider_counted_it_whatever_it_counts_later() {
    let mut host = Host::new(&options(100_000));
    for (words, used) in [(400, 900), (4000, 9000), (400, 30_000), (400, 31_000)] {
        host.ask(&"words ".repeat(words));
        host.request();
        host.used(used);
        host.say("done");
        assert_eq!(status(&host.session).peak_tokens, used);
        let woken = host.woken(&options(100_000));
        assert_eq!(status(&woken.session).peak_tokens, used, "after a restart");
    }
    // A request that the provider counts as less: the largest keeps its count.
    host.ask("more");
    host.request();
    host.used(20_000);
    assert_eq!(status(&host.session).peak_tokens, 31_000);
}

/// Row A107.
#[test]
fn totals_count_a_request_once_however_often_its_usage_is_reported() {
    let mut host = Host::new(&options(100_000));
    host.ask(&"words ".repeat(400));
    host.request();
    for tokens in [700, 800, 800] {
        host.used(tokens);
    }
    // No such figure can be of this request.
    host.used(900_000);
    host.used(0);
    let now = monitored(&host);
    assert_eq!((&now["inputTokens"], &now["outputTokens"]), (&800.into(), &10.into()));
    assert_eq!(now["requests"], json!({ "total": 1, "bySource": { "main_turn": 1 } }));
    host.say("done");
    host.ask("more");
    host.request();
    host.used(900);
    assert_eq!(monitored(&host)["inputTokens"], 1700);
    assert_eq!(monitored(&host)["requests"]["total"], 2);
}

/// Row A107.
#[test]
fn compactions_are_counted_by_phase_with_what_they_saved() {
    let mut host = Host::new(&options(3000));
    while status(&host.session).compactions == 0 {
        host.ask(&"a question of some length ".repeat(8));
        host.say(&"an answer of some length ".repeat(8));
        host.ask("and?");
        host.request();
        host.say("so");
    }
    let now = monitored(&host);
    let made = &now["compactions"];
    assert_eq!((&made["total"], &made["byPhase"]), (&1.into(), &json!({ "FOLDED": 1 })));
    let last = &made["last"];
    let saved = last["tokensBefore"].as_u64().unwrap() - last["tokensAfter"].as_u64().unwrap();
    assert_eq!(made["tokensSaved"].as_u64(), Some(saved));
    assert_eq!(last["at"].as_i64(), Some(host.now_ms));
    // The request after it is a continuation (A73).
    let tokens = status(&host.session).used;
    host.used(tokens);
    assert_eq!(now["requests"]["total"], 0);
    assert_eq!(monitored(&host)["requests"]["bySource"], json!({ "continuation": 1 }));
    host.record(&json!({ "phase": "pruned", "tokensBefore": 100, "tokensAfter": 400 }));
    let made = monitored(&host)["compactions"].clone();
    assert_eq!(made["byPhase"], json!({ "FOLDED": 1, "PRUNED": 1 }));
    assert_eq!(made["tokensSaved"].as_u64(), Some(saved), "nothing was saved");
}

/// Row A107.
#[test]
fn requests_are_counted_by_source_in_small_letters() {
    let mut host = Host::new(&options(1000));
    for (source, requests) in [
        (" Planner ", json!(2)),
        ("planner", json!(1)),
        ("FALLBACK", Value::Null),
        ("  ", json!(5)),
        ("", json!(5)),
        ("replan", json!(0)),
        ("replan", json!(-3)),
    ] {
        host.record(&json!({ "source": source, "requests": requests }));
    }
    let requests = json!({ "total": 4, "bySource": { "planner": 3, "fallback": 1 } });
    assert_eq!(monitored(&host)["requests"], requests);
    for at in 0..100 {
        host.record(&json!({ "source": format!("s{at}") }));
    }
    let requests = monitored(&host)["requests"].clone();
    assert_eq!(requests["total"], 104);
    assert_eq!(requests["bySource"].as_object().unwrap().len(), 33);
    assert_eq!(requests["bySource"]["others"], 70);
    for source in ["planner", "fallback", "s1"] {
        host.record(&json!({ "source": source, "requests": i64::MAX }));
    }
    assert_eq!(monitored(&host)["requests"]["total"], u64::MAX);
}

/// Row A108.
#[test]
fn the_levels_begin_at_70_85_and_95() {
    let mut host = Host::new(&options(1000));
    host.ask(&"words ".repeat(400));
    host.request();
    for (used, level) in [
        (699, "low"),
        (700, "medium"),
        (849, "medium"),
        (850, "high"),
        (949, "high"),
        (950, "critical"),
        (1000, "critical"),
    ] {
        host.used(used);
        assert_eq!(status(&host.session).pressure, level, "{used}");
    }
}

/// Row A109.
#[test]
fn a_level_is_warned_of_once_until_a_compaction_and_silences_lower_ones() {
    let mut host = Host::new(&options(1000));
    host.ask(&"words ".repeat(400));
    host.request();
    host.used(600);
    assert_eq!(host.warned(), None);
    host.used(710);
    assert_eq!(host.warned().unwrap(), warning("low", "medium", 71));
    assert_eq!(host.warned(), None);
    host.used(960);
    assert_eq!(host.warned().unwrap(), warning("medium", "critical", 96));
    for used in [860, 500, 720, 990] {
        host.used(used);
        assert_eq!(host.warned(), None, "{used}");
    }
    host.record(&json!({ "phase": null, "tokensBefore": 990, "tokensAfter": 400 }));
    host.used(400);
    assert_eq!(host.warned(), None);
    host.used(860);
    assert_eq!(host.warned().unwrap(), warning("low", "high", 86));
}

/// Row A109.
#[test]
fn a_fold_resets_the_warnings() {
    let mut host = Host::new(&options(3000));
    let mut levels = Vec::new();
    while status(&host.session).compactions < 2 {
        host.ask(&"a question of some length ".repeat(4));
        host.request();
        levels.extend(host.warned().map(|it| it["to"].as_str().unwrap().to_owned()));
        host.say(&"an answer of some length ".repeat(4));
    }
    let medium = levels.iter().filter(|it| *it == "medium").count();
    assert!(medium >= 2, "{levels:?}");
}

/// Row A110.
#[test]
fn control_characters_are_removed_from_a_phase() {
    for (phase, shown) in [
        (json!("pruned"), "PRUNED"),
        (json!("\u{1b}[31m pha\u{7}se\t 2\n"), "PHASE 2"),
        (json!("\u{1b}]0;title\u{7}summarized"), "SUMMARIZED"),
        (json!("  "), "UNKNOWN"),
        (Value::Null, "UNKNOWN"),
        (json!("x".repeat(150)), &*"X".repeat(100)),
    ] {
        let mut host = Host::new(&options(1000));
        host.record(&json!({ "phase": phase, "tokensBefore": 9, "tokensAfter": 4 }));
        assert_eq!(monitored(&host)["compactions"]["last"]["phase"], shown);
    }
}

#[test]
fn a_value_that_is_not_a_record_is_refused() {
    let mut host = Host::new(&options(1000));
    for (what, expected) in [
        ("[]", "note: expected { source, requests } or { phase, tokensBefore, tokensAfter }, got "),
        (r#"{"sauce":1}"#, "unknown option note.sauce; the options are source, requests, "),
        (r#"{"source":1}"#, "note.source: expected a string, got "),
        (r#"{"source":"a","requests":1.5}"#, "note.requests: expected a whole number, got "),
    ] {
        let error = record_outside(&mut host.session, what).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}
