//! The leaves of JSON text: what the arguments of a call say, without keys and escapes.

use std::fmt::Write;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// How often a string that is itself JSON is looked into.
const NESTED: u8 = 3;

/// Appends the strings, numbers and booleans of `json`, in their order, each on a line of its own; `null` and an empty
/// array are an empty line.
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
    let mut reader = serde_json::Deserializer::from_str(json);
    let read =
        Leaves { nested, first: true, out }.deserialize(&mut reader).and_then(|()| reader.end());
    if read.is_err() {
        out.truncate(start);
    }
    read.is_ok()
}

struct Leaves<'a> {
    nested: u8,
    first: bool,
    out: &'a mut String,
}

impl Leaves<'_> {
    fn write<E: Error>(self, leaf: impl std::fmt::Display) -> Result<(), E> {
        write!(self.out, "{leaf}").map_err(E::custom)
    }
}

impl<'de> DeserializeSeed<'de> for Leaves<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        if !self.first {
            self.out.push('\n');
        }
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Leaves<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_bool<E: Error>(self, leaf: bool) -> Result<(), E> {
        self.write(leaf)
    }

    fn visit_i64<E: Error>(self, leaf: i64) -> Result<(), E> {
        self.write(leaf)
    }

    fn visit_u64<E: Error>(self, leaf: u64) -> Result<(), E> {
        self.write(leaf)
    }

    fn visit_f64<E: Error>(self, leaf: f64) -> Result<(), E> {
        // As JSON writes it, which is also what links no second way of writing floats.
        serde_json::Number::from_f64(leaf).map_or(Ok(()), |leaf| self.write(leaf))
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, leaf: &str) -> Result<(), E> {
        let looked_into = leaf.starts_with(['{', '['])
            && self.nested.checked_sub(1).is_some_and(|nested| parse(leaf, nested, self.out));
        if !looked_into {
            self.out.push_str(leaf);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Leaves { nested, out, .. } = self;
        let mut first = true;
        while items.next_element_seed(Leaves { nested, first, out: &mut *out })?.is_some() {
            first = false;
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let Leaves { nested, out, .. } = self;
        let mut first = true;
        while members.next_key::<IgnoredAny>()?.is_some() {
            members.next_value_seed(Leaves { nested, first, out: &mut *out })?;
            first = false;
        }
        Ok(())
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
    fn joins_values_in_their_order() {
        check(
            r#"{"z": "1\n", "a": [1, -2, 2.5, true, null, "é"], "e": {}}"#,
            "1\n\n1\n-2\n2.5\ntrue\n\né\n",
        );
        check("[]", "");
        check("\"{not json\"", "{not json");
    }

    #[test]
    fn looks_into_json_in_strings() {
        check(r#"{"a": "{\"b\": \"[1, \\\"x\\\"]\"}"}"#, "1\nx");
        check(r#"{"a": "[1, 2"}"#, "[1, 2");
    }

    #[test]
    fn what_is_no_json_is_its_own_leaf() {
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
