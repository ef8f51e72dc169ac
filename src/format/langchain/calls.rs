//! The calls of a message: each counted once, however many places it stands in.

use super::super::json::{self, Read, is_object, or_empty};
use crate::json::Type::{Raw, Text};
use crate::json::{RawValue, Shape, optional};
use crate::model::{Kind, Part, Place};

/// A call, as `tool_calls` and chunks have it, and as providers do.
const CALL: Shape = Shape {
    what: "a call: { id, name, args }",
    members: &[
        optional("id", Text),
        optional("name", Text),
        optional("args", Raw),
        optional("input", Raw),
        optional("arguments", Raw),
        optional("function", Raw),
        optional("functionCall", Raw),
        optional("caller", Raw),
    ],
    closed: false,
};

/// A call that stands in a list or a content block: which one, and where its arguments are.
pub(super) struct Seen<'a> {
    place: Place,
    pub(super) id: Box<str>,
    name: Box<str>,
    /// The program that made it, which only a content block tells.
    caller: Box<str>,
    arguments: &'a str,
    /// The member with the arguments; `=` before it: as JSON text.
    member: &'static str,
}

/// The calls of a message: each once, with the other places in which it stands.
pub(super) struct Calls<'a> {
    /// Id and name of each, and the lists in which it was seen again.
    pub(super) known: Vec<(Box<str>, Box<str>, Vec<&'static str>)>,
    pub(super) parts: Vec<Part<'a>>,
}

impl Seen<'_> {
    /// As `OpenAI` writes calls: `{ id, function: { name, arguments } }`.
    pub(super) fn is_function(&self) -> bool {
        self.member == FUNCTION
    }
}

impl<'a> Calls<'a> {
    pub(super) fn own(&mut self, seen: &Seen<'a>) {
        self.known.push((seen.id.clone(), seen.name.clone(), Vec::new()));
        self.parts.push(part_of(seen));
    }

    /// A call seen in another place: a mirror of one that is known, or, where it may be, a call by itself with its mirror.
    pub(super) fn also(&mut self, seen: &Seen<'a>, may_be_own: bool) -> Part<'a> {
        let list = seen.place.list();
        let google = seen.member == FUNCTION_CALL;
        let same = |(id, name, lists): &(Box<str>, Box<str>, Vec<&'static str>)| {
            !lists.contains(&list)
                && if google {
                    *name == seen.name
                } else {
                    *id == seen.id && (!id.is_empty() || *name == seen.name)
                }
        };
        let mut id = seen.id.clone();
        let mut known = self.known.iter_mut().zip(&mut self.parts);
        if let Some(((known, _, lists), own)) = known.find(|(known, _)| same(known)) {
            lists.push(list);
            id.clone_from(known);
            if !seen.caller.is_empty() {
                own.piece.caller.clone_from(&seen.caller);
            }
        } else if may_be_own && !google {
            self.own(seen);
            if let Some((_, _, lists)) = self.known.last_mut() {
                lists.push(list);
            }
        } else {
            return left_alone(seen.place);
        }
        mirror(seen, id)
    }
}

/// A place in which a call stands, with the member that has its arguments there.
pub(super) fn mirror(seen: &Seen<'_>, id: Box<str>) -> Part<'static> {
    let mut mirror = Part::new(Kind::Other, seen.place, "");
    mirror.piece.id = id;
    mirror.piece.name = seen.member.into();
    mirror.piece.mirror = true;
    mirror
}

/// A call that stands nowhere else and is not sent from here.
fn left_alone(place: Place) -> Part<'static> {
    let mut part = Part::new(Kind::Other, place, "");
    part.piece.opaque = true;
    part.piece.mirror = true;
    part
}

pub(super) const FUNCTION_CALL: &str = "functionCall/args";
const FUNCTION: &str = "=function/arguments";

pub(super) fn part_of<'a>(seen: &Seen<'a>) -> Part<'a> {
    let text = if seen.arguments.starts_with('"') {
        json::string(seen.arguments).unwrap_or_default()
    } else {
        seen.arguments.into()
    };
    let mut part = Part::new(Kind::Call, seen.place, text);
    let is_text = seen.member.starts_with('=');
    part.piece.bad_arguments =
        if is_text { !is_object(&part.text) } else { !part.text.starts_with('{') };
    part.piece.id.clone_from(&seen.id);
    part.piece.name.clone_from(&seen.name);
    part.piece.caller.clone_from(&seen.caller);
    part
}

/// Whoever wrote it: `{ id, name, args }`, `{ id, name, input }`, `{ id, function: { name, arguments } }` or
/// `{ functionCall: { name, args } }`.
pub(super) fn call(raw: &RawValue, place: Place) -> Read<Seen<'_>> {
    let mut outer = json::read(raw, &CALL)?;
    let id = or_empty(outer.text("id")).into();
    let caller = crate::format::part::caller(outer.raw("caller"));
    let inner = [("function", FUNCTION), ("functionCall", FUNCTION_CALL)];
    for (name, member) in inner {
        if let Some(raw) = outer.raw(name) {
            let mut inner =
                json::read(raw, &CALL).map_err(|flaw| flaw.under(&format!("/{name}")))?;
            let arguments = inner.raw("arguments").or_else(|| inner.raw("args"));
            let arguments = arguments.unwrap_or("{}");
            return Ok(Seen {
                place,
                id,
                name: or_empty(inner.text("name")).into(),
                caller,
                arguments,
                member,
            });
        }
    }
    let name = or_empty(outer.text("name")).into();
    let found =
        ["args", "input", "arguments"].into_iter().find_map(|name| Some((name, outer.raw(name)?)));
    let (member, raw) = found.map_or(("args", None), |(name, raw)| (name, Some(raw)));
    let arguments = raw.unwrap_or("{}");
    let text = arguments.starts_with('"');
    let member = match (member, text) {
        ("args", true) => "=args",
        ("input", true) => "=input",
        ("arguments", _) => "=arguments",
        (member, _) => member,
    };
    Ok(Seen { place, id, name, caller, arguments, member })
}
