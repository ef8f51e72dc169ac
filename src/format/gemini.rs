//! Contents of Gemini: `parts` of a user or a model, in camelCase or with underscores.

use std::borrow::Cow;

use super::edit::{self, Change, Host, NO_OUTPUT, PLACEHOLDER, What, member, put};
use super::fingerprint::of_json;
use super::json::{self, Flaw, Read, or_empty};
use super::part;
use crate::json::Type::{Flag, Raw, Text};
use crate::json::{
    Item, Members, RawValue, Shape, Source, Type, Value, json as object, left_unread, optional,
};
use crate::model::{Copied, Kind, Made, Op, Outline, Part, Piece, Place, Role};
use crate::number::count;

const CONTENT: Shape = Shape {
    what: "a content: { role, parts }",
    members: &[optional("role", Text), optional("parts", Type::Items)],
    closed: false,
};

/// Each member with its second spelling.
const PART: Shape = Shape {
    what: "a part: { text }, { functionCall }, ..",
    members: &[
        optional("text", Text),
        optional("thought", Flag),
        optional("thoughtSignature", Raw),
        optional("thought_signature", Raw),
        optional("functionCall", Raw),
        optional("function_call", Raw),
        optional("functionResponse", Raw),
        optional("function_response", Raw),
        optional("inlineData", Raw),
        optional("inline_data", Raw),
        optional("fileData", Raw),
        optional("file_data", Raw),
        optional("executableCode", Raw),
        optional("executable_code", Raw),
        optional("codeExecutionResult", Raw),
        optional("code_execution_result", Raw),
        optional("toolCall", Raw),
        optional("tool_call", Raw),
        optional("toolResponse", Raw),
        optional("tool_response", Raw),
    ],
    closed: false,
};

const CALL: Shape = Shape {
    what: "a call: { name, args }",
    members: &[optional("id", Text), optional("name", Text), optional("args", Raw)],
    closed: false,
};

const RESPONSE: Shape = Shape {
    what: "a response: { name, response }",
    members: &[
        optional("id", Text),
        optional("name", Text),
        optional("response", Raw),
        optional("parts", Type::Items),
    ],
    closed: false,
};

/// A call of a tool that Gemini runs itself, or its result.
const SERVED: Shape = Shape {
    what: "a call or a response: { id, toolType }",
    members: &[optional("id", Text), optional("toolType", Text), optional("tool_type", Text)],
    closed: false,
};

/// A response of one text.
const OUTPUT: Shape = Shape {
    what: "a response",
    members: &[
        optional("output", Raw),
        optional("error", Raw),
        optional("result", Raw),
        optional("content", Raw),
    ],
    closed: true,
};

/// What the provider takes in place of a signature that is lost. It costs quality: the last resort.
const SENTINEL: &str = "skip_thought_signature_validator";

#[inline(never)]
pub(super) fn read<'a>(source: Source<'a>, parts: &mut Vec<Part<'a>>) -> Read<Role> {
    let mut content = json::read_with(source, &CONTENT, left_unread)?;
    let role = match &*or_empty(content.text("role")) {
        "user" | "" => Role::User,
        "model" => Role::Assistant,
        "function" | "tool" => Role::Tool,
        "system" => Role::System,
        _ => return Err(Flaw::new("/role", "\"user\", \"model\", \"function\" or \"tool\"")),
    };
    let items = match content.blocks("parts") {
        // An answer may have come without any.
        None if role == Role::Assistant => Vec::new(),
        items => items.ok_or_else(|| Flaw::new("", "a member `parts`"))?,
    };
    part::list(items, "/parts", &Place::Part, &part_of, parts)?;
    Ok(role)
}

/// A member in either spelling, and whether it was the second.
fn either<'a>(part: &mut Members<'a>, camel: &str, snake: &str) -> Option<(&'a RawValue, bool)> {
    let first = part.raw(camel).map(|raw| (raw, false));
    first.or_else(|| part.raw(snake).map(|raw| (raw, true)))
}

/// A part whose member is spelled with an underscore says so by its place.
fn spell(part: &mut Part<'_>, snake: bool) {
    if let (Place::Part(at), true) = (part.piece.place, snake) {
        part.piece.place = Place::Snake(at);
    }
}

