//! A JSONL file as lines: each with its members, or with the reason why it has none.

use super::raw::{MAX_DEPTH, Object, place};

/// A line with something in it, or an element of a list.
#[derive(Debug)]
pub(super) struct Line<'a> {
    /// From 1, as an editor counts; of an element its place in the list.
    pub(super) number: u32,
    /// The line's JSON text.
    pub(super) text: &'a str,
    /// Its members; of a broken line those before the fault.
    pub(super) fields: Object<'a>,
    /// Why it could not be read.
    pub(super) fault: Option<String>,
}

/// All lines but blank ones.
pub(super) fn lines(text: &str) -> Vec<Line<'_>> {
    let numbered = (1_u32..).zip(text.split('\n'));
    let filled = numbered.map(|(number, line)| (number, line.trim()));
    let filled = filled.filter(|(_, line)| !line.is_empty());
    filled.map(|(number, line)| Line::read(number, line)).collect()
}

impl<'a> Line<'a> {
    /// The text as it stands, for a message that stays as it is.
    pub(super) fn raw(&self) -> Option<&'a str> {
        crate::json::parse(self.text).ok()
    }

    /// Its members, or why it has none.
    pub(super) fn read(number: u32, text: &'a str) -> Self {
        let (fields, levels) = Object::read_lossy(text);
        let fault = match levels {
            Ok(levels) if levels > MAX_DEPTH => {
                Some(format!("nested deeper than {MAX_DEPTH} levels"))
            }
            Ok(_) => None,
            Err(_) if text.contains('\0') => Some("NUL bytes".into()),
            Err(_) if !text.starts_with('{') => Some("not a JSON object".into()),
            Err(fault) => Some(place(&fault)),
        };
        Self { number, text, fields, fault }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_from_one_and_faults_are_reported() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        let text =
            format!("{{\"a\":1}}\r\n\r\n{{\"a\":\0}}\n12\n{{\"id\":\"x\",\n{deep}\n{{\"b\":2}}");
        let lines = lines(&text);
        let found: Vec<_> = lines.iter().map(|line| (line.number, line.fault.as_deref())).collect();
        assert_eq!(
            found,
            [
                (1, None),
                (3, Some("NUL bytes")),
                (4, Some("not a JSON object")),
                (5, Some("EOF while parsing a value at column 10")),
                (6, Some("nested deeper than 127 levels")),
                (7, None),
            ]
        );
        assert!(lines[3].fields.is("id", "x"));
    }
}
