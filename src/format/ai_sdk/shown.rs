//! The parts of a `UIMessage`: a call and its result are one of them.

use super::super::json::{Read, or_empty};
use super::super::{json, part};
use crate::format::ai_sdk::parts::{PAINTER, PART, call, carried, plain, read_output};
use crate::json::Type::{Flag, Text};
use crate::json::{Members, RawValue, Shape, optional};
use crate::model::{Kind, Part, Place, Role};

const APPROVAL: Shape = Shape {
    what: "an approval: { id, .. }",
    members: &[optional("id", Text), optional("approved", Flag)],
    closed: false,
};

/// A part of a `UIMessage`; those that never reach a model are none. True: a step starts with it.
pub(super) fn shown_part<'a>(
    at: u32,
    raw: &'a RawValue,
    role: Role,
    parts: &mut Vec<Part<'a>>,
) -> Read<bool> {
    let mut members = json::read(raw, &PART)?;
    let mut part = part::at(Place::Part(at));
    let kind = or_empty(members.text("type"));
    match &*kind {
        "text" | "reasoning" | "reasoning-file" | "file" => {
            plain(&kind, members, raw, &mut part)?;
        }
        "step-start" => return Ok(role == Role::Assistant),
        "source-url" | "source-document" => return Ok(false),
        _ if role == Role::Assistant && (kind == "dynamic-tool" || kind.starts_with("tool-")) => {
            let name = members.text("toolName");
            let name = name.unwrap_or_else(|| {
                kind.strip_prefix("tool-").unwrap_or_default().to_owned().into()
            });
            tool(at, members, &name, parts)?;
            return Ok(false);
        }
        _ => carried(raw, &mut part),
    }
    parts.push(part);
    Ok(false)
}

/// A call and, once there is one, its result. A call that is still being written goes nowhere.
fn tool<'a>(at: u32, mut members: Members<'a>, name: &str, parts: &mut Vec<Part<'a>>) -> Read<()> {
    let state = or_empty(members.text("state"));
    if state == "input-streaming" {
        return Ok(());
    }
    let theirs = members.flag("providerExecuted").unwrap_or(false);
    let input = members.raw("input").or_else(|| members.raw("rawInput"));
    let mut call = part::at(if theirs { Place::Part(at) } else { Place::Tool(at) });
    self::call(input, &mut members, &mut call);
    call.piece.name = name.into();
    call.piece.opaque |= theirs;
    let approval = members.raw("approval").and_then(|raw| APPROVAL.read(raw).ok());
    let (asked, approved) =
        approval.map(|mut it| (or_empty(it.text("id")), it.flag("approved"))).unwrap_or_default();
    let (error, output) = (members.text("errorText"), members.raw("output"));
    let failed = state == "output-error";
    let member = if failed { "errorText" } else { "output" };
    let mut result = part::at(Place::Inner(at, member));
    match output {
        _ if failed => {
            part::say(&mut result, Kind::Result, or_empty(error));
            result.piece.error = true;
        }
        Some(output) if state == "output-available" && theirs && name == PAINTER => {
            part::painted(output, &mut result);
        }
        Some(output) if state == "output-available" => {
            read_output(output, &mut result).map_err(|flaw| flaw.under("/output"))?;
            if theirs {
                part::take_data(&mut result);
            }
        }
        _ => part::say(&mut result, Kind::Result, "".into()),
    }
    // The SDK itself says that a call was denied; one that was allowed it runs before it asks the model.
    let denied =
        state == "output-denied" || (state == "approval-responded" && approved == Some(false));
    call.piece.within = theirs || denied;
    call.piece.decided = state == "approval-responded";
    let id = call.piece.id.clone();
    result.piece.caller.clone_from(&call.piece.caller);
    parts.push(call);
    if failed || state == "output-available" {
        result.piece.id.clone_from(&id);
        result.piece.name = name.into();
        result.piece.within = true;
        result.piece.opaque = theirs;
        if theirs {
            result.piece.place = Place::Part(at);
            // The provider's own, which nothing is put in place of.
            result.piece.blank = false;
        }
        parts.push(result);
    }
    if state == "approval-requested" && !asked.is_empty() {
        let mut request = Part::new(Kind::Other, Place::Inner(at, "approval"), "");
        request.piece.id = id;
        request.piece.name = asked.into();
        parts.push(request);
    }
    Ok(())
}
