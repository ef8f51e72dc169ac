//! Prompts for notes: each line once a cycle, the highest first, and what ends a cycle.

use super::*;
use crate::context::compaction::folds::fold_count;
use crate::context::compaction::memory_flush::flush_prompt;
use crate::context::report::status::status;
use crate::context::session::agent::call_agent_tool;
use crate::context::session::snapshot::restore_session;
use crate::context::session::snapshot::set_options;
use crate::context::session::snapshot::snapshot_bytes;

const DAY: &str = "2026-11-22";

/// A session whose request takes about so many percent of its window.
fn filled(pct: usize) -> Host {
    let mut host = Host::new(
        &json!({ "window": { "contextTokens": 10_000 }, "estimator": "chars/4", "ingestCap": 1 }),
    );
    fill(&mut host, pct);
    host
}

fn fill(host: &mut Host, pct: usize) {
    let now = usize::try_from(status(&host.session).pct).unwrap();
    host.ask(&"word ".repeat((pct - now) * 80));
    host.request();
}

fn asked(host: &mut Host) -> Option<u32> {
    flush_prompt(&mut host.session, DAY).map(|prompt| prompt.threshold)
}

#[test]
fn the_highest_threshold_prompts_once_and_silences_lower_ones() {
    assert_eq!(asked(&mut Host::new(&window(10_000))), None);
    let mut host = filled(45);
    assert_eq!(asked(&mut host), None);
    fill(&mut host, 51);
    assert_eq!((asked(&mut host), asked(&mut host)), (Some(50), None));
    fill(&mut host, 80);
    assert_eq!((asked(&mut host), asked(&mut host)), (Some(75), None));
    assert_eq!(asked(&mut filled(80)), Some(75));
    assert_eq!(asked(&mut filled(92)), Some(90));
}

#[test]
fn a_prompt_for_notes_has_the_date_and_the_place_of_notes() {
    let text = flush_prompt(&mut filled(55).session, DAY).unwrap().text;
    assert!(text.contains("memory/2026-11-22.md") && text.contains("55%"), "{text}");
}

#[test]
fn no_prompt_for_notes_is_due_without_a_window() {
    let mut host = Host::new(&window(0));
    fill(&mut host, 90);
    assert_eq!(asked(&mut host), None);
}

#[test]
fn the_count_of_the_provider_decides_when_notes_are_due() {
    let mut host = filled(40);
    host.session.observe(r#"{"inputTokens":7600,"outputTokens":1}"#, None);
    assert_eq!(asked(&mut host), Some(75));
}

#[test]
fn a_fold_and_an_emptier_window_begin_a_new_cycle() {
    let mut host = filled(60);
    assert_eq!(asked(&mut host), Some(50));
    set_options(&mut host.session, Options::parse(&window(100_000).to_string()).unwrap(), false);
    host.ask("on");
    host.request();
    set_options(&mut host.session, Options::parse(&window(10_000).to_string()).unwrap(), false);
    assert_eq!(asked(&mut host), Some(50), "it was below a quarter in between");

    let mut host = Host::worked(&window(10_000), 14);
    asked(&mut host);
    let before = fold_count(&host.session);
    call_agent_tool(&mut host.session, "context_compact", "{}").unwrap();
    host.ask("next");
    host.request();
    assert_ne!(fold_count(&host.session), before, "a fold");
    assert_eq!(status(&host.session).flush, None);
    let pct = status(&host.session).pct;
    fill(&mut host, 60.max(usize::try_from(pct).unwrap()));
    assert_eq!(asked(&mut host), Some(50));
}

#[test]
fn notes_that_are_written_after_the_prompt_are_seen() {
    let write = |path: &str| {
        let call = json!({ "type": "tool_use", "id": "w", "name": "write_file", "input": { "path": path, "content": "n" } });
        json!({ "role": "assistant", "content": [call] })
    };
    let acted = |host: &Host| status(&host.session).flush.map(|flush| flush.acted);
    for (path, notes) in
        [("memory/2026-11-22.md", true), ("./memory/x.md", true), ("src/memory/x.md", false)]
    {
        let mut host = filled(55);
        host.append(write("memory/early.md"));
        asked(&mut host);
        assert_eq!(acted(&host), Some(false));
        host.append(write(path));
        assert_eq!(acted(&host), Some(notes), "{path}");
        assert_eq!(asked(&mut host), None);
    }
}

#[test]
fn a_restored_session_does_not_prompt_for_notes_again() {
    let mut host = filled(55);
    asked(&mut host);
    let options =
        json!({ "window": { "contextTokens": 10_000 }, "estimator": "chars/4", "ingestCap": 1 });
    let options = Options::parse(&options.to_string()).unwrap();
    host.session = restore_session(options, &snapshot_bytes(&host.session)).unwrap();
    assert_eq!(asked(&mut host), None);
    for message in host.messages.clone() {
        host.session.push(message.to_string().as_bytes()).unwrap();
    }
    host.request();
    assert_eq!(asked(&mut host), None);
    assert_eq!(status(&host.session).flush, Some(Flushed { threshold: 50, acted: false }));
    fill(&mut host, 80);
    assert_eq!(asked(&mut host), Some(75));
}
