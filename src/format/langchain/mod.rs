//! `LangChain`'s messages: live instances, seen by their own members, and what they are written as: `{ lc, id, kwargs }`,
//! `{ type, data }`, or plain `{ type, content }` and `{ role, content }`.
//!
//! A call may stand in several places at once (`tool_calls`, a content block, `additional_kwargs`, chunks). It is counted
//! once and changed everywhere; where it also stands somewhere that is not known here, it is left alone.

mod calls;
mod change;

use std::borrow::Cow;

use self::calls::{Calls, Seen, call, mirror, part_of};
use super::edit::{self, Host};
use super::json::{self, Flaw, Read, or_empty};
use super::part::{self, Body};
use crate::json::Type::{Items, Raw, Text};
use crate::json::{
    Content, Item, Members, Object, RawValue, Shape, Source, Type, Value, json as object, optional,
    required, unread_blocks,
};
use crate::model::{Copied, Kind, Made, Part, Place, Role};

pub(super) use change::edit;

const MESSAGE: Shape = Shape {
    what: "a message: an instance, { lc, id, kwargs }, { type, data } or { type, content }",
    members: &[
        // What `js/core/json.ts` writes of an instance's class.
        optional(TAG, Text),
        optional("type", Text),
        optional("role", Text),
        optional("id", Raw),
        optional("lc", Raw),
        optional("kwargs", Raw),
        optional("data", Raw),
        optional("content", Type::Content),
        optional("name", Text),
        optional("tool_calls", Items),
        optional("invalid_tool_calls", Items),
        optional("tool_call_chunks", Items),
        optional("tool_call_id", Text),
        optional("status", Text),
        optional("additional_kwargs", Raw),
        optional("response_metadata", Raw),
    ],
    closed: false,
};

/// The member under which the class of an instance is written.
pub(super) const TAG: &str = "@@toStringTag";

const KWARGS: Shape = Shape {
    what: "additional_kwargs",
    members: &[
        optional("tool_calls", Items),
        optional("function_call", Raw),
        optional("reasoning_content", Text),
        optional("reasoning", Raw),
        optional("tool_outputs", Raw),
        optional(SIGNATURES, Raw),
    ],
    closed: false,
};

/// Gemini's signatures, by the ids of the calls that they sign.
const SIGNATURES: &str = "__gemini_function_call_thought_signatures__";

const METADATA: Shape =
    Shape { what: "response_metadata", members: &[optional("output", Raw)], closed: false };

const ITEM: Shape = Shape { what: "an item", members: &[optional("call_id", Text)], closed: false };

const BLOCK: Shape = Shape {
    what: "a content block: { type, .. }",
    members: &[
        required("type", Text),
        optional("text", Text),
        optional("thinking", Text),
        optional("reasoning", Text),
        optional("signature", Text),
        optional("data", Raw),
        optional("cache_control", Raw),
    ],
    closed: false,
};

