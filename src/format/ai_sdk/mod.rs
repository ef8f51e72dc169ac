//! The AI SDK's messages: a `ModelMessage` has content parts and its results in messages of role `tool`; a `UIMessage`
//! has `parts`, and a call and its result are one of them.

mod change;
mod shown;

use std::borrow::Cow;

use self::change::output;
use self::shown::shown_part;
use super::edit::{self, Host};
use super::json::{self, Flaw, Read, count, or_empty, whole};
use super::part::{self, Body};
use crate::hash::fnv;
use crate::json::Want::{Flag, Raw, Text};
use crate::json::{Members, RawValue, Shape, Value, Want, json as object, may, must};
use crate::model::{Copied, Draft, Kind, Made, Part, Place, Role};

pub(super) use change::edit;

const MESSAGE: Shape = Shape {
    what: "a message: { role, content } or { role, parts }",
    members: &[must("role", Text), may("content", Want::Content), may("parts", Want::Items)],
    closed: false,
};

const PART: Shape = Shape {
    what: "a part: { type, .. }",
    members: &[
        must("type", Text),
        may("text", Text),
        may("image", Raw),
        may("data", Raw),
        may("url", Raw),
        may("toolCallId", Text),
        may("toolName", Text),
        may("input", Raw),
        may("args", Raw),
        may("output", Raw),
        may("result", Raw),
        may("isError", Flag),
        may("providerExecuted", Flag),
        may("approvalId", Text),
        may("approval", Raw),
        may("state", Text),
        may("errorText", Text),
        may("rawInput", Raw),
        may("providerOptions", Raw),
        may("providerMetadata", Raw),
        may("callProviderMetadata", Raw),
    ],
    closed: false,
};

const OUTPUT: Shape = Shape {
    what: "an output: { type, value }",
    members: &[may("type", Text), may("value", Raw), may("reason", Text)],
    closed: false,
};

/// Options of a part that mark where a cache may begin: they bind it to nothing.
const MARKERS: [&str; 3] = ["cacheControl", "cache_control", "cachePoint"];

/// A list in version 4's spelling (`args`, `result`), at the same pointers as any other content.
const V4: &str = "content";

pub(super) fn read(text: &str) -> Read<Draft<'_>> {
    let mut message = json::read(text, &MESSAGE)?;
    let role = match &*or_empty(message.text("role")) {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => Role::System,
        "tool" => Role::Tool,
        _ => return Err(Flaw::new("/role", "\"user\", \"assistant\", \"system\" or \"tool\"")),
    };
    let mut parts = Vec::new();
    if let Some(shown) = message.items("parts") {
        let (mut step, mut started) = ((0, 0), 0);
        json::each(shown, "/parts", &mut |raw, at| {
            let before = parts.len();
            if shown_part(at, raw, role, &mut parts)? {
                // A step with nothing in it is none.
                let from = if started == before && step != (0, 0) { step.0 } else { at };
                (step, started) = ((from, at.saturating_add(1)), before);
            }
            parts.iter_mut().skip(before).for_each(|part| part.piece.step = step);
            Ok(())
        })?;
        return Ok(Draft { role, parts });
    }
    part::content(
        message.content("content"),
        &|raw, place| content_part(place, raw, role),
        &mut parts,
    )?;
    Ok(Draft { role, parts })
}

/// A part's place where it is in version 4's spelling.
fn old(place: Place) -> Place {
    if let Place::Item(at) = place { Place::At(V4, at) } else { place }
}

/// A part of a `ModelMessage`.
fn content_part(place: Place, raw: &RawValue, role: Role) -> Read<Part<'_>> {
    let mut part = json::read(raw, &PART)?;
    let kind = or_empty(part.text("type"));
    Ok(match &*kind {
        "text" | "reasoning" | "reasoning-file" | "image" | "file" => {
            plain(place, &kind, part, raw)?
        }
        "tool-call" => {
            let v4 = part.raw("args");
            let place = if v4.is_some() { old(place) } else { place };
            let input = part.raw("input").or(v4);
            let mut call = call(place, input, &mut part)?;
            call.piece.name = or_empty(part.text("toolName")).into();
            call.piece.within = part.flag("providerExecuted").unwrap_or(false);
            call.piece.opaque |= call.piece.within;
            call
        }
        "tool-result" => {
            let v4 = part.raw("result");
            let output = part.raw("output");
            let error = part.flag("isError").unwrap_or(false);
            let mut found = match (output, v4) {
                (None, Some(result)) => {
                    let mut found = said(result).map_err(|flaw| flaw.under("/result"))?;
                    found.piece.place = old(place);
                    found.piece.error = error;
                    found
                }
                (Some(output), _) => result(output).map_err(|flaw| flaw.under("/output"))?,
                (None, None) => Part::new(Kind::Result, place, ""),
            };
            if found.piece.place == Place::Content {
                found.piece.place = place;
            }
            part::name(&mut found, &mut part, "toolCallId", "toolName");
            // What a provider's own tool found is sent back as it came, or not at all.
            found.piece.within = role == Role::Assistant;
            found.piece.opaque |= found.piece.within;
            found
        }
        "tool-approval-request" | "tool-approval-response" => {
            let mut part_of = Part::new(Kind::Other, place, "");
            part::name(&mut part_of, &mut part, "toolCallId", "approvalId");
            part_of
        }
        _ => part::other(place, raw)?,
    })
}

