//! Session files: what pi, Claude Code, Codex and others write, read into one list of messages with a receipt.
//!
//! Nothing a file holds makes reading fail that is not the whole file: a line that is broken, cut, nested too deeply or of no
//! known type is an entry of the [`Receipt`]. Messages stay the bytes that they are in the file wherever the format allows it.
//!
//! A file a format: `pi` (with `record` and `checkpoint`: its compactions and checkpoints, and ours), `claude_code` (with `claude_branch`: which lines count), `codex`, `gemini_cli`, `qwen_code` (both with `fold`: what a compression left out), `inspect`, `opencode`, `messages` (the
//! arrays that providers take), `native` (formats that are handed over as they are). Where a table of members says all, it is
//! one: `copilot`, `kimi`, `managed`, `openhands`, `trajectory`, in the form of `script`, carried out by `reader` and put together by `chat`. `undone` finds turns
//! that the user took back. `detect` tells whose file it is; `lines`, `path` and `raw` read JSON no deeper than needed, without recursion.

mod blocks;
mod canonical;
mod chat;
mod checkpoint;
mod claude_branch;
mod claude_code;
mod codex;
mod content;
mod copilot;
mod detect;
mod fence;
mod file;
mod fold;
mod forgotten;
mod gemini_cli;
mod inspect;
mod kimi;
mod lines;
mod managed;
mod messages;
mod native;
mod opencode;
mod openhands;
mod path;
mod pi;
mod qwen_code;
mod raw;
mod reader;
mod record;
mod redaction;
mod script;
mod session_reader;
mod shortest;
mod signs;
mod time;
mod trajectory;
mod undone;
mod unread;
mod usage;

#[cfg(test)]
mod claude_tests;
#[cfg(test)]
mod fuzz_tests;
#[cfg(test)]
mod testing;

pub use canonical::is_canonical;
pub use file::{
    Broken, CheckpointContent, CheckpointRecord, CompactionRecord, Extracted, Receipt, Resume,
    SessionCall, SessionFile, SessionModel, SessionWindow, Usage, write_list,
};

pub use redaction::{Hit, Redaction};
pub use session_reader::SessionReader;

use crate::error::{Error, ErrorInfo};
use crate::json::{self, RawValue};
use detect::Writer;
use lines::Line;
use raw::{MAX_DEPTH, Object};

/// The session files that are known, for the message about one that is not.
const KNOWN: &str = "pi / OpenClaw JSONL, Claude Code JSONL, Codex rollout JSONL, Gemini CLI sessions, Qwen Code JSONL, Copilot CLI events, Kimi wire, Managed Agents events, \
     opencode exports, OpenHands events, SWE-agent and mini-swe-agent trajectories, Inspect logs, LangChain messages, \
     AI SDK messages, Gemini contents, OpenAI Responses items, Anthropic messages, OpenAI chat messages, tau-bench runs";

/// Reads any agent's session file. The format is recognised by what the file holds.
///
/// `leaf` picks a branch where a file has several: the `id` of an entry (pi), the `uuid` of a line (Claude Code, Qwen Code), the index
/// of a run (tau-bench). Without it the newest branch is read, of runs the first. [`Receipt::branches`] says what there is.
///
/// # Errors
/// `UnknownFormat` says what was seen and what is known. `InvalidArgument`: `session` is empty, or a JSON document that is
/// cut or broken (with the place); `leaf` names nothing in this file, or the file has no branches.
///
/// ```
/// let file = br#"{"type":"session","version":3,"id":"s","cwd":"/"}
/// {"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"hello"}}"#;
/// let session = plimsoll::session_files::read_session(file, None)?;
/// assert_eq!((session.format, session.messages.len()), ("pi", 1));
/// # Ok::<(), plimsoll::error::Error>(())
/// ```
pub fn read_session(bytes: &[u8], leaf: Option<&str>) -> Result<SessionFile, Error> {
    let mut reader = SessionReader::default();
    reader.push(bytes);
    reader.end(leaf)
}

/// Reads a file that is, or begins with, something else than a line of its own.
fn of_document(text: &str, leaf: Option<&str>) -> Result<SessionFile, Error> {
    let listed = text.trim_start().starts_with('[');
    match json::parse(text) {
        // A file of one line is an object too: its line says whose it is.
        Ok(raw) if !raw::is_object(raw) || detect::shown(&Object::of(raw)).is_none() => {
            value(raw, leaf)
        }
        Err(error) if listed => Err(cut(&error)),
        parsed => {
            let lines = lines::lines(text);
            match parsed {
                Err(error)
                    if !lines.iter().any(|line| line.fault.is_none())
                        && detect::writer(&lines).is_none() =>
                {
                    let json = text.trim_start().starts_with('{');
                    Err(if json { cut(&error) } else { unknown(&opening(text)) })
                }
                _ => of_lines(&lines, leaf),
            }
        }
    }
}

/// Reads one JSON value. What is nested too deeply in it costs the message that holds it, and the file if nothing else is left.
fn value(raw: &RawValue, leaf: Option<&str>) -> Result<SessionFile, Error> {
    document(raw, leaf)?.ok_or_else(|| {
        let depth = raw::depth(raw);
        if depth <= MAX_DEPTH {
            return unknown(&shape(raw));
        }
        let got = format!("one nested {depth} levels deep");
        let most = format!("a JSON document of at most {MAX_DEPTH} levels");
        Error::argument("session", &most, got)
    })
}

