//! The families of summaries: which headings they have, how much of a message a summarizer sees, how much it may write, and what
//! stands around its text. Headings and figures are those of the systems named; the wording is ours.

use crate::error::{Error, Result};

/// A family of summaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Template {
    Plimsoll,
    Aceclaw,
    Aiclaw,
    Openclaw,
    Goclaw,
    ContextBudget,
    Hermes,
}

/// How much of a message is shown, in characters; `None`: all of it (F103).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Caps {
    /// Over so many a text is cut to its head and tail.
    pub(super) text: Option<[usize; 3]>,
    /// The same of a call's arguments.
    pub(super) arguments: Option<[usize; 3]>,
    /// Over so many, all messages together are cut in the middle, 45 to 55.
    pub(super) total: Option<usize>,
}

impl Template {
    pub(super) const ALL: [(Self, &str); 7] = [
        (Self::Plimsoll, "plimsoll"),
        (Self::Aceclaw, "aceclaw"),
        (Self::Aiclaw, "aiclaw"),
        (Self::Openclaw, "openclaw"),
        (Self::Goclaw, "goclaw"),
        (Self::ContextBudget, "context-budget"),
        (Self::Hermes, "hermes"),
    ];

    /// The template of that name.
    pub(super) fn parse(name: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|(_, known)| *known == name);
        found.map(|(template, _)| *template).ok_or_else(|| {
            let names = crate::error::listed(&Self::ALL.map(|(_, known)| known), "\"");
            Error::argument(
                "summary.template",
                &format!("one of {names}"),
                format_args!("\"{name}\""),
            )
        })
    }

    /// F095: A84, I13, G24, G35, H23, and ours. The context budget's document names those of Hermes.
    pub(super) const fn headings(self) -> &'static [&'static str] {
        match self {
            Self::Plimsoll => &[
                "Goal",
                "Constraints",
                "Done",
                "In Progress",
                "Decisions",
                "Errors",
                "Files and Identifiers",
                "Open Questions",
                "Next Steps",
            ],
            Self::Aceclaw => &[
                "Task Overview",
                "Current State",
                "Key Decisions",
                "Errors Encountered",
                "Next Steps",
                "Context to Preserve",
            ],
            Self::Aiclaw => &[
                "Goal",
                "Constraints And Preferences",
                "Progress",
                "Key Decisions",
                "Relevant Files",
                "Next Steps",
                "Critical Context",
            ],
            Self::Openclaw => &[
                "Decisions",
                "Open TODOs",
                "Constraints/Rules",
                "Pending user asks",
                "Exact identifiers",
            ],
            Self::Goclaw => &["Topics", "Decisions", "Current State", "Pending Items"],
            Self::ContextBudget | Self::Hermes => &[
                "Historical Task Snapshot",
                "Goal",
                "Constraints & Preferences",
                "Completed Actions",
                "Active State",
                "Historical In-Progress State",
                "Blocked",
                "Key Decisions",
                "Resolved Questions",
                "Historical Pending User Asks",
                "Relevant Files",
                "Historical Remaining Work",
                "Critical Context",
            ],
        }
    }

    /// What its sections hold, where the heading does not say it.
    pub(super) const fn guidance(self) -> &'static str {
        match self {
            Self::Plimsoll => {
                "Done: numbered, with what came of each step. Files and Identifiers: each on a line, as it is written."
            }
            Self::Aceclaw => {
                "Context to Preserve: paths, names, values and wishes of the user, as they are written."
            }
            Self::Aiclaw => "Progress has three parts: Completed, In Progress, Blocked.",
            Self::Openclaw => {
                "Exact identifiers: every id, path, hash, address and port that may be needed, unchanged."
            }
            Self::Goclaw => "Topics: what was discussed.",
            Self::ContextBudget | Self::Hermes => {
                "Completed Actions: numbered, each with the tool and its outcome. What is finished is told in the past \
                 tense, with its date where one is known. Sections named Historical tell what was, not what is to be done."
            }
        }
    }

    pub(super) const fn caps(self) -> Caps {
        match self {
            Self::Plimsoll => Caps {
                text: Some([6_000, 4_000, 1_500]),
                arguments: Some([1_500, 1_200, 200]),
                total: None,
            },
            Self::Aceclaw => Caps { text: None, arguments: None, total: None },
            Self::Aiclaw => Caps {
                text: Some([1_000, 1_000, 0]),
                arguments: Some([1_000, 1_000, 0]),
                total: None,
            },
            Self::Openclaw | Self::Goclaw => Caps {
                text: Some([2_000, 2_000, 0]),
                arguments: Some([2_000, 2_000, 0]),
                total: None,
            },
            Self::ContextBudget | Self::Hermes => Caps {
                text: Some([6_000, 4_000, 1_500]),
                arguments: Some([1_500, 1_200, 0]),
                total: Some(160_000),
            },
        }
    }

    /// F102: tokens for the answer to so much input, under this window (0: unknown).
    pub(super) fn output_tokens(self, input: u32, window: u32) -> u32 {
        let fifth = input / 5;
        match self {
            Self::Aceclaw => 4_096,
            Self::Goclaw => 2_000,
            Self::ContextBudget | Self::Hermes => {
                let most = if window == 0 { 10_000 } else { (window / 20).min(10_000) };
                fifth.min(most).max(2_000)
            }
            Self::Plimsoll | Self::Aiclaw | Self::Openclaw => fifth.clamp(2_000, 4_000),
        }
    }

    /// What stands before and after the text: how the agent is to take it (F098, F100). No sentence here asks for anything.
    pub(super) const fn around(self) -> (&'static str, &'static str) {
        match self {
            Self::Plimsoll => ("", ""),
            Self::Aceclaw => (
                "[COMPACTED]\n\nThis session is continued from a previous conversation. What follows is the summary of its \
                 earlier part.\n\n",
                "",
            ),
            Self::Aiclaw => ("[Context Compression Summary]\n", ""),
            Self::Openclaw | Self::Goclaw => ("[Previous context summary]\n", ""),
            Self::ContextBudget => ("[CONTEXT SUMMARY \u{2014} reference only]\n", ""),
            Self::Hermes => (
                "[CONTEXT COMPACTION \u{2014} REFERENCE ONLY]\nWhat follows tells of earlier turns. It is background and no \
                 request: the user's latest message decides, and work told of here is not taken up by itself. Memory and \
                 system prompt stay in force, and the tools are still there.\n\n",
                "\n\n--- END OF CONTEXT SUMMARY \u{2014} the user's latest message follows ---",
            ),
        }
    }
}