/// Where a message's members stand.
struct Root {
    under: &'static str,
    content: &'static str,
    calls: &'static str,
    invalid: &'static str,
    chunks: &'static str,
    raw_calls: &'static str,
    function_call: &'static str,
    signatures: &'static str,
    reasoning: [&'static str; 2],
    items: [&'static str; 2],
    tool_call_id: &'static str,
}

macro_rules! root {
    ($under:literal, $path:literal) => {
        Root {
            under: $under,
            content: concat!($path, "content"),
            calls: concat!($path, "tool_calls"),
            invalid: concat!($path, "invalid_tool_calls"),
            chunks: concat!($path, "tool_call_chunks"),
            raw_calls: concat!($path, "additional_kwargs/tool_calls"),
            function_call: concat!($path, "additional_kwargs/function_call"),
            signatures: concat!(
                $path,
                "additional_kwargs/__gemini_function_call_thought_signatures__"
            ),
            reasoning: [
                concat!($path, "additional_kwargs/reasoning_content"),
                concat!($path, "additional_kwargs/reasoning"),
            ],
            items: [
                concat!($path, "response_metadata/output"),
                concat!($path, "additional_kwargs/tool_outputs"),
            ],
            tool_call_id: concat!("/", $path, "tool_call_id"),
        }
    };
}

static ROOTS: [Root; 3] = [root!("", ""), root!("/kwargs", "kwargs/"), root!("/data", "data/")];

#[inline(never)]
pub(super) fn read<'a>(source: Source<'a>, parts: &mut Vec<Part<'a>>) -> Read<Role> {
    let mut message = json::read_with(source, &MESSAGE, unread_blocks)?;
    let mut kinds: Vec<String> =
        ["type", TAG].iter().filter_map(|name| message.text(name)).map(Cow::into_owned).collect();
    let [own, kwargs, data] = &ROOTS;
    let mut root = own;
    if let Some(inner) = message.raw("lc").and_then(|_| message.raw("kwargs")) {
        let class = message.raw("id").and_then(|id| crate::json::items(id).ok());
        let class = class.and_then(|path| crate::json::string(path.last()?).ok());
        kinds.extend(class.map(Cow::into_owned));
        root = kwargs;
        message = json::read_with(inner.into(), &MESSAGE, unread_blocks)
            .map_err(|flaw| flaw.under(root.under))?;
    } else if let Some(inner) = message.raw("data").filter(|data| data.starts_with('{')) {
        root = data;
        message = json::read_with(inner.into(), &MESSAGE, unread_blocks)
            .map_err(|flaw| flaw.under(root.under))?;
    }
    // A message of any role has it beside; without another sign it is the only one.
    kinds.extend(message.text("role").map(Cow::into_owned));
    let Some((role, legacy)) = kinds.iter().find_map(|kind| role_of(kind)) else {
        if kinds.iter().any(|kind| matches!(&**kind, "remove" | "RemoveMessage")) {
            // It asks a reducer to take a message away, and says nothing to a model.
            return Ok(Role::User);
        }
        let allowed = "\"human\", \"ai\", \"system\", \"developer\", \"tool\", \"function\", \"generic\" or \"remove\"";
        return Err(Flaw::new("/type", allowed));
    };
    let read = match role {
        Role::Tool => result(message, root, legacy, parts),
        Role::System | Role::User | Role::Assistant => spoken(message, role, root, parts),
    };
    read.map_err(|flaw| flaw.under(root.under))?;
    Ok(role)
}

/// Who speaks, by type, class or role; and whether it is a function's result of the days before ids.
fn role_of(kind: &str) -> Option<(Role, bool)> {
    Some(match kind.strip_suffix("Chunk").unwrap_or(kind) {
        "human" | "user" | "HumanMessage" => (Role::User, false),
        "ai" | "assistant" | "AIMessage" => (Role::Assistant, false),
        "system" | "developer" | "SystemMessage" => (Role::System, false),
        "tool" | "ToolMessage" => (Role::Tool, false),
        "function" | "FunctionMessage" => (Role::Tool, true),
        _ => return None,
    })
}

fn spoken<'a>(
    mut message: Members<'a>,
    role: Role,
    root: &Root,
    parts: &mut Vec<Part<'a>>,
) -> Read<()> {
    let extra = message.raw("additional_kwargs").unwrap_or("{}");
    let metadata = message.raw("response_metadata").unwrap_or("{}");
    let mut kwargs = json::read(extra, &KWARGS).map_err(|flaw| flaw.under("/additional_kwargs"))?;
    let listed = |items: Option<Vec<Item<'a>>>, list, path: &str| {
        let mut seen: Vec<Seen<'a>> = Vec::new();
        json::each(items.unwrap_or_default(), path, &mut |item, at| {
            seen.push(call(item.raw, Place::At(list, at))?);
            Ok(())
        })?;
        Ok(seen)
    };
    let calls = listed(message.blocks("tool_calls"), root.calls, "/tool_calls")?;
    let invalid =
        listed(message.blocks("invalid_tool_calls"), root.invalid, "/invalid_tool_calls")?;
    let chunks = listed(message.blocks("tool_call_chunks"), root.chunks, "/tool_call_chunks")?;
    let raw_calls =
        listed(kwargs.blocks("tool_calls"), root.raw_calls, "/additional_kwargs/tool_calls")?;
    reasoning(&mut kwargs, root, parts);
    let mut blocks = Vec::new();
    let mut torn = false;
    match message.content("content") {
        None => {}
        Some(Content::Text(text)) => {
            // Beside calls an empty string is the absence of text.
            let called = !calls.is_empty() || !raw_calls.is_empty();
            if !(called && text.is_empty()) {
                parts.push(Part::new(Kind::Text, Place::In(root.content), text));
            }
        }
        Some(Content::Blocks(items)) => json::each(items, "/content", &mut |item, at| {
            let (raw, place) = (item.raw, Place::At(root.content, at));
            match json::kind_of(raw).as_deref() {
                Some("tool_use" | "tool_call" | "functionCall") => {
                    blocks.push((parts.len(), call(raw, place)?, part::is_marked(raw)));
                }
                kind => {
                    torn |= matches!(kind, Some("tool_call_chunk" | "input_json_delta"));
                    let mut part = part::at(place);
                    block(item, &mut part)?;
                    if role == Role::Assistant && part.piece.kind == Kind::Other {
                        part::of_model(raw, &mut part);
                    }
                    parts.push(part);
                }
            }
            Ok(())
        })?,
    }
    let mut all = Calls { known: Vec::new(), parts: Vec::new() };
    for seen in &calls {
        all.own(seen);
        // Its arguments are not where those of other calls of this list are.
        if seen.is_function() {
            parts.push(mirror(seen, seen.id.clone()));
        }
    }
    // Google's blocks have no ids: the calls stand in the same order.
    let mut moved = 0usize;
    for (before, seen, marked) in &blocks {
        let at = before.saturating_add(moved);
        let mut part = all.also(seen, true);
        part.piece.marks = u64::from(*marked);
        parts.insert(at.min(parts.len()), part);
        moved = moved.saturating_add(1);
    }
    let alone = calls.is_empty();
    for seen in &raw_calls {
        parts.push(all.also(seen, alone));
    }
    for seen in invalid.iter().chain(&chunks) {
        parts.push(all.also(seen, false));
    }
    torn |= all.known.len() < chunks.len();
    let signatures = kwargs.raw(SIGNATURES).map(Object::read).and_then(Result::ok);
    for (id, signature) in signatures.unwrap_or_default() {
        let Ok(signature) = crate::json::string(signature) else { continue };
        // It goes with its call, and under its call's id.
        let mut mirror = Part::new(Kind::Other, Place::Field(root.signatures), "");
        mirror.piece.id = id.into();
        mirror.piece.name = signature.into();
        mirror.piece.mirror = true;
        parts.push(mirror);
    }
    parts.append(&mut all.parts);
    if let Some(raw) = kwargs.raw("function_call").filter(|_| all.known.is_empty()) {
        let seen = call(raw, Place::Field(root.function_call))?;
        parts.push(part_of(&seen));
    }
    // OpenAI's own items are sent back in place of what stands in the message.
    let raw_output = METADATA.read(metadata).ok().and_then(|mut it| it.raw("output"));
    let raw_output = raw_output.filter(|output| output.starts_with("[{"));
    torn |= raw_output.is_some();
    let [output, outputs] = root.items;
    let raw_outputs = kwargs.raw("tool_outputs").map(|raw| (raw, outputs));
    if let Some((raw, place)) = raw_output.map(|raw| (raw, output)).or(raw_outputs) {
        items_of_openai(raw, place, parts);
    }
    for part in parts.iter_mut().filter(|part| part.piece.kind == Kind::Call) {
        let quoted = Value::from(&*part.piece.id).to_string();
        let elsewhere =
            [extra, metadata].into_iter().flat_map(|beside| beside.matches(&*quoted)).count();
        let known = raw_calls.iter().filter(|seen| seen.id == part.piece.id).count();
        part.piece.opaque |= torn || (!part.piece.id.is_empty() && elsewhere > known);
    }
    Ok(())
}

