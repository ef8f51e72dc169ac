//! Lone surrogates: `JSON.stringify` writes half a character as `\ud83d`, which is no Unicode and which no provider takes.
//! Most often a tool has cut its output in the middle of an emoji; stored, it would fail every later request, too (I26).
//!
//! Such a message is read a second time with each of them replaced by a stand-in that occurs nowhere else in it: where
//! the stand-in turns up, a string was broken. There it becomes U+FFFD: each such string is replaced on the host's message,
//! and nothing else of it. Usual messages pay one search for the escape.

use super::json::token;
use crate::bytes::any_pair;
use crate::hash_index::ByName;
use crate::json::{Object, Value, items};
use crate::model::{Draft, Op, Part};

/// Bytes of an escape: `\uXXXX`.
const ESCAPE: usize = 6;

/// A message's JSON with stand-ins for its lone surrogates; of the same length.
pub(super) struct Mended {
    pub(super) text: String,
    /// The stand-in and, since arguments are carried as JSON text, its escape; with what they become.
    stand_ins: [(String, &'static str); 2],
}

/// The JSON with its lone surrogates replaced, or `None` if it has none.
pub(super) fn mend(json: &str) -> Option<Mended> {
    if has_surrogate(json.as_bytes()) { mend_lone(json) } else { None }
}

#[inline(never)]
fn mend_lone(json: &str) -> Option<Mended> {
    let mut at = next_lone(json, 0)?;
    let stand_in = unused(json);
    let escape = escape_of(stand_in);
    let mut text = String::with_capacity(json.len());
    let mut done = 0;
    loop {
        text.push_str(json.get(done..at).unwrap_or_default());
        text.push_str(&escape);
        done = at.saturating_add(ESCAPE);
        match next_lone(json, done) {
            Some(next) => at = next,
            None => break,
        }
    }
    text.push_str(json.get(done..).unwrap_or_default());
    let stand_ins = [(stand_in.into(), "\u{fffd}"), (escape, "\\ufffd")];
    Some(Mended { text, stand_ins })
}

/// Whether the JSON has the escape of a surrogate.
fn has_surrogate(json: &[u8]) -> bool {
    any_pair(json, *b"\\u", |escape| matches!(escape.get(2), Some(b'd' | b'D')))
}

impl Mended {
    /// The draft read from the mended text: its broken pieces flagged, with U+FFFD for what was broken.
    pub(super) fn mark(&self, draft: Draft<'_>) -> Draft<'static> {
        let parts = draft.parts.into_iter().map(|part| self.mark_part(part.into_owned()));
        let mut parts: Vec<_> = parts.collect();
        let mut ops = Vec::new();
        self.replace(&self.text, String::new(), &mut ops);
        let mut places = ByName::default();
        for (number, part) in parts.iter().enumerate() {
            let pointer = part.piece.place.pointer();
            if !places.has(0, &pointer) {
                places.insert(0, pointer, number);
            }
        }
        for (path, op) in ops {
            let mut place = path.as_str();
            // The innermost part that the string stands in.
            let part = loop {
                if let Some(number) = places.get(0, place) {
                    break parts.get_mut(number);
                }
                let Some(slash) = place.rfind('/') else {
                    // The name of a result's tool may stand beside the content.
                    break parts.iter_mut().find(|part| part.piece.broken_unicode);
                };
                place = place.get(..slash).unwrap_or_default();
            };
            if let Some(part) = part {
                part.piece.broken_unicode = true;
                part.mended.push(op);
            }
        }
        Draft { role: draft.role, parts, at_ms: draft.at_ms }
    }

    /// What replaces the broken strings in a value that stands at `path`. A member's name cannot be replaced: where one is
    /// broken, its object is.
    fn replace(&self, json: &str, path: String, ops: &mut Vec<(String, Op)>) {
        let [(stand_in, _), (escape, with)] = &self.stand_ins;
        if !json.contains(&**escape) {
            return;
        }
        match json.as_bytes().first() {
            Some(b'[') => {
                for (at, item) in items(json).unwrap_or_default().into_iter().enumerate() {
                    self.replace(item, format!("{path}/{at}"), ops);
                }
                return;
            }
            Some(b'{') => {
                let members = Object::read(json).unwrap_or_default();
                if !members.iter().any(|(name, _)| name.contains(&**stand_in)) {
                    for (name, member) in members {
                        self.replace(member, format!("{path}/{}", token(&name)), ops);
                    }
                    return;
                }
            }
            _ => {}
        }
        let value = Value::raw(json.replace(&**escape, with));
        ops.push((path.clone(), Op::Replace { path, value }));
    }

    fn mark_part(&self, mut part: Part<'static>) -> Part<'static> {
        let clean = |text: &str| {
            let mut cleaned = None;
            for (stand_in, with) in &self.stand_ins {
                let text = cleaned.as_deref().unwrap_or(text);
                if text.contains(&**stand_in) {
                    cleaned = Some(text.replace(&**stand_in, with));
                }
            }
            cleaned
        };
        if let Some(text) = clean(&part.text) {
            part.piece.broken_unicode = true;
            part.text = text.into();
        }
        if let Some(id) = clean(&part.piece.id) {
            part.piece.broken_unicode = true;
            part.piece.id = id.into();
        }
        if let Some(name) = clean(&part.piece.name) {
            part.piece.broken_unicode = true;
            part.piece.name = name.into();
        }
        part
    }
}

/// Offset of the next escape, from `from` on, that is half a surrogate pair.
fn next_lone(json: &str, from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        // Byte by byte: a search of the library's costs more to begin than most escapes are apart.
        let slash = at;
        at = at.saturating_add(1);
        if *json.as_bytes().get(slash)? != b'\\' {
            continue;
        }
        at = at.saturating_add(1);
        match surrogate(json, slash) {
            Some(0xD800..=0xDBFF) => {
                let low = slash.saturating_add(ESCAPE);
                match surrogate(json, low) {
                    Some(0xDC00..) => at = low.saturating_add(ESCAPE),
                    _ => return Some(slash),
                }
            }
            Some(_) => return Some(slash),
            None => {}
        }
    }
}

/// The surrogate that is written as an escape at `at`.
fn surrogate(json: &str, at: usize) -> Option<u16> {
    escaped(json.as_bytes().get(at..)?).filter(|unit| (0xD800..=0xDFFF).contains(unit))
}

/// The code unit that is written as an escape at the start of these bytes. By hand: the library's way costs several times as
/// much, and a text may be nothing but escapes.
fn escaped(bytes: &[u8]) -> Option<u16> {
    let [b'\\', b'u', digits @ ..] = bytes else { return None };
    let digits = digits.first_chunk::<4>()?;
    let digit = |unit: u32, byte: &u8| Some(unit << 4 | char::from(*byte).to_digit(16)?);
    let unit = digits.iter().try_fold(0, digit)?;
    u16::try_from(unit).ok()
}

/// The noncharacters that may stand in for something else: U+FDD0 and so many after it.
const STAND_INS: u32 = 0xFDD0;

/// A noncharacter that does not occur in the text; U+FFFD if all thirty-two do.
fn unused(json: &str) -> char {
    let bytes = json.as_bytes();
    let mut used = 0_u32;
    for (at, byte) in bytes.iter().enumerate() {
        let there = bytes.get(at..).unwrap_or_default();
        let nth = match (byte, there) {
            (b'\\', there) => {
                escaped(there).and_then(|unit| u32::from(unit).checked_sub(STAND_INS))
            }
            // U+FDD0 to U+FDEF in UTF-8.
            (0xEF, [_, 0xB7, last, ..]) => u32::from(*last).checked_sub(0x90),
            _ => None,
        };
        used |= nth.and_then(|nth| 1_u32.checked_shl(nth)).unwrap_or(0);
    }
    let free = STAND_INS.saturating_add(used.trailing_ones());
    char::from_u32(free).filter(|_| used != u32::MAX).unwrap_or('\u{fffd}')
}

fn escape_of(c: char) -> String {
    format!("\\u{:04x}", u32::from(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Format;
    use proptest::prelude::*;

    proptest! {
        /// The same as a search for each way in which it is written.
        #[test]
        fn a_surrogate_escape_is_found_at_every_place(json in r"[\\udDnx]{0,40}") {
            let plain = json.contains("\\ud") || json.contains("\\uD");
            prop_assert_eq!(has_surrogate(json.as_bytes()), plain, "{}", json);
        }
    }

    #[test]
    fn surrogate_pairs_and_escaped_backslashes_are_unchanged() {
        for json in
            [r#""\ud83d\ude00""#, r#""\\ud83d""#, r#""\u001b[0m""#, r#""\uD83D\uDE00 x""#, "\"\\"]
        {
            assert!(mend(json).is_none(), "{json}");
        }
        for json in [r#""\ud83d""#, r#""\ude00\ud83d""#, r#""\ud83d\ud83d\ude00""#, r#""\\\uDBFF""#]
        {
            assert!(mend(json).is_some(), "{json}");
        }
    }

    #[test]
    fn a_stand_in_occurs_nowhere_else_however_it_is_written() {
        assert_eq!(unused("\"x\""), '\u{fdd0}');
        assert_eq!(unused("\"\u{fdd0}\""), '\u{fdd1}');
        assert_eq!(unused(r#""\uFDD0 \ufdd1""#), '\u{fdd2}');
        assert_eq!(unused("\"\u{fdd0} \\ufdd2 \u{fdcf} \u{fdf0}\""), '\u{fdd1}');
        let all: String = ('\u{fdd0}'..='\u{fdef}').collect();
        assert_eq!(unused(&all), '\u{fffd}');
    }

    #[test]
    fn every_lone_surrogate_is_replaced_at_the_same_length() {
        let json = r#"{"a":"\ud83d x \ude00","b":"\ud83d\ude00"}"#;
        let mended = mend(json).unwrap();
        assert_eq!(mended.text, r#"{"a":"\ufdd0 x \ufdd0","b":"\ud83d\ude00"}"#);
        assert_eq!(mended.text.len(), json.len());
        assert_eq!(mend(r#""\ud83d\ud83d\ude00""#).unwrap().text, r#""\ufdd0\ud83d\ude00""#);
    }

    #[test]
    fn only_an_object_with_a_broken_name_is_replaced() {
        let json = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"n",
            "input":{"p":"x","q":{"\ud83d":1,"r":"\ude00"},"s/t":["a","\udc00"]}}]}"#;
        let draft = Format::Anthropic.read(json.as_bytes(), 0).unwrap();
        let ops = draft.parts.iter().flat_map(|part| &part.mended);
        assert_eq!(
            ops.map(|op| crate::json::write(op)).collect::<Vec<_>>(),
            [
                r#"{"op":"replace","path":"/content/0/input/q","value":{"\ufffd":1,"r":"\ufffd"}}"#,
                r#"{"op":"replace","path":"/content/0/input/s~1t/1","value":"\ufffd"}"#,
            ]
        );
    }

    #[test]
    fn only_the_broken_piece_is_flagged() {
        let json = r#"{"role":"assistant","content":[{"type":"text","text":"half \ud83d \ufffd"},
            {"type":"text","text":"\ufffd \\ufdd0"},
            {"type":"tool_use","id":"a","name":"n","input":{"x":"\udc00"}}]}"#;
        let draft = Format::Anthropic.read(json.as_bytes(), 0).unwrap();
        let broken: Vec<bool> = draft.parts.iter().map(|part| part.piece.broken_unicode).collect();
        assert_eq!(broken, [true, false, true]);
        let ops = draft.parts.iter().flat_map(|part| &part.mended);
        assert_eq!(
            ops.map(|op| crate::json::write(op)).collect::<Vec<_>>(),
            [
                r#"{"op":"replace","path":"/content/0/text","value":"half \ufffd \ufffd"}"#,
                r#"{"op":"replace","path":"/content/2/input/x","value":"\ufffd"}"#,
            ]
        );
        assert_eq!(draft.parts[0].text, "half \u{fffd} \u{fffd}");
        assert_eq!(draft.parts[1].text, "\u{fffd} \\ufdd0");
        assert_eq!(draft.parts[2].text, r#"{"x":"\ufffd"}"#);
    }
}
