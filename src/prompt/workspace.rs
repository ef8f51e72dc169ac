//! The files of an agent's workspace as sections: whose they are, by name.

use super::section::Section;
use super::tier::{TierFile, memory_tiers};
use crate::focus::Focus;

/// Files that are a tier's. Of the first tier only the first that is there counts.
const TIERS: [(&str, &str); 12] = [
    (".aceclaw/SOUL.md", "soul"),
    ("SOUL.md", "soul"),
    ("~/SOUL.md", "soul"),
    ("~/managed-policy.md", "policy"),
    ("AGENTS.md", "workspace"),
    ("ACECLAW.md", "workspace"),
    (".aceclaw/ACECLAW.md", "workspace"),
    ("USER.md", "user"),
    ("~/ACECLAW.md", "user"),
    ("ACECLAW.local.md", "local"),
    ("MEMORY.md", "markdown"),
    (".aceclaw/MEMORY.md", "markdown"),
];

/// Files that are a section of their own: key, priority, heading, and whether they are the same from request to request.
const OWN: [(&str, &str, u32, &str, bool); 4] = [
    ("IDENTITY.md", "identity", 85, "# Identity", true),
    ("TOOLS.md", "tool-guidance", 82, "# Tools", true),
    ("BOOTSTRAP.md", "bootstrap", 56, "# Bootstrap", true),
    ("HEARTBEAT.md", "heartbeat", 45, "# Heartbeat", false),
];

/// What an agent that works for another is shown: how to work here, and with what; nothing that is told to the first alone.
const SUBAGENT: [&str; 2] = ["AGENTS.md", "TOOLS.md"];

/// The sections of these files, each known by its name (in `tier`): tiers first, then those of their own. A note of `memory/`
/// has the name `memory` and is the journal's; other names are passed over. `subagent`: only those that one is shown.
pub fn workspace_sections(files: &[TierFile], subagent: bool) -> Vec<Section<'static>> {
    let shown = |file: &&TierFile| !subagent || SUBAGENT.contains(&file.tier.as_str());
    let files: Vec<&TierFile> = files.iter().filter(shown).collect();
    let mut tiers = Vec::new();
    for (name, tier) in TIERS.into_iter().chain([("memory", "journal")]) {
        for file in files.iter().filter(|file| file.tier == name) {
            let mut content = file.content.clone();
            if tier == "journal" && !content.trim().is_empty() {
                content =
                    format!("## {}\n\n{content}", day_of(file.path.as_deref().unwrap_or_default()));
            }
            tiers.push(TierFile { tier: tier.into(), content, path: file.path.clone() });
        }
    }
    let mut sections = memory_tiers(&tiers).unwrap_or_default();
    for (name, key, priority, heading, stable) in OWN {
        let there = files.iter().find(|file| file.tier == name && !file.content.trim().is_empty());
        let Some(file) = there else { continue };
        sections.push(Section {
            key: key.into(),
            content: format!("{heading}\n\n{}\n\n", file.content.trim()).into(),
            priority,
            source: Some("workspace".into()),
            reason: Some(format!("{name} of the workspace").into()),
            evidence: file.path.iter().cloned().collect(),
            stable,
            ..Section::default()
        });
    }
    sections
}

/// The day of a note, by its file's name.
fn day_of(path: &str) -> &str {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    file.strip_suffix(".md").unwrap_or(file)
}

