//! JSON read only as deep as needed: fields and items stay the text that they are in the file.
//!
//! So a session of megabytes is read without a tree, every byte of a message survives, and a lone surrogate
//! (`\ud800`), which no Rust string can hold, does not cost the line it stands in.

use std::borrow::Cow;

pub(super) use crate::json::RawValue;
use crate::json::{self, Reader};

/// Levels that a reader of the messages takes.
pub(super) const MAX_DEPTH: u32 = 127;

/// The members of an object: names without their quotes, values as text.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields<'a>(Vec<(&'a str, &'a RawValue)>);

impl<'a> Fields<'a> {
    /// Reads an object, and says why it stopped; what was read until then is kept.
    pub(super) fn read(text: &'a str) -> (Self, Option<String>) {
        let mut fields = Self::default();
        let mut reader = Reader::new(text);
        let fault = fields.collect(&mut reader).and_then(|()| reader.end());
        (fields, fault.err().map(|error| place(&error)))
    }

    fn collect(&mut self, reader: &mut Reader<'a>) -> json::Read<()> {
        if reader.peek() != Some(b'{') {
            return Err(reader.wrong("a JSON object"));
        }
        reader.enter();
        let mut first = true;
        while reader.more(first, b'}')? {
            self.0.push((reader.raw_key()?, reader.raw()?));
            first = false;
        }
        Ok(())
    }

    /// Reads a value that is an object; anything else has no members.
    pub(super) fn of(raw: &'a RawValue) -> Self {
        Self::read(raw).0
    }

    /// The member, unless it is `null`; of two with one name the last, as in JavaScript.
    pub(super) fn get(&self, name: &str) -> Option<&'a RawValue> {
        let found = self.0.iter().rev().find(|(key, _)| *key == name)?;
        (found.1 != "null").then_some(found.1)
    }

    /// The member is there, be it `null`.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| *key == name)
    }

    /// The member as text.
    pub(super) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name).and_then(text)
    }

    /// The member is a string equal to this.
    pub(super) fn is(&self, name: &str, value: &str) -> bool {
        self.text(name).is_some_and(|text| text == value)
    }

    /// The member is `true`.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.get(name).is_some_and(|raw| raw == "true")
    }

    /// The member as a whole number; a fraction is cut off.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.get(name).and_then(unsigned)
    }

    /// All members, in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &(&'a str, &'a RawValue)> {
        self.0.iter()
    }

    /// The member's members.
    pub(super) fn object(&self, name: &str) -> Option<Self> {
        self.get(name).filter(|raw| is_object(raw)).map(Self::of)
    }

    /// The first names, for a message about something that is not known.
    pub(super) fn names(&self) -> String {
        if self.0.is_empty() {
            return "no members".into();
        }
        let names: Vec<String> =
            self.0.iter().take(8).map(|(key, _)| key.chars().take(40).collect()).collect();
        names.join(", ")
    }
}

/// What is wrong, and where: `line` is left out where there is one line only.
pub(super) fn place(error: &json::Error) -> String {
    let what = error.what();
    match error.line() {
        1 => format!("{what} at column {}", error.column()),
        line => format!("{what} at line {line} column {}", error.column()),
    }
}

