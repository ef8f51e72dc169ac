//! The AI SDK's messages: a `ModelMessage` has content parts and its results in messages of role `tool`; a `UIMessage`
//! has `parts`, and a call and its result are one of them.

mod change;
pub(super) mod marks;
pub(super) mod parts;
mod shown;

pub(super) use change::edit;

use self::change::output;
use self::shown::shown_part;
use super::edit::{self, Host};
use super::json::{Flaw, Read, or_empty};
use super::part::Body;
use super::{json, part};
use crate::format::ai_sdk::marks::{ON_MESSAGE, mark};
use crate::format::ai_sdk::parts::{PAINTER, PART, call, carried, is_shown, plain, read_output};
use crate::hash::fnv;
use crate::json::Type::{Raw, Text};
use crate::json::{
    Item, Members, RawValue, Shape, Source, Type, Value, json as object, left_unread, optional,
    required,
};
use crate::model::{Copied, Kind, Made, Part, Place, Role, setting};

const MESSAGE: Shape = Shape {
    what: "a message: { role, content } or { role, parts }",
    members: &[
        required("role", Text),
        optional("content", Type::Content),
        optional("parts", Type::Items),
        optional("providerOptions", Raw),
    ],
    closed: false,
};
const OUTPUT: Shape = Shape {
    what: "an output: { type, value }",
    members: &[optional("type", Text), optional("value", Raw), optional("reason", Text)],
    closed: false,
};
/// A list in version 4's spelling (`args`, `result`), at the same pointers as any other content.
const V4: &str = "content";

#[inline(never)]
pub(super) fn read<'a>(source: Source<'a>, parts: &mut Vec<Part<'a>>) -> Read<Role> {
    let json = source.json;
    let mut message = json::read_with(source, &MESSAGE, |reader| PART.blocks(reader, left_unread))?;
    let role = match &*or_empty(message.text("role")) {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => Role::System,
        "tool" => Role::Tool,
        _ => return Err(Flaw::new("/role", "\"user\", \"assistant\", \"system\" or \"tool\"")),
    };
    if let Some(shown) = message.blocks("parts") {
        let (mut step, mut started) = ((0, 0), 0);
        json::each(shown, "/parts", &mut |item, at| {
            let before = parts.len();
            if shown_part(at, item.raw, role, parts)? {
                // A step with nothing in it is none.
                let from = if started == before && step != (0, 0) { step.0 } else { at };
                (step, started) = ((from, at.saturating_add(1)), before);
            }
            parts.iter_mut().skip(before).for_each(|part| part.piece.step = step);
            Ok(())
        })?;
        return Ok(role);
    }
    let options = message.raw("providerOptions");
    part::content(message.content("content"), &|item, part| content_part(item, role, part), parts)?;
    // The SDK marks the last part for its message.
    let may_be_marked =
        |part: &&mut Part<'_>| part.piece.kind != Kind::Thinking && !part.piece.blank;
    if let Some(last) = parts.iter_mut().rev().find(may_be_marked) {
        mark(options, ON_MESSAGE, &mut last.piece);
    }
    // An on-demand compaction of Anthropic's is a text to the SDK.
    if let ([only], Role::Assistant) = (&mut parts[..], role)
        && only.piece.kind == Kind::Text
        && json.contains(r#""type":"compaction""#)
    {
        part::set(only, setting::COMPACTION);
        (only.piece.marks, only.piece.marked_at) = (0, 0);
        return Ok(Role::System);
    }
    Ok(role)
}

/// A part in version 4's spelling says so by its place.
fn spell(part: &mut Part<'_>, v4: bool) {
    if let (Place::Item(at), true) = (part.piece.place, v4) {
        part.piece.place = Place::At(V4, at);
    }
}

