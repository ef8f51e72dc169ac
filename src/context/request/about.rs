//! Line about a result's call in place of the result: `[bash] ran cargo test`.

use crate::json;

/// What tools do, by a word in their name (H16).
const VERBS: [(&str, &str); 12] = [
    ("bash", "ran"),
    ("shell", "ran"),
    ("terminal", "ran"),
    ("exec", "ran"),
    ("command", "ran"),
    ("read", "read"),
    ("view", "read"),
    ("write", "wrote"),
    ("edit", "edited"),
    ("patch", "edited"),
    ("search", "searched"),
    ("grep", "searched"),
];
/// The verb of tools that run commands: only their results end with an exit code.
pub(in crate::context) const RAN: &str = "ran";
/// Starts of a line of plain output that tells an exit code, and the members that hold one in JSON.
const EXITS: [&str; 5] = [
    "exit code",
    "exited with code",
    "error: exit code",
    "command exited with code",
    "process exited with code",
];
const EXIT_MEMBERS: [&str; 2] = ["exit_code", "exitCode"];
const EXIT_PARENT: &str = "metadata";
/// First and last lines of plain output in which an exit code is looked for: elsewhere it is the text of a file.
const EXIT_LINES: usize = 2;
pub(in crate::context) const ABOUT: usize = 80;

/// What a line tells of a result's call: `[bash] ran cargo test`.
#[derive(Clone, Debug, Default)]
pub(in crate::context) struct About {
    /// The tool, its verb, and what the call asked for.
    pub(in crate::context) line: String,
    /// The tool runs commands.
    pub(in crate::context) is_shell: bool,
}

/// What a tool does, by its name.
pub(in crate::context) fn verb_of(tool: &str) -> &'static str {
    let lower = tool.to_ascii_lowercase();
    VERBS.iter().find(|(word, _)| lower.contains(word)).map_or("gave", |it| it.1)
}

/// The line that tells what a result was (H16): `[bash] ran cargo test -> exit 0, 47 lines`.
pub(in crate::context) fn line(text: &str, about: &About, failed: bool) -> String {
    let ends = text.trim_end().bytes().filter(|byte| *byte == b'\n').count();
    let lines = ends.saturating_add(usize::from(!text.is_empty()));
    let end = match exit(text).filter(|_| about.is_shell) {
        Some(code) => format!("exit {code}"),
        None => if failed { "error" } else { "ok" }.into(),
    };
    format!("{} -> {end}, {lines} lines", about.line)
}

/// How a command ended, if its output tells: in a member of JSON, else in its first or last lines.
fn exit(text: &str) -> Option<&str> {
    if let Ok(members) = json::members(text) {
        let inner = members.iter().find(|(name, _)| name == EXIT_PARENT);
        let inner = inner.and_then(|(_, value)| json::members(value).ok()).unwrap_or_default();
        let mut all = members.iter().chain(&inner);
        let code = all.find(|(name, _)| EXIT_MEMBERS.contains(&&**name))?.1;
        return Some(code).filter(|code| (1..=3).contains(&code.len()));
    }
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.by_ref().take(EXIT_LINES).find_map(exit_in);
    first.or_else(|| lines.rev().take(EXIT_LINES).find_map(exit_in))
}

/// The exit code that a line of output tells.
fn exit_in(line: &str) -> Option<&str> {
    let line = line.trim_start_matches([' ', '[', '(']);
    let after = EXITS.iter().find_map(|words| {
        let (start, after) = line.split_at_checked(words.len())?;
        start.eq_ignore_ascii_case(words).then_some(after)
    })?;
    let code = after.trim_start_matches([' ', ':', '=']);
    let end = code.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(code.len());
    code.get(..end).filter(|code| (1..=3).contains(&code.len()))
}
