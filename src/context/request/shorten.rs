//! Shortened texts of presets: the first characters of a block, a line about it, arguments with short strings.

use crate::context::request::about::{ABOUT, About, RAN, line, verb_of};
use crate::context::request::placeholders::{IMAGE, Placeholders, Want, shared};
use crate::context::session::Session;
use crate::extract::command_in;
use crate::json::{self, Reader};
use crate::model::{BlockId, Form, Kind, MessageId, Part, Piece};
use crate::prune::Shorten;
use crate::text::{leaves as texts_of, prefix, redact};

/// Stands for a result that a later one repeats (H16).
const REPEATED: &str = "[Duplicate tool output: the same content as a more recent call]";
/// Ends a string that was cut inside of arguments.
const CUT: &str = "...[truncated]";
/// Characters of a command and of a URL in a line, and of the other words of a call's arguments.
const COMMAND: usize = 60;
const URL: usize = 500;

impl Placeholders {
    /// A line that needs no text; its tokens.
    pub(in crate::context) fn shorten_now(
        &mut self,
        block: BlockId,
        overhead: u32,
        how: Shorten,
    ) -> Option<u32> {
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
        self.put(block, line);
        Some(overhead.saturating_add(self.estimator.tokens(line)))
    }

    /// Shortens the text of a block that is at hand; its tokens. `about` tells of a result's call.
    pub(in crate::context) fn shorten_text(
        &mut self,
        block: BlockId,
        overhead: u32,
        how: Shorten,
        part: &Part<'_>,
        about: &About,
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
        let uncut = self.estimator.tokens(&part.text);
        let measured = short.map(|short| (self.estimator.tokens(&short), short));
        // What is no shorter stays as it is.
        let Some((tokens, text)) = measured.filter(|(tokens, _)| *tokens < uncut) else {
            return overhead.saturating_add(uncut);
        };
        let now = overhead.saturating_add(tokens);
        if part.piece.kind == Kind::Call {
            self.uncut_arguments.insert(block, ());
        }
        self.put(block, &text);
        now
    }
}

/// The piece belongs to a tool that the host protects. `call`: of a result, where its call stands.
pub(in crate::context) fn is_listed_tool(
    session: &Session,
    piece: &Piece,
    call: Option<(MessageId, u32)>,
) -> bool {
    let protect = &session.options.policy.protect;
    if protect.tools.is_empty() || !matches!(piece.kind, Kind::Call | Kind::Result) {
        return false;
    }
    let of_call = call.and_then(|(message, piece)| {
        session.transcript.outline(message)?.pieces.get(piece as usize)
    });
    protect.names(of_call.map_or(&piece.name, |call| &call.name))
}

/// The piece that a block was read from.
pub(in crate::context) fn piece_of(session: &Session, block: BlockId) -> Option<&Piece> {
    let message = session.transcript.ledger.block(block)?.message;
    let number = block.since(session.transcript.ledger.blocks_of(message).start);
    session.transcript.outline(message)?.pieces.get(number as usize)
}

fn pair_of(session: &Session, block: BlockId) -> BlockId {
    session.transcript.ledger.block(block).map_or(BlockId::NONE, |result| result.pair)
}

/// The messages of calls whose results wait for a line: it quotes what they asked for.
pub(in crate::context) fn calls_for_placeholders(session: &Session) -> Vec<MessageId> {
    let wanted = session.decisions.placeholders.wanted.iter();
    let lines = wanted.filter(|(_, want)| **want == Want::Shorten(Shorten::Line));
    let blocks = &session.transcript.ledger.blocks;
    let results = lines.filter_map(|(&result, _)| blocks.get(result.index()));
    let calls = results.filter(|result| result.form != Form::Gone).map(|result| result.pair);
    calls.filter_map(|call| Some(blocks.get(call.index())?.message)).collect()
}

