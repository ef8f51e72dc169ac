//! pi's agent messages: `toolCall` blocks, `toolResult` messages, and roles of its own that reach the model as the user's.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::edit::{self, Host, What, member, put};
use super::fingerprint::of_json;
use super::json::{self, Body, Content, Flaw, Read, Str, count, or_empty, whole};
use crate::model::{Copied, Draft, Kind, Made, Op, Part, Piece, Place, Role};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a message: { role, content, .. }")]
struct Message<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow)]
    content: Option<Content<'a>>,
    #[serde(borrow)]
    tool_call_id: Option<Str<'a>>,
    #[serde(borrow)]
    tool_name: Option<Str<'a>>,
    is_error: Option<bool>,
    #[serde(borrow)]
    command: Option<Str<'a>>,
    #[serde(borrow)]
    output: Option<Str<'a>>,
    #[serde(borrow)]
    summary: Option<Str<'a>>,
    exclude_from_context: Option<bool>,
    #[serde(borrow)]
    stop_reason: Option<Str<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a block: { type, .. }")]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<Str<'a>>,
    #[serde(borrow)]
    text_signature: Option<Str<'a>>,
    #[serde(borrow)]
    thinking: Option<Str<'a>>,
    #[serde(borrow)]
    thinking_signature: Option<Str<'a>>,
    #[serde(borrow)]
    id: Option<Str<'a>>,
    #[serde(borrow)]
    name: Option<Str<'a>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    thought_signature: Option<Str<'a>>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

/// The block types that are read; any other is carried as it is.
const KNOWN: [&str; 4] = ["text", "thinking", "toolCall", "image"];

pub(super) fn read(text: &str) -> Read<Draft<'_>> {
    let message: Message<'_> = json::read(text)?;
    let role = match &*message.role {
        "assistant" => Role::Assistant,
        "user" => Role::User,
        "toolResult" => return result(message),
        _ => return own(message),
    };
    // pi leaves a turn that was aborted or failed out of every request, with its calls.
    let stopped = message.stop_reason.as_ref().map_or("", |reason| &*reason.0);
    let failed = matches!(stopped, "aborted" | "error");
    let parts = blocks(message.content.ok_or_else(no_content)?)?;
    Ok(if failed { unsent(role, parts) } else { Draft { role, parts } })
}

/// A message that pi does not send: it has at least one part, so that it can say so.
fn unsent(role: Role, mut parts: Vec<Part<'_>>) -> Draft<'_> {
    if parts.is_empty() {
        parts.push(Part::new(Kind::Other, Place::Field("content"), ""));
    }
    for part in &mut parts {
        part.piece.unsent = true;
    }
    Draft { role, parts }
}

fn no_content() -> Flaw {
    Flaw::new("/content", "a string or an array of blocks")
}

fn blocks(content: Content<'_>) -> Read<Vec<Part<'_>>> {
    match content {
        Content::Text(text) => Ok(vec![Part::new(Kind::Text, Place::Content, text)]),
        Content::Blocks(blocks) => {
            let parts = (0u32..).zip(blocks).map(|(at, raw)| {
                block(raw, Place::Item(at)).map_err(|flaw| flaw.under(&format!("/content/{at}")))
            });
            parts.collect()
        }
    }
}

/// A role that only pi and its extensions know: what it carries is sent as the user's text, or nothing is sent.
fn own(message: Message<'_>) -> Read<Draft<'_>> {
    let role = Role::User;
    let parts = if message.exclude_from_context == Some(true) {
        return Ok(unsent(role, Vec::new()));
    } else if let Some(content) = message.content {
        blocks(content)?
    } else if let Some(summary) = message.summary {
        vec![Part::new(Kind::Text, Place::Field("summary"), summary.0)]
    } else if message.command.is_some() || message.output.is_some() {
        let (command, output) = (or_empty(message.command), or_empty(message.output));
        let ran = Cow::Owned(format!("{command}\n{output}"));
        vec![Part::new(Kind::Text, Place::Field("output"), ran)]
    } else {
        return Ok(unsent(role, Vec::new()));
    };
    Ok(Draft { role, parts })
}

fn block(raw: &RawValue, place: Place) -> Read<Part<'_>> {
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
            let mut part = Part::new(Kind::Text, place, text.0);
            part.piece.opaque = block.text_signature.is_some();
            part
        }
        "thinking" => {
            let text = block.thinking.ok_or_else(|| Flaw::new("/thinking", "a string"))?;
            let mut part = Part::new(Kind::Thinking, place, text.0);
            let signature = or_empty(block.thinking_signature);
            part.opaque = count(signature.len());
            part.piece.opaque = !signature.is_empty();
            part.piece.blank &= signature.is_empty();
            part
        }
        "toolCall" => {
            let text = block.arguments.map_or(Ok(""), whole);
            let text = text.map_err(|flaw| flaw.under("/arguments"))?;
            let mut part = Part::new(Kind::Call, place, text);
            part.piece.bad_arguments = !text.starts_with('{');
            part.piece.id = or_empty(block.id).into();
            part.piece.name = or_empty(block.name).into();
            let signature = or_empty(block.thought_signature);
            part.opaque = count(signature.len());
            part.piece.opaque = !signature.is_empty();
            part
        }
        "image" => {
            let mut part = Part::new(Kind::Image, place, "");
            part.images = 1;
            part.media = of_json(block.data.map_or("", RawValue::get));
            part
        }
        _ => json::other(place, raw)?,
    })
}

fn result(message: Message<'_>) -> Read<Draft<'_>> {
    let mut body = Body::default();
    for part in blocks(message.content.ok_or_else(no_content)?)? {
        body.take(part);
    }
    let mut part = body.into_part(Place::Content);
    part.piece.id = or_empty(message.tool_call_id).into();
    part.piece.name = or_empty(message.tool_name).into();
    part.piece.error = message.is_error.unwrap_or(false);
    Ok(Draft { role: Role::Tool, parts: vec![part] })
}

/// What one change sets on the host's object.
pub(super) fn set(piece: &Piece, what: &What) -> Option<Op> {
    let text = |text: &String| Value::from(text.as_str());
    Some(match (piece.kind, piece.place, what) {
        (Kind::Text, Place::Item(_), What::Text(new)) => put(piece, "/text", text(new)),
        (Kind::Text, _, What::Text(new)) => put(piece, "", text(new)),
        (Kind::Thinking, _, What::Text(new)) => put(piece, "/thinking", text(new)),
        (Kind::Image, _, What::Text(new)) => put(piece, "", edit::text_block(new)),
        (Kind::Result, _, What::Text(new)) => put(piece, "", json!([edit::text_block(new)])),
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
            return (json!({ "role": "user", "content": content, "timestamp": 0 }), copied);
        }
        Made::Result { id, name, text, error } => {
            (id, name, json!([edit::text_block(text)]), *error)
        }
        Made::Moved { id, name, message, piece } => {
            let moved = edit::moved(*message, host(*message, *piece), "", "/content");
            copied.extend(moved.copied);
            // Without a host's content to copy the text is ours, and content is a list of blocks.
            let ours = moved.text.as_str().map(|text| json!([edit::text_block(text)]));
            let content = ours.unwrap_or_default();
            (id, name, content, moved.error)
        }
    };
    let message = json!({
        "role": "toolResult", "toolCallId": id, "toolName": name, "content": content,
        "isError": error, "timestamp": 0,
    });
    (message, copied)
}
