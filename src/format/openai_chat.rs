//! Chat Completions of `OpenAI`: calls stand beside the content, a result is a message of role `tool`.

use std::borrow::Cow;

use super::edit::{self, Change, Host, PLACEHOLDER, What, beside, member, put};
use super::json::{self, Flaw, Read, is_object, or_empty};
use super::part::{self, Body};
use crate::json::Type::{Raw, Text};
use crate::json::{
    Content, Item, Members, RawValue, Shape, Source, Type, Value, json as object, left_unread,
    optional, required,
};
use crate::model::{Copied, Kind, Made, Op, Outline, Part, Piece, Place, Role};
use crate::number::count;

const MESSAGE: Shape = Shape {
    what: "a message: { role, .. }",
    members: &[
        required("role", Text),
        optional("content", Type::Content),
        optional("name", Text),
        optional("tool_call_id", Text),
        optional("tool_calls", Type::Items),
        optional("function_call", Raw),
        optional("refusal", Text),
        optional("reasoning_content", Text),
        optional("reasoning", Raw),
        optional("reasoning_details", Raw),
        optional("audio", Raw),
    ],
    closed: false,
};

const CALL: Shape = Shape {
    what: "a call: { id, type, function: { name, arguments } }",
    members: &[optional("id", Text), optional("function", Raw), optional("custom", Raw)],
    closed: false,
};

const FUNCTION: Shape = Shape {
    what: "a function: { name, arguments }",
    members: &[optional("name", Text), optional("arguments", Text)],
    closed: false,
};

const CUSTOM: Shape = Shape {
    what: "a custom tool's call: { name, input }",
    members: &[optional("name", Text), optional("input", Text)],
    closed: false,
};

const CONTENT_PART: Shape = Shape {
    what: "a content part: { type, .. }",
    members: &[
        required("type", Text),
        optional("text", Text),
        optional("refusal", Text),
        optional("cache_control", Raw),
    ],
    closed: false,
};

#[inline(never)]
pub(super) fn read<'a>(source: Source<'a>, parts: &mut Vec<Part<'a>>) -> Read<Role> {
    let mut message =
        json::read_with(source, &MESSAGE, |reader| CONTENT_PART.blocks(reader, left_unread))?;
    let role = or_empty(message.text("role"));
    let role = match &*role {
        "system" | "developer" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" | "function" => return result(message, role == "function", parts),
        _ => {
            let allowed =
                "\"system\", \"developer\", \"user\", \"assistant\", \"tool\" or \"function\"";
            return Err(Flaw::new("/role", allowed));
        }
    };
    reasoning(&mut message, parts)?;
    match message.content("content") {
        // No provider takes an empty list: it reads as blank text, so that mending removes it.
        Some(Content::Blocks(blocks)) if blocks.is_empty() => {
            parts.push(Part::new(Kind::Text, Place::Content, "\n"));
        }
        content => part::content(content, &content_part, parts)?,
    }
    if let Some(refusal) = message.text("refusal").filter(|refusal| !refusal.is_empty()) {
        parts.push(Part::new(Kind::Text, Place::Field("refusal"), refusal));
    }
    // What the model spoke, which the provider keeps under an id.
    if let Some(audio) = message.raw("audio").filter(|audio| audio.starts_with('{')) {
        let mut part = part::at(Place::Field("audio"));
        part::other(audio, &mut part);
        parts.push(part);
    }
    let calls = message.blocks("tool_calls");
    // Nor is an empty list of calls taken.
    if calls.as_ref().is_some_and(Vec::is_empty) {
        parts.push(Part::new(Kind::Text, Place::Field("tool_calls"), "\n"));
    }
    let calls = calls.unwrap_or_default();
    part::list(calls, "/tool_calls", &Place::Call, &call, parts)?;
    if let Some(legacy) = message.raw("function_call") {
        let mut part = part::at(Place::Field("function_call"));
        function(legacy, &mut part).map_err(|flaw| flaw.under("/function_call"))?;
        parts.push(part);
    }
    // A host's SDK writes `content: ""` beside calls: there it is not text but the absence of it.
    let called = parts.iter().any(|part| part.piece.kind == Kind::Call);
    parts.retain(|part| !(called && part.piece.place == Place::Content && part.text.is_empty()));
    Ok(role)
}