/// Text, reasoning, an image or a file: the same in both kinds of message.
fn plain<'a>(place: Place, kind: &str, mut part: Members<'a>, raw: &RawValue) -> Read<Part<'a>> {
    let options = part.raw("providerOptions").or_else(|| part.raw("providerMetadata"));
    let carried = options.filter(|options| carries(options));
    let mut read = match kind {
        "text" | "reasoning" => {
            let kind = if kind == "text" { Kind::Text } else { Kind::Thinking };
            part::said(&mut part, kind, place, "text")?
        }
        "reasoning-file" => {
            let mut file = Part::new(Kind::Thinking, place, "");
            file.opaque = count(raw.len());
            file.piece.opaque = true;
            file.piece.blank = false;
            return Ok(file);
        }
        _ => {
            let data = ["image", "data", "url"].iter().find_map(|name| part.raw(name));
            part::medium(place, data.unwrap_or(""))
        }
    };
    if let Some(options) = carried {
        read.piece.opaque = true;
        read.piece.blank &= read.piece.kind == Kind::Text;
        if read.piece.kind == Kind::Thinking {
            read.opaque = count(options.len());
        }
    }
    Ok(read)
}

/// A call without its name.
fn call<'a>(place: Place, input: Option<&'a RawValue>, part: &mut Members<'a>) -> Read<Part<'a>> {
    let text = input.map_or(Ok(""), whole).map_err(|flaw| flaw.under("/input"))?;
    let mut call = Part::new(Kind::Call, place, text);
    call.piece.bad_arguments = !text.starts_with('{');
    call.piece.id = or_empty(part.text("toolCallId")).into();
    let options = part.raw("providerOptions").or_else(|| part.raw("callProviderMetadata"));
    if let Some(options) = options.filter(|options| carries(options)) {
        call.piece.opaque = true;
        call.opaque = count(options.len());
    }
    Ok(call)
}

/// Whether options hold more than cache markers: ids, signatures, encrypted reasoning.
fn carries(options: &RawValue) -> bool {
    let Ok(providers) = crate::json::members(options) else { return true };
    providers.iter().any(|(_, of)| match crate::json::members(of) {
        Ok(of) => of.iter().any(|(key, _)| !MARKERS.contains(&&**key)),
        Err(_) => true,
    })
}

/// What a tool's output tells the model.
fn result(output: &RawValue) -> Read<Part<'_>> {
    if !output.starts_with('{') {
        return said(output);
    }
    let mut output_of = json::read(output, &OUTPUT)?;
    let kind = or_empty(output_of.text("type"));
    let value = output_of.raw("value");
    let mut part = match (&*kind, value) {
        ("execution-denied", _) => {
            let mut part =
                Part::new(Kind::Result, Place::Content, or_empty(output_of.text("reason")));
            part.piece.blank = false;
            part.piece.opaque = true;
            part
        }
        ("content", Some(value)) => {
            let mut body = Body::default();
            let flaw = |flaw: Flaw| flaw.under("/value");
            let content = json::content(value).map_err(flaw)?;
            body.content(content, "/value", &output_part, false)?;
            body.into_part(Place::Content)
        }
        (_, Some(value)) => said(value).map_err(|flaw| flaw.under("/value"))?,
        (_, None) => Part::new(Kind::Result, Place::Content, ""),
    };
    part.piece.error = matches!(&*kind, "error-text" | "error-json" | "execution-denied");
    Ok(part)
}

fn output_part(raw: &RawValue, place: Place) -> Read<Part<'_>> {
    let kind = json::kind_of(raw);
    Ok(match kind.as_deref() {
        Some("text") => {
            let mut part = json::read(raw, &PART)?;
            Part::new(Kind::Text, place, or_empty(part.text("text")))
        }
        None => part::other(place, raw)?,
        Some(_) => part::medium(place, raw),
    })
}

/// A result that is any JSON: a string as its text.
fn said(value: &RawValue) -> Read<Part<'_>> {
    let raw = value;
    let text = if raw.starts_with('"') { json::string(raw)? } else { Cow::Borrowed(whole(value)?) };
    Ok(Part::new(Kind::Result, Place::Content, text))
}

pub(super) fn make(made: &Made, host: Host<'_>) -> (Value, Vec<Copied>) {
    let mut copied = Vec::new();
    let (id, name, given) = match made {
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
            let given = match (moved.text.as_str(), v4) {
                (Some(text), _) => output(&text, moved.error),
                (None, true) => object!({ "type": "json", "value": null }),
                (None, false) => Value::NULL,
            };
            (id, name, given)
        }
    };
    let part =
        object!({ "type": "tool-result", "toolCallId": id, "toolName": name, "output": given });
    (object!({ "role": "tool", "content": [part] }), copied)
}

/// A line of ours in the assistant's name.
pub(super) fn say(line: &str, host: Host<'_>) -> Value {
    if is_shown(host) {
        let parts = object!([edit::text_block(line)]);
        let id = format!("plimsoll-{:x}", fnv(line.bytes()));
        return object!({ "id": id, "role": "assistant", "parts": parts });
    }
    object!({ "role": "assistant", "content": line })
}

/// The host's messages are `UIMessage`s: the first of them that has a part shows it.
fn is_shown(host: Host<'_>) -> bool {
    edit::first(host).is_some_and(|piece| {
        matches!(piece.place, Place::Part(_) | Place::Tool(_) | Place::Inner(..))
    })
}