/// A part of a `ModelMessage`.
fn content_part<'a>(item: Item<'a>, role: Role, part: &mut Part<'a>) -> Read<()> {
    let raw = item.raw;
    let mut members = json::members(item, &PART)?;
    let kind = or_empty(members.text("type"));
    let options = members.peek("providerOptions");
    match &*kind {
        "text" | "reasoning" | "reasoning-file" | "image" | "file" => {
            plain(&kind, members, raw, part)?;
        }
        "tool-call" => {
            let v4 = members.raw("args");
            spell(part, v4.is_some());
            let input = members.raw("input").or(v4);
            call(input, &mut members, part);
            part.piece.name = or_empty(members.text("toolName")).into();
            part.piece.within = members.flag("providerExecuted").unwrap_or(false);
            part.piece.opaque |= part.piece.within;
        }
        "tool-result" => {
            match (members.raw("output"), members.raw("result")) {
                (None, Some(v4)) => {
                    spell(part, true);
                    read_output(v4, part).map_err(|flaw| flaw.under("/result"))?;
                    part.piece.error = members.flag("isError").unwrap_or(false);
                }
                (Some(output), _) if role == Role::Assistant && paints(&members, output) => {
                    part::painted(output, part);
                }
                (Some(output), _) => {
                    result(output, part).map_err(|flaw| flaw.under("/output"))?;
                }
                (None, None) => part::say(part, Kind::Result, "".into()),
            }
            part::name(part, &mut members, "toolCallId", "toolName");
            // What a provider's own tool found is sent back as it came, or not at all.
            part.piece.within = role == Role::Assistant;
            part.piece.opaque |= part.piece.within;
            if part.piece.within {
                part::take_data(part);
            }
        }
        "tool-approval-request" | "tool-approval-response" => {
            part::name(part, &mut members, "toolCallId", "approvalId");
        }
        _ => carried(raw, part),
    }
    // The SDK marks no reasoning.
    if part.piece.kind != Kind::Thinking {
        mark(options, 0, &mut part.piece);
    }
    Ok(())
}

/// Whether this is what a tool of the provider's own has painted.
fn paints(members: &Members<'_>, output: &RawValue) -> bool {
    let is_painter = members.str("toolName") == Some(PAINTER);
    is_painter && json::kind_of(output).as_deref() == Some("json")
}

/// What a tool's output tells the model.
fn result<'a>(output: &'a RawValue, part: &mut Part<'a>) -> Read<()> {
    if !output.starts_with('{') {
        return read_output(output, part);
    }
    let mut output_of = json::read(output, &OUTPUT)?;
    let kind = or_empty(output_of.text("type"));
    match (&*kind, output_of.raw("value")) {
        ("execution-denied", _) => {
            part::say(part, Kind::Result, or_empty(output_of.text("reason")));
            part.piece.blank = false;
            part.piece.opaque = true;
        }
        ("content", Some(value)) => {
            let mut body = Body::default();
            let content = json::content(value).map_err(|flaw| flaw.under("/value"))?;
            body.content(content, "/value", &output_part, false)?;
            body.fill(part);
        }
        (_, Some(value)) => read_output(value, part).map_err(|flaw| flaw.under("/value"))?,
        (_, None) => part::say(part, Kind::Result, "".into()),
    }
    part.piece.error = matches!(&*kind, "error-text" | "error-json" | "execution-denied");
    Ok(())
}

fn output_part<'a>(item: Item<'a>, part: &mut Part<'a>) -> Read<()> {
    let raw = item.raw;
    match json::kind_of(raw).as_deref() {
        Some("text") => {
            part::say(part, Kind::Text, or_empty(json::read(raw, &PART)?.text("text")));
        }
        None | Some("custom") => part::other(raw, part),
        Some(_) => part::medium(raw, raw, part),
    }
    Ok(())
}

pub(super) fn make(made: &Made, host: Host<'_>) -> (Value, Vec<Copied>) {
    let mut copied = Vec::new();
    let (id, name, result) = match made {
        Made::User(parts) if is_shown(host) => {
            let parts = edit::user_list(parts, host, "/parts", &mut copied);
            let id = format!("plimsoll-{:x}", fnv(parts.to_string().into_bytes()));
            return (object!({ "id": id, "role": "user", "parts": parts }), copied);
        }
        Made::User(parts) => {
            let content = edit::user_content(parts, host, &mut copied);
            return (object!({ "role": "user", "content": content }), copied);
        }
        Made::Result { id, name, text, error, .. } => (id, name, output(text, *error)),
        Made::Results(_) => return (Value::NULL, copied),
        Made::Moved { id, name, message, piece } => {
            let from = host(*message, *piece);
            let v4 = from.is_some_and(|from| matches!(from.place, Place::At(..)));
            let moved = if v4 {
                edit::moved(*message, from, "/result", "/content/0/output/value")
            } else {
                edit::moved(*message, from, "/output", "/content/0/output")
            };
            copied.extend(moved.copied);
            let result = match (moved.text.as_str(), v4) {
                (Some(text), _) => output(&text, moved.error),
                (None, true) => object!({ "type": "json", "value": null }),
                (None, false) => Value::NULL,
            };
            (id, name, result)
        }
    };
    let part =
        object!({ "type": "tool-result", "toolCallId": id, "toolName": name, "output": result });
    (object!({ "role": "tool", "content": [part] }), copied)
}
