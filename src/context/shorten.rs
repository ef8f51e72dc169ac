//! What a preset's way leaves of a block: its first characters, a line that tells what it was, arguments with short strings.

use super::lines::{Lines, Want};
use super::state::State;
use super::view::IMAGE;
use crate::json::{self, Reader};
use crate::model::{Kind, NONE, Part, Piece};
use crate::prune::Shorten;
use crate::text::prefix;

/// Stands for a result that a later one repeats (H16).
const REPEATED: &str = "[Duplicate tool output: the same content as a more recent call]";
/// Ends a string that was cut inside of arguments.
const CUT: &str = "...[truncated]";
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
/// Where a command's output tells how it ended.
const EXITS: [&str; 3] = ["xit code", "xit_code", "xitCode"];
/// Characters of what a line tells of a call's arguments.
const ABOUT: usize = 80;

impl Lines {
    /// A line that needs no text; its tokens.
    pub(super) fn shorten_now(&mut self, block: u32, how: Shorten) -> Option<u32> {
        let line = match how {
            Shorten::Repeated => REPEATED,
            Shorten::Image => IMAGE,
            Shorten::Head(..) | Shorten::Line | Shorten::Leaves(_) | Shorten::Gone => {
                self.forget(block);
                self.wanted.insert(block, Want::Shorten(how));
                return None;
            }
        };
        self.forget(block);
        self.text.insert(block, line.into());
        Some(self.overhead(block).saturating_add(self.estimator.tokens(line)))
    }

    /// Shortens the text of a block that is at hand; its tokens. `about` tells of a result's call.
    pub(super) fn shorten_text(
        &mut self,
        block: u32,
        how: Shorten,
        part: &Part<'_>,
        about: &str,
    ) -> u32 {
        let short = match how {
            Shorten::Head(chars, marker) => {
                Some(format!("{}{}", prefix(&part.text, chars as usize), marker.text()))
            }
            Shorten::Leaves(chars) => leaves(&part.text, chars as usize),
            Shorten::Line | Shorten::Repeated | Shorten::Image | Shorten::Gone => {
                Some(line(&part.text, about, part.piece.error))
            }
        };
        let whole = self.estimator.tokens(&part.text);
        let measured = short.map(|short| (self.estimator.tokens(&short), short));
        // What is no shorter stays as it is.
        let Some((tokens, text)) = measured.filter(|(tokens, _)| *tokens < whole) else {
            return self.overhead(block).saturating_add(whole);
        };
        let now = self.overhead(block).saturating_add(tokens);
        if part.piece.kind == Kind::Call {
            self.whole_arguments.insert(block, ());
        }
        self.put(block, text);
        now
    }
}

impl State {
    /// The piece belongs to a tool that the host protects. `call`: of a result, where its call stands.
    pub(super) fn is_named(&self, piece: &Piece, call: Option<(u32, u32)>) -> bool {
        let protect = &self.options.policy.protect;
        if protect.tools.is_empty() || !matches!(piece.kind, Kind::Call | Kind::Result) {
            return false;
        }
        let of_call = call.and_then(|(message, piece)| {
            self.outlines.get(message as usize)?.pieces.get(piece as usize)
        });
        protect.names(of_call.map_or(&piece.name, |call| &call.name))
    }

    /// What a line tells of a result's call: `[bash] ran cargo test`.
    pub(super) fn piece_of(&self, block: u32) -> Option<&Piece> {
        let message = self.ledger.blocks.get(block as usize)?.message;
        let number = block.saturating_sub(self.ledger.blocks_of(message).start);
        self.outlines.get(message as usize)?.pieces.get(number as usize)
    }

    pub(super) fn about(&self, block: u32) -> String {
        let pair = self.ledger.blocks.get(block as usize).map_or(NONE, |result| result.pair);
        let name = self.piece_of(pair).map_or("tool", |piece| &piece.name);
        let lower = name.to_ascii_lowercase();
        let verb = VERBS.iter().find(|(word, _)| lower.contains(word)).map_or("gave", |it| it.1);
        let mut about = format!("[{name}] {verb}");
        for &id in self.ledger.ids(pair) {
            let word = self.ledger.identifiers.text(id);
            if about.len().saturating_add(word.len()) > ABOUT {
                break;
            }
            if about.contains(word) {
                continue;
            }
            about.push(' ');
            about.push_str(word);
        }
        about
    }
}

