//! Priority boosts for the sections that the request's focus needs (A57-A60).

use super::section::Section;
use crate::focus::{Focus, Signal, contains_word};

/// All points of a section count, up to this many (A57): so a focus lifts no section over one that is far more important by its base.
const MOST: u32 = 12;
/// The highest priority.
const TOP: u32 = 100;

/// A section's priority for a request, and what lifted it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Boost {
    /// The base and the points, at most 100.
    pub priority: u32,
    /// One line for each reason, with its points.
    pub evidence: Vec<String>,
}

/// What lifts a section: points if it holds, and how it is told.
struct Points(Vec<(u32, String)>);

impl Points {
    fn add(&mut self, points: u32, holds: bool, why: impl FnOnce() -> String) {
        if holds {
            self.0.push((points, why()));
        }
    }
}

/// The priority of a section under a focus.
///
/// Points are `AceClaw`'s (A58). Ours: a symbol counts in a memory where it stands as a word, not inside another.
pub fn boost(section: &Section<'_>, focus: &Focus) -> Boost {
    let mut points = Points(Vec::new());
    let files = !focus.files.is_empty();
    let symbols = !focus.symbols.is_empty();
    let named = |what: &[String]| what.first().cloned().unwrap_or_default();
    let signal = |signal: Signal| signal.name().to_owned();
    let any = focus.signals.first().map(|signal| signal.name());
    let any_signal = || any.unwrap_or_default().to_owned();
    let (go_on, plan) = (focus.asks(Signal::Continue), focus.asks(Signal::Plan));
    let (change, verify) = (focus.asks(Signal::Change), focus.asks(Signal::Verify));
    let file = || format!("active file {}", named(&focus.files));
    let symbol = || format!("symbol {}", named(&focus.symbols));
    let (family, name) = section.key.split_once(':').unwrap_or((&section.key, ""));
    match family {
        "memory" => {
            let found = focus.symbols.iter().find(|symbol| contains_word(&section.content, symbol));
            points.add(16, found.is_some(), || {
                format!("names {}", found.cloned().unwrap_or_default())
            });
            match name.to_ascii_lowercase().as_str() {
                "auto" | "auto-memory" => {
                    points.add(8, !focus.summary.is_empty(), || "ranked by the query".into());
                }
                "markdown" | "markdown memory" => points.add(10, files, file),
                "journal" | "daily journal" => {
                    points.add(12, go_on || verify, || {
                        signal(if go_on { Signal::Continue } else { Signal::Verify })
                    });
                }
                _ => {}
            }
        }
        "task-focus" => {
            points.add(2, files, file);
            points.add(4, symbols, symbol);
            points.add(4, any.is_some(), any_signal);
        }
        "rules" => {
            points.add(4, files, file);
            points.add(3, change, || signal(Signal::Change));
            points.add(2, verify, || signal(Signal::Verify));
        }
        "skills" => {
            points.add(5, symbols, symbol);
            points.add(5, plan, || signal(Signal::Plan));
            points.add(2, change, || signal(Signal::Change));
        }
        "candidates" => {
            points.add(6, symbols, symbol);
            points.add(3, files, file);
            points.add(3, any.is_some(), any_signal);
        }
        "git" => {
            points.add(6, go_on, || signal(Signal::Continue));
            points.add(2, change, || signal(Signal::Change));
        }
        "tool-guidance" => points.add(2, plan, || signal(Signal::Plan)),
        "environment" => {
            points
                .add(2, go_on && !files, || format!("{}, no file named", Signal::Continue.name()));
        }
        _ => {}
    }
    let sum = points.0.iter().fold(0u32, |sum, (points, _)| sum.saturating_add(*points)).min(MOST);
    Boost {
        priority: section.priority.saturating_add(sum).min(TOP),
        evidence: points.0.into_iter().map(|(points, why)| format!("+{points} {why}")).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn focus(files: &[&str], symbols: &[&str], signals: &[Signal]) -> Focus {
        let own = |list: &[&str]| list.iter().map(ToString::to_string).collect();
        Focus {
            summary: "q".into(),
            files: own(files),
            inferred: Vec::new(),
            symbols: own(symbols),
            signals: signals.to_vec(),
        }
    }

    #[track_caller]
    fn check(key: &str, priority: u32, focus: &Focus, expected: u32) {
        let section = Section {
            key: key.into(),
            priority,
            content: "about FooBar".into(),
            ..Section::default()
        };
        assert_eq!(boost(&section, focus).priority, expected, "{key}");
    }

    /// A59, in its order.
    /// Row A59.
    #[test]
    fn sections_that_the_focus_is_about_get_a_higher_priority() {
        let all = focus(
            &["a.rs"],
            &["FooBar"],
            &[Signal::Continue, Signal::Plan, Signal::Change, Signal::Verify],
        );
        let file = focus(&["a.rs"], &[], &[]);
        let symbol = focus(&[], &["FooBar"], &[]);
        check("memory:auto", 60, &all, 72);
        check("memory:journal", 50, &all, 62);
        check("memory:markdown", 55, &file, 65);
        check("memory:markdown", 55, &symbol, 67);
        check("memory:local", 65, &symbol, 77);
        check("memory:user", 70, &symbol, 82);
        check("memory:workspace", 80, &symbol, 92);
        check("memory:policy", 90, &symbol, 100);
        check("memory:soul", 100, &symbol, 100);
        check("candidates", 54, &all, 66);
        check("rules:java", 88, &all, 97);
        check("task-focus", 89, &all, 99);
        check("skills", 58, &all, 70);
        check("git", 40, &all, 48);
        check("tool-guidance", 82, &all, 84);
        check("environment", 72, &focus(&[], &[], &[Signal::Continue]), 74);
        check("environment", 72, &all, 72);
        check("base", 95, &all, 95);
        check("memory:auto", 60, &Focus::default(), 60);
        check("memory:auto", 60, &focus(&[], &[], &[]), 68);
    }

    /// Row A58.
    #[test]
    fn the_journal_gets_a_higher_priority_for_going_on_and_for_checking() {
        for key in ["memory:journal", "memory:daily journal"] {
            for signal in [Signal::Continue, Signal::Verify] {
                let journal = Section { key: key.into(), priority: 50, ..Section::default() };
                let boost = boost(&journal, &focus(&[], &[], &[signal]));
                assert_eq!(boost.evidence, [format!("+12 {}", signal.name())], "{key}");
                assert_eq!(boost.priority, 62, "{key}");
            }
            check(key, 50, &focus(&["a.rs"], &[], &[Signal::Plan, Signal::Change]), 50);
        }
    }

    /// A52: a symbol inside another word lifts nothing.
    /// Row A52.
    #[test]
    fn a_part_of_a_word_raises_no_priority() {
        check("memory:user", 70, &focus(&[], &["Foo"], &[]), 70);
    }

    /// Row A101.
    #[test]
    fn a_raised_priority_has_its_evidence() {
        let rules = Section { key: "rules:x".into(), priority: 88, ..Section::default() };
        let boost = boost(&rules, &focus(&["src/a.rs"], &[], &[Signal::Change]));
        assert_eq!(boost.evidence, ["+4 active file src/a.rs", "+3 code change requested"]);
        assert_eq!(boost.priority, 95);
    }
}
