//! Anthropic Messages: `content` is a string or blocks; results travel as blocks of a user message.

use std::borrow::Cow;

use super::edit::{self, Host, What, member, put};
use super::fingerprint::of_json;
use super::json::{self, Flaw, Read, or_empty};
use super::part::{self, Body};
use crate::json::Type::{Flag, Raw, Text};
use crate::json::{
    Content, Item, Members, RawValue, Shape, Source, Type, Value, json as object, left_unread,
    optional, required,
};
use crate::model::{Copied, Kind, Made, Op, Part, Piece, Place, Role, setting};

const MESSAGE: Shape = Shape {
    what: "a message: { role, content }",
    members: &[
        required("role", Text),
        optional("content", Type::Content),
        optional("output_config", Raw),
        optional("clear_at", Raw),
    ],
    closed: false,
};

const BLOCK: Shape = Shape {
    what: "a block: { type, .. }",
    members: &[
        required("type", Text),
        optional("text", Text),
        optional("thinking", Text),
        optional("signature", Text),
        optional("data", Text),
        optional("id", Text),
        optional("name", Text),
        optional("input", Raw),
        optional("caller", Raw),
        optional("tool_use_id", Text),
        optional("toolset_name", Text),
        optional("content", Type::Content),
        optional("is_error", Flag),
        optional("source", Raw),
        optional("cache_control", Raw),
    ],
    closed: false,
};

const SOURCE: Shape = Shape {
    what: "a source",
    members: &[optional("type", Text), optional("data", Raw), optional("content", Raw)],
    closed: false,
};

/// The block types that are read; any other is carried as it is.
const KNOWN: [&str; 7] =
    ["text", "thinking", "redacted_thinking", "tool_use", "tool_result", "image", "document"];

#[inline(never)]
pub(super) fn read<'a>(source: Source<'a>, parts: &mut Vec<Part<'a>>) -> Read<Role> {
    let mut message = json::read_with(source, &MESSAGE, |reader| {
        BLOCK.blocks(reader, |reader| BLOCK.any_blocks(reader, left_unread))
    })?;
    let role = match &*or_empty(message.text("role")) {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => Role::System,
        _ => return Err(Flaw::new("/role", "\"user\", \"assistant\" or \"system\"")),
    };
    let content = message.content("content");
    if role != Role::System && content.is_none() {
        return Err(Flaw::new("", "a member `content`"));
    }
    let Some(name) = setting_of(&message, role, source.json, content.as_ref()) else {
        part::content(content, &|item, part| block(item, role, part), parts)?;
        return Ok(role);
    };
    let mut body = Body::default();
    body.content(content, "/content", &|item, part| block(item, role, part), false)?;
    let mut part = part::at(Place::Message(name));
    body.fill(&mut part);
    part.media ^= message.raw("output_config").map_or(0, of_json);
    part::set(&mut part, name);
    parts.push(part);
    Ok(Role::System)
}

/// The kind of setting that a message is. In the user's name, the API would refuse a change of tools, and show a reminder for one turn
/// in all turns. The summary of an on-demand compaction is alone in its message.
fn setting_of(
    message: &Members<'_>,
    role: Role,
    json: &str,
    content: Option<&Content<'_>>,
) -> Option<&'static str> {
    let blocks = match content {
        Some(Content::Blocks(blocks)) => &blocks[..],
        Some(Content::Text(_)) | None => &[],
    };
    if role != Role::System {
        let [only] = blocks else { return None };
        let is_summary = role == Role::Assistant && only.str("type") == Some("compaction");
        return is_summary.then_some(setting::COMPACTION);
    }
    let configures = message.peek("output_config").is_some_and(|raw| raw.starts_with('{'));
    let changes = ["\"tool_addition\"", "\"tool_removal\""].iter().any(|it| json.contains(it));
    let is_empty = blocks.is_empty() && content.is_none_or(|it| matches!(it, Content::Blocks(_)));
    match message.peek("clear_at") {
        Some("\"next_user_message\"") => Some(setting::TURN),
        _ if configures && is_empty => Some(setting::SILENT),
        _ => (configures || changes).then_some(setting::TOOLS),
    }
}

