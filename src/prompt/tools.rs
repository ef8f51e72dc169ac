//! Descriptions of tools, cut to a number of characters: the longest first (A43).

use crate::argument;
use crate::error::{Error, Result};
use crate::json::{self, Object, RawValue};
use crate::sort::{down, sort_by};
use crate::text::{line_end_before, prefix, utf16_len};

/// Stands where a description was cut.
const MARKER: &str = "\n[TRUNCATED]";
/// Of a description without a paragraph this much stays, where it can.
const LEAST: usize = 200;

/// The descriptions in at most `max_chars` UTF-16 code units, if their first paragraphs (or 200 characters of each) leave that
/// room: the longest are cut first, none to less than that, none gets longer.
///
/// ```
/// use plimsoll::prompt::trim_descriptions;
/// let long = format!("Reads a file.\n\n{}", "x".repeat(1_000));
/// let cut = trim_descriptions(&[&long, "Lists files."], 300);
/// assert!(cut[0].starts_with("Reads a file.") && cut[0].ends_with("\n[TRUNCATED]") && cut[0].len() <= 300 - 12);
/// assert_eq!(cut[1], "Lists files.");
/// ```
pub fn trim_descriptions(descriptions: &[&str], max_chars: usize) -> Vec<String> {
    let mut sizes: Vec<(usize, usize)> =
        descriptions.iter().map(|text| utf16_len(text)).enumerate().collect();
    let total = sizes.iter().fold(0usize, |sum, (_, size)| sum.saturating_add(*size));
    let mut excess = total.saturating_sub(max_chars);
    let mut out: Vec<String> = descriptions.iter().map(ToString::to_string).collect();
    sort_by(&mut sizes, |(_, size)| (down(*size as u64), 0));
    for (at, size) in sizes {
        let Some(text) = out.get_mut(at).filter(|_| excess > 0) else { break };
        let least = utf16_len(first_paragraph(text)).min(size);
        let least = if least < size { least } else { LEAST };
        let room = size.saturating_sub(excess).saturating_sub(MARKER.len()).max(least);
        let kept = prefix(text, room);
        // At a line's end if one is near, but not before the first paragraph's.
        let end = line_end_before(kept, kept.len());
        let kept = kept
            .get(..end)
            .filter(|line| utf16_len(line.trim_end()) >= least)
            .unwrap_or(kept)
            .trim_end();
        let cut = format!("{kept}{MARKER}");
        let now = utf16_len(&cut);
        if now < size {
            excess = excess.saturating_sub(size.saturating_sub(now));
            *text = cut;
        }
    }
    out
}

/// Members that hold a definition's own members: `OpenAI`'s and Bedrock's.
const NESTED: [&str; 2] = ["function", "toolSpec"];
/// Members that list definitions: Gemini's.
const LISTS: [&str; 2] = ["functionDeclarations", "function_declarations"];

/// Finds the descriptions of a tool, each with its JSON Pointer.
///
/// # Errors
/// `InvalidArgument` with the place and the name of a definition that has none.
pub fn descriptions(
    path: String,
    place: &str,
    tool: &RawValue,
    found: &mut Vec<(String, String)>,
) -> Result<()> {
    let tool = Object::read(tool).unwrap_or_default();
    // A definition inside a definition inside a definition is no provider's.
    let deep = place.matches('.').count() > 2;
    for name in LISTS.into_iter().filter(|_| !deep) {
        let Some(listed) = tool.raw(name).and_then(|it| json::items(it).ok()) else { continue };
        for (at, one) in listed.into_iter().enumerate() {
            let place = format!("{place}.{name}[{at}]");
            descriptions(format!("{path}/{name}/{at}"), &place, one, found)?;
        }
        return Ok(());
    }
    let nested = NESTED.iter().find_map(|name| Some((name, tool.raw(name)?))).filter(|_| !deep);
    if let Some((name, nested)) = nested {
        return descriptions(format!("{path}/{name}"), &format!("{place}.{name}"), nested, found);
    }
    let Some(description) = tool.raw("description") else {
        let name = tool.string("name").unwrap_or_default();
        let got = format!("a tool without one: \"{name}\"");
        return Err(Error::argument(&format!("{place}.description"), "a description", got));
    };
    let text = argument::text(format_args!("{place}.description"), description)?;
    found.push((format!("{path}/description"), text));
    Ok(())
}

