//! The leaves of JSON text: what the arguments of a call say, without keys and escapes.

use crate::json::{MOST_LEVELS, Read, Reader};

/// How often a string that is itself JSON is looked into.
const NESTED: u8 = 3;

/// Appends the strings, numbers (as they are written) and booleans of `json`, in their order, each on a line of its own;
/// `null` and an empty array are an empty line.
///
/// A string that is itself an object or array in JSON is looked into (three levels deep). Text that is no JSON, or nested
/// deeper than 127 levels, is its own leaf.
///
/// # Example
///
/// ```
/// let mut out = String::new();
/// plimsoll::text::leaves(r#"{"path": "src/a.rs", "edits": "[{\"line\": 12}]"}"#, &mut out);
/// assert_eq!(out, "src/a.rs\n12");
/// ```
pub fn leaves(json: &str, out: &mut String) {
    if !parse(json, NESTED, out) {
        out.push_str(json);
    }
}

/// Appends the leaves, or nothing and answers `false` where `json` is not JSON.
fn parse(json: &str, nested: u8, out: &mut String) -> bool {
    let start = out.len();
    let mut reader = Reader::new(json);
    let read = walk(&mut reader, nested, out).and_then(|()| reader.end());
    if read.is_err() {
        out.truncate(start);
    }
    read.is_ok()
}

fn walk(reader: &mut Reader<'_>, nested: u8, out: &mut String) -> Read<()> {
    // The brackets that are still to be closed.
    let mut open: Vec<u8> = Vec::new();
    loop {
        let mut first = false;
        match reader.peek() {
            Some(byte @ (b'[' | b'{')) => {
                if open.len() >= MOST_LEVELS {
                    return Err(reader.error("recursion limit exceeded"));
                }
                reader.enter();
                open.push(if byte == b'[' { b']' } else { b'}' });
                first = true;
            }
            Some(b'"') => {
                let leaf = reader.string()?;
                let looked_into = leaf.starts_with(['{', '['])
                    && nested.checked_sub(1).is_some_and(|nested| parse(&leaf, nested, out));
                if !looked_into {
                    out.push_str(&leaf);
                }
            }
            _ => {
                let word = reader.word()?;
                if word != "null" {
                    out.push_str(word);
                }
            }
        }
        loop {
            let Some(&close) = open.last() else { return Ok(()) };
            if reader.more(first, close)? {
                if !first {
                    out.push('\n');
                }
                if close == b'}' {
                    reader.key()?;
                }
                break;
            }
            open.pop();
            first = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: &str) {
        let mut out = String::from(">");
        leaves(json, &mut out);
        assert_eq!(out, format!(">{expected}"));
    }

    #[test]
    fn values_of_json_are_joined_in_order() {
        check(
            r#"{"z": "1\n", "a": [1, -2, 2.5, true, null, "é"], "e": {}}"#,
            "1\n\n1\n-2\n2.5\ntrue\n\né\n",
        );
        check("[]", "");
        check("\"{not json\"", "{not json");
    }

    #[test]
    fn json_inside_strings_is_read_too() {
        check(r#"{"a": "{\"b\": \"[1, \\\"x\\\"]\"}"}"#, "1\nx");
        check(r#"{"a": "[1, 2"}"#, "[1, 2");
    }

    #[test]
    fn a_text_that_is_no_json_is_a_single_leaf() {
        check("ls -la", "ls -la");
        check("", "");
        check("[1, 2] trailing", "[1, 2] trailing");
        let deep = "[".repeat(100_000);
        check(&deep, &deep);
        let closed = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
        check(&closed, &closed);
        let mut nested = String::from("[1]");
        for _ in 0..8 {
            nested = serde_json::to_string(&[nested]).unwrap();
        }
        let mut out = String::new();
        leaves(&nested, &mut out);
        assert!(out.starts_with('[') && out.len() < nested.len());
    }
}