/// How summaries of this package and of others begin (F098, F099), in lower case.
const PREFIXES: [&str; 7] = [
    "[earlier messages were removed",
    "[compacted]",
    "[context compression summary]",
    "[previous context summary]",
    "[context summary",
    "[context compaction",
    "this session is continued from a previous conversation",
];
const ENDS: &str = "--- end of context summary";

/// The text of a summary without what `around` or the host's prefix put beside it: so that it is fed as a text, and only once.
/// Nothing is decided by it.
pub(super) fn bare<'t>(summary: &'t str, prefix: &str) -> &'t str {
    let mut text = summary.trim();
    for (template, _) in Template::ALL {
        let (before, after) = template.around();
        text = text.strip_prefix(before.trim()).unwrap_or(text);
        text = text.strip_suffix(after.trim()).unwrap_or(text).trim();
    }
    if !prefix.is_empty() {
        text = text.strip_prefix(prefix).unwrap_or(text).trim_start();
    }
    loop {
        let line = text.lines().next().unwrap_or_default();
        let lower = line.to_ascii_lowercase();
        if !PREFIXES.iter().any(|prefix| lower.starts_with(prefix)) {
            break;
        }
        text = text.get(line.len()..).unwrap_or_default().trim_start();
    }
    let last = text.lines().next_back().unwrap_or_default();
    if last.to_ascii_lowercase().starts_with(ENDS) {
        text = text.strip_suffix(last).unwrap_or(text);
    }
    text.trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// F095: as many headings as the systems have, none twice.
    /// Row F095.
    #[test]
    fn each_template_has_its_headings() {
        let counts = Template::ALL.map(|(template, _)| template.headings().len());
        assert_eq!(counts, [9, 6, 7, 5, 4, 13, 13]);
        for (template, _) in Template::ALL {
            let mut headings = template.headings().to_vec();
            headings.sort_unstable();
            headings.dedup();
            assert_eq!(headings.len(), template.headings().len());
        }
    }

    /// Row F102.
    #[test]
    fn each_template_has_its_output_budget() {
        for (template, input, window, expected) in [
            (Template::Plimsoll, 100, 0, 2_000),
            (Template::Aiclaw, 15_000, 0, 3_000),
            (Template::Aiclaw, 90_000, 0, 4_000),
            (Template::Aceclaw, 10, 0, 4_096),
            (Template::Goclaw, 90_000, 0, 2_000),
            (Template::Hermes, 20_000, 200_000, 4_000),
            (Template::Hermes, 400_000, 200_000, 10_000),
            (Template::Hermes, 400_000, 100_000, 5_000),
            (Template::Hermes, 400_000, 32_000, 2_000),
        ] {
            assert_eq!(template.output_tokens(input, window), expected);
        }
    }

    /// Rows F098, F099.
    #[test]
    fn text_around_a_summary_is_stripped() {
        for (template, _) in Template::ALL {
            let (before, after) = template.around();
            assert_eq!(bare(&format!("{before}## Goal\nx{after}"), ""), "## Goal\nx");
        }
        for text in [
            "[CONTEXT SUMMARY \u{2014} reference only]\nbody",
            "[COMPACTED]\n\nbody",
            "[Context Compression Summary]\nbody",
            "[MINE] body",
            "[CONTEXT COMPACTION \u{2014} REFERENCE ONLY]\nbody\n--- END OF CONTEXT SUMMARY \u{2014} x",
        ] {
            assert_eq!(bare(text, "[MINE]"), "body", "{text}");
        }
        assert_eq!(bare("we spoke of [COMPACTED] once", ""), "we spoke of [COMPACTED] once");
    }

    /// Row F100.
    #[test]
    fn the_handoff_is_for_reference_and_asks_for_nothing() {
        let (before, after) = Template::Hermes.around();
        assert!(before.contains("REFERENCE ONLY") && before.contains("latest message decides"));
        assert!(after.contains("END OF CONTEXT SUMMARY"));
        assert!(Template::Aceclaw.around().0.contains("continued from a previous conversation"));
    }

    #[test]
    fn an_unknown_template_is_refused() {
        let error = Template::parse("x").unwrap_err().to_string();
        assert!(
            error.starts_with("summary.template: expected one of \"plimsoll\", \"aceclaw\""),
            "{error}"
        );
    }
}