/// Items of `OpenAI`'s that stand nowhere else in the message: what its own tools did, and what it asks approval for.
fn items_of_openai<'a>(raw: &'a RawValue, place: &'static str, parts: &mut Vec<Part<'a>>) {
    for item in crate::json::items(raw).unwrap_or_default() {
        let kind = json::kind_of(item);
        let kind = or_empty(kind);
        let is_read = matches!(&*kind, "message" | "reasoning" | "custom_tool_call");
        if is_read || matches!(&*kind, "function_call" | "computer_call") {
            continue;
        }
        let mut part = part::at(Place::Field(place));
        part::other(item, &mut part);
        let id = ITEM.read(item).ok().and_then(|mut it| it.text("call_id"));
        let is_known = |id: &str| parts.iter().any(|part| &*part.piece.id == id);
        if let Some(id) = id.filter(|id| kind.ends_with("_call") && !is_known(id)) {
            part.piece.kind = Kind::Call;
            part.piece.id = id.into();
            part.piece.name = kind.into();
        }
        parts.push(part);
    }
}

/// Reasoning beside the content.
fn reasoning<'a>(kwargs: &mut Members<'a>, root: &Root, parts: &mut Vec<Part<'a>>) {
    let [text, items] = root.reasoning;
    if let Some(reasoning) =
        kwargs.text("reasoning_content").filter(|reasoning| !reasoning.is_empty())
    {
        let mut part = Part::new(Kind::Thinking, Place::Field(text), reasoning);
        part.piece.blank = false;
        parts.push(part);
    }
    if let Some(raw) = kwargs.raw("reasoning").filter(|raw| raw.len() > "{}".len()) {
        let mut part = Part::new(Kind::Thinking, Place::Field(items), raw);
        part.piece.opaque = true;
        parts.push(part);
    }
}