/// Reasoning as gateways write it: the same text often stands in two members, and must be counted once.
fn reasoning<'a>(message: &mut Members<'a>, parts: &mut Vec<Part<'a>>) -> Read<()> {
    if let Some(text) = message.text("reasoning_content") {
        parts.push(Part::new(Kind::Thinking, Place::Field("reasoning_content"), text));
    }
    if let Some(raw) = message.raw("reasoning").filter(|raw| raw.starts_with('"')) {
        let text = json::string(raw)?;
        let again = parts.iter().any(|part| part.text == text);
        let text = if again { Cow::Borrowed("") } else { text };
        parts.push(Part::new(Kind::Thinking, Place::Field("reasoning"), text));
    }
    if let Some(raw) = message.raw("reasoning_details") {
        let mut part = Part::new(Kind::Thinking, Place::Field("reasoning_details"), "");
        let has_text = parts.iter().any(|part| !part.text.is_empty());
        part.opaque = if has_text { 0 } else { count(raw.len()) };
        part.piece.opaque = true;
        parts.push(part);
    }
    // `blank` asks for a mend; an empty member beside the content is taken everywhere.
    for part in parts {
        part.piece.blank = false;
    }
    Ok(())
}

fn content_part<'a>(item: Item<'a>, part: &mut Part<'a>) -> Read<()> {
    let raw = item.raw;
    let mut block = match json::members(item, &CONTENT_PART) {
        Ok(block) => block,
        Err(_) if json::kind_of(raw).is_some_and(|kind| kind != "text" && kind != "refusal") => {
            part::other(raw, part);
            return Ok(());
        }
        Err(flaw) => return Err(flaw),
    };
    let marked = block.raw("cache_control").is_some();
    match &*or_empty(block.text("type")) {
        "text" => part::read_text(&mut block, Kind::Text, "text", part)?,
        "refusal" => {
            part::say(part, Kind::Text, or_empty(block.text("refusal")));
            part.piece.opaque = true;
        }
        kind @ ("image_url" | "input_audio" | "file") => {
            part::picture(&part::unmarked(raw), raw, part);
            part.piece.images = u32::from(kind == "image_url");
        }
        _ => part::other(raw, part),
    }
    part.piece.marks |= u64::from(marked);
    Ok(())
}

fn call<'a>(item: Item<'a>, part: &mut Part<'a>) -> Read<()> {
    let mut call = json::members(item, &CALL)?;
    match (call.raw("function"), call.raw("custom")) {
        (Some(of), _) => function(of, part).map_err(|flaw| flaw.under("/function"))?,
        (None, Some(of)) => {
            let mut custom = json::read(of, &CUSTOM).map_err(|flaw| flaw.under("/custom"))?;
            if let Place::Call(at) = part.piece.place {
                part.piece.place = Place::Custom(at);
            }
            part::say(part, Kind::Call, or_empty(custom.text("input")));
            part::name(part, &mut custom, "", "name");
        }
        (None, None) => return Err(Flaw::new("", "a call with `function` or `custom`")),
    }
    part.piece.id = or_empty(call.text("id")).into();
    Ok(())
}

fn function<'a>(raw: &'a RawValue, part: &mut Part<'a>) -> Read<()> {
    let mut function = json::read(raw, &FUNCTION)?;
    part::say(part, Kind::Call, or_empty(function.text("arguments")));
    part::name(part, &mut function, "", "name");
    part.piece.bad_arguments = !is_object(&part.text);
    Ok(())
}