/// Notes what a call asked for, in case a line is written for its result.
pub(in crate::context) fn record_call(session: &mut Session, call: BlockId, part: &Part<'_>) {
    let safe = |text: &str| {
        if session.transcript.ledger.identifiers.keeps_secrets {
            text.to_owned()
        } else {
            redact(text)
        }
    };
    let outcome = if verb_of(&part.piece.name) == RAN {
        command_in(&part.text).map(|command| {
            let line: Vec<&str> = command.split_whitespace().collect();
            prefix(&safe(&line.join(" ")), COMMAND).to_owned()
        })
    } else {
        let mut words = String::new();
        texts_of(&part.text, &mut words);
        let url = words.split_whitespace().find(|word| word.contains("://"));
        url.map(|url| prefix(&safe(url), URL).to_owned())
    };
    if let Some(outcome) = outcome {
        session.decisions.placeholders.calls.insert(call, shared(&outcome));
    }
}

/// What a line tells of a result's call: its command or its URL, else its identifiers.
pub(in crate::context) fn about_block(session: &mut Session, block: BlockId) -> About {
    let pair = pair_of(session, block);
    let outcome = session.decisions.placeholders.calls.remove(&pair);
    let name = piece_of(session, pair).map_or("tool", |piece| &piece.name);
    let verb = verb_of(name);
    let mut line = format!("[{name}] {verb}");
    let is_shell = verb == RAN;
    if let Some(outcome) = &outcome {
        line.push(' ');
        line.push_str(outcome);
    }
    let most = line.len().max(ABOUT);
    for id in session.transcript.ledger.ids_head_first(pair) {
        let word = session.transcript.ledger.identifiers.text(id);
        if is_shell && outcome.is_some() || line.len().saturating_add(word.len()) > most {
            break;
        }
        if line.contains(word) {
            continue;
        }
        line.push(' ');
        line.push_str(word);
    }
    About { line, is_shell }
}

/// Arguments (a JSON object) with every string of more than `chars` UTF-16 code units cut (H16); none if it is no object.
fn leaves(text: &str, chars: usize) -> Option<String> {
    // What is no valid JSON is left alone (H16): a cut could not be placed inside a string of it.
    if !text.trim_start().starts_with('{') || Reader::new(text).strict().is_err() {
        return None;
    }
    let (mut out, mut rest) = (String::with_capacity(text.len() / 2), text);
    while let Some((before, next)) = rest.split_once('"') {
        out.push_str(before);
        let end = string_end(next);
        let (inner, after) = next.split_at_checked(end)?;
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

    /// Row H16.
    #[test]
    fn long_strings_are_cut_in_place_and_the_rest_is_unchanged() {
        let long = "é\"\\n".repeat(100);
        let arguments =
            serde_json::json!({ "path": "a.rs", "n": [1.50, { "text": long }], "x": null });
        let cut = leaves(&arguments.to_string(), 5).unwrap();
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

    /// Row H16.
    #[test]
    fn a_line_describes_the_result() {
        let about = "[bash] ran cargo test";
        let shell = About { line: about.into(), is_shell: true };
        let outcome = |text: &str, failed| line(text, &shell, failed);
        assert_eq!(outcome("a\nb\nExit code: 101", false), format!("{about} -> exit 101, 3 lines"));
        assert_eq!(outcome("{\"exit_code\": 0}", false), format!("{about} -> exit 0, 1 lines"));
        assert_eq!(outcome("a\nb", true), format!("{about} -> error, 2 lines"));
        assert_eq!(outcome("", false), format!("{about} -> ok, 0 lines"));
        let codex = r#"{"output":"says exit code 1","metadata":{"exit_code":7,"seconds":1}}"#;
        assert_eq!(outcome(codex, false), format!("{about} -> exit 7, 1 lines"));
        assert_eq!(
            outcome("a\n\nCommand exited with code 2\n", true),
            format!("{about} -> exit 2, 3 lines")
        );
        let printed = format!("{0}A test prints exit code 1\n{0}", "x\n".repeat(9));
        assert_eq!(outcome(&printed, false), format!("{about} -> ok, 19 lines"), "a file's text");
        let read = About { line: "[read] read a.rs".into(), is_shell: false };
        assert_eq!(line("exit code 1", &read, false), "[read] read a.rs -> ok, 1 lines");
    }
}
