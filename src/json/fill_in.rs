//! JSON whose long texts are handed over beside it: they cost less as they are than written as strings of JSON.

use std::borrow::Cow;

use super::value::quote;

/// JSON as `JSON.stringify` writes it whole, from its pieces: between each two of them stands the text that belongs there.
///
/// # Example
/// ```
/// let json = plimsoll::json::fill_in(r#"{"a":"#, &["x\n", r#","b":["#, "y", "]}"]);
/// assert_eq!(json, r#"{"a":"x\n","b":["y"]}"#);
/// ```
pub fn fill_in<'a>(first: &'a str, others: &[&str]) -> Cow<'a, str> {
    if others.is_empty() {
        return Cow::Borrowed(first);
    }
    let length = others.iter().fold(first.len(), |sum, text| sum.saturating_add(text.len()));
    // Line ends take two bytes, and lines are rarely shorter than this.
    let mut filled = String::with_capacity(length.saturating_add(length / 16));
    filled.push_str(first);
    for (at, other) in others.iter().enumerate() {
        if at % 2 == 0 { quote(other, &mut filled) } else { filled.push_str(other) }
    }
    Cow::Owned(filled)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::fill_in;

    proptest! {
        #[test]
        fn filled_json_is_what_it_was_before_its_texts_were_taken_out(texts in prop::collection::vec(any::<String>(), 1..5)) {
            let pieces = texts.iter().enumerate().flat_map(|(at, text)| [if at == 0 { "[" } else { "," }, text]);
            let all: Vec<&str> = pieces.chain(["]"]).collect();
            prop_assert_eq!(fill_in(all[0], &all[1..]), serde_json::to_string(&texts).unwrap());
        }
    }
}
