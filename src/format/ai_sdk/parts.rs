//! Parts of an AI SDK message.

use std::borrow::Cow;

use crate::format::edit::{self, Host};
use crate::format::json::{Read, or_empty};
use crate::format::{json, part};
use crate::hash::fnv;
use crate::json::Type::{Flag, Raw, Text};
use crate::json::{Members, Object, RawValue, Shape, Value, json as object, optional, required};
use crate::model::{Kind, Part, Place};
use crate::number::count;

pub(in crate::format) const PART: Shape = Shape {
    what: "a part: { type, .. }",
    members: &[
        required("type", Text),
        optional("text", Text),
        optional("image", Raw),
        optional("data", Raw),
        optional("url", Raw),
        optional("toolCallId", Text),
        optional("toolName", Text),
        optional("input", Raw),
        optional("args", Raw),
        optional("output", Raw),
        optional("result", Raw),
        optional("isError", Flag),
        optional("providerExecuted", Flag),
        optional("approvalId", Text),
        optional("approval", Raw),
        optional("state", Text),
        optional("errorText", Text),
        optional("rawInput", Raw),
        optional("providerOptions", Raw),
        optional("providerMetadata", Raw),
        optional("callProviderMetadata", Raw),
    ],
    closed: false,
};
/// Options of a part that mark where a cache may begin: they bind it to nothing.
const MARKERS: [&str; 3] = ["cacheControl", "cache_control", "cachePoint"];

/// Text, reasoning, an image or a file: the same in both kinds of message.
pub(in crate::format) fn plain<'a>(
    kind: &str,
    mut members: Members<'a>,
    raw: &'a RawValue,
    part: &mut Part<'a>,
) -> Read<()> {
    let options = members.raw("providerOptions").or_else(|| members.raw("providerMetadata"));
    match kind {
        "text" => part::read_text(&mut members, Kind::Text, "text", part)?,
        "reasoning" => part::read_text(&mut members, Kind::Thinking, "text", part)?,
        "reasoning-file" => {
            part::say(part, Kind::Thinking, "".into());
            part::seal(part, raw.len());
            return Ok(());
        }
        _ => {
            let data = ["image", "data", "url"].iter().find_map(|name| members.raw(name));
            part::medium(data.unwrap_or(""), raw, part);
        }
    }
    if let Some(options) = options.filter(|options| carries(options)) {
        part.piece.opaque = true;
        part.piece.blank &= part.piece.kind == Kind::Text;
        if part.piece.kind == Kind::Thinking {
            part.opaque = count(options.len());
        }
    }
    Ok(())
}

/// A part that is sent as it is. A `data-` part is for the host's page: it reaches a model only if the host converts it, so it counts
/// nothing. `OpenAI`'s compaction stays: nothing else has what it summarizes.
pub(in crate::format) fn carried<'a>(raw: &'a RawValue, part: &mut Part<'a>) {
    part::other(raw, part);
    if json::kind_of(raw).is_some_and(|kind| kind.starts_with("data-")) {
        part::say(part, Kind::Other, "".into());
        part.piece.opaque = true;
    }
    part.piece.fixed = raw.contains(r#""kind":"openai.compaction""#);
}

/// A call without its name.
pub(in crate::format) fn call<'a>(
    input: Option<&'a RawValue>,
    members: &mut Members<'a>,
    part: &mut Part<'a>,
) {
    let text = input.unwrap_or("");
    part::say(part, Kind::Call, text.into());
    part.piece.bad_arguments = !text.starts_with('{');
    part.piece.id = or_empty(members.text("toolCallId")).into();
    let options = members.raw("providerOptions").or_else(|| members.raw("callProviderMetadata"));
    part.piece.caller = caller(options.or_else(|| members.raw("providerMetadata")));
    if let Some(options) = options.filter(|options| carries(options)) {
        part::seal(part, options.len());
    }
}

/// The program that made a call, as the options of its provider have it.
fn caller(options: Option<&RawValue>) -> Box<str> {
    let providers = options.and_then(|options| Object::read(options).ok()).unwrap_or_default();
    let mut of_providers = providers.into_iter().filter_map(|(_, of)| Object::read(of).ok());
    let found = of_providers.find_map(|of| of.into_iter().find(|(name, _)| name == "caller"));
    part::caller(found.map(|(_, raw)| raw))
}

/// Whether options hold more than cache markers: ids, signatures, encrypted reasoning.
fn carries(options: &RawValue) -> bool {
    let Ok(providers) = Object::read(options) else { return true };
    providers.iter().any(|(_, of)| match Object::read(of) {
        Ok(of) => of.iter().any(|(key, _)| !MARKERS.contains(&&**key)),
        Err(_) => true,
    })
}

/// The name that a tool of the provider's own has which paints.
pub(in crate::format) const PAINTER: &str = "image_generation";

/// A result that is any JSON: a string as its text.
pub(in crate::format) fn read_output<'a>(value: &'a RawValue, part: &mut Part<'a>) -> Read<()> {
    let is_text = value.starts_with('"');
    let text = if is_text { json::string(value)? } else { Cow::Borrowed(value) };
    part::say(part, Kind::Result, text);
    Ok(())
}

/// A line of ours in the assistant's name. Of a prompt of the SDK's own, which a middleware sees, each content is a list.
pub(in crate::format) fn say(line: &str, host: Host<'_>) -> Value {
    let parts = object!([edit::text_block(line)]);
    if is_shown(host) {
        let id = format!("plimsoll-{:x}", fnv(line.bytes()));
        return object!({ "id": id, "role": "assistant", "parts": parts });
    }
    object!({ "role": "assistant", "content": parts })
}

/// The host's messages are `UIMessage`s: the first of them that has a part shows it.
pub(in crate::format) fn is_shown(host: Host<'_>) -> bool {
    edit::first(host).is_some_and(|piece| {
        matches!(piece.place, Place::Part(_) | Place::Tool(_) | Place::Inner(..))
    })
}
