//! pi's agent messages: `toolCall` blocks, `toolResult` messages, and roles of its own that reach the model as the user's.

use super::edit::{self, Host, What, member, put};
use super::json::{self, Flaw, Read, or_empty};
use super::part::{self, Body};
use crate::json::Type::{Flag, Raw, Text};
use crate::json::{
    Item, Members, Object, Shape, Source, Type, Value, json as object, left_unread, optional,
    required,
};
use crate::model::{Copied, Kind, Made, Op, Part, Piece, Place, Role};

const MESSAGE: Shape = Shape {
    what: "a message: { role, content, .. }",
    members: &[
        required("role", Text),
        optional("content", Type::Content),
        optional("toolCallId", Text),
        optional("toolName", Text),
        optional("isError", Flag),
        optional("command", Text),
        optional("output", Text),
        optional("summary", Text),
        optional("excludeFromContext", Flag),
        optional("stopReason", Text),
        optional("sections", Raw),
        optional("toolsAdded", Raw),
        optional("timestamp", Raw),
    ],
    closed: false,
};

const BLOCK: Shape = Shape {
    what: "a block: { type, .. }",
    members: &[
        required("type", Text),
        optional("text", Text),
        optional("textSignature", Text),
        optional("thinking", Text),
        optional("thinkingSignature", Text),
        optional("id", Text),
        optional("name", Text),
        optional("arguments", Raw),
        optional("thoughtSignature", Text),
        optional("data", Raw),
    ],
    closed: false,
};

/// The block types that are read; any other is carried as it is.
const KNOWN: [&str; 4] = ["text", "thinking", "toolCall", "image"];

#[inline(never)]
pub(super) fn read<'a>(
    source: Source<'a>,
    parts: &mut Vec<Part<'a>>,
    at_ms: &mut Option<i64>,
) -> Read<Role> {
    let mut message =
        json::read_with(source, &MESSAGE, |reader| BLOCK.blocks(reader, left_unread))?;
    *at_ms = message.raw("timestamp").and_then(|at| at.parse().ok());
    let role = match &*or_empty(message.text("role")) {
        "assistant" => Role::Assistant,
        "user" => Role::User,
        "toolResult" => return result(message, parts),
        "system" => return system(message, parts),
        _ => return own(message, parts),
    };
    // pi leaves a turn that was aborted or failed out of every request, with its calls.
    let stopped = or_empty(message.text("stopReason"));
    let failed = matches!(&*stopped, "aborted" | "error");
    let content = message.content("content").ok_or_else(no_content)?;
    part::content(Some(content), &block, parts)?;
    if failed {
        unsent(parts);
    }
    Ok(role)
}

/// A message that pi does not send: it has at least one part, so that it can say so.
fn unsent(parts: &mut Vec<Part<'_>>) {
    if parts.is_empty() {
        parts.push(part::at(Place::Field("content")));
    }
    for part in parts {
        part.piece.unsent = true;
    }
}

/// The system prompt and the tools that are declared with it. pi replays these messages itself, and refuses a transcript
/// without them: one piece that stays as it is, whatever is in it.
fn system<'a>(mut message: Members<'a>, parts: &mut Vec<Part<'a>>) -> Read<Role> {
    let mut body = Body::default();
    let content = message.content("content");
    let content =
        content.filter(|it| !matches!(it, crate::json::Content::Text(text) if text.is_empty()));
    body.content(content, "/content", &block, false)?;
    let sections = message.raw("sections").map(Object::read);
    for (name, section) in sections.and_then(Result::ok).unwrap_or_default() {
        // `null` takes a section away.
        if section.starts_with('"') {
            let under = |flaw: Flaw| flaw.under(&format!("/sections/{}", json::token(&name)));
            body.say(json::string(section).map_err(under)?);
        }
    }
    if let Some(tools) = message.raw("toolsAdded") {
        body.say(tools.into());
    }
    let mut joined = part::at(Place::Field("content"));
    body.fill(&mut joined);
    let mut part = Part::new(Kind::Text, joined.piece.place, joined.text);
    part.piece.blank = false;
    part.piece.fixed = true;
    parts.push(part);
    Ok(Role::System)
}

fn no_content() -> Flaw {
    Flaw::new("/content", "a string or an array of blocks")
}