/// The line that tells what a result was (H16): `[bash] ran cargo test -> exit 0, 47 lines`.
fn line(text: &str, about: &str, failed: bool) -> String {
    let ends = text.trim_end().bytes().filter(|byte| *byte == b'\n').count();
    let lines = ends.saturating_add(usize::from(!text.is_empty()));
    let end = match exit(text) {
        Some(code) => format!("exit {code}"),
        None => if failed { "error" } else { "ok" }.into(),
    };
    format!("{about} -> {end}, {lines} lines")
}

/// How a command ended, if its output tells.
fn exit(text: &str) -> Option<&str> {
    let found = |word: &&str| Some(text.find(word)?.saturating_add(word.len()));
    let behind = text.get(EXITS.iter().find_map(found)?..)?;
    let code = behind.trim_start_matches([' ', ':', '"', '=']);
    let end = code.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(code.len());
    code.get(..end).filter(|code| (1..=3).contains(&code.len()))
}

/// Arguments (a JSON object) with every string of more than `chars` UTF-16 code units cut (H16); none if it is no object.
fn leaves(text: &str, chars: usize) -> Option<String> {
    if !text.trim_start().starts_with('{') || Reader::new(text).strict().is_err() {
        return None;
    }
    let (mut out, mut rest) = (String::with_capacity(text.len() / 2), text);
    while let Some((before, behind)) = rest.split_once('"') {
        out.push_str(before);
        let end = string_end(behind);
        let (inner, after) = behind.split_at_checked(end)?;
        let after = after.strip_prefix('"')?;
        let quoted = rest.get(before.len()..before.len().saturating_add(end).saturating_add(2))?;
        let is_name = after.trim_start().starts_with(':');
        let value = if is_name || inner.len() <= chars { None } else { json::string(quoted).ok() };
        match value.as_deref().map(|value| (value, prefix(value, chars))) {
            Some((value, kept)) if kept.len() < value.len() => {
                json::quote(&format!("{kept}{CUT}"), &mut out);
            }
            _ => out.push_str(quoted),
        }
        rest = after;
    }
    out.push_str(rest);
    Some(out)
}

/// Where a JSON string ends whose inside starts here.
fn string_end(inside: &str) -> usize {
    let mut escaped = false;
    let end = inside.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.unwrap_or(inside.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h16_long_strings_are_cut_where_they_stand_and_the_rest_is_as_it_was() {
        let long = "é\"\\n".repeat(100);
        let given = serde_json::json!({ "path": "a.rs", "n": [1.50, { "text": long }], "x": null });
        let cut = leaves(&given.to_string(), 5).unwrap();
        let cut: serde_json::Value = serde_json::from_str(&cut).unwrap();
        assert_eq!(cut["n"][1]["text"], "é\"\\né...[truncated]");
        assert_eq!((&cut["path"], &cut["n"][0]), (&"a.rs".into(), &serde_json::json!(1.5)));
        let name = "n".repeat(300);
        let named = format!(r#"{{ "{name}" : "\u0041b" }}"#);
        assert_eq!(leaves(&named, 200), Some(named), "names and short strings stay");
        for bad in ["", "[1]", "{\"a\":", "plain", "{\"a\":\"b}"] {
            assert_eq!(leaves(bad, 1), None, "H17: {bad}");
        }
    }

    #[test]
    fn h16_a_line_tells_what_a_result_was() {
        let about = "[bash] ran cargo test";
        let told = |text: &str, failed| line(text, about, failed);
        assert_eq!(told("a\nb\nExit code: 101", false), format!("{about} -> exit 101, 3 lines"));
        assert_eq!(told("{\"exit_code\": 0}", false), format!("{about} -> exit 0, 1 lines"));
        assert_eq!(told("a\nb", true), format!("{about} -> error, 2 lines"));
        assert_eq!(told("", false), format!("{about} -> ok, 0 lines"));
    }
}
