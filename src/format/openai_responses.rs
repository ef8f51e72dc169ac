//! Items of `OpenAI`'s Responses, and of its Agents SDK: a message, reasoning, a call, a result each stand alone in the input.

use std::borrow::Cow;

use super::edit::{self, Change, Host, PLACEHOLDER, What, beside, put};
use super::fingerprint::of_json;
use super::json::{self, Flaw, Read, is_object, or_empty};
use super::openai_items::{COMPACTION, HOSTED, HOSTED_PAIRS, Items, REFERENCE, SETTINGS, Tool};
use super::part::{self, Body};
use crate::json::Type::{Flag, Raw, Text};
use crate::json::{
    Content, Item, Members, Object, RawValue, Shape, Source, Type, Value, json as object,
    left_unread, optional, required,
};
use crate::model::{Copied, Kind, Made, Op, Outline, Part, Piece, Place, Role};
use crate::number::count;

const ITEM: Shape = Shape {
    what: "an item: { type, .. } or { role, content }",
    members: &[
        optional("type", Text),
        optional("role", Text),
        optional("content", Type::Content),
        optional("summary", Type::Items),
        optional("encrypted_content", Text),
        optional("id", Text),
        optional("call_id", Text),
        optional("callId", Text),
        optional("rawContent", Type::Items),
        optional("providerData", Raw),
        optional("approval_request_id", Text),
        optional("name", Text),
        optional("status", Text),
        optional("arguments", Raw),
        optional("input", Raw),
        optional("action", Raw),
        optional("actions", Raw),
        optional("operation", Raw),
        optional("output", Raw),
        optional("tools", Raw),
        optional("reason", Raw),
        optional("result", Raw),
        optional("caller", Raw),
        optional("async", Flag),
    ],
    closed: false,
};

const PART: Shape = Shape {
    what: "a part: { type, .. }",
    members: &[required("type", Text), optional("text", Text), optional("refusal", Text)],
    closed: false,
};

/// A screenshot of nothing: what answers a call of which there is none.
const NO_SCREENSHOT: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

#[inline(never)]
pub(super) fn read<'a>(
    source: Source<'a>,
    parts: &mut Vec<Part<'a>>,
    items: &'static Items,
) -> Read<Role> {
    let text = source.json;
    let mut item = match json::read_with(source, &ITEM, |reader| PART.blocks(reader, left_unread)) {
        Ok(item) => item,
        // An item that is not known may have any members.
        Err(_) if json::kind_of(text).is_some_and(|kind| !is_known(&kind, items)) => {
            return other(text, parts);
        }
        Err(flaw) => return Err(flaw),
    };
    let (kind, role) = (item.text("type"), item.text("role"));
    let kind = kind.map(|kind| approval(&item, &kind, items).unwrap_or(kind));
    match kind.as_deref() {
        Some("message") => message(item, &or_empty(role), parts),
        Some("reasoning") => reasoning(item, parts, items),
        Some(kind) => {
            if let Some(tool) = items.of(kind)
                && let Some(id) = id_of(&mut item, tool, kind, items)?
            {
                let calls = kind == tool.call;
                let place = Place::Message(if calls { tool.call } else { tool.result });
                let mut part = part::at(place);
                let read = if calls { call } else { result };
                let caller = part::caller(item.raw("caller"));
                let pending = calls && item.flag("async") == Some(true);
                read(item, tool, &mut part)?;
                (part.piece.id, part.piece.caller) = (id.into(), caller);
                if pending {
                    part.piece.pending = true;
                }
                parts.push(part);
                return Ok(if calls { Role::Assistant } else { Role::Tool });
            }
            special(item, kind, text, parts, items)
        }
        None if role.is_some() => message(item, &or_empty(role), parts),
        None if item.text("id").is_some() => special(item, REFERENCE, text, parts, items),
        None => Err(Flaw::new("", ITEM.what)),
    }
}

fn is_known(kind: &str, items: &Items) -> bool {
    matches!(kind, "message" | "reasoning") || items.has(kind)
}

/// The Agents SDK has approvals among what the provider runs, told by their names.
fn approval<'a>(item: &Members<'a>, kind: &str, items: &Items) -> Option<Cow<'a, str>> {
    let tool = items.of(item.str("name").filter(|_| items.has_data && kind == HOSTED)?)?;
    let name = if item.str("name") == Some(tool.call) { tool.call } else { tool.result };
    Some(Cow::Borrowed(name))
}

