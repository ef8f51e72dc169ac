//! Prompts for notes: each line once a cycle, the highest first, and what ends a cycle.

use super::*;

const DAY: &str = "2026-11-22";

/// A session whose request takes about so many percent of its window.
fn filled(pct: usize) -> Told {
    let mut told = Told::new(
        &json!({ "window": { "contextTokens": 10_000 }, "estimator": "chars/4", "ingestCap": 1 }),
    );
    fill(&mut told, pct);
    told
}

fn fill(told: &mut Told, pct: usize) {
    let now = usize::try_from(told.state.status().pct).unwrap();
    told.ask(&"word ".repeat((pct - now) * 80));
    told.request();
}

fn asked(told: &mut Told) -> Option<u32> {
    told.state.flush_prompt(DAY).map(|prompt| prompt.threshold)
}

#[test]
fn the_highest_line_asks_once_and_lower_ones_no_more() {
    assert_eq!(asked(&mut Told::new(&window(10_000))), None);
    let mut told = filled(45);
    assert_eq!(asked(&mut told), None);
    fill(&mut told, 51);
    assert_eq!((asked(&mut told), asked(&mut told)), (Some(50), None));
    fill(&mut told, 80);
    assert_eq!((asked(&mut told), asked(&mut told)), (Some(75), None));
    assert_eq!(asked(&mut filled(80)), Some(75));
    assert_eq!(asked(&mut filled(92)), Some(90));
}

#[test]
fn the_text_has_the_day_and_where_notes_go() {
    let text = filled(55).state.flush_prompt(DAY).unwrap().text;
    assert!(text.contains("memory/2026-11-22.md") && text.contains("55%"), "{text}");
}

#[test]
fn without_a_window_nothing_is_asked() {
    let mut told = Told::new(&window(0));
    fill(&mut told, 90);
    assert_eq!(asked(&mut told), None);
}

#[test]
fn what_a_provider_counted_is_what_counts() {
    let mut told = filled(40);
    told.state.observe(r#"{"inputTokens":7600,"outputTokens":1}"#, None);
    assert_eq!(asked(&mut told), Some(75));
}

#[test]
fn a_fold_and_an_emptier_window_begin_a_new_cycle() {
    let mut told = filled(60);
    assert_eq!(asked(&mut told), Some(50));
    told.state.set_options(Options::parse(&window(100_000).to_string()).unwrap());
    told.ask("on");
    told.request();
    told.state.set_options(Options::parse(&window(10_000).to_string()).unwrap());
    assert_eq!(asked(&mut told), Some(50), "it was below a quarter in between");

    let mut told = Told::worked(&window(10_000), 14);
    asked(&mut told);
    let before = told.state.folds();
    told.state.call_agent_tool("context_compact", "{}").unwrap();
    told.ask("next");
    told.request();
    assert_ne!(told.state.folds(), before, "a fold");
    assert_eq!(told.state.status().flush, None);
    let pct = told.state.status().pct;
    fill(&mut told, 60.max(usize::try_from(pct).unwrap()));
    assert_eq!(asked(&mut told), Some(50));
}

#[test]
fn notes_that_are_written_after_the_prompt_are_seen() {
    let write = |path: &str| {
        let call = json!({ "type": "tool_use", "id": "w", "name": "write_file", "input": { "path": path, "content": "n" } });
        json!({ "role": "assistant", "content": [call] })
    };
    let acted = |told: &Told| told.state.status().flush.map(|flush| flush.acted);
    for (path, notes) in
        [("memory/2026-11-22.md", true), ("./memory/x.md", true), ("src/memory/x.md", false)]
    {
        let mut told = filled(55);
        told.tell(write("memory/early.md"));
        asked(&mut told);
        assert_eq!(acted(&told), Some(false));
        told.tell(write(path));
        assert_eq!(acted(&told), Some(notes), "{path}");
        assert_eq!(asked(&mut told), None);
    }
}

#[test]
fn a_parked_session_asks_no_second_time() {
    let mut told = filled(55);
    asked(&mut told);
    let options =
        json!({ "window": { "contextTokens": 10_000 }, "estimator": "chars/4", "ingestCap": 1 });
    let options = Options::parse(&options.to_string()).unwrap();
    told.state = State::restore(options, &told.state.snapshot()).unwrap();
    assert_eq!(asked(&mut told), None);
    for message in told.messages.clone() {
        told.state.push(message.to_string().as_bytes()).unwrap();
    }
    told.request();
    assert_eq!(asked(&mut told), None);
    assert_eq!(told.state.status().flush, Some(Flushed { threshold: 50, acted: false }));
    fill(&mut told, 80);
    assert_eq!(asked(&mut told), Some(75));
}
