//! opencode: an exported session, its messages in parts.
//!
//! An assistant's message may hold several steps, each a model call; a tool's part holds call and result. The summary of a
//! compaction is no message, and what was reverted is left out, as is what the model was never shown (`ignored`).

use super::chat::Chat;
use super::content::{Part, arguments, join, parts};
use super::detect::elements;
use super::file::{CompactionRecord, SessionFile, refuse_leaf};
use super::lines::Line;
use super::path::at;
use super::raw::{Fields, text};
use super::time::millis;
use super::usage::OPENCODE;
use crate::error::Error;

/// Parts that are no context.
const QUIET: [&str; 6] = ["snapshot", "patch", "agent", "retry", "compaction", "subtask"];

/// Reads an export: `{info, messages: [{info, parts}]}`.
pub(super) fn read(
    session: &Fields<'_>,
    messages: &[Line<'_>],
    leaf: Option<&str>,
) -> Result<SessionFile, Error> {
    refuse_leaf(leaf, "opencode")?;
    let mut chat = Chat::new("opencode");
    let reverted = at(session, "info.revert.messageID").and_then(text);
    let mut gone = false;
    for line in messages {
        let receipt = &mut chat.file.receipt;
        if let Some(fault) = &line.fault {
            receipt.fail(line.number, fault.as_str());
            continue;
        }
        let Some(role) = at(&line.fields, "info.role").and_then(text) else {
            receipt.fail(line.number, "a message without its role");
            continue;
        };
        gone |= reverted.is_some() && at(&line.fields, "info.id").and_then(text) == reverted;
        receipt.count(&role, matches!(&*role, "user" | "assistant"));
        if gone {
            receipt.dead_ends = receipt.dead_ends.saturating_add(1);
            continue;
        }
        let pieces = line.fields.get("parts").map(elements).unwrap_or_default();
        match &*role {
            "user" => user(&mut chat, line.number, &pieces),
            "assistant" => assistant(&mut chat, line, &pieces),
            _ => {}
        }
    }
    Ok(chat.finish())
}

fn user<'a>(chat: &mut Chat<'a>, number: u32, pieces: &[Line<'a>]) {
    let mut content = Vec::new();
    for piece in pieces.iter().map(|piece| &piece.fields).filter(|piece| !piece.flag("ignored")) {
        match piece.text("type").as_deref() {
            Some("text") => content.extend(piece.get("text").map(parts).unwrap_or_default()),
            Some("file") => content.extend(file(piece)),
            _ => {}
        }
    }
    if !content.is_empty() {
        chat.hear(number, "user", &join(&content));
    }
}

/// An image is one; of other files the text stands beside them, and here is the name.
fn file<'a>(piece: &Fields<'a>) -> Option<Part<'a>> {
    let url = piece.get("url")?.get();
    if piece.text("mime").is_some_and(|mime| mime.starts_with("image/")) {
        let json = format!("{{\"type\":\"image_url\",\"image_url\":{{\"url\":{url}}}}}");
        return Some(Part::Other(json));
    }
    let name = piece.get("filename").map_or(url, |name| name.get());
    Some(Part::Text(name.into()))
}

fn assistant<'a>(chat: &mut Chat<'a>, line: &Line<'a>, pieces: &[Line<'a>]) {
    let number = line.number;
    if line.fields.object("info").is_some_and(|info| info.flag("summary")) {
        return fold(chat, line, pieces);
    }
    let time = at(&line.fields, "info.time.created").and_then(millis);
    chat.step(number, None, time);
    for piece in pieces.iter().map(|piece| &piece.fields) {
        match piece.text("type").as_deref().unwrap_or_default() {
            "step-start" => drop(chat.step(number, None, time)),
            "text" if !piece.flag("ignored") => {
                chat.say(number, piece.get("text").map(parts).unwrap_or_default());
            }
            "reasoning" => chat.think(number, piece.get("text").map(parts).unwrap_or_default()),
            "tool" => tool(chat, number, piece),
            "step-finish" => {
                chat.cost(piece.object("tokens").and_then(|tokens| OPENCODE.read(&tokens)));
                chat.close();
            }
            "file" => chat.say(number, file(piece).into_iter().collect()),
            kind if QUIET.contains(&kind) || kind == "text" => {}
            kind => chat.file.receipt.note(&format!("{}/{kind}", "assistant")),
        }
    }
    let tokens = at(&line.fields, "info.tokens").map(Fields::of);
    chat.cost_if_none(tokens.and_then(|tokens| OPENCODE.read(&tokens)));
    chat.close();
}

fn tool<'a>(chat: &mut Chat<'a>, number: u32, piece: &Fields<'a>) {
    let id = piece.get("callID").or_else(|| piece.get("id")).map_or("\"\"", |id| id.get());
    let name = piece.get("tool").map_or("\"unknown\"", |name| name.get());
    chat.call(number, id.to_owned(), name, &arguments(at(piece, "state.input|input")));
    let result = at(piece, "state.output|state.error").map(parts);
    if let Some(result) = result {
        chat.result(number, id, &join(&result));
    }
}

fn fold<'a>(chat: &mut Chat<'a>, line: &Line<'a>, pieces: &[Line<'a>]) {
    chat.close();
    let texts = pieces.iter().filter(|piece| piece.fields.is("type", "text"));
    let texts: Vec<_> = texts.filter_map(|piece| piece.fields.text("text")).collect();
    let mut record = CompactionRecord::at(line, chat.file.len());
    if let Some(id) = at(&line.fields, "info.id").and_then(text) {
        record.id = id.into_owned();
    }
    record.summary = texts.join("\n");
    let tokens = at(&line.fields, "info.tokens").map(Fields::of);
    let usage = tokens.and_then(|tokens| OPENCODE.read(&tokens));
    record.tokens_before = usage.map_or(0, |usage| usage.input_tokens);
    chat.file.compactions.push(record);
}