/// A whole number; a fraction is cut off.
pub(super) fn unsigned(raw: &RawValue) -> Option<u64> {
    raw.split('.').next()?.parse().ok()
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
pub(super) fn list(fields: &Fields<'_>, name: &str) -> Vec<String> {
    let found = fields.get(name).map(items).unwrap_or_default();
    found.into_iter().filter_map(text).map(Into::into).collect()
}

/// The text between a string's quotes, escapes and all.
pub(super) fn inside(raw: &RawValue) -> Option<&str> {
    raw.strip_prefix('"')?.strip_suffix('"')
}

/// A string's text; a lone surrogate becomes U+FFFD.
pub(super) fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inner = inside(raw)?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((plain, escape)) = rest.split_once('\\') {
        out.push_str(plain);
        let mut chars = escape.chars();
        match chars.next() {
            Some('u') => {
                let (sign, after) = unicode(chars.as_str());
                out.push(sign);
                rest = after;
                continue;
            }
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some(other) => out.push(other),
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    Some(Cow::Owned(out))
}

/// The character of `XXXX`, or of `XXXX\uYYYY`, and what follows it.
fn unicode(text: &str) -> (char, &str) {
    let unit = |text: &str| text.get(..4).and_then(|hex| u32::from_str_radix(hex, 16).ok());
    let Some(high) = unit(text) else { return (char::REPLACEMENT_CHARACTER, text) };
    let rest = text.get(4..).unwrap_or_default();
    if let Some(low_text) = rest.strip_prefix("\\u").filter(|_| (0xd800..0xdc00).contains(&high))
        && let Some(low) = unit(low_text).filter(|low| (0xdc00..0xe000).contains(low))
    {
        let upper = high.saturating_sub(0xd800).saturating_mul(0x400);
        let code = upper.saturating_add(low.saturating_sub(0xdc00)).saturating_add(0x1_0000);
        let sign = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        return (sign, low_text.get(4..).unwrap_or_default());
    }
    (char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER), rest)
}

/// A string as JSON text.
pub(super) fn quote(text: &str) -> String {
    let mut out = String::new();
    json::quote(text, &mut out);
    out
}

/// Levels of arrays and objects, counted without a stack.
pub(super) fn depth(text: &str) -> u32 {
    let (mut now, mut most, mut in_string, mut escaped) = (0_u32, 0_u32, false, false);
    for byte in text.bytes() {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => {
                now = now.saturating_add(1);
                most = most.max(now);
            }
            b'}' | b']' => now = now.saturating_sub(1),
            _ => {}
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> &RawValue {
        json::parse(text).expect("JSON")
    }

    #[test]
    fn fields_keep_their_bytes_and_survive_lone_surrogates() {
        let (fields, fault) =
            Fields::read(r#"{"a":"x\ud800y","\ud800":1,"b": [1, 2],"a":"z\ud83d"}"#);
        assert_eq!(fault, None);
        assert_eq!(fields.get("a"), Some(r#""z\ud83d""#));
        assert_eq!(fields.text("a").as_deref(), Some("z\u{fffd}"));
        assert_eq!(fields.get("b"), Some("[1, 2]"));
        assert!(fields.has(r"\ud800"));
    }

    #[test]
    fn a_broken_object_keeps_what_came_before() {
        let (fields, fault) = Fields::read(r#"{"id":"a","text":"\* "}"#);
        assert_eq!(fields.text("id").as_deref(), Some("a"));
        assert_eq!(fault.as_deref(), Some("invalid escape at column 20"));
        assert_eq!(Fields::read("[1]").1.map(|fault| fault.contains("JSON object")), Some(true));
    }

    #[test]
    fn text_is_unescaped() {
        let read = |json| text(raw(json)).map(Cow::into_owned);
        assert_eq!(
            read(r#""a\n\"\\\/\u00e9\ud83d\ude00""#).as_deref(),
            Some("a\n\"\\/\u{e9}\u{1f600}")
        );
        assert_eq!(
            read(r#""\ude00\ud83d-\ud83d\u0041""#).as_deref(),
            Some("\u{fffd}\u{fffd}-\u{fffd}A")
        );
        assert_eq!(read("12"), None);
    }

    #[test]
    fn depth_does_not_count_strings() {
        assert_eq!(depth(r#"{"a":"[[[\"[[[\\","b":[{}]}"#), 3);
        assert_eq!(depth(&"[".repeat(100_000)), 100_000);
    }

    #[test]
    fn numbers_are_unsigned_integers() {
        let (fields, _) = Fields::read(r#"{"a":12,"b":3.9,"c":-1,"d":null,"e":"5"}"#);
        let read: Vec<_> = ["a", "b", "c", "d", "e", "f"].map(|name| fields.number(name)).into();
        assert_eq!(read, [Some(12), Some(3), None, None, None, None]);
        assert!(fields.has("d") && fields.get("d").is_none());
    }
}
