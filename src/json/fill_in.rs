//! JSON whose long texts are handed over beside it: they cost less as they are than written as strings of JSON and read again.

use std::borrow::Cow;

use super::value::quote;

/// JSON, and the texts of some of its strings. The reader of the JSON takes these texts and does not search for the ends of the strings.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// All of it.
    pub json: &'a str,
    known: &'a [Known<'a>],
}

/// A string whose text is known, and its place in the JSON, quotes included.
#[derive(Clone, Copy, Debug)]
struct Known<'a> {
    start: usize,
    end: usize,
    text: &'a str,
}

/// The JSON that [`fill_in`] makes, and its known strings.
#[derive(Debug)]
pub struct Filled<'a> {
    json: Cow<'a, str>,
    known: Vec<Known<'a>>,
}

impl<'a> From<&'a str> for Source<'a> {
    fn from(json: &'a str) -> Self {
        Self { json, known: &[] }
    }
}

impl<'a> Source<'a> {
    /// The known text of the string that starts here, and where the string ends. No earlier place may be asked for after this.
    pub(super) fn string_at(&mut self, at: usize) -> Option<(&'a str, usize)> {
        while let [next, others @ ..] = self.known {
            if next.start > at {
                return None;
            }
            self.known = others;
            if next.start == at {
                return Some((next.text, next.end));
            }
        }
        None
    }
}

impl Filled<'_> {
    /// Both, for a reader.
    pub fn source(&self) -> Source<'_> {
        Source { json: &self.json, known: &self.known }
    }
}

/// JSON as `JSON.stringify` writes it whole, from its pieces: between each two of them stands the text that belongs there.
///
/// # Example
/// ```
/// let filled = plimsoll::json::fill_in(r#"{"a":"#, &["x\n", r#","b":["#, "y", "]}"]);
/// assert_eq!(filled.source().json, r#"{"a":"x\n","b":["y"]}"#);
/// ```
pub fn fill_in<'a>(first: &'a str, others: &[&'a str]) -> Filled<'a> {
    if others.is_empty() {
        return Filled { json: Cow::Borrowed(first), known: Vec::new() };
    }
    fill_in_texts(first, others)
}

#[inline(never)]
fn fill_in_texts<'a>(first: &'a str, others: &[&'a str]) -> Filled<'a> {
    let mut known = Vec::new();
    let length = others.iter().fold(first.len(), |sum, text| sum.saturating_add(text.len()));
    // Line ends take two bytes, and lines are rarely shorter than this.
    let mut json = String::with_capacity(length.saturating_add(length / 16));
    json.push_str(first);
    for (at, other) in others.iter().enumerate() {
        if at % 2 == 0 {
            let start = json.len();
            quote(other, &mut json);
            known.push(Known { start, end: json.len(), text: other });
        } else {
            json.push_str(other);
        }
    }
    Filled { json: Cow::Owned(json), known }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::fill_in;
    use crate::json::{Reader, Shape, Type, left_unread, optional, required};

    const TEXT: Shape =
        Shape { what: "a text", members: &[required("text", Type::Text)], closed: false };
    const ALL: Shape =
        Shape { what: "a list", members: &[optional("all", Type::Content)], closed: false };

    proptest! {
        #[test]
        fn filled_json_is_what_it_was_before_its_texts_were_taken_out(texts in prop::collection::vec(any::<String>(), 1..5)) {
            let pieces = texts.iter().enumerate().flat_map(|(at, text)| [if at == 0 { "[" } else { "," }, text]);
            let all: Vec<&str> = pieces.chain(["]"]).collect();
            let filled = fill_in(all[0], &all[1..]);
            prop_assert_eq!(filled.source().json, serde_json::to_string(&texts).unwrap());
            let mut reader = Reader::of(filled.source());
            reader.enter();
            for (at, text) in texts.iter().enumerate() {
                prop_assert!(reader.more(at == 0, b']').unwrap());
                if at % 3 == 1 {
                    reader.raw().unwrap();
                } else {
                    let read = reader.string().unwrap();
                    prop_assert_eq!(&read, text);
                    prop_assert!(matches!(read, std::borrow::Cow::Borrowed(_)));
                }
            }
            prop_assert!(!reader.more(false, b']').unwrap());
            reader.end().unwrap();
        }
    }

    #[test]
    fn known_strings_are_found_after_an_object_that_is_left_unread() {
        let others = ["a\n", r#"},{"other":"#, "b\n", r#"},{"text":"#, "c\n", "}]}"];
        let filled = fill_in(r#"{"all":[{"text":"#, &others);
        let items = ALL
            .read_with(filled.source(), |reader| TEXT.blocks(reader, left_unread))
            .unwrap()
            .blocks("all")
            .unwrap();
        let raw: Vec<&str> = items.iter().map(|item| item.raw).collect();
        assert_eq!(raw, [r#"{"text":"a\n"}"#, r#"{"other":"b\n"}"#, r#"{"text":"c\n"}"#]);
        let texts: Vec<Option<&str>> = items.iter().map(|item| item.str("text")).collect();
        assert_eq!(texts, [Some("a\n"), None, Some("c\n")]);
    }
}
