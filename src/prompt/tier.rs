//! The eight memory tiers (A26-A29): their order, priorities and headings.

use super::section::Section;

/// A file of a tier that the host has read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TierFile {
    /// `soul`, `policy`, `workspace`, `user`, `local`, `auto`, `markdown` or `journal`.
    pub tier: String,
    /// Its text.
    pub content: String,
    /// Where it stands; named in the section's source.
    pub path: Option<String>,
}

/// A tier: its name, priority, heading, and whether it is the same from request to request.
struct Tier {
    name: &'static str,
    priority: u32,
    heading: &'static str,
    stable: bool,
    /// Lines of a file that are shown.
    lines: usize,
}

const fn tier(
    name: &'static str,
    priority: u32,
    heading: &'static str,
    stable: bool,
    lines: usize,
) -> Tier {
    Tier { name, priority, heading, stable, lines }
}

/// Above this priority a tier is protected (A13).
const PROTECTED: u32 = 90;

const TIERS: [Tier; 8] = [
    tier("soul", 100, "# Soul (Core Identity)", true, usize::MAX),
    tier("policy", 90, "# Managed Policy", true, usize::MAX),
    tier("workspace", 80, "# Project Instructions", true, usize::MAX),
    tier("user", 70, "# User Instructions", true, usize::MAX),
    tier("local", 65, "# Local Developer Instructions", true, usize::MAX),
    tier("auto", 60, "# Auto-Memory", false, usize::MAX),
    tier("markdown", 55, "# Persistent Memory\n\n## MEMORY.md", false, 200),
    tier("journal", 50, "# Daily Journal", false, 500),
];

/// One section for each tier that has text, highest priority first; several files of a tier stand after one another, as
/// given. Of two souls the first counts: the workspace's before the global one (A27).
///
/// # Errors
/// The name of a tier that there is not.
pub fn memory_tiers(files: &[TierFile]) -> Result<Vec<Section<'static>>, String> {
    if let Some(file) = files.iter().find(|file| !TIERS.iter().any(|tier| tier.name == file.tier)) {
        return Err(file.tier.clone());
    }
    Ok(TIERS.iter().filter_map(|tier| section(tier, files)).collect())
}

/// The priority of a tier.
pub(super) fn tier_priority(name: &str) -> Option<u32> {
    TIERS.iter().find(|tier| tier.name == name).map(|tier| tier.priority)
}

/// The names of all tiers.
pub fn tier_names() -> String {
    TIERS.map(|tier| tier.name).join(", ")
}

fn section(tier: &Tier, files: &[TierFile]) -> Option<Section<'static>> {
    let all = files.iter().filter(|file| file.tier == tier.name && !file.content.trim().is_empty());
    let all: Vec<&TierFile> = all.take(if tier.name == "soul" { 1 } else { usize::MAX }).collect();
    if all.is_empty() {
        return None;
    }
    let mut content = String::from(tier.heading);
    for file in &all {
        content.push_str("\n\n");
        content.push_str(shown(file.content.trim_matches(['\n', '\r']), tier.lines));
        let count = file.content.trim_end().lines().count();
        if count > tier.lines {
            let shown = tier.lines;
            content = format!(
                "{content}\n<!-- Truncated at {shown} lines. Full file has {count} lines. -->"
            );
        }
    }
    content.push_str("\n\n");
    // A100: what the agent has learned by itself is no memory like the others.
    let learned = tier.name == "auto";
    let (source, scope) =
        if learned { ("learned-signals", "task-local") } else { ("memory", "always-on") };
    let paths: Vec<&str> = all.iter().filter_map(|file| file.path.as_deref()).collect();
    Some(Section {
        key: format!("memory:{}", tier.name).into(),
        content: content.into(),
        priority: tier.priority,
        protected: tier.priority >= PROTECTED,
        source: Some(source.into()),
        scope: Some(scope.into()),
        reason: Some(format!("the {} tier", tier.name).into()),
        evidence: paths.into_iter().map(ToOwned::to_owned).collect(),
        stable: tier.stable,
    })
}

/// The first lines of a text.
fn shown(text: &str, lines: usize) -> &str {
    let end =
        text.match_indices('\n').nth(lines.saturating_sub(1)).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(tier: &str, content: &str) -> TierFile {
        TierFile { tier: tier.into(), content: content.into(), path: None }
    }

    /// A26-A28: order, priorities, headings, protection; keys in small letters (D9).
    /// Rows A26, A28.
    #[test]
    fn the_eight_tiers_have_order_priority_and_heading() {
        let names = ["journal", "markdown", "auto", "local", "user", "workspace", "policy", "soul"];
        let files: Vec<_> = names.iter().map(|name| file(name, "text")).collect();
        let sections = memory_tiers(&files).unwrap();
        let found: Vec<_> = sections
            .iter()
            .map(|it| (&*it.key, it.priority, it.protected, it.content.lines().next().unwrap()))
            .collect();
        assert_eq!(
            found,
            [
                ("memory:soul", 100, true, "# Soul (Core Identity)"),
                ("memory:policy", 90, true, "# Managed Policy"),
                ("memory:workspace", 80, false, "# Project Instructions"),
                ("memory:user", 70, false, "# User Instructions"),
                ("memory:local", 65, false, "# Local Developer Instructions"),
                ("memory:auto", 60, false, "# Auto-Memory"),
                ("memory:markdown", 55, false, "# Persistent Memory"),
                ("memory:journal", 50, false, "# Daily Journal"),
            ]
        );
        let found = sections.iter().map(|it| (it.source.as_deref(), it.scope.as_deref()));
        for (at, found) in found.enumerate() {
            let (source, scope) =
                if at == 5 { ("learned-signals", "task-local") } else { ("memory", "always-on") };
            assert_eq!(found, (Some(source), Some(scope)), "A100, {at}");
        }
        assert_eq!(sections[6].content, "# Persistent Memory\n\n## MEMORY.md\n\ntext\n\n");
    }

    /// Row A27.
    #[test]
    fn files_of_a_tier_are_joined_but_only_one_soul_is_used() {
        let files = [
            file("workspace", "one\n"),
            file("workspace", "two"),
            file("soul", "mine"),
            file("soul", "global"),
        ];
        let sections = memory_tiers(&files).unwrap();
        assert_eq!(sections[0].content, "# Soul (Core Identity)\n\nmine\n\n");
        assert_eq!(sections[1].content, "# Project Instructions\n\none\n\ntwo\n\n");
    }

    /// Row A28.
    #[test]
    fn a_blank_file_is_no_tier_and_an_unknown_name_is_refused() {
        assert_eq!(memory_tiers(&[file("user", " \n\t")]), Ok(Vec::new()));
        assert_eq!(memory_tiers(&[file("shadow", "x")]), Err("shadow".into()));
    }

    /// Row A27.
    #[test]
    fn memory_md_shows_two_hundred_lines() {
        let line = |at: usize| format!("line {at}\n");
        let lines = |count: usize| (1..=count).map(line).collect::<Vec<_>>().concat();
        let of =
            |count| memory_tiers(&[file("markdown", &lines(count))]).unwrap().remove(0).content;
        assert!(of(200).ends_with("line 200\n\n"), "{}", of(200));
        let more = of(201);
        assert!(
            more.ends_with(
                "line 200\n<!-- Truncated at 200 lines. Full file has 201 lines. -->\n\n"
            ),
            "{more}"
        );
    }
}