/// A text in what the API says of an item, where that stands apart.
fn first_text<'a>(item: &Members<'a>, names: &[&str]) -> Option<Cow<'a, str>> {
    let data = Object::read(item.peek("providerData")?).ok()?;
    let found = data.into_iter().find(|(name, _)| names.contains(&&**name))?;
    json::string(found.1).ok()
}

/// What a call and its result are paired by; none where the provider ran the tool itself.
fn id_of<'a>(
    item: &mut Members<'a>,
    tool: &Tool,
    kind: &str,
    items: &Items,
) -> Read<Option<Cow<'a, str>>> {
    let id = match tool.call {
        "mcp_approval_request" if items.has_data => {
            let name = if kind == tool.call { "id" } else { "approval_request_id" };
            first_text(item, &[name]).or_else(|| item.text("id"))
        }
        "mcp_approval_request" => item.text("approval_request_id").or_else(|| item.text("id")),
        "tool_search_call" => {
            return Ok(item.text(items.id).or_else(|| item.text("call_id")));
        }
        "local_shell_call" => item.text("call_id").or_else(|| item.text("id")),
        _ => item.text(items.id),
    };
    // A result that has a name in its place answers no call of the history: it is carried as it is.
    if id.is_none() && kind == tool.result && item.str("name").is_some() {
        return Ok(None);
    }
    // Without it nothing says which result is whose, and every pair would be torn apart.
    let expected = "a string: the id of the call";
    id.map(Some).ok_or_else(|| Flaw::new(&format!("/{}", items.id), expected))
}

fn message<'a>(mut item: Members<'a>, role: &str, parts: &mut Vec<Part<'a>>) -> Read<Role> {
    let by_id = item.text("id").is_some();
    let role = match role {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" | "developer" => Role::System,
        _ => {
            let allowed = "\"user\", \"assistant\", \"system\" or \"developer\"";
            return Err(Flaw::new("/role", allowed));
        }
    };
    let content = item.content("content");
    let content = content.ok_or_else(|| Flaw::new("/content", "a string or an array of parts"))?;
    part::content(Some(content), &part_of, parts)?;
    for part in parts {
        part.piece.by_id = by_id;
    }
    Ok(role)
}

fn part_of<'a>(item: Item<'a>, part: &mut Part<'a>) -> Read<()> {
    let raw = item.raw;
    let kind = item.str("type").map(Cow::Borrowed).or_else(|| json::kind_of(raw));
    let known = ["input_text", "output_text", "text", "summary_text", "reasoning_text", "refusal"];
    let is_known = kind.as_deref().is_some_and(|kind| known.contains(&kind));
    let has_kind = kind.is_some();
    let mut block = match json::members(item, &PART) {
        Ok(block) => block,
        Err(_) if has_kind && !is_known => {
            part::other(raw, part);
            return Ok(());
        }
        Err(flaw) => return Err(flaw),
    };
    match &*or_empty(block.text("type")) {
        "refusal" => {
            part::say(part, Kind::Text, or_empty(block.text("refusal")));
            part.piece.opaque = true;
        }
        "input_image"
        | "input_file"
        | "input_audio"
        | "computer_screenshot"
        | "image"
        | "file"
        | "audio" => {
            part::medium(raw, raw, part);
        }
        _ if is_known => part::read_text(&mut block, Kind::Text, "text", part)?,
        _ => part::other(raw, part),
    }
    Ok(())
}

/// Reasoning: its summary and what is shown of it. An id alone may stand for what the provider keeps: it is never empty.
fn reasoning<'a>(mut item: Members<'a>, parts: &mut Vec<Part<'a>>, items: &Items) -> Read<Role> {
    let mut body = Body::default();
    let [summary, shown, _] = items.reasoning;
    let mut is_shown = false;
    for member in [summary, shown] {
        let list = item.blocks(member).unwrap_or_default();
        is_shown = !list.is_empty();
        body.content(Some(Content::Blocks(list)), &format!("/{member}"), &part_of, false)?;
    }
    let encrypted = item.text("encrypted_content");
    let encrypted =
        encrypted.or_else(|| first_text(&item, &["encryptedContent", "encrypted_content"]));
    let encrypted = or_empty(encrypted);
    let kept = item.text("id").is_some_and(|id| id.starts_with("rs_"));
    let mut filled = part::at(Place::Message("reasoning"));
    body.fill(&mut filled);
    let mut part = Part::new(Kind::Thinking, Place::Message("reasoning"), filled.text);
    part.piece.blank = false;
    part.piece.by_id = kept && encrypted.is_empty() && !is_shown;
    part.opaque = count(encrypted.len());
    if part.text.is_empty() && !encrypted.is_empty() {
        part.media = of_json(&encrypted);
    }
    parts.push(part);
    Ok(Role::Assistant)
}

