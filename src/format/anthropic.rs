//! Anthropic Messages: `content` is a string or blocks; results travel as blocks of a user message.

use super::edit::{self, Host, What, member, put};
use super::fingerprint::of_json;
use super::json::{self, Flaw, Read, or_empty};
use super::part::{self, Body};
use crate::json::Want::{Flag, Raw, Text};
use crate::json::{RawValue, Shape, Value, Want, json as object, may, must};
use crate::model::{Copied, Draft, Kind, Made, Op, Part, Piece, Place, Role};

const MESSAGE: Shape = Shape {
    what: "a message: { role, content }",
    members: &[must("role", Text), must("content", Want::Content)],
    closed: false,
};

const BLOCK: Shape = Shape {
    what: "a block: { type, .. }",
    members: &[
        must("type", Text),
        may("text", Text),
        may("thinking", Text),
        may("signature", Text),
        may("data", Text),
        may("id", Text),
        may("name", Text),
        may("input", Raw),
        may("tool_use_id", Text),
        may("content", Raw),
        may("is_error", Flag),
        may("source", Raw),
        may("cache_control", Raw),
    ],
    closed: false,
};

const SOURCE: Shape =
    Shape { what: "a source", members: &[may("type", Text), may("data", Raw)], closed: false };

/// The block types that are read; any other is carried as it is.
const KNOWN: [&str; 7] =
    ["text", "thinking", "redacted_thinking", "tool_use", "tool_result", "image", "document"];

pub(super) fn read(text: &str) -> Read<Draft<'_>> {
    let mut message = json::read(text, &MESSAGE)?;
    let role = match &*or_empty(message.text("role")) {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => Role::System,
        _ => return Err(Flaw::new("/role", "\"user\", \"assistant\" or \"system\"")),
    };
    let mut parts = Vec::new();
    part::content(message.content("content"), &block, &mut parts)?;
    Ok(Draft { role, parts })
}

fn block(raw: &RawValue, place: Place) -> Read<Part<'_>> {
    let mut block = match json::read(raw, &BLOCK) {
        Ok(block) => block,
        // A block that is not known may have any members.
        Err(_) if json::kind_of(raw).is_some_and(|kind| !KNOWN.contains(&&*kind)) => {
            return part::other(place, raw);
        }
        Err(flaw) => return Err(flaw),
    };
    let marked = block.raw("cache_control").is_some();
    let kind = or_empty(block.text("type"));
    let mut part = match &*kind {
        "text" => part::said(&mut block, Kind::Text, place, "text")?,
        "thinking" => {
            let mut part = part::said(&mut block, Kind::Thinking, place, "thinking")?;
            part::seal(&mut part, or_empty(block.text("signature")).len());
            part
        }
        "redacted_thinking" => {
            let mut part = Part::new(Kind::Thinking, place, "");
            part::seal(&mut part, or_empty(block.text("data")).len());
            part
        }
        "tool_use" => {
            let mut part = part::call(&mut block, place, "input", "")?;
            part::name(&mut part, &mut block, "id", "name");
            part
        }
        "tool_result" => {
            let mut body = Body::default();
            if let Some(content) = block.raw("content") {
                let content = json::content(content).map_err(|flaw| flaw.under("/content"))?;
                body.content(content, "/content", &of_result, true)?;
            }
            let mut part = body.into_part(place);
            part::name(&mut part, &mut block, "tool_use_id", "");
            part.piece.error = block.flag("is_error").unwrap_or(false);
            part
        }
        "image" | "document" => medium(place, block.raw("source"), &*kind == "image")?,
        _ => part::other(place, raw)?,
    };
    part.piece.marks |= u64::from(marked);
    Ok(part)
}

/// An image or document; a document that is plain text has its text.
fn medium(place: Place, source: Option<&RawValue>, is_image: bool) -> Read<Part<'_>> {
    let raw = source.unwrap_or_default();
    let mut source = SOURCE.read(raw).unwrap_or_default();
    let data = source.raw("data").unwrap_or_default();
    if source.text("type").is_some_and(|kind| kind == "text") && !data.is_empty() {
        let text = json::string(data).map_err(|flaw| flaw.under("/source/data"))?;
        let mut part = Part::new(Kind::Image, place, text);
        part.media = of_json(raw);
        return Ok(part);
    }
    let mut part = part::picture(place, raw, data);
    part.piece.images = u32::from(is_image);
    Ok(part)
}

/// A block of a result. Hosts put records of their own into results: those count by their JSON text.
fn of_result(raw: &RawValue, place: Place) -> Read<Part<'_>> {
    if json::kind_of(raw).is_none() { part::other(place, raw) } else { block(raw, place) }
}

/// What one change sets on the host's object.
pub(super) fn set(piece: &Piece, what: &What) -> Option<Op> {
    let text = |text: &String| Value::from(text.as_str());
    Some(match (piece.kind, piece.place, what) {
        (Kind::Text, Place::Content, What::Text(new)) => put(piece, "", text(new)),
        (Kind::Text, _, What::Text(new)) => put(piece, "/text", text(new)),
        (Kind::Thinking, _, What::Text(new)) => put(piece, "/thinking", text(new)),
        (Kind::Image, _, What::Text(new)) => put(piece, "", edit::text_block(new)),
        (Kind::Result, _, What::Text(new)) => member(piece, "/content", text(new)),
        (Kind::Result, _, What::Id(id)) => member(piece, "/tool_use_id", text(id)),
        (Kind::Call, _, What::Id(id)) => member(piece, "/id", text(id)),
        (Kind::Call, _, What::Arguments(arguments)) => member(piece, "/input", arguments.clone()),
        _ => return None,
    })
}

pub(super) fn make(made: &Made, host: Host<'_>) -> (Value, Vec<Copied>) {
    let mut copied = Vec::new();
    let block = match made {
        Made::User(parts) => {
            let content = edit::user_content(parts, host, &mut copied);
            return (object!({ "role": "user", "content": content }), copied);
        }
        // Each result of this format is sent on its own.
        Made::Results(_) => return (Value::NULL, copied),
        Made::Result { id, text, error, .. } => {
            object!({ "type": "tool_result", "tool_use_id": id, "content": text, "is_error": error })
        }
        Made::Moved { id, message, piece, .. } => {
            let from = host(*message, *piece);
            let moved = edit::moved(*message, from, "/content", "/content/0/content");
            copied.extend(moved.copied);
            let (content, error) = (moved.text, moved.error);
            object!({ "type": "tool_result", "tool_use_id": id, "content": content, "is_error": error })
        }
    };
    (object!({ "role": "user", "content": [block] }), copied)
}