fn block<'a>(item: Item<'a>, role: Role, part: &mut Part<'a>) -> Read<()> {
    let raw = item.raw;
    let mut block = match json::members(item, &BLOCK) {
        Ok(block) => block,
        // A block that is not known may have any members.
        Err(_) if json::kind_of(raw).is_some_and(|kind| !KNOWN.contains(&&*kind)) => {
            carried(raw, role, part);
            return Ok(());
        }
        Err(flaw) => return Err(flaw),
    };
    let marked = block.raw("cache_control").is_some();
    let kind = or_empty(block.text("type"));
    match &*kind {
        "text" => part::read_text(&mut block, Kind::Text, "text", part)?,
        "thinking" => {
            part::read_text(&mut block, Kind::Thinking, "thinking", part)?;
            part::seal(part, or_empty(block.text("signature")).len());
        }
        "redacted_thinking" => {
            part::say(part, Kind::Thinking, "".into());
            part::seal(part, or_empty(block.text("data")).len());
        }
        "tool_use" => {
            part::call(&mut block, "input", "", part);
            part::name(part, &mut block, "id", "name");
            part.piece.caller = part::caller(block.raw("caller"));
        }
        "tool_result" => {
            let mut body = Body::default();
            let content = match block.peek("content") {
                Some(other) => json::content(other).map_err(|flaw| flaw.under("/content"))?,
                None => block.content("content"),
            };
            body.content(content, "/content", &of_result, true)?;
            body.fill(part);
            part::name(part, &mut block, "tool_use_id", "");
            part.piece.error = block.flag("is_error").unwrap_or(false);
        }
        "image" | "document" => medium(block.raw("source"), &*kind == "image", part)?,
        "compaction" => match block.content("content") {
            Some(Content::Text(text)) => {
                part::say(part, Kind::Other, text);
                part.piece.opaque = true;
            }
            _ => carried(raw, role, part),
        },
        _ => carried(raw, role, part),
    }
    if matches!(part.piece.kind, Kind::Call | Kind::Result) && !part.piece.within {
        part.piece.toolset = or_empty(block.text("toolset_name")).into();
    }
    part.piece.marks |= u64::from(marked);
    Ok(())
}

#[inline(never)]
fn carried<'a>(raw: &'a RawValue, role: Role, part: &mut Part<'a>) {
    if role == Role::Assistant { part::of_model(raw, part) } else { part::other(raw, part) }
}

/// An image or document; a document of text or of blocks has these.
#[inline(never)]
fn medium<'a>(source: Option<&'a RawValue>, is_image: bool, part: &mut Part<'a>) -> Read<()> {
    let raw = source.unwrap_or_default();
    let mut source = SOURCE.read(raw).unwrap_or_default();
    let data = source.raw("data").unwrap_or_default();
    let kind = or_empty(source.text("type"));
    if &*kind == "text" && !data.is_empty() {
        let text = json::string(data).map_err(|flaw| flaw.under("/source/data"))?;
        part::say(part, Kind::Image, text);
        part.media = of_json(raw);
        return Ok(());
    }
    if let Some(content) = source.raw("content").filter(|_| &*kind == "content") {
        let mut body = Body::default();
        body.content(json::content(content)?, "/source/content", &of_document, false)?;
        body.fill(part);
        part.piece.kind = Kind::Image;
        part.piece.blank = false;
        part.media = of_json(raw);
        return Ok(());
    }
    part::picture(raw, data, part);
    part.piece.images = u32::from(is_image);
    Ok(())
}

/// A block of a document: a text or an image. No document is in another, however deep a file nests them.
fn of_document<'a>(item: Item<'a>, part: &mut Part<'a>) -> Read<()> {
    if json::kind_of(item.raw).is_some_and(|kind| matches!(&*kind, "text" | "image")) {
        return block(item, Role::User, part);
    }
    part::other(item.raw, part);
    Ok(())
}

/// A block of a result. Hosts put records of their own into results: those count by their JSON text, and so does a result inside a
/// result, however deep a file nests them.
fn of_result<'a>(item: Item<'a>, part: &mut Part<'a>) -> Read<()> {
    let kind = item.str("type").map(Cow::Borrowed).or_else(|| json::kind_of(item.raw));
    if kind.is_none_or(|kind| kind == "tool_result") {
        part::other(item.raw, part);
        return Ok(());
    }
    block(item, Role::User, part)
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
    let (mut block, toolset) = match made {
        Made::User(parts) => {
            let content = edit::user_content(parts, host, &mut copied);
            return (object!({ "role": "user", "content": content }), copied);
        }
        // Each result of this format is sent on its own.
        Made::Results(_) => return (Value::NULL, copied),
        Made::Result { id, text, error, toolset, .. } => {
            (result(id, text.as_str().into(), *error), &**toolset)
        }
        Made::Moved { id, message, piece, .. } => {
            let from = host(*message, *piece);
            let moved = edit::moved(*message, from, "/content", "/content/0/content");
            copied.extend(moved.copied);
            (result(id, moved.text, moved.error), from.map_or("", |piece| &*piece.toolset))
        }
    };
    // The API refuses the result of a toolset's tool without it.
    if !toolset.is_empty() {
        block.set("toolset_name", toolset.into());
    }
    (object!({ "role": "user", "content": [block] }), copied)
}

fn result(id: &str, content: Value, error: bool) -> Value {
    object!({ "type": "tool_result", "tool_use_id": id, "content": content, "is_error": error })
}
