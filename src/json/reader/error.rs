//! Why text is not the JSON that was wanted.

use std::borrow::Cow;
use std::fmt;

/// Why text is not the JSON that was wanted, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Fault>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Fault {
    what: Cow<'static, str>,
    offset: usize,
    line: usize,
    column: usize,
    member: Option<&'static str>,
}

impl Error {
    /// What is wrong.
    pub fn what(&self) -> &str {
        &self.0.what
    }

    /// What was found: a value as it is written, `an array`, `an object`, or the member that is missing.
    pub fn got(&self) -> String {
        let what = self.what();
        if let Some(member) = what.strip_prefix("missing field ") {
            return format!("no {member}");
        }
        let wrong =
            what.strip_prefix("invalid type: ").and_then(|it| it.rsplit_once(", expected "));
        wrong.map_or(what, |(got, _)| got).into()
    }

    /// The member of a `Shape` that is not as it must be.
    pub fn member(&self) -> Option<&'static str> {
        self.0.member
    }

    /// The same, of this member.
    pub(in crate::json) fn of(mut self, member: &'static str) -> Self {
        self.0.member = Some(member);
        self
    }

    /// So many bytes were read when it showed.
    pub fn offset(&self) -> usize {
        self.0.offset
    }

    /// The line it is in, from 1.
    pub fn line(&self) -> usize {
        self.0.line
    }

    /// Bytes of that line that were read when it showed.
    pub fn column(&self) -> usize {
        self.0.column
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { what, line, column, .. } = &*self.0;
        write!(f, "{what} at line {line} column {column}")
    }
}

impl std::error::Error for Error {}

/// What is wrong, so many bytes into the text.
pub(super) fn fault(text: &str, offset: usize, what: Cow<'static, str>) -> Error {
    let before = text.as_bytes().get(..offset).unwrap_or_default();
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let line = text.get(..offset).map_or(0, |text| text.matches('\n').count()) + 1;
    Error(Box::new(Fault { what, offset, line, column: offset - start, member: None }))
}
