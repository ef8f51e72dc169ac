//! What is sent: keep, edit or make, message by message.

use crate::json::{self, Value, Write};

/// An RFC 6902 operation on one of the host's messages, with a JSON Pointer on the live object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(test, derive(ts_rs::TS), ts(tag = "op", rename_all = "lowercase"))]
pub enum Op {
    /// Inserts into an array, or sets a member.
    Add {
        /// JSON Pointer.
        path: String,
        /// What is put there.
        #[cfg_attr(test, ts(type = "unknown"))]
        value: Value,
    },
    /// Replaces what stands there.
    Replace {
        /// JSON Pointer.
        path: String,
        /// What is put there.
        #[cfg_attr(test, ts(type = "unknown"))]
        value: Value,
    },
    /// Removes what stands there.
    Remove {
        /// JSON Pointer.
        path: String,
    },
}

impl Write for Op {
    fn write(&self, out: &mut String) {
        let (op, path, value) = match self {
            Self::Add { path, value } => ("add", path, Some(value)),
            Self::Replace { path, value } => ("replace", path, Some(value)),
            Self::Remove { path } => ("remove", path, None),
        };
        json::object(&[("op", &op), ("path", path), ("value?", &value)], out);
    }
}

/// A message of ours, before a format gives it its shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Made {
    /// A user message: the head of a fold with kept user texts, or a line that validity needs.
    User(Vec<MadePart>),
    /// A tool result: `text` of ours for a call that has none.
    Result {
        /// The call's id, as it goes out.
        id: String,
        /// The tool's name.
        name: String,
        /// What it says.
        text: String,
        /// It reports an error; what says that there is no result always does.
        error: bool,
    },
    /// One of the host's results, at another place.
    Moved {
        /// The call's id, as it goes out.
        id: String,
        /// The tool's name.
        name: String,
        /// The host's message.
        message: u32,
        /// The piece in it.
        piece: u32,
    },
}

/// A part of a user message of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MadePart {
    /// Text of ours.
    Text(String),
    /// A part of one of the host's messages: message, piece.
    Host(u32, u32),
}

/// Something of the host's that is put into a message of ours: carried over by reference, never through the core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// JSON Pointer in the message of ours.
    pub path: String,
    /// The host's message.
    pub index: u32,
    /// JSON Pointer in it.
    pub from: String,
}

json::written!(Copied { path, index, from });

/// One message of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// The host's message as it is.
    Keep(u32),
    /// The host's message, changed.
    Edit(u32, Vec<Op>),
    /// A message of ours.
    Make(Made),
}

/// A rule that a transcript breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Violation {
    /// The invariant: `I1`..`I34` of the reliability notes.
    pub rule: &'static str,
    /// The message.
    pub index: u32,
    /// JSON Pointer in it.
    pub path: Option<String>,
    /// What is wrong, and what would be right.
    pub message: String,
}

json::written!(Violation { rule, index, path as "path?", message });

/// What mends one violation: how a message of the host goes out, or what goes out before or after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The message it is about.
    pub index: u32,
    /// What is done.
    pub kind: FixKind,
    /// What it mends.
    pub violation: Violation,
}

/// How a violation is mended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FixKind {
    /// The piece does not go out; a message with no piece left does not either.
    Drop {
        /// The piece, or `NONE` for a message that has none.
        piece: u32,
    },
    /// The piece goes out with this call id.
    Rename {
        /// The piece.
        piece: u32,
        /// The id, legal and unique.
        id: String,
    },
    /// The piece's text is replaced by this: blank results, broken Unicode.
    Text {
        /// The piece.
        piece: u32,
        /// Our text, or `None`: the host's own with every lone surrogate replaced by U+FFFD.
        text: Option<String>,
    },
    /// The call's arguments go out as an object.
    Arguments {
        /// The piece.
        piece: u32,
    },
    /// A message of ours goes out directly before this one.
    Before(Made),
    /// A message of ours goes out directly after this one.
    After(Made),
}