/// What the request is about, as a section (A34); nothing where nothing is known.
pub fn task_focus(focus: &Focus) -> Option<Section<'static>> {
    let mut lines = Vec::new();
    let mut line = |what: &str, words: String| {
        if !words.is_empty() {
            lines.push(format!("- {what}: {words}"));
        }
    };
    line("Query", focus.summary.clone());
    line("Active files", focus.files.join(", "));
    line("Active symbols", focus.symbols.join(", "));
    let signals: Vec<&str> = focus.signals.iter().map(|signal| signal.name()).collect();
    line("Signals", signals.join(", "));
    (!lines.is_empty()).then(|| Section {
        key: "task-focus".into(),
        content: format!(
            "# Task Focus\n\nWhat the current request is about:\n\n{}\n\n",
            lines.join("\n")
        )
        .into(),
        priority: 89,
        source: Some("focus".into()),
        scope: Some("task-local".into()),
        reason: Some("the current request".into()),
        ..Section::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::focus::LANGUAGES;

    fn file(name: &str, content: &str, path: &str) -> TierFile {
        TierFile { tier: name.into(), content: content.into(), path: Some(path.into()) }
    }

    #[test]
    fn files_are_known_by_name() {
        let files = [
            file("AGENTS.md", "be kind", "/w/AGENTS.md"),
            file("SOUL.md", "ours", "/w/SOUL.md"),
            file("~/SOUL.md", "global", "/h/SOUL.md"),
            file("memory", "did things", "/w/memory/2026-11-21.md"),
            file("memory", "more", "/w/memory/2026-11-20.md"),
            file("TOOLS.md", "use them", "/w/TOOLS.md"),
            file("HEARTBEAT.md", " ", "/w/HEARTBEAT.md"),
            file("other.md", "x", "/w/other.md"),
        ];
        let keys = |sections: &[Section<'_>]| -> Vec<(String, u32)> {
            sections.iter().map(|it| (it.key.clone().into_owned(), it.priority)).collect()
        };
        let sections = workspace_sections(&files, false);
        assert_eq!(
            keys(&sections),
            [
                ("memory:soul".into(), 100),
                ("memory:workspace".into(), 80),
                ("memory:journal".into(), 50),
                ("tool-guidance".into(), 82)
            ]
        );
        assert_eq!(
            keys(&workspace_sections(&files, true)),
            [("memory:workspace".into(), 80), ("tool-guidance".into(), 82)]
        );
        assert!(sections[0].content.contains("ours") && !sections[0].content.contains("global"));
        assert_eq!(
            sections[2].content,
            "# Daily Journal\n\n## 2026-11-21\n\ndid things\n\n## 2026-11-20\n\nmore\n\n"
        );
    }

    #[test]
    fn only_a_note_with_text_has_its_day_as_heading() {
        let files = [
            file("SOUL.md", "ours", "/w/SOUL.md"),
            file("memory", " \n", "/w/memory/2026-11-21.md"),
        ];
        let sections = workspace_sections(&files, false);
        let found: Vec<_> = sections.iter().map(|it| &*it.content).collect();
        assert_eq!(found, ["# Soul (Core Identity)\n\nours\n\n"]);
    }

    #[test]
    fn a_file_that_is_a_section_of_its_own_is_reported_with_its_path() {
        let files = [
            file("HEARTBEAT.md", "ask often", "/w/HEARTBEAT.md"),
            file("TOOLS.md", "use them\n", "/w/TOOLS.md"),
        ];
        let tools = Section {
            key: "tool-guidance".into(),
            content: "# Tools\n\nuse them\n\n".into(),
            priority: 82,
            protected: false,
            source: Some("workspace".into()),
            scope: None,
            reason: Some("TOOLS.md of the workspace".into()),
            evidence: vec!["/w/TOOLS.md".into()],
            stable: true,
        };
        let heartbeat = Section {
            key: "heartbeat".into(),
            content: "# Heartbeat\n\nask often\n\n".into(),
            priority: 45,
            reason: Some("HEARTBEAT.md of the workspace".into()),
            evidence: vec!["/w/HEARTBEAT.md".into()],
            stable: false,
            ..tools.clone()
        };
        assert_eq!(workspace_sections(&files, false), [tools, heartbeat]);
    }

    /// A34: absent lines are left out, and nothing is said of nothing.
    /// Row A34.
    #[test]
    fn the_task_focus_is_a_section_of_files_symbols_and_intent() {
        let focus = Focus::of("fix src/a.rs", &[], None, &LANGUAGES);
        let section = Section {
            key: "task-focus".into(),
            content: "# Task Focus\n\nWhat the current request is about:\n\n- Query: fix src/a.rs\n- Active files: src/a.rs\n- Signals: code change requested\n\n".into(),
            priority: 89,
            protected: false,
            source: Some("focus".into()),
            scope: Some("task-local".into()),
            reason: Some("the current request".into()),
            evidence: Vec::new(),
            stable: false,
        };
        assert_eq!(task_focus(&focus), Some(section));
        assert_eq!(task_focus(&Focus::default()), None);
    }
}