fn part_of<'a>(item: Item<'a>, part: &mut Part<'a>) -> Read<()> {
    let raw = item.raw;
    let mut members = json::members(item, &PART)?;
    let signature = either(&mut members, "thoughtSignature", "thought_signature");
    let signed = signature.is_some_and(|(raw, _)| raw != "\"\"");
    if let Some((of, snake)) = either(&mut members, "functionCall", "function_call") {
        spell(part, snake);
        let under = if snake { "/function_call" } else { "/functionCall" };
        call(of, part).map_err(|flaw| flaw.under(under))?;
    } else if let Some((body, snake)) =
        either(&mut members, "functionResponse", "function_response")
    {
        spell(part, snake);
        let under = if snake { "/function_response" } else { "/functionResponse" };
        response(body, part).map_err(|flaw| flaw.under(under))?;
    } else if let Some((data, _)) = either(&mut members, "inlineData", "inline_data")
        .or_else(|| either(&mut members, "fileData", "file_data"))
    {
        part::medium(data, data, part);
    } else if let Some(text) = members.text("text") {
        let thought = members.flag("thought") == Some(true);
        part::say(part, if thought { Kind::Thinking } else { Kind::Text }, text);
        // The last part of an answer is often nothing but its signature.
        part.piece.blank &= !signed;
    } else {
        part::other(raw, part);
        // Code that Gemini runs itself, and its outcome: they have no ids, and answer each other in order.
        if either(&mut members, "executableCode", "executable_code").is_some() {
            (part.piece.kind, part.piece.within) = (Kind::Call, true);
        } else if either(&mut members, "codeExecutionResult", "code_execution_result").is_some() {
            (part.piece.kind, part.piece.within) = (Kind::Result, true);
        } else if let Some(of) = either(&mut members, "toolCall", "tool_call") {
            served(of, Kind::Call, part);
        } else if let Some(of) = either(&mut members, "toolResponse", "tool_response") {
            served(of, Kind::Result, part);
        }
        return Ok(());
    }
    if signed {
        part.opaque = count(signature.map_or(0, |(raw, _)| raw.len()));
        part.piece.opaque = true;
    }
    Ok(())
}

/// Such a part is carried as it is; its id says what goes together, in whichever contents the two are.
fn served<'a>((raw, snake): (&'a RawValue, bool), kind: Kind, part: &mut Part<'a>) {
    let mut of = SERVED.read(raw).unwrap_or_default();
    spell(part, snake);
    part.piece.id = or_empty(of.text("id")).into();
    part.piece.name = or_empty(of.text("toolType").or_else(|| of.text("tool_type"))).into();
    (part.piece.kind, part.piece.within) = (kind, true);
}

fn call<'a>(raw: &'a RawValue, part: &mut Part<'a>) -> Read<()> {
    let mut call = json::read(raw, &CALL)?;
    part::call(&mut call, "args", "{}", part);
    part::name(part, &mut call, "id", "name");
    Ok(())
}

fn response<'a>(raw: &'a RawValue, part: &mut Part<'a>) -> Read<()> {
    let mut response = json::read(raw, &RESPONSE)?;
    let mut error = false;
    let raw_output = response.raw("response");
    let text = raw_output.map_or(Ok(Cow::Borrowed("")), |raw| output_text(raw, &mut error));
    part::say(part, Kind::Result, text.map_err(|flaw| flaw.under("/response"))?);
    for media in response.items("parts").unwrap_or_default() {
        part.images = part.images.saturating_add(1);
        part.media = part.media.rotate_left(1) ^ of_json(media);
    }
    part.piece.images = part.images;
    part.piece.blank &= part.images == 0;
    part.piece.error = error;
    part::name(part, &mut response, "id", "name");
    Ok(())
}

/// The one text that a response says, or its JSON.
fn output_text<'a>(raw: &'a RawValue, error: &mut bool) -> Read<Cow<'a, str>> {
    if let Ok(mut output) = OUTPUT.read(raw) {
        let failed = output.raw("error");
        *error = failed.is_some();
        let all = [failed, output.raw("output"), output.raw("result"), output.raw("content")];
        let mut texts = all.into_iter().flatten();
        if let (Some(text), None) = (texts.next(), texts.next())
            && text.starts_with('"')
        {
            return json::string(text);
        }
    }
    Ok(Cow::Borrowed(raw))
}

/// Changes to a content's parts; a result that is cut loses its images with its text.
#[inline(never)]
pub(super) fn edit(outline: &Outline, changes: &[Change]) -> Vec<Op> {
    let mut ops = Vec::new();
    for change in changes.iter().filter(|change| matches!(change.what, What::Text(_))) {
        let piece = usize::try_from(change.piece).ok().and_then(|at| outline.pieces.get(at));
        let dropped = |other: &Change| other.piece == change.piece && other.what == What::Drop;
        if let Some(piece) = piece.filter(|it| it.kind == Kind::Result && it.images > 0)
            && !changes.iter().any(dropped)
        {
            let path = format!("{}/{}/parts", piece.place.pointer(), names(piece).1);
            ops.push(Op::Remove { path });
        }
    }
    ops.extend(edit::blocks_with(outline, changes, || object!({ "text": PLACEHOLDER }), &set));
    ops
}

