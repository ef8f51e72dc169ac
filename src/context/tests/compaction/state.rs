//! State of compactions: what a restart and another history leave of it.

use super::*;
use crate::context::compaction::ceiling::Ceiling;
use crate::context::compaction::compaction_history::{Compactions, Record};
use crate::context::compaction::flush::{Flush, Flushed};
use crate::context::compaction::folds::{nothing_extracted, ranges};
use crate::context::compaction::guard::{Failure, Guard};
use crate::context::compaction::memory_flush::flush_prompt;
use crate::context::session::snapshot::bytes::{Reader, Writer};
use crate::extract::Extracted;
use crate::model::BlockId;

fn failed() -> Guard {
    let mut guard = Guard::default();
    guard.fail(Failure::Temporary, 7);
    guard
}

#[test]
fn the_record_of_a_compaction_is_the_same_after_a_restart() {
    let one = |name: &str| vec![name.to_owned()];
    let found = Extracted {
        modified_files: one("a.rs"),
        read_files: one("b.rs"),
        commands: one("make"),
        errors: one("E1"),
        redacts: false,
    };
    let last = Record { id: "1".into(), at_ms: 5, degraded: true, lost: one("E42"), found };
    let before = Compactions {
        guard: failed(),
        last: Some(last),
        unreported: Some((9, 4)),
        limit: Some(Ceiling::refuse(None, 100, None)),
        wanting: vec![(1.into(), 3.into())],
        tries: 2,
        checkpoints: "{}".into(),
        ..Compactions::default()
    };
    let mut out = Writer::new();
    before.write(&mut out);
    assert_eq!(Compactions::of(&mut Reader::new(&out.done()).unwrap()), before);
}

#[test]
fn another_history_keeps_cool_downs_limits_and_the_list_of_compactions() {
    let mut host = talked(&options(&json!({})), 20);
    host.request();
    host.compact("short");
    let mut before = host.session.compactions.clone();
    before.guard = failed();
    before.limit = Some(Ceiling::refuse(None, 100, None));
    assert_eq!(before.recent.len(), 1);
    let after = before.clone().of_another();
    let kept = Compactions {
        guard: before.guard,
        limit: before.limit,
        recent: before.recent,
        ..Compactions::default()
    };
    assert_eq!(after, kept);
}

#[test]
fn notes_are_awaited_until_they_are_written() {
    let awaits = |asked| Flush { asked, folds: 0 }.awaits_notes();
    let asked = |acted| Some(Flushed { threshold: 50, acted });
    assert_eq!([awaits(None), awaits(asked(false)), awaits(asked(true))], [false, true, false]);
}

#[test]
fn consecutive_numbers_are_one_range() {
    let numbers = [1, 2, 2, 3, 5].map(BlockId::from);
    assert_eq!(ranges(&numbers), [(1.into(), 4.into()), (5.into(), 6.into())]);
}

#[test]
fn a_prompt_for_notes_needs_a_request_and_grows_urgent_at_the_highest_line() {
    let prompt = |words: usize, request: bool| {
        let mut host = Host::new(
            &json!({ "window": { "contextTokens": 10_000 }, "estimator": "chars/4", "ingestCap": 1 }),
        );
        host.ask(&"word ".repeat(words));
        if request {
            host.request();
        }
        flush_prompt(&mut host.session, "2026-11-22").map(|it| (it.threshold, it.text))
    };
    assert_eq!(prompt(7_400, false), None);
    for (words, line, soon) in [(4_400, 50, false), (7_400, 90, true)] {
        let (threshold, text) = prompt(words, true).unwrap();
        assert_eq!((threshold, text.contains("is about to be shortened")), (line, soon), "{text}");
    }
}

#[test]
fn what_will_be_found_starts_with_the_files_of_the_last_compaction() {
    let mut host = talked(&options(&json!({})), 20);
    host.request();
    let plan = host.plan(true);
    host.commit(&plan, Some("short")).unwrap();
    let last = &mut host.session.compactions.last.as_mut().unwrap().found;
    (last.errors, last.redacts) = (vec!["E1".into()], false);
    let files = Extracted { modified_files: vec!["a.rs".into()], ..Extracted::default() };
    let redacts = Extracted { redacts: true, ..Extracted::default() };
    assert_eq!(nothing_extracted(&host.session, true), Extracted { redacts: true, ..files });
    assert_eq!(nothing_extracted(&host.session, false), redacts);
}

#[test]
fn a_request_that_does_not_fit_needs_less_growth_before_a_summarizer_is_asked() {
    let asks = |over: i64| {
        let mut host = talked(&options(&json!({})), 20);
        let (tokens, line) = host.session.sizes();
        assert!(line / 20 < 1_000);
        host.session.compactions.guard.done(0, tokens - 1_000, false);
        host.session.decisions.usable = tokens.checked_add_signed(-over).unwrap();
        may_ask_summarizer(&mut host.session, 0)
    };
    assert_eq!([-1, 0, 1].map(asks), [false, false, true]);
}

#[test]
fn a_summary_of_the_hosts_is_not_summarized_again() {
    for is_summary in [false, true] {
        let mut host = Host::new(&options(&json!({})));
        if is_summary {
            next_is_summary(&mut host.session);
        }
        host.ask("So far: nothing was found.");
        host.say("yes");
        let first = host.messages[0].to_string();
        let flat = flat_message(&mut host.session, 0.into(), first.as_bytes()).unwrap();
        let flat: Value = serde_json::from_str(flat.json()).unwrap();
        assert_eq!(flat["parts"] == json!([]), is_summary, "{flat}");
    }
}

#[test]
fn a_cut_inside_a_secret_brings_no_piece_of_it_to_a_summarizer() {
    let line = "MIIEab12cd34/ef56gh78+ij90".repeat(2);
    let key = format!("-----BEGIN PRIVATE KEY-----\n{}", format!("{line}\n").repeat(900));
    for redacts in [true, false] {
        let mut options = window(10_000);
        options["summary"] = json!({ "redact": redacts });
        let mut host = Host::new(&options);
        host.ask("look");
        host.work("a", &json!({}), &format!("first\n{key}last"));
        host.request();
        assert!(host.forms().contains(&Form::Capped));
        let result = host.messages[2].to_string();
        let flat = flat_message(&mut host.session, 2.into(), result.as_bytes()).unwrap();
        assert_eq!(flat.json().contains(&line), !redacts, "{}", flat.json());
        assert!(flat.json().contains("first"), "{}", flat.json());
    }
}
