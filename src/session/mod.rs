//! Session files: what pi, Claude Code, Codex and others write, read into one list of messages with a receipt.
//!
//! Nothing a file holds makes reading fail that is not the whole file: a line that is broken, cut, nested too deeply or of no
//! known type is an entry of the [`Receipt`]. Messages stay the bytes that they are in the file wherever the format allows it.
//!
//! A file a format: `pi`, `claude_code` (with `claude_branch`: which lines count), `codex`, `messages` (the arrays that
//! providers take). `lines` and `raw` read JSON no deeper than needed, without recursion.

mod claude_branch;
mod claude_code;
mod codex;
mod file;
mod lines;
mod messages;
mod pi;
mod raw;
mod time;
mod usage;

#[cfg(test)]
mod claude_tests;
#[cfg(test)]
mod fuzz_tests;

pub use file::{
    Broken, CompactionRecord, Extracted, Receipt, SessionCall, SessionFile, SessionWindow, Usage,
};

use crate::error::Error;
use crate::json::{self, RawValue};
use lines::{Line, Writer};
use raw::{Fields, MAX_DEPTH};

/// The session files that are known, for the message about one that is not.
const KNOWN: &str = "pi / OpenClaw JSONL, Claude Code JSONL, Codex rollout JSONL, Anthropic messages, \
     OpenAI chat messages, tau-bench runs";

/// Reads any agent's session file. The format is recognised by what the file holds.
///
/// `leaf` picks a branch where a file has several: the `id` of an entry (pi), the `uuid` of a line (Claude Code), the index
/// of a run (tau-bench). Without it the newest branch is read, of runs the first. [`Receipt::branches`] says what there is.
///
/// # Errors
/// `UnknownFormat` says what was seen and what is known. `InvalidArgument`: `session` is empty, or a JSON document that is
/// cut or broken (with the place); `leaf` names nothing in this file, or the file has no branches.
///
/// ```
/// let file = br#"{"type":"session","version":3,"id":"s","cwd":"/"}
/// {"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"hello"}}"#;
/// let session = plimsoll::session::read_session(file, None)?;
/// assert_eq!((session.format, session.messages.len()), ("pi", 1));
/// # Ok::<(), plimsoll::error::Error>(())
/// ```
pub fn read_session(bytes: &[u8], leaf: Option<&str>) -> Result<SessionFile, Error> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes);
    if text.trim().is_empty() {
        return Err(Error::argument("session", "a session file", "an empty file"));
    }
    let mut session = read_text(&text, leaf)?;
    if matches!(text, std::borrow::Cow::Owned(_)) {
        let bad = bytes.split(|byte| *byte == b'\n').filter(|line| str::from_utf8(line).is_err());
        session.receipt.lossy = u32::try_from(bad.count()).unwrap_or(u32::MAX);
    }
    let receipt = &mut session.receipt;
    let broken = u32::try_from(receipt.broken.len()).unwrap_or(u32::MAX);
    receipt.lines = receipt.read.saturating_add(receipt.unknown).saturating_add(broken);
    Ok(session)
}

fn read_text(text: &str, leaf: Option<&str>) -> Result<SessionFile, Error> {
    let whole = json::whole(text);
    let document = match &whole {
        Ok(raw) => Fields::read(raw).1.is_some() || lines::recognise(&Fields::of(raw)).is_none(),
        Err(_) => text.trim_start().starts_with('['),
    };
    match whole {
        Ok(raw) if document => {
            if raw::depth(raw) > MAX_DEPTH {
                let got = format!("one nested {} levels deep", raw::depth(raw));
                let most = format!("a JSON document of at most {MAX_DEPTH} levels");
                return Err(Error::argument("session", &most, got));
            }
            messages::read(raw, leaf)?.ok_or_else(|| unknown(&shape(raw)))
        }
        Err(error) if document => Err(cut(&error)),
        whole => {
            let lines = lines::lines(text);
            match (lines::writer(&lines), whole) {
                (Some(Writer::Pi), _) => pi::read(&lines, leaf),
                (Some(Writer::ClaudeCode), _) => claude_code::read(&lines, leaf),
                (Some(Writer::Codex), _) => codex::read(&lines, leaf),
                (Some(Writer::Messages), _) => messages::read_lines(&lines, leaf),
                (None, Err(error)) if !lines.iter().any(|line| line.fault.is_none()) => {
                    let json = text.trim_start().starts_with('{');
                    Err(if json { cut(&error) } else { unknown(&opening(text)) })
                }
                (None, _) => Err(unknown(&line_shape(&lines))),
            }
        }
    }
}

fn cut(error: &json::Error) -> Error {
    let place = format!("line {} column {}", error.line(), error.column());
    Error::argument("session", "whole JSON, or JSON lines", format!("{} at {place}", error.what()))
}

fn unknown(saw: &str) -> Error {
    Error::UnknownFormat { saw: format!("{saw} (session files that are known: {KNOWN})") }
}

fn opening(text: &str) -> String {
    let start: String = text.trim_start().chars().take(40).collect();
    format!("text that starts with \"{start}\"")
}

fn shape(raw: &RawValue) -> String {
    match raw.chars().next() {
        Some('{') => format!("a JSON object with {}", Fields::of(raw).names()),
        Some('[') => match raw::items(raw).first() {
            Some(first) if raw::is_object(first) => {
                format!("a JSON list of objects with {}", Fields::of(first).names())
            }
            Some(_) => "a JSON list of something else than objects".into(),
            None => "an empty JSON list".into(),
        },
        _ => "a JSON value that is neither list nor object".into(),
    }
}

fn line_shape(lines: &[Line<'_>]) -> String {
    let first = lines.iter().find(|line| line.fault.is_none());
    let Some(first) = first else { return "lines that are no JSON objects".into() };
    let kind = first.fields.text("type").unwrap_or_default();
    let kind: String = kind.chars().take(40).collect();
    format!("JSON lines of type \"{kind}\" with {}", first.fields.names())
}