/// What a call, a response and a signature are called in this part.
fn names(piece: &Piece) -> (&'static str, &'static str, &'static str) {
    match piece.place {
        Place::Snake(_) if piece.within => ("tool_call", "tool_response", "thought_signature"),
        Place::Part(_) if piece.within => ("toolCall", "toolResponse", "thoughtSignature"),
        Place::Snake(_) => ("function_call", "function_response", "thought_signature"),
        Place::Part(_)
        | Place::Content
        | Place::Item(_)
        | Place::Call(_)
        | Place::Custom(_)
        | Place::Tool(_)
        | Place::Inner(..)
        | Place::In(_)
        | Place::At(..)
        | Place::Message(_)
        | Place::Field(_) => ("functionCall", "functionResponse", "thoughtSignature"),
    }
}

/// What one change sets on the host's object.
fn set(piece: &Piece, what: &What) -> Option<Op> {
    let (call, response, signature) = names(piece);
    Some(match (piece.kind, what) {
        (Kind::Text | Kind::Thinking, What::Text(new)) => put(piece, "/text", new.as_str().into()),
        (Kind::Image, What::Text(new)) => put(piece, "", text_part(new.as_str().into())),
        (Kind::Result, What::Text(new)) => {
            member(piece, &format!("/{response}/response"), response_json(new, piece.error))
        }
        (Kind::Result, What::Id(id)) => {
            member(piece, &format!("/{response}/id"), id.as_str().into())
        }
        (Kind::Call, What::Id(id)) => member(piece, &format!("/{call}/id"), id.as_str().into()),
        (Kind::Call, What::Arguments(new)) => member(piece, &format!("/{call}/args"), new.clone()),
        (Kind::Call, What::Sign) => member(piece, &format!("/{signature}"), SENTINEL.into()),
        _ => return None,
    })
}

fn text_part(text: Value) -> Value {
    object!({ "text": text })
}

/// A response of ours: an object, as every response is.
fn response_json(text: &str, error: bool) -> Value {
    if error { object!({ "error": text }) } else { object!({ "output": text }) }
}

pub(super) fn make(made: &Made, host: Host<'_>) -> (Value, Vec<Copied>) {
    let mut copied = Vec::new();
    let parts = match made {
        Made::User(parts) => edit::user_parts(parts, host, &mut copied, "/parts", text_part),
        Made::Results(results) => {
            let mut parts = Vec::with_capacity(results.len());
            for result in results {
                parts.extend(result_of(result, host, parts.len(), &mut copied));
            }
            Value::array(&parts)
        }
        Made::Result { .. } | Made::Moved { .. } => {
            Value::array(result_of(made, host, 0, &mut copied).as_slice())
        }
    };
    (object!({ "role": "user", "parts": parts }), copied)
}

/// A result as part `at`. One of the host's that keeps its id is copied whole.
fn result_of(made: &Made, host: Host<'_>, at: usize, copied: &mut Vec<Copied>) -> Option<Value> {
    let (id, name, output) = match made {
        Made::User(_) | Made::Results(_) => return None,
        Made::Result { id, name, text, error, .. } => (id, name, response_json(text, *error)),
        Made::Moved { id, name, message, piece } => {
            let (index, piece) = (*message, host(*message, *piece));
            match piece.filter(|piece| !piece.blank) {
                Some(piece)
                    if (*piece.id == **id || piece.id.is_empty()) && *piece.name == **name =>
                {
                    let from = piece.place.pointer();
                    copied.push(Copied { path: format!("/parts/{at}"), index, from });
                    return Some(Value::NULL);
                }
                Some(piece) => {
                    let from = format!("{}/{}/response", piece.place.pointer(), names(piece).1);
                    let path = format!("/parts/{at}/functionResponse/response");
                    copied.push(Copied { path, index, from });
                    (id, name, Value::NULL)
                }
                None => (id, name, response_json(NO_OUTPUT, piece.is_none_or(|piece| piece.error))),
            }
        }
    };
    let mut response = object!({ "name": name, "response": output });
    if !id.is_empty() {
        response.set("id", id.as_str().into());
    }
    Some(object!({ "functionResponse": response }))
}
