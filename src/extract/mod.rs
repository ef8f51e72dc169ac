//! Facts from an agent's calls and results: files it changed and read, commands it ran, errors it met.
//!
//! Every argument is JSON that is decoded, and everything is told once, in the order in which it first came.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::json::{self, Object, RawValue};
use crate::model::{Kind, Part};
use crate::text::{prefix, redact};

/// A command of so few characters tells nothing (A82).
const SHORT_COMMAND: usize = 10;
/// Characters of a command and of an error that are kept (A82), and of a path.
const COMMAND_CHARS: usize = 100;
const ERROR_CHARS: usize = 200;
const PATH_CHARS: usize = 400;
/// Entries of a list; beyond them the oldest goes.
const ENTRIES: usize = 200;

/// Words in a tool's name by which it changes files, and by which it reads them.
const CHANGES: [&str; 6] = ["edit", "write", "replace", "patch", "create", "delete"];
const READS: [&str; 4] = ["read", "view", "cat", "open"];
/// Arguments that name files, and those that are a command.
const PATHS: [&str; 10] = [
    "file_path",
    "filePath",
    "path",
    "paths",
    "file",
    "files",
    "filename",
    "absolute_path",
    "target_file",
    "notebook_path",
];
const COMMANDS: [&str; 3] = ["command", "cmd", "script"];
/// Lines of a patch that name a file.
const PATCHED: [&str; 3] = ["*** Update File: ", "*** Add File: ", "*** Delete File: "];

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extracted {
    /// Files that a call changed.
    pub modified_files: Vec<String>,
    /// Files that a call read, also those that were changed.
    pub read_files: Vec<String>,
    /// Commands, at most 100 characters of each and `...`.
    pub commands: Vec<String>,
    /// What results said that report an error, at most 200 characters of each and `...`.
    pub errors: Vec<String>,
    /// Secrets are taken out of what is found.
    pub redacts: bool,
}

json::impl_json!(Extracted { modified_files, read_files, commands, errors });

impl Extracted {
    /// Takes up a part of a message; of most there is nothing to tell.
    pub fn take(&mut self, part: &Part<'_>) {
        match part.piece.kind {
            Kind::Result if part.piece.error => {
                add(&mut self.errors, &part.text, ERROR_CHARS, self.redacts);
            }
            Kind::Call if !part.piece.mirror => self.call(&part.piece.name, &part.text),
            Kind::Text | Kind::Thinking | Kind::Call | Kind::Result | Kind::Image | Kind::Other => {
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &str) {
        let tool = tool.to_ascii_lowercase();
        let named = |words: &[&str]| words.iter().any(|word| tool.contains(word));
        let Ok(members) = Object::read(arguments) else { return self.patch(arguments) };
        let strings = |names: &[&str]| {
            let named = members.iter().filter(|(name, _)| names.contains(&&**name));
            named.map(|(_, value)| *value).collect::<Vec<&RawValue>>()
        };
        let (commands, mut files) = (strings(&COMMANDS), Vec::new());
        for value in strings(&PATHS) {
            files.append(&mut texts(value));
        }
        let looks = commands.iter().any(|it| READS.contains(&it.trim_matches('"')));
        let list = match (named(&CHANGES) && !looks, named(&READS) || looks) {
            (true, _) => Some(&mut self.modified_files),
            (false, true) => Some(&mut self.read_files),
            (false, false) => None,
        };
        if let Some(list) = list {
            for path in &files {
                add(list, path, PATH_CHARS, self.redacts);
            }
        }
        if files.is_empty() {
            for command in commands {
                self.command(&words(command));
            }
        }
        for text in members.iter().filter_map(|(_, it)| json::string(it).ok()) {
            self.patch(&text);
        }
    }

    fn command(&mut self, command: &str) {
        let command = command.trim();
        let alone = !command.contains(['&', '|', ';', '\n']);
        let looks_around = matches!(command.split_whitespace().next(), Some("cd" | "ls"));
        if command.chars().nth(SHORT_COMMAND).is_some() && !(alone && looks_around) {
            add(&mut self.commands, command, COMMAND_CHARS, self.redacts);
        }
    }

    /// Files of a patch in free text.
    fn patch(&mut self, text: &str) {
        for line in text.lines() {
            if let Some(path) = PATCHED.iter().find_map(|start| line.strip_prefix(start)) {
                add(&mut self.modified_files, path, PATH_CHARS, self.redacts);
            }
        }
    }
}

/// Adds what is new to a list, cut to so many characters; secrets go before a cut could leave a part of one.
fn add(list: &mut Vec<String>, text: &str, chars: usize, redacts: bool) {
    let safe = if redacts { Cow::Owned(redact(text)) } else { Cow::Borrowed(text) };
    let text = safe.trim();
    let head = prefix(text, chars);
    let text = if head.len() < text.len() { format!("{head}...") } else { head.into() };
    if text.is_empty() || list.contains(&text) {
        return;
    }
    if list.len() >= ENTRIES {
        list.remove(0);
    }
    list.push(text);
}

/// The command among a call's arguments, as a shell takes it.
pub fn command_in(arguments: &str) -> Option<String> {
    let members = Object::read(arguments).ok()?;
    let (_, value) = members.iter().find(|(name, _)| COMMANDS.contains(&&**name))?;
    Some(words(value)).filter(|command| !command.trim().is_empty())
}

/// A string, or the strings of an array.
fn texts(json: &RawValue) -> Vec<Cow<'_, str>> {
    let all = json::items(json).unwrap_or_else(|_| vec![json]);
    all.into_iter().filter_map(|it| json::string(it).ok()).collect()
}

/// A command as a shell takes it: a string, or words of which the last is one if a shell stands before it.
fn words(json: &RawValue) -> String {
    let all = texts(json);
    match all.as_slice() {
        [shell, .., command] if shell.ends_with("sh") => command.clone().into_owned(),
        all => {
            let mut line = String::new();
            for word in all {
                line.push_str(word);
                line.push(' ');
            }
            line
        }
    }
}