fn call<'a>(mut item: Members<'a>, tool: &Tool, part: &mut Part<'a>) -> Read<()> {
    let under = |flaw: Flaw| flaw.under(&format!("/{}", tool.asks));
    let asked = item.raw(tool.asks).or_else(|| item.raw("actions"));
    let text = match asked {
        None => Cow::Borrowed(""),
        Some(raw) if tool.cut.0 => json::string(raw).map_err(under)?,
        Some(raw) => Cow::Borrowed(raw),
    };
    part::say(part, Kind::Call, text);
    part.piece.bad_arguments = tool.call == "function_call" && !is_object(&part.text);
    part.piece.opaque = !tool.cut.0;
    part.piece.by_id = item.text("id").is_some();
    let name = or_empty(item.text("name"));
    part.piece.name = if name.is_empty() { tool.name.into() } else { name.into() };
    Ok(())
}

fn result<'a>(mut item: Members<'a>, tool: &Tool, part: &mut Part<'a>) -> Read<()> {
    let under = |flaw: Flaw| flaw.under(&format!("/{}", tool.output_key));
    let raw_output = item.raw(tool.output_key);
    let body = raw_output
        .map_or_else(|| Ok(Body::default()), |raw| read_output(raw, tool))
        .map_err(under)?;
    body.fill(part);
    let free = [
        "function_call_output",
        "function_call_result",
        "custom_tool_call_output",
        "local_shell_call_output",
    ];
    part.piece.blank &= free.contains(&tool.result);
    part.piece.opaque = !tool.cut.1;
    part.piece.error = item.text("status").is_some_and(|status| status == "failed");
    part.piece.name = tool.name.into();
    Ok(())
}

fn read_output<'a>(raw: &'a RawValue, tool: &Tool) -> Read<Body<'a>> {
    let mut body = Body::default();
    match raw.as_bytes().first() {
        Some(b'[') if tool.output_key == "output" => {
            let of_output = |item: Item<'a>, part: &mut Part<'a>| {
                let own = json::kind_of(item.raw).is_none();
                if own {
                    part::other(item.raw, part);
                    return Ok(());
                }
                part_of(item, part)
            };
            body.content(json::content(raw)?, "", &of_output, false)?;
        }
        Some(b'"') => body.say(json::string(raw)?),
        Some(b'{') if json::kind_of(raw).is_some() => {
            let mut part = part::at(Place::Content);
            part_of(Item::unread(raw), &mut part)?;
            body.take(part);
        }
        Some(b'n') => {}
        _ => body.say(Cow::Borrowed(raw)),
    }
    Ok(body)
}

/// An item that is carried as it is: what the provider ran itself, what it compacted, what is not known.
fn special<'a>(
    mut item: Members<'a>,
    kind: &str,
    text: &'a str,
    parts: &mut Vec<Part<'a>>,
    items: &Items,
) -> Read<Role> {
    let encrypted = or_empty(item.text("encrypted_content"));
    let painted = "image_generation_call";
    // The Agents SDK has the picture as the output of a tool of this name.
    let is_painted = kind == painted || item.str("name") == Some(painted);
    let picture = item.raw("result").or_else(|| item.raw("output"));
    let mut part = part::at(Place::Message(""));
    part.piece.opaque = true;
    if COMPACTION.contains(&kind) {
        part.piece.place = Place::Message("compaction");
        part.opaque = count(encrypted.len());
        part.media = of_json(&encrypted);
        part.piece.fixed = true;
        parts.push(part);
        return Ok(Role::User);
    }
    if let Some(picture) = picture.filter(|raw| is_painted && raw.starts_with('"')) {
        part.images = 1;
        part.media = of_json(picture);
        part.piece.by_id = true;
        parts.push(part);
        return Ok(Role::Assistant);
    }
    let role = other(text, parts)?;
    if SETTINGS.contains(&kind) {
        return Ok(Role::System);
    }
    let Some(part) = parts.last_mut() else { return Ok(role) };
    if kind == REFERENCE {
        part.piece.place = Place::Message(REFERENCE);
    }
    let pair = HOSTED_PAIRS.iter().find(|pair| pair.contains(&kind));
    if let (Some([call, output]), Some(id)) = (pair, item.text(items.id)) {
        let calls = kind == *call;
        part.piece.kind = if calls { Kind::Call } else { Kind::Result };
        part.piece.place = Place::Message(if calls { call } else { output });
        (part.piece.id, part.piece.name) = (id.into(), (*call).into());
        part.piece.within = true;
    }
    Ok(role)
}

