//! Arguments and options from the host; an error names the place of the wrong member.
//!
//! There are two readers. A `Shape` is for arguments that the facade writes: one pass, a type for each member. `OptionsReader` is
//! for options that users write: the value in an error is their own JSON, decimals are scaled, and one object overlays another.

#[cfg(feature = "context")]
mod options;

use std::borrow::Cow;
use std::fmt::Arguments;

use crate::error::{Error, Result};
use crate::json::{self, Members, Object, RawValue, Shape, string};

#[cfg(feature = "context")]
pub(crate) use options::OptionsReader;

/// Reads an argument of this form.
///
/// # Errors
/// `InvalidArgument` names the argument and its member, what is expected, and what came. `UnknownOption` names a member that does
/// not exist.
pub fn read<'a>(shape: &Shape, json: &'a str, argument: Arguments<'_>) -> Result<Members<'a>> {
    shape.read(json).map_err(|error| {
        if let Some((name, value)) = unknown_member(shape, json) {
            return Error::unknown_option(&place_of(argument, &name), &shape.names(), value);
        }
        let place = error.member();
        let place = place.map_or_else(|| argument.to_string(), |it| place_of(argument, it));
        place_error(&place, shape.what, &error)
    })
}

fn unknown_member<'a>(shape: &Shape, json: &'a str) -> Option<(Cow<'a, str>, &'a RawValue)> {
    let known = shape.names();
    let members = if shape.closed { Object::read(json).ok()? } else { return None };
    members.into_iter().find(|(name, _)| !known.contains(&&**name))
}

fn place_of(argument: Arguments<'_>, member: &str) -> String {
    format!("{argument}.{member}").trim_start_matches('.').to_owned()
}

/// What is wrong, as the host is told it.
fn place_error(place: &str, expected: &str, error: &json::Error) -> Error {
    let is_other = error.what().starts_with("invalid type: ");
    let wanted = error.what().rsplit_once(", expected ").filter(|_| is_other);
    let expected = wanted.map_or(expected, |(_, wanted)| wanted);
    Error::argument(place, &expected.replace("i64", "a whole number"), error.got())
}

/// Every item, or an error that names the first that is none.
pub fn each<'a, T>(
    items: Option<Vec<&'a RawValue>>,
    argument: Arguments<'_>,
    item: fn(Arguments<'_>, &'a RawValue) -> Result<T>,
) -> Result<Vec<T>> {
    let mut all = Vec::new();
    for (at, raw) in items.unwrap_or_default().into_iter().enumerate() {
        all.push(item(format_args!("{argument}[{at}]"), raw)?);
    }
    Ok(all)
}

/// A string.
pub fn text(argument: Arguments<'_>, raw: &RawValue) -> Result<String> {
    let text =
        string(raw).map_err(|error| place_error(&argument.to_string(), "a string", &error))?;
    Ok(text.into_owned())
}