/// Up to the first blank line.
fn first_paragraph(text: &str) -> &str {
    let end = ["\n\n", "\r\n\r\n"].iter().filter_map(|blank| text.find(blank)).min();
    end.map_or(text, |end| text.get(..end).unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Row A43.
    #[test]
    fn a_description_is_found_in_the_shape_of_each_provider() {
        let found = |tool: &str| {
            let mut all = Vec::new();
            descriptions("/0".into(), "tools[0]", tool, &mut all).map(|()| all)
        };
        let one = |path: &str| Ok(vec![(path.to_owned(), "Reads.".to_owned())]);
        assert_eq!(found(r#"{"name":"a","description":"Reads."}"#), one("/0/description"));
        assert_eq!(
            found(r#"{"type":"function","function":{"name":"a","description":"Reads."}}"#),
            one("/0/function/description")
        );
        assert_eq!(
            found(r#"{"toolSpec":{"name":"a","description":"Reads."}}"#),
            one("/0/toolSpec/description")
        );
        assert_eq!(
            found(r#"{"functionDeclarations":[{"name":"a","description":"Reads."}]}"#),
            one("/0/functionDeclarations/0/description")
        );
        let error = |tool: &str| found(tool).unwrap_err().to_string();
        assert_eq!(
            error(r#"{"functionDeclarations":[{"name":"bare"}]}"#),
            "tools[0].functionDeclarations[0].description: expected a description, got a tool without one: \"bare\""
        );
        assert_eq!(
            error(r#"{"name":"a","description":7}"#),
            "tools[0].description: expected a string, got 7"
        );
        assert!(error("null").contains("a tool without one"));
        let deep = format!("{}7{}", r#"{"function":"#.repeat(100), "}".repeat(100));
        assert!(error(&deep).starts_with("tools[0].function.function.function.description:"));
    }

    fn sum(texts: &[String]) -> usize {
        texts.iter().map(|text| utf16_len(text)).sum()
    }

    /// Row A43.
    #[test]
    fn descriptions_within_the_limit_are_unchanged() {
        assert_eq!(trim_descriptions(&["one", "two"], 6), ["one", "two"]);
        assert_eq!(trim_descriptions(&[], 0), Vec::<String>::new());
    }

    /// Row A43.
    #[test]
    fn the_longest_description_is_cut_first_to_its_first_paragraph() {
        let long = format!("First paragraph.\n\n{}", "y".repeat(5_000));
        let cut = trim_descriptions(&["short", &long], 500);
        assert_eq!(cut[0], "short");
        assert!(cut[1].starts_with("First paragraph.\n\ny") && cut[1].ends_with(MARKER));
        assert!(sum(&cut) <= 500 && sum(&cut) > 480, "{}", sum(&cut));
        let little = trim_descriptions(&[&long], 1);
        assert_eq!(little[0], "First paragraph.\n[TRUNCATED]");
    }

    /// Row A43.
    #[test]
    fn a_description_without_a_paragraph_keeps_two_hundred_characters() {
        let cut = trim_descriptions(&[&"z".repeat(5_000)], 10);
        assert_eq!(cut[0], format!("{}{MARKER}", "z".repeat(200)));
    }

    /// Row A43.
    #[test]
    fn a_description_is_cut_at_the_end_of_a_line() {
        let text = format!("Reads a file.\n\n{}", "one more line of it\n".repeat(50));
        let lines = "one more line of it\n".repeat(23);
        let cut = format!("Reads a file.\n\n{}{MARKER}", lines.trim_end());
        assert_eq!(trim_descriptions(&[&text], 500), [cut]);
    }

    /// A43: 210 characters with a limit of 209 would get longer by the marker.
    /// Row A43.
    #[test]
    fn a_description_never_gets_longer() {
        let text = "w".repeat(210);
        assert_eq!(trim_descriptions(&[&text], 209).concat(), text);
        let text = "w".repeat(212);
        assert_eq!(trim_descriptions(&[&text], 211).concat(), text, "as long with the marker");
        let text = "w".repeat(250);
        assert_eq!(utf16_len(&trim_descriptions(&[&text], 249)[0]), 249);
    }

    proptest! {
        #[test]
        fn descriptions_get_no_longer_and_are_cut_only_over_the_limit(
            texts in prop::collection::vec("(\\PC|\n){0,500}", 0..6), max in 0usize..2_000,
        ) {
            let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
            let cut = trim_descriptions(&borrowed, max);
            for (cut, text) in cut.iter().zip(&texts) {
                prop_assert!(utf16_len(cut) <= utf16_len(text));
                prop_assert!(cut == text || cut.ends_with(MARKER));
            }
            prop_assert!(sum(&texts) > max || cut == texts);
        }
    }
}