fn other<'a>(text: &'a str, parts: &mut Vec<Part<'a>>) -> Read<Role> {
    let raw = crate::json::parse(text).map_err(|_| Flaw::new("", "JSON that parses"))?;
    let mut part = part::at(Place::Message(""));
    part::other(raw, &mut part);
    part.piece.by_id = true;
    parts.push(part);
    Ok(Role::Assistant)
}

/// Changes to a message's parts, or to the one thing that an item is. Item ids and encrypted content are never touched.
#[inline(never)]
pub(super) fn edit(outline: &Outline, changes: &[Change], items: &Items) -> Vec<Op> {
    let ours = outline.role == Role::Assistant;
    let (stay, mut go) = edit::split(outline, changes);
    let mut ops = edit::sets(outline, changes, &|piece, what| set(piece, what, ours, items));
    let reasons = |change: &Change| matches!(change.what, What::Text(_));
    if stay.iter().any(|piece| piece.kind == Kind::Thinking) && changes.iter().any(reasons) {
        // The summary has all of the text now.
        ops.push(beside(&format!("/{}", items.reasoning[1]), object!([])));
    }
    if stay.is_empty() && !go.is_empty() {
        let piece = go.remove(0);
        match piece.place {
            Place::Item(_) => ops.push(put(piece, "", text_part(PLACEHOLDER, ours))),
            Place::Content => ops.push(put(piece, "", PLACEHOLDER.into())),
            Place::Message(_) if piece.kind == Kind::Result => {
                ops.extend(set(piece, &What::Text(PLACEHOLDER.into()), ours, items));
            }
            Place::Message(_)
            | Place::Call(_)
            | Place::Custom(_)
            | Place::Part(_)
            | Place::Snake(_)
            | Place::Tool(_)
            | Place::Inner(..)
            | Place::In(_)
            | Place::At(..)
            | Place::Field(_) => {}
        }
    }
    ops.extend(edit::removals(&go, |_| true));
    ops
}

fn text_part(text: &str, ours: bool) -> Value {
    object!({ "type": if ours { "output_text" } else { "input_text" }, "text": text })
}

fn input_text(text: Value) -> Value {
    object!({ "type": "input_text", "text": text })
}

/// What one change sets on the host's item.
fn set(piece: &Piece, what: &What, ours: bool, items: &Items) -> Option<Op> {
    let text = |text: &String| Value::from(text.as_str());
    let Place::Message(kind) = piece.place else {
        return Some(match (piece.kind, piece.place, what) {
            (Kind::Text, Place::Item(_), What::Text(new)) if !piece.opaque => {
                put(piece, "/text", text(new))
            }
            (Kind::Text | Kind::Image, Place::Item(_), What::Text(new)) => {
                put(piece, "", text_part(new, ours))
            }
            (Kind::Text, _, What::Text(new)) => put(piece, "", text(new)),
            _ => return None,
        });
    };
    Some(match (piece.kind, what) {
        (Kind::Thinking, What::Text(new)) => {
            let [summary, _, kind] = items.reasoning;
            beside(&format!("/{summary}"), object!([{ "type": kind, "text": new }]))
        }
        (Kind::Result, What::Text(new)) if items.of(kind).is_some_and(|tool| tool.cut.1) => {
            beside("/output", output(kind, new, piece.error, items))
        }
        (Kind::Call, What::Arguments(new)) if kind == "custom_tool_call" => {
            beside("/input", edit::free_text(new).into())
        }
        (Kind::Call, What::Arguments(new)) if kind == "function_call" => {
            beside("/arguments", new.json().into())
        }
        (Kind::Call | Kind::Result, What::Id(id)) => {
            let [request, response] = items.approval;
            let member = match kind {
                "mcp_approval_request" => request,
                "mcp_approval_response" => response,
                _ => items.id,
            };
            beside(&format!("/{member}"), text(id))
        }
        _ => return None,
    })
}

