//! JSON of a session file, read only as deep as needed: members and items stay the text that they are in the file.
//!
//! So a session of megabytes is read without a tree, every byte of a message survives, and a lone surrogate
//! (`\ud800`), which no Rust string can hold, does not cost the line it stands in.

use crate::json;
pub(super) use crate::json::{Object, RawValue, lossy_string as text, unsigned};

/// Levels that a reader of the messages takes.
pub(super) const MAX_DEPTH: usize = 127;

/// What is wrong, and where: `line` is left out where there is one line only.
pub(super) fn place(error: &json::Error) -> String {
    let what = error.what();
    match error.line() {
        1 => format!("{what} at column {}", error.column()),
        line => format!("{what} at line {line} column {}", error.column()),
    }
}

/// The value is an object.
pub(super) fn is_object(raw: &RawValue) -> bool {
    raw.starts_with('{')
}

/// The elements of an array; none for anything else.
pub(super) fn items(raw: &RawValue) -> Vec<&RawValue> {
    json::items(raw).unwrap_or_default()
}

/// The strings of an array member.
pub(super) fn list(object: &Object<'_>, name: &str) -> Vec<String> {
    object.items(name).into_iter().filter_map(text).map(Into::into).collect()
}

/// The first names of an object, for a message about something that is not known.
pub(super) fn names(object: &Object<'_>) -> String {
    if object.is_empty() {
        return "no members".into();
    }
    let names: Vec<String> =
        object.iter().take(8).map(|(key, _)| key.chars().take(40).collect()).collect();
    names.join(", ")
}

/// The text between a string's quotes, escapes and all.
pub(super) fn inside(raw: &RawValue) -> Option<&str> {
    raw.strip_prefix('"')?.strip_suffix('"')
}

/// A string as JSON text.
pub(super) fn quote(text: &str) -> String {
    let mut out = String::new();
    json::quote(text, &mut out);
    out
}

/// Levels of arrays and objects.
pub(super) fn depth(json: &RawValue) -> usize {
    let mut reader = json::Reader::new(json);
    drop(reader.raw());
    reader.levels()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_strings_are_not_counted_as_depth() {
        assert_eq!(depth(r#"{"a":"[[[\"[[[\\","b":[{}]}"#), 3);
        assert_eq!(depth(&"[".repeat(100_000)), 100_000);
    }
}
