//! Messages as JavaScript writes them.
//!
//! A host that parses a message and writes it again gets the same value in another spelling: without blanks, `1` for `1.0`. Tool
//! arguments are counted as they are spelled, so a session counts the same whoever holds its messages only in one spelling. That of
//! `JSON.stringify` is the host's; it writes numbers and orders keys by rules of its own, which JavaScript itself is asked for.

use super::shortest::is_shortest;
use crate::bytes::plain_until;

/// More keys than this in one object are not compared.
const KEYS: usize = 64;

/// `JSON.stringify(JSON.parse(json))` is `json`. False if that is not certain; `json` is valid JSON.
pub fn is_canonical(json: &str) -> bool {
    let mut rest = json.as_bytes();
    // Of each object that is open its keys; of an array none.
    let mut open: Vec<Vec<&[u8]>> = Vec::new();
    while let Some((byte, after)) = rest.split_first() {
        rest = match byte {
            b' ' | b'\n' | b'\r' | b'\t' => return false,
            b'"' => {
                let Some(length) = string(after) else { return false };
                let (text, after) = after.split_at_checked(length).unwrap_or((after, &[]));
                let after = after.get(1..).unwrap_or_default();
                if after.first() == Some(&b':')
                    && !open.last_mut().is_some_and(|keys| is_new(keys, text))
                {
                    return false;
                }
                after
            }
            b'-' | b'0'..=b'9' => {
                let length = rest.iter().take_while(|byte| is_numeric(**byte)).count();
                let (number, after) = rest.split_at_checked(length).unwrap_or((rest, &[]));
                if !is_plain(number) {
                    return false;
                }
                after
            }
            b'{' | b'[' => {
                open.push(Vec::new());
                after
            }
            b'}' | b']' => {
                open.pop();
                after
            }
            _ => after,
        };
    }
    true
}

/// Length of a string up to its quote; `None` if an escape is written otherwise.
fn string(text: &[u8]) -> Option<usize> {
    let mut at = 0_usize;
    loop {
        at = plain_until(text, at);
        match text.get(at)? {
            b'"' => return Some(at),
            _ => at = at.saturating_add(escape(text.get(at..)?)?),
        }
    }
}

/// Length of an escape: the short ones, and control characters that have none.
fn escape(text: &[u8]) -> Option<usize> {
    match text {
        [_, b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't', ..] => Some(2),
        [_, b'u', b'0', b'0', b'0', b'0'..=b'7' | b'b' | b'e' | b'f', ..]
        | [_, b'u', b'0', b'0', b'1', b'0'..=b'9' | b'a'..=b'f', ..] => Some(6),
        _ => None,
    }
}

/// A key that comes once, and where it stands: numbers come first, wherever they are written.
fn is_new<'a>(keys: &mut Vec<&'a [u8]>, key: &'a [u8]) -> bool {
    let is_number = !key.is_empty() && key.iter().all(u8::is_ascii_digit);
    // `"a"` and `"\u0061"` are one key.
    let is_escaped = key.contains(&b'\\');
    if is_number || is_escaped || keys.len() >= KEYS || keys.contains(&key) {
        return false;
    }
    keys.push(key);
    true
}

fn is_numeric(byte: u8) -> bool {
    matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')
}

/// A number without exponent that a float keeps, as it is written.
fn is_plain(number: &[u8]) -> bool {
    let is_negative = number.first() == Some(&b'-');
    let digits = number.get(usize::from(is_negative)..).unwrap_or_default();
    let mut parts = digits.splitn(2, |byte| *byte == b'.');
    let (integer, fraction) = (parts.next().unwrap_or_default(), parts.next());
    let all = || integer.iter().chain(fraction.unwrap_or_default()).copied();
    let is_small = integer == b"0" && fraction.is_some_and(|part| part.starts_with(b"000000"));
    let is_zero = digits == b"0" && is_negative;
    all().all(|byte| byte.is_ascii_digit())
        && !is_small
        && !is_zero
        && fraction.is_none_or(|part| !part.ends_with(b"0"))
        && is_shortest(all(), fraction.map_or(0, <[u8]>::len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_javascript_would_write_otherwise_is_recognized() {
        for same in [
            "null",
            r#"{"a":[1,-2,0.5,-0.25,0.00001,123456789.12345,0.013875000000000002,true,"é\n\\\"\u001b\u0000"],"b":{"a":{}}}"#,
            r#"[{"id":"1"},{"id":"1"},"0","\u2028"]"#.replace("\\u2028", "\u{2028}").as_str(),
        ] {
            assert!(is_canonical(same), "{same}");
        }
        for other in [
            r#"{"a": 1}"#,
            "[1,\n2]",
            "1.0",
            "1e3",
            "-0",
            "0.0000001",
            "1234567890123456",
            "0.013875000000000001",
            r#""\u00e9""#,
            r#""\u000a""#,
            r#""\u001B""#,
            r#""\/""#,
            r#""\ud800""#,
            r#"{"b":1,"0":2}"#,
            r#"{"a":1,"a":2}"#,
            r#"{"a\n":1}"#,
        ] {
            assert!(!is_canonical(other), "{other}");
        }
    }
}