/// What a result of this type says, of our words.
fn output(kind: &str, text: &str, error: bool, items: &Items) -> Value {
    match kind {
        "shell_call_output" => {
            let (out, failed) = if error { ("", text) } else { (text, "") };
            let code = if items.has_data { "exitCode" } else { "exit_code" };
            let outcome =
                [("type", "exit".into()), (code, Value::raw(u64::from(error).to_string()))];
            let outcome = Value::object(&outcome);
            object!([{ "stdout": out, "stderr": failed, "outcome": outcome }])
        }
        "computer_call_output" => {
            object!({ "type": "computer_screenshot", "image_url": NO_SCREENSHOT })
        }
        "computer_call_result" => object!({ "type": "computer_screenshot", "data": NO_SCREENSHOT }),
        // All versions of the SDK take this, the early ones no plain string.
        "function_call_result" => edit::text_block(text),
        _ => text.into(),
    }
}

pub(super) fn make(made: &Made, host: Host<'_>, items: &Items) -> (Value, Vec<Copied>) {
    let mut copied = Vec::new();
    let mut is_of_program = false;
    let (id, called, like, text, error, from) = match made {
        Made::User(parts) => {
            let content = edit::user_parts(parts, host, &mut copied, "/content", input_text);
            return (object!({ "type": "message", "role": "user", "content": content }), copied);
        }
        // No provider of this format wants them in one message.
        Made::Results(results) => {
            let none = (Value::NULL, Vec::new());
            return results.first().map_or(none, |first| make(first, host, items));
        }
        Made::Result { id, name, text, error, like, .. } => {
            (id, name, *like, text.as_str(), *error, None)
        }
        Made::Moved { id, name, message, piece } => {
            let piece = host(*message, *piece);
            is_of_program = piece.is_some_and(|piece| !piece.caller.is_empty());
            let like = piece.map_or(Place::Message(""), |piece| piece.place);
            let from = piece.filter(|piece| !piece.blank).map(|_| *message);
            (id, name, like, edit::NO_OUTPUT, piece.is_none_or(|piece| piece.error), from)
        }
    };
    let kind = if let Place::Message(kind) = like { kind } else { "" };
    let tool = items.of(kind).or_else(|| items.tools.first());
    let kind = tool.map_or("", |tool| tool.result);
    let mut copy = |member: &str| {
        let path = format!("/{member}");
        if let Some(index) = from {
            copied.push(Copied { from: path.clone(), path, index });
        }
    };
    let own = |member: &'static str, ours: Value| {
        (member, if from.is_some() { Value::NULL } else { ours })
    };
    let asked = kind == "mcp_approval_response";
    if asked && items.has_data {
        let answer = object!({ "approve": false, "approval_request_id": id, "reason": text });
        let mut members = vec![("type", HOSTED.into()), ("name", kind.into())];
        members.extend([("status", "completed".into()), own("providerData", answer)]);
        copy("providerData");
        return (Value::object(&members), copied);
    }
    let name = if asked { "approval_request_id" } else { items.id };
    let mut members = vec![("type", kind.into()), (name, id.as_str().into())];
    let done = if error { "failed" } else { "completed" };
    if asked {
        members.push(own("approve", false.into()));
        copy("approve");
        if from.is_none() {
            members.push(("reason", text.into()));
        }
    } else if kind == "tool_search_output" {
        members.extend([("execution", "client".into()), ("status", "completed".into())]);
        members.push(own("tools", object!([])));
        copy("tools");
    } else {
        if kind == "apply_patch_call_output" {
            members.push(("status", done.into()));
        }
        if kind == "function_call_result" {
            let done = if error { "incomplete" } else { "completed" };
            members.extend([("name", called.as_str().into()), ("status", done.into())]);
        }
        members.push(own("output", output(kind, text, error, items)));
        copy("output");
        if is_of_program && from.is_some() {
            members.push(("caller", Value::NULL));
            copy("caller");
        }
    }
    (Value::object(&members), copied)
}
