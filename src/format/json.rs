//! JSON reading shared by the formats: borrowed strings, lists, and the place of a flaw.

use std::borrow::Cow;

use crate::error::{Error, ErrorInfo};
use crate::json::{self, Content, Item, ReadContent, Shape, Source, Type, left_unread, required};

/// What a format's reader returns: the flaw does not know the message's index yet.
pub(super) type Read<T> = Result<T, Flaw>;

/// Where a message is not of its format, and what is allowed there.
#[derive(Debug)]
pub(super) struct Flaw {
    path: String,
    expected: String,
}

impl Flaw {
    pub(super) fn new(path: &str, expected: &str) -> Self {
        Self { path: path.into(), expected: expected.into() }
    }

    /// The same flaw, of a value that stands at `path`.
    pub(super) fn under(self, path: &str) -> Self {
        Self { path: format!("{path}{}", self.path), ..self }
    }

    pub(super) fn at(self, index: u32) -> Error {
        malformed(index, &self.path, &self.expected)
    }
}

pub(super) fn malformed(index: u32, path: &str, expected: &str) -> Error {
    let path = if path.is_empty() { "/" } else { path };
    Error::new(ErrorInfo::MalformedMessage { index, path: path.into(), expected: expected.into() })
}

/// The string, or an empty one.
pub(super) fn or_empty(text: Option<Cow<'_, str>>) -> Cow<'_, str> {
    text.unwrap_or_default()
}

/// A block's type, if it has one.
pub(super) fn kind_of(json: &str) -> Option<Cow<'_, str>> {
    const TYPED: Shape =
        Shape { what: "a block", members: &[required("type", Type::Text)], closed: false };
    TYPED.read(json).ok()?.text("type")
}

/// Reads a string; a flaw is named by its JSON Pointer.
pub(super) fn string(json: &str) -> Read<Cow<'_, str>> {
    json::string(json).map_err(|error| flaw(json, &error))
}

/// Reads the items of a list one by one; a flaw in one of them is of what stands there under `path`.
pub(super) fn each<'a>(
    items: Vec<Item<'a>>,
    path: &str,
    read: &mut dyn FnMut(Item<'a>, u32) -> Read<()>,
) -> Read<()> {
    for (at, item) in (0u32..).zip(items) {
        read(item, at).map_err(|flaw| flaw.under(&format!("{path}/{at}")))?;
    }
    Ok(())
}

/// Reads an object; a flaw is named by its JSON Pointer.
pub(super) fn read<'a>(json: &'a str, form: &Shape) -> Read<json::Members<'a>> {
    read_with(json.into(), form, left_unread)
}

/// The same of JSON of which some strings are known, with the reader of a content.
pub(super) fn read_with<'a>(
    source: Source<'a>,
    form: &Shape,
    content: ReadContent,
) -> Read<json::Members<'a>> {
    form.read_with(source, content).map_err(|error| flaw(source.json, &error))
}

/// Members of an item, which was to be read by this form; a flaw is named by its JSON Pointer.
pub(super) fn members<'a>(item: Item<'a>, form: &Shape) -> Read<json::Members<'a>> {
    let raw = item.raw;
    item.members(form).map_err(|error| flaw(raw, &error))
}

/// Reads a content; a flaw is named by its JSON Pointer.
pub(super) fn content(json: &str) -> Read<Option<Content<'_>>> {
    json::content(json).map_err(|error| flaw(json, &error))
}

/// What the reader says before what it expected.
const EXPECTED: &str = "expected ";

fn flaw(json: &str, error: &json::Error) -> Flaw {
    let path = pointer_at(json, error.offset());
    let what = error.what();
    // The reader says "invalid type: null, expected a string" or "missing field `type`".
    let expected = what.rsplit_once(EXPECTED).map(|(_, expected)| expected);
    let expected = match (expected, what.strip_prefix("missing field ")) {
        (Some(expected), _) => expected.to_owned(),
        (None, Some(field)) => format!("a member {field}"),
        (None, None) => format!("JSON that parses ({what})"),
    };
    Flaw { path, expected }
}

/// Whether JSON text is an object.
pub(super) fn is_object(json: &str) -> bool {
    json.trim_start().starts_with('{') && json::parse(json).is_ok()
}

/// A member's name as a token of a JSON Pointer.
pub(super) fn token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// JSON Pointer of the value that is being read, or has just been read, `offset` bytes into `json`.
fn pointer_at(json: &str, offset: usize) -> String {
    enum Step<'a> {
        Key(Option<&'a str>),
        Index(u32),
    }
    let mut steps: Vec<Step<'_>> = Vec::new();
    let mut string: Option<usize> = None;
    let mut escaped = false;
    for (at, byte) in json.bytes().enumerate().take(offset) {
        if let Some(start) = string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    string = None;
                    if let Some(Step::Key(key @ None)) = steps.last_mut() {
                        *key = json.get(start..at);
                    }
                }
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => string = Some(at.saturating_add(1)),
            b'{' => steps.push(Step::Key(None)),
            b'[' => steps.push(Step::Index(0)),
            b'}' | b']' => drop(steps.pop()),
            b',' => match steps.last_mut() {
                Some(Step::Key(key)) => *key = None,
                Some(Step::Index(index)) => *index = index.saturating_add(1),
                None => {}
            },
            _ => {}
        }
    }
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Key(None) => {}
            Step::Key(Some(key)) => {
                path.push('/');
                path.push_str(&token(key));
            }
            Step::Index(index) => {
                path.push('/');
                path.push_str(&index.to_string());
            }
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::optional;

    #[track_caller]
    fn check(json: &str, offset: usize, expected: &str) {
        assert_eq!(pointer_at(json, offset), expected);
    }

    #[test]
    fn an_error_points_at_the_value_that_was_read() {
        let json = r#"{"a":"x","b":[1,{"c/d":5}],"e":null}"#;
        check(json, 0, "");
        check(json, 8, "/a");
        check(json, 15, "/b/0");
        check(json, 24, "/b/1/c~1d");
        check(json, 26, "/b");
        check(json, json.len() - 1, "/e");
        check(json, json.len(), "");
    }

    #[test]
    fn a_wrong_type_is_named_by_pointer_and_by_what_is_allowed() {
        const PROBE: Shape =
            Shape { what: "a probe", members: &[optional("text", Type::Text)], closed: false };
        let flaw = read("{\n\"x\":1,\"text\":5}", &PROBE).err().unwrap();
        assert_eq!((flaw.path.as_str(), flaw.expected.as_str()), ("/text", "a string"));
        let flaw = string("{\"a\"").err().unwrap();
        assert!(flaw.expected.contains("a string"), "{flaw:?}");
        assert!(read(r#"{"text":"a"}"#, &PROBE).unwrap().text("text").is_some());
    }
}