/// A role that only pi and its extensions know: what it carries is sent as the user's text, or nothing is sent.
fn own<'a>(mut message: Members<'a>, parts: &mut Vec<Part<'a>>) -> Read<Role> {
    if message.flag("excludeFromContext") == Some(true) {
        unsent(parts);
    } else if let Some(content) = message.content("content") {
        part::content(Some(content), &block, parts)?;
    } else if let Some(summary) = message.text("summary") {
        parts.push(Part::new(Kind::Text, Place::Field("summary"), summary));
    } else {
        let (command, output) = (message.text("command"), message.text("output"));
        if command.is_none() && output.is_none() {
            unsent(parts);
        } else {
            let ran = format!("{}\n{}", or_empty(command), or_empty(output));
            parts.push(Part::new(Kind::Text, Place::Field("output"), ran));
        }
    }
    Ok(Role::User)
}

fn block<'a>(item: Item<'a>, part: &mut Part<'a>) -> Read<()> {
    let raw = item.raw;
    let mut block = match json::members(item, &BLOCK) {
        Ok(block) => block,
        // A block that is not known may have any members.
        Err(_) if json::kind_of(raw).is_some_and(|kind| !KNOWN.contains(&&*kind)) => {
            part::other(raw, part);
            return Ok(());
        }
        Err(flaw) => return Err(flaw),
    };
    match &*or_empty(block.text("type")) {
        "text" => {
            part::read_text(&mut block, Kind::Text, "text", part)?;
            part.piece.opaque = block.text("textSignature").is_some();
        }
        "thinking" => {
            part::read_text(&mut block, Kind::Thinking, "thinking", part)?;
            part::seal(part, or_empty(block.text("thinkingSignature")).len());
        }
        "toolCall" => {
            part::call(&mut block, "arguments", "", part);
            part::name(part, &mut block, "id", "name");
            part::seal(part, or_empty(block.text("thoughtSignature")).len());
        }
        "image" => {
            let data = block.raw("data").unwrap_or("");
            part::picture(data, data, part);
        }
        _ => part::other(raw, part),
    }
    Ok(())
}

fn result<'a>(mut message: Members<'a>, parts: &mut Vec<Part<'a>>) -> Read<Role> {
    let mut body = Body::default();
    let content = message.content("content").ok_or_else(no_content)?;
    body.content(Some(content), "/content", &block, true)?;
    let mut part = part::at(Place::Content);
    body.fill(&mut part);
    part::name(&mut part, &mut message, "toolCallId", "toolName");
    part.piece.error = message.flag("isError").unwrap_or(false);
    parts.push(part);
    Ok(Role::Tool)
}

/// What one change sets on the host's object.
pub(super) fn set(piece: &Piece, what: &What) -> Option<Op> {
    let text = |text: &String| Value::from(text.as_str());
    Some(match (piece.kind, piece.place, what) {
        (Kind::Text, Place::Item(_), What::Text(new)) => put(piece, "/text", text(new)),
        (Kind::Text, _, What::Text(new)) => put(piece, "", text(new)),
        (Kind::Thinking, _, What::Text(new)) => put(piece, "/thinking", text(new)),
        (Kind::Image, _, What::Text(new)) => put(piece, "", edit::text_block(new)),
        (Kind::Result, _, What::Text(new)) => put(piece, "", object!([edit::text_block(new)])),
        (Kind::Result, _, What::Id(id)) => edit::beside("/toolCallId", text(id)),
        (Kind::Call, _, What::Id(id)) => member(piece, "/id", text(id)),
        (Kind::Call, _, What::Arguments(new)) => member(piece, "/arguments", new.clone()),
        _ => return None,
    })
}

pub(super) fn make(made: &Made, host: Host<'_>) -> (Value, Vec<Copied>) {
    let mut copied = Vec::new();
    let (id, name, content, error) = match made {
        Made::User(parts) => {
            let content = edit::user_content(parts, host, &mut copied);
            return (object!({ "role": "user", "content": content, "timestamp": 0u64 }), copied);
        }
        // Each result of this format is sent on its own.
        Made::Results(_) => return (Value::NULL, copied),
        Made::Result { id, name, text, error, .. } => {
            (id, name, object!([edit::text_block(text)]), *error)
        }
        Made::Moved { id, name, message, piece } => {
            let moved = edit::moved(*message, host(*message, *piece), "", "/content");
            copied.extend(moved.copied);
            // Without a host's content to copy the text is ours, and content is a list of blocks.
            let ours = moved.text.as_str().map(|text| object!([edit::text_block(&text)]));
            let content = ours.unwrap_or_default();
            (id, name, content, moved.error)
        }
    };
    let message = object!({
        "role": "toolResult", "toolCallId": id, "toolName": name, "content": content,
        "isError": error, "timestamp": 0u64,
    });
    (message, copied)
}