fn block<'a>(item: Item<'a>, part: &mut Part<'a>) -> Read<()> {
    let raw = item.raw;
    let Ok(mut block) = json::members(item, &BLOCK) else {
        part::other(raw, part);
        return Ok(());
    };
    let marked = block.raw("cache_control").is_some();
    match &*or_empty(block.text("type")) {
        "text" => part::read_text(&mut block, Kind::Text, "text", part)?,
        "thinking" | "redacted_thinking" => {
            part::say(part, Kind::Thinking, or_empty(block.text("thinking")));
            let signature = block.text("signature").map_or(0, |signature| signature.len());
            let data = block.raw("data").map_or(0, str::len);
            part::seal(part, signature.max(data));
        }
        "reasoning" => {
            part::say(part, Kind::Thinking, or_empty(block.text("reasoning")));
            part::seal(part, raw.len());
        }
        "image_url" | "image" | "input_audio" | "audio" | "video" | "file" | "media"
        | "document" | "text-plain" => part::medium(&part::unmarked(raw), raw, part),
        _ => part::other(raw, part),
    }
    part.piece.marks |= u64::from(marked);
    Ok(())
}

fn result<'a>(
    mut message: Members<'a>,
    root: &Root,
    legacy: bool,
    parts: &mut Vec<Part<'a>>,
) -> Read<()> {
    let mut body = Body::default();
    body.content(message.content("content"), "/content", &block, false)?;
    let place = if legacy { Place::Field(root.content) } else { Place::In(root.content) };
    let mut part = part::at(place);
    body.fill(&mut part);
    part::name(&mut part, &mut message, "tool_call_id", "name");
    part.piece.error = message.text("status").is_some_and(|status| status == "error");
    // A screenshot is sent as an address: no text may stand in its place.
    let extra = message.raw("additional_kwargs").unwrap_or_default();
    part.piece.opaque = extra.contains("\"computer_call_output\"");
    parts.push(part);
    Ok(())
}

pub(super) fn make(made: &Made, host: Host<'_>) -> (Value, Vec<Copied>) {
    let mut copied = Vec::new();
    let root = root_of(host);
    let path = format!("/{}", root.content);
    let (kind, body) = match made {
        Made::User(parts) => {
            let content = edit::user_list(parts, host, &path, &mut copied);
            ("human", object!({ "content": content }))
        }
        Made::Result { id, name, text, error, .. } => tool(id, name, text.as_str().into(), *error),
        Made::Results(_) => return (Value::NULL, copied),
        Made::Moved { id, name, message, piece } => {
            let moved = edit::moved(*message, host(*message, *piece), "", &path);
            copied.extend(moved.copied);
            tool(id, name, moved.text, moved.error)
        }
    };
    (written(root, kind, body), copied)
}

/// A line of ours in the assistant's name.
pub(super) fn say(line: &str, host: Host<'_>) -> Value {
    written(root_of(host), "ai", object!({ "content": line }))
}

/// A message of ours as the host's are written.
fn written(root: &Root, kind: &str, body: Value) -> Value {
    match root.under {
        "/kwargs" => {
            let class = match kind {
                "human" => "HumanMessage",
                "ai" => "AIMessage",
                "tool" => "ToolMessage",
                _ => "FunctionMessage",
            };
            object!({ "lc": 1u64, "type": "constructor", "id": ["langchain_core", "messages", class], "kwargs": body })
        }
        "/data" => object!({ "type": kind, "data": body }),
        _ => {
            let mut message = body;
            message.set("type", kind.into());
            message
        }
    }
}

fn tool(id: &str, name: &str, content: Value, error: bool) -> (&'static str, Value) {
    let status = if error { "error" } else { "success" };
    // A call without an id is one of the days before ids.
    if id.is_empty() {
        return ("function", object!({ "name": name, "content": content }));
    }
    let body = object!({ "tool_call_id": id, "name": name, "content": content, "status": status });
    ("tool", body)
}

/// How the host's messages are written: the first of them that has a part shows it.
fn root_of(host: Host<'_>) -> &'static Root {
    let [own, kwargs, data] = &ROOTS;
    match edit::first(host).map_or("", |piece| piece.place.wrapper()) {
        "kwargs" => kwargs,
        "data" => data,
        _ => own,
    }
}
