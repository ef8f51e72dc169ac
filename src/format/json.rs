//! What the formats share in reading JSON: borrowed strings, content that is a string or blocks, and where a flaw lies.

use std::borrow::Cow;

use super::fingerprint::of_json;
use super::{image, unicode};
use crate::error::Error;
use crate::json::{self, Content, RawValue, Shape, Want, must};
use crate::model::{Kind, Part, Place};
use crate::text;

/// What a format's reader returns: the flaw does not know the message's index yet.
pub(super) type Read<T> = Result<T, Flaw>;

/// Where a message is not of its format, and what is allowed there.
#[derive(Debug)]
pub(super) struct Flaw {
    path: String,
    expected: String,
}

impl Flaw {
    pub(super) fn new(path: impl Into<String>, expected: impl Into<String>) -> Self {
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
    Error::MalformedMessage { index, path: path.into(), expected: expected.into() }
}

/// The string, or an empty one.
pub(super) fn or_empty(text: Option<Cow<'_, str>>) -> Cow<'_, str> {
    text.unwrap_or_default()
}

/// What a result says: the texts of its blocks, its images, and whatever else it holds as JSON text.
#[derive(Default)]
pub(super) struct Body<'a> {
    text: Option<Cow<'a, str>>,
    images: u32,
    media: u64,
    media_bytes: u32,
    /// Of the piece that it becomes.
    shown: u32,
    widest: u32,
    marks: u64,
    texts: u64,
    hollow: u64,
    /// What it says is not in its text blocks alone.
    mixed: bool,
    blocks: u32,
}

impl<'a> Body<'a> {
    pub(super) fn say(&mut self, more: Cow<'a, str>) {
        match &mut self.text {
            Some(text) => {
                let text = text.to_mut();
                text.push('\n');
                text.push_str(&more);
            }
            None => self.text = Some(more),
        }
    }

    /// One block of a list that can be changed block by block.
    pub(super) fn list(&mut self, part: Part<'a>) {
        let bit = 1u64.checked_shl(self.blocks).unwrap_or(0);
        if part.piece.kind != Kind::Text || bit == 0 {
            self.mixed |= !part.text.is_empty();
        } else {
            self.texts |= bit;
            self.hollow |= if part.piece.blank { bit } else { 0 };
        }
        self.take(part);
    }

    pub(super) fn take(&mut self, part: Part<'a>) {
        self.images = self.images.saturating_add(part.images);
        self.media = self.media.rotate_left(1) ^ part.media;
        self.media_bytes = self.media_bytes.saturating_add(part.media_bytes);
        self.shown = self.shown.saturating_add(part.piece.images);
        self.widest = self.widest.max(part.piece.widest);
        self.blocks = self.blocks.saturating_add(1);
        self.marks |= (part.piece.marks & 1).checked_shl(self.blocks).unwrap_or(0);
        if !part.text.is_empty() {
            self.say(part.text);
        }
    }

    pub(super) fn into_part(self, place: Place) -> Part<'a> {
        let mut part = Part::new(Kind::Result, place, self.text.unwrap_or_default());
        part.images = self.images;
        part.media = self.media;
        part.media_bytes = self.media_bytes;
        part.piece.images = self.shown;
        part.piece.widest = self.widest;
        part.piece.marks = self.marks;
        part.piece.texts = if self.mixed { 0 } else { self.texts };
        part.piece.hollow = self.hollow;
        part.piece.blank &= self.images == 0;
        part
    }
}

/// An image, known by `json`; its data is a string of base64, or stands in an object as a `data:` URL.
pub(super) fn picture<'a>(place: Place, json: &str, data: &str) -> Part<'a> {
    let mut part = Part::new(Kind::Image, place, "");
    part.images = 1;
    part.media = of_json(json);
    part.media_bytes = count(json.len());
    part.piece.images = 1;
    part.piece.widest = image::longer_side(image::base64_of(data));
    part
}

/// A block's type, if it has one.
pub(super) fn kind_of(json: &str) -> Option<Cow<'_, str>> {
    const TYPED: Shape =
        Shape { what: "a block", members: &[must("type", Want::Text)], closed: false };
    TYPED.read(json).ok()?.text("type")
}

/// A block that is carried as it is: counted by its JSON text, and known by it without its cache marker.
pub(super) fn other(place: Place, raw: &RawValue) -> Read<Part<'_>> {
    let mut part = Part::new(Kind::Other, place, unmarked(whole(raw)?));
    part.piece.opaque = true;
    part.piece.marks = u64::from(matches!(part.text, Cow::Owned(_)));
    Ok(part)
}

fn unmarked(json: &str) -> Cow<'_, str> {
    if !text::has(json, "\"cache_control\"") {
        return Cow::Borrowed(json);
    }
    let Ok(members) = json::members(json) else { return Cow::Borrowed(json) };
    let mut kept = String::from("{");
    for (key, raw) in members {
        if key == "cache_control" {
            continue;
        }
        if kept.len() > 1 {
            kept.push(',');
        }
        json::quote(&key, &mut kept);
        kept.push(':');
        kept.push_str(raw);
    }
    kept.push('}');
    Cow::Owned(kept)
}

/// Reads a string; a flaw is named by its JSON Pointer.
pub(super) fn string(json: &str) -> Read<Cow<'_, str>> {
    json::string(json).map_err(|error| flaw(json, &error))
}

/// Reads an object; a flaw is named by its JSON Pointer.
pub(super) fn read<'a>(json: &'a str, form: &Shape) -> Read<json::Members<'a>> {
    form.read(json).map_err(|error| flaw(json, &error))
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
    let expected =
        text::places(what, EXPECTED).last().and_then(|at| what.get(at..)?.get(EXPECTED.len()..));
    let expected = match (expected, what.strip_prefix("missing field ")) {
        (Some(expected), _) => expected.into(),
        (None, Some(field)) => format!("a member {field}"),
        (None, None) => format!("JSON that parses ({what})"),
    };
    Flaw::new(path, expected)
}

/// A value that is carried as JSON text: it must not hide a lone surrogate, which the reader does not look for in it.
pub(super) fn whole(raw: &RawValue) -> Read<&str> {
    if unicode::has_lone(raw) {
        return Err(Flaw::new("", "a string without lone surrogates"));
    }
    Ok(raw)
}

/// Whether JSON text is an object.
pub(super) fn is_object(json: &str) -> bool {
    json.trim_start().starts_with('{') && json::whole(json).is_ok()
}

/// A length as the counts of the core have it.
pub(super) fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
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
                path.push_str(&key.replace('~', "~0").replace('/', "~1"));
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
    use crate::json::may;

    #[track_caller]
    fn check(json: &str, offset: usize, expected: &str) {
        assert_eq!(pointer_at(json, offset), expected);
    }

    #[test]
    fn points_at_what_was_being_read() {
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
            Shape { what: "a probe", members: &[may("text", Want::Text)], closed: false };
        let flaw = read("{\n\"x\":1,\"text\":5}", &PROBE).err().unwrap();
        assert_eq!((flaw.path.as_str(), flaw.expected.as_str()), ("/text", "a string"));
        let flaw = string("{\"a\"").err().unwrap();
        assert!(flaw.expected.contains("a string"), "{flaw:?}");
        assert!(read(r#"{"text":"a"}"#, &PROBE).unwrap().text("text").is_some());
    }
}