/// Reads lines that are records each.
fn of_lines(lines: &[Line<'_>], leaf: Option<&str>) -> Result<SessionFile, Error> {
    match detect::writer(lines) {
        Some(Writer::Messages) => messages::read(&Object::default(), lines, leaf, true),
        Some(writer) => records(writer, &Object::default(), lines, leaf),
        None => Err(unknown(&line_shape(lines))),
    }
}

/// Reads one JSON value; `None`: it is none of ours.
fn document(raw: &RawValue, leaf: Option<&str>) -> Result<Option<SessionFile>, Error> {
    let list = detect::elements(raw);
    if !raw::is_object(raw) {
        let Some(writer) = detect::writer(&list) else { return messages::runs(raw, leaf) };
        return records(writer, &Object::default(), &list, leaf).map(Some);
    }
    let object = Object::of(raw);
    if let Some((writer, list)) = detect::object_writer(&object) {
        return records(writer, &object, &list, leaf).map(Some);
    }
    for name in ["simulations", "results"] {
        let runs = object.get(name).map(|list| messages::runs(list, leaf)).transpose()?.flatten();
        if runs.is_some() {
            return Ok(runs);
        }
    }
    // One line, one message.
    let line = [Line::read(1, raw)];
    let message = line[0].fault.is_none() && detect::is_message(&object);
    message.then(|| messages::read(&Object::default(), &line, leaf, false)).transpose()
}

/// Reads the records of a writer, and what stands beside them.
fn records(
    writer: Writer,
    beside: &Object<'_>,
    lines: &[Line<'_>],
    leaf: Option<&str>,
) -> Result<SessionFile, Error> {
    let (script, format) = match writer {
        Writer::Pi => return pi::read(lines, leaf),
        Writer::ClaudeCode => return claude_code::read(lines, leaf),
        Writer::Codex => return codex::read(lines, leaf),
        Writer::GeminiCli => return gemini_cli::read(lines, leaf),
        Writer::QwenCode => return qwen_code::read(lines, leaf),
        Writer::Inspect => return inspect::read(lines, leaf),
        Writer::OpenCode => return opencode::read(beside, lines, leaf),
        Writer::Messages => return messages::read(beside, lines, leaf, false),
        Writer::Gemini => return native::read(&native::CONTENTS, beside, lines, leaf),
        Writer::LangChain => return native::read(&native::LANGCHAIN, beside, lines, leaf),
        Writer::AiSdk => return native::read(&native::AI_SDK, beside, lines, leaf),
        Writer::Responses => return native::read(&native::RESPONSES, beside, lines, leaf),
        Writer::Copilot => (&copilot::SCRIPT, "copilot-cli"),
        Writer::Kimi => (&kimi::SCRIPT, "kimi-wire"),
        Writer::Managed => (&managed::SCRIPT, "managed-agents"),
        Writer::OpenHands => (&openhands::EVENTS, "openhands"),
        Writer::OpenHandsSdk => (&openhands::SDK, "openhands"),
        Writer::SweAgent => (&trajectory::SWE, "swe-agent"),
        Writer::MiniSweAgent => (&trajectory::SWE, "mini-swe-agent"),
        Writer::WhoAndWhen => (&trajectory::TALK, "whowhen-text"),
    };
    file::refuse_leaf(leaf, format)?;
    let mut reader = reader::Reader::new(script, format);
    let undone = if writer == Writer::Kimi { kimi::undone(lines) } else { Vec::new() };
    reader.read(lines, &undone);
    Ok(reader.chat.finish())
}

fn cut(error: &json::Error) -> Error {
    let place = format!("line {} column {}", error.line(), error.column());
    Error::argument("session", "whole JSON, or JSON lines", format!("{} at {place}", error.what()))
}

fn unknown(saw: &str) -> Error {
    Error::new(ErrorInfo::UnknownFormat {
        saw: format!("{saw} (session files that are known: {KNOWN})"),
    })
}

fn opening(text: &str) -> String {
    let start: String = text.trim_start().chars().take(40).collect();
    format!("text that starts with \"{start}\"")
}

fn shape(raw: &RawValue) -> String {
    match raw.chars().next() {
        Some('{') => format!("a JSON object with {}", raw::names(&Object::of(raw))),
        Some('[') if let Some(role) = foreign(&detect::elements(raw)) => role,
        Some('[') => match raw::items(raw).first() {
            Some(first) if raw::is_object(first) => {
                format!("a JSON list of objects with {}", raw::names(&Object::of(first)))
            }
            Some(_) => "a JSON list of something else than objects".into(),
            None => "an empty JSON list".into(),
        },
        _ => "a JSON value that is neither list nor object".into(),
    }
}

/// An agent that no reader knows, or a role that no provider has.
fn foreign(records: &[Line<'_>]) -> Option<String> {
    if let Some(what) = unread::unread(records) {
        return Some(what.into());
    }
    let role = records.iter().find_map(|record| detect::foreign_role(&record.fields))?;
    let role: String = role.chars().take(40).collect();
    Some(format!("messages with the role \"{role}\""))
}

fn line_shape(lines: &[Line<'_>]) -> String {
    if let Some(role) = foreign(lines) {
        return role;
    }
    let first = lines.iter().find(|line| line.fault.is_none());
    let Some(first) = first else { return "lines that are no JSON objects".into() };
    let kind = first.fields.text("type").unwrap_or_default();
    let kind: String = kind.chars().take(40).collect();
    format!("JSON lines of type \"{kind}\" with {}", raw::names(&first.fields))
}
