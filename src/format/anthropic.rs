//! Anthropic Messages: `content` is a string or blocks; results travel as blocks of a user message.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::edit::{self, Host, What, member, put};
use super::fingerprint::of_json;
use super::json::{self, Body, Content, Flaw, Read, Str, count, or_empty, whole};
use crate::model::{Copied, Draft, Kind, Made, Op, Part, Piece, Place, Role};

#[derive(Deserialize)]
#[serde(expecting = "a message: { role, content }")]
struct Message<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow)]
    content: Content<'a>,
}

#[derive(Deserialize)]
#[serde(expecting = "a block: { type, .. }")]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<Str<'a>>,
    #[serde(borrow)]
    thinking: Option<Str<'a>>,
    #[serde(borrow)]
    signature: Option<Str<'a>>,
    #[serde(borrow)]
    data: Option<Str<'a>>,
    #[serde(borrow)]
    id: Option<Str<'a>>,
    #[serde(borrow)]
    name: Option<Str<'a>>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_use_id: Option<Str<'a>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    is_error: Option<bool>,
    #[serde(borrow)]
    source: Option<&'a RawValue>,
}

/// The block types that are read; any other is carried as it is.
const KNOWN: [&str; 7] =
    ["text", "thinking", "redacted_thinking", "tool_use", "tool_result", "image", "document"];

pub(super) fn read(text: &str) -> Read<Draft<'_>> {
    let message: Message<'_> = json::read(text)?;
    let role = match &*message.role {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => Role::System,
        _ => return Err(Flaw::new("/role", "\"user\", \"assistant\" or \"system\"")),
    };
    let parts = match message.content {
        Content::Text(text) => vec![Part::new(Kind::Text, Place::Content, text)],
        Content::Blocks(blocks) => {
            let parts = (0u32..).zip(blocks).map(|(at, raw)| {
                block(Place::Item(at), raw).map_err(|flaw| flaw.under(&format!("/content/{at}")))
            });
            parts.collect::<Read<_>>()?
        }
    };
    Ok(Draft { role, parts })
}

fn block(place: Place, raw: &RawValue) -> Read<Part<'_>> {
    let block: Block<'_> = match json::read(raw.get()) {
        Ok(block) => block,
        // A block that is not known may have any members.
        Err(_) if json::kind_of(raw.get()).is_some_and(|kind| !KNOWN.contains(&&*kind)) => {
            return json::other(place, raw);
        }
        Err(flaw) => return Err(flaw),
    };
    Ok(match &*block.kind {
        "text" => {
            let text = block.text.ok_or_else(|| Flaw::new("/text", "a string"))?;
            Part::new(Kind::Text, place, text.0)
        }
        "thinking" => {
            let signature = or_empty(block.signature);
            let text = block.thinking.ok_or_else(|| Flaw::new("/thinking", "a string"))?;
            thinking(place, text.0, &signature)
        }
        "redacted_thinking" => thinking(place, Cow::Borrowed(""), &or_empty(block.data)),
        "tool_use" => {
            let text = block.input.map_or(Ok(""), whole).map_err(|flaw| flaw.under("/input"))?;
            let mut part = Part::new(Kind::Call, place, text);
            part.piece.bad_arguments = !text.starts_with('{');
            part.piece.id = or_empty(block.id).into();
            part.piece.name = or_empty(block.name).into();
            part
        }
        "tool_result" => {
            let content = block.content.map_or_else(|| Ok(Body::default()), result);
            let body = content.map_err(|flaw| flaw.under("/content"))?;
            let mut part = body.into_part(place);
            part.piece.id = or_empty(block.tool_use_id).into();
            part.piece.error = block.is_error.unwrap_or(false);
            part
        }
        "image" | "document" => medium(place, block.source)?,
        _ => json::other(place, raw)?,
    })
}

fn thinking<'a>(place: Place, text: Cow<'a, str>, opaque: &str) -> Part<'a> {
    let mut part = Part::new(Kind::Thinking, place, text);
    part.opaque = count(opaque.len());
    part.piece.opaque = !opaque.is_empty();
    part.piece.blank &= opaque.is_empty();
    part
}

/// An image or document; a document that is plain text has its text.
fn medium(place: Place, source: Option<&RawValue>) -> Read<Part<'_>> {
    #[derive(Deserialize)]
    struct Source<'a> {
        #[serde(borrow, rename = "type")]
        kind: Option<Str<'a>>,
        #[serde(borrow)]
        data: Option<&'a RawValue>,
    }
    let raw = source.map_or("", RawValue::get);
    let mut part = Part::new(Kind::Image, place, "");
    part.media = of_json(raw);
    part.images = 1;
    if let (Some(kind), Some(data)) =
        serde_json::from_str(raw).map_or((None, None), |Source { kind, data }| (kind, data))
        && kind.0 == "text"
    {
        part.text = json::read::<Str<'_>>(data.get()).map_err(|flaw| flaw.under("/source/data"))?.0;
        part.images = 0;
    }
    Ok(part)
}

fn result(raw: &RawValue) -> Read<Body<'_>> {
    let mut body = Body::default();
    match json::read::<Option<Content<'_>>>(raw.get())? {
        None => {}
        Some(Content::Text(text)) => body.say(text),
        Some(Content::Blocks(blocks)) => {
            for (at, raw) in blocks.into_iter().enumerate() {
                // Hosts put records of their own into results: those count by their JSON text.
                let own = json::kind_of(raw.get()).is_none();
                let part = if own { json::other } else { block }(Place::Content, raw);
                body.take(part.map_err(|flaw| flaw.under(&format!("/{at}")))?);
            }
        }
    }
    Ok(body)
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
            return (json!({ "role": "user", "content": content }), copied);
        }
        Made::Result { id, text, error, .. } => {
            json!({ "type": "tool_result", "tool_use_id": id, "content": text, "is_error": error })
        }
        Made::Moved { id, message, piece, .. } => {
            let from = host(*message, *piece);
            let moved = edit::moved(*message, from, "/content", "/content/0/content");
            copied.extend(moved.copied);
            let (content, error) = (moved.text, moved.error);
            json!({ "type": "tool_result", "tool_use_id": id, "content": content, "is_error": error })
        }
    };
    (json!({ "role": "user", "content": [block] }), copied)
}