/// A result; the old `function` role has no ids: its place says so.
fn result<'a>(mut message: Members<'a>, legacy: bool, parts: &mut Vec<Part<'a>>) -> Read<Role> {
    let mut body = Body::default();
    body.content(message.content("content"), "/content", &content_part, true)?;
    let mut part = part::at(if legacy { Place::Field("content") } else { Place::Content });
    body.fill(&mut part);
    part::name(&mut part, &mut message, "tool_call_id", "name");
    parts.push(part);
    Ok(Role::Tool)
}

/// Changes to content, calls and members beside them. No empty list of calls and no empty content goes out.
#[inline(never)]
pub(super) fn edit(outline: &Outline, changes: &[Change]) -> Vec<Op> {
    let (stay, go) = edit::split(outline, changes);
    let mut ops = edit::sets(outline, changes, &set);
    let content = |piece: &Piece| matches!(piece.place, Place::Content | Place::Item(_));
    let called = |piece: &Piece| matches!(piece.place, Place::Call(_) | Place::Custom(_));
    let any = |pieces: &[&Piece], of: fn(&Piece) -> bool| pieces.iter().any(|piece| of(piece));
    let has_text = any(&stay, |piece| piece.kind != Kind::Thinking);
    let content_stays = any(&stay, content);
    if !has_text {
        ops.push(beside("/content", PLACEHOLDER.into()));
    } else if !content_stays && any(&go, content) {
        ops.push(beside("/content", Value::NULL));
    } else {
        ops.extend(edit::removals(&go, content));
    }
    if !any(&stay, called) && any(&go, called) {
        ops.push(Op::Remove { path: "/tool_calls".into() });
    } else {
        ops.extend(edit::removals(&go, called));
    }
    let fields = go.iter().filter(|piece| matches!(piece.place, Place::Field(_)));
    ops.extend(fields.map(|piece| Op::Remove { path: piece.place.pointer() }));
    ops
}

/// What one change sets on the host's object.
pub(super) fn set(piece: &Piece, what: &What) -> Option<Op> {
    let text = |text: &String| Value::from(text.as_str());
    Some(match (piece.kind, piece.place, what) {
        (Kind::Text, Place::Item(_), What::Text(new)) => put(piece, "/text", text(new)),
        (Kind::Image, _, What::Text(new)) => put(piece, "", edit::text_block(new)),
        (Kind::Text | Kind::Thinking | Kind::Result, _, What::Text(new)) => {
            member(piece, "", text(new))
        }
        (Kind::Result, Place::Content, What::Id(id)) => beside("/tool_call_id", text(id)),
        (Kind::Call, Place::Call(_) | Place::Custom(_), What::Id(id)) => {
            member(piece, "/id", text(id))
        }
        (Kind::Call, Place::Custom(_), What::Arguments(new)) => {
            member(piece, "/custom/input", edit::free_text(new).into())
        }
        (Kind::Call, Place::Call(_), What::Arguments(new)) => {
            member(piece, "/function/arguments", new.json().into())
        }
        (Kind::Call, Place::Field(_), What::Arguments(new)) => {
            member(piece, "/arguments", new.json().into())
        }
        _ => return None,
    })
}

pub(super) fn make(made: &Made, host: Host<'_>) -> (Value, Vec<Copied>) {
    let mut copied = Vec::new();
    let (id, name, content) = match made {
        Made::User(parts) => {
            let content = edit::user_content(parts, host, &mut copied);
            return (object!({ "role": "user", "content": content }), copied);
        }
        // Each result of this format is sent on its own.
        Made::Results(_) => return (Value::NULL, copied),
        Made::Result { id, name, text, .. } => (id, name, text.as_str().into()),
        Made::Moved { id, name, message, piece } => {
            let moved = edit::moved(*message, host(*message, *piece), "", "/content");
            copied.extend(moved.copied);
            (id, name, moved.text)
        }
    };
    // A call without an id is one of the old `function_call`s.
    let message = if id.is_empty() {
        object!({ "role": "function", "name": name, "content": content })
    } else {
        object!({ "role": "tool", "tool_call_id": id, "content": content })
    };
    (message, copied)
}
