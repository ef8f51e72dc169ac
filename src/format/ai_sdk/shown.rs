//! The parts of a `UIMessage`: a call and its result are one of them.

use super::super::json::{self, Read, or_empty};
use super::super::part;
use super::{PART, call, plain, said};
use crate::json::Want::{Flag, Text};
use crate::json::{Members, RawValue, Shape, may};
use crate::model::{Kind, Part, Place, Role};

const APPROVAL: Shape = Shape {
    what: "an approval: { id, .. }",
    members: &[may("id", Text), may("approved", Flag)],
    closed: false,
};

/// A part of a `UIMessage`; those that never reach a model are none. True: a step starts with it.
pub(super) fn shown_part<'a>(
    at: u32,
    raw: &'a RawValue,
    role: Role,
    parts: &mut Vec<Part<'a>>,
) -> Read<bool> {
    let place = Place::Part(at);
    let mut part = json::read(raw, &PART)?;
    let kind = or_empty(part.text("type"));
    match &*kind {
        "text" | "reasoning" | "reasoning-file" | "file" => {
            parts.push(plain(place, &kind, part, raw)?);
        }
        "step-start" => return Ok(role == Role::Assistant),
        "source-url" | "source-document" => {}
        _ if role == Role::Assistant && (kind == "dynamic-tool" || kind.starts_with("tool-")) => {
            let name = part.text("toolName");
            let name = name.unwrap_or_else(|| {
                kind.strip_prefix("tool-").unwrap_or_default().to_owned().into()
            });
            tool(at, part, &name, parts)?;
        }
        _ => parts.push(part::other(place, raw)?),
    }
    Ok(false)
}

/// A call and, once there is one, its result. A call that is still being written goes nowhere.
fn tool<'a>(at: u32, mut part: Members<'a>, name: &str, parts: &mut Vec<Part<'a>>) -> Read<()> {
    let state = or_empty(part.text("state"));
    if state == "input-streaming" {
        return Ok(());
    }
    let theirs = part.flag("providerExecuted").unwrap_or(false);
    let input = part.raw("input").or_else(|| part.raw("rawInput"));
    let mut call = call(if theirs { Place::Part(at) } else { Place::Tool(at) }, input, &mut part)?;
    call.piece.name = name.into();
    call.piece.opaque |= theirs;
    let approval = part.raw("approval").and_then(|raw| APPROVAL.read(raw).ok());
    let (asked, approved) =
        approval.map(|mut it| (or_empty(it.text("id")), it.flag("approved"))).unwrap_or_default();
    let (error, output) = (part.text("errorText"), part.raw("output"));
    let mut result = match (&*state, error, output) {
        ("output-error", error, _) => {
            let mut result =
                Part::new(Kind::Result, Place::Inner(at, "errorText"), or_empty(error));
            result.piece.error = true;
            Some(result)
        }
        ("output-available", _, Some(output)) => {
            let mut result = said(output).map_err(|flaw| flaw.under("/output"))?;
            result.piece.place = Place::Inner(at, "output");
            Some(result)
        }
        ("output-available", _, None) => {
            Some(Part::new(Kind::Result, Place::Inner(at, "output"), ""))
        }
        _ => None,
    };
    // The SDK itself says that a call was denied; one that was allowed it runs before it asks the model.
    let denied =
        state == "output-denied" || (state == "approval-responded" && approved == Some(false));
    call.piece.within = theirs || denied;
    call.piece.decided = state == "approval-responded";
    let id = call.piece.id.clone();
    parts.push(call);
    if let Some(result) = &mut result {
        result.piece.id.clone_from(&id);
        result.piece.name = name.into();
        result.piece.within = true;
        result.piece.opaque = theirs;
        if theirs {
            result.piece.place = Place::Part(at);
        }
    }
    parts.extend(result);
    if state == "approval-requested" && !asked.is_empty() {
        let mut request = Part::new(Kind::Other, Place::Inner(at, "approval"), "");
        request.piece.id = id;
        request.piece.name = asked.into();
        parts.push(request);
    }
    Ok(())
}
