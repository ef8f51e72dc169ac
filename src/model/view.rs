//! View: the messages of a request, each kept, edited or made.

use crate::json::{self, Value, Write};

use super::{MessageId, NONE, Place};

/// Operation on one of your messages, as in RFC 6902 (JSON Patch).
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(test, derive(ts_rs::TS), ts(tag = "op", rename_all = "lowercase"))]
pub enum Op {
    /// Inserts into an array, or sets a member.
    Add {
        /// JSON Pointer into the message.
        path: String,
        /// The new value.
        #[cfg_attr(test, ts(type = "unknown"))]
        value: Value,
    },
    /// Replaces a value.
    Replace {
        /// JSON Pointer into the message.
        path: String,
        /// The new value.
        #[cfg_attr(test, ts(type = "unknown"))]
        value: Value,
    },
    /// Removes a value.
    Remove {
        /// JSON Pointer into the message.
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
        /// Where the call stands, or the result in whose place this one is: some formats have a kind of result for each
        /// kind of call.
        like: Place,
        /// The toolset that the tool is of; empty where there is none.
        toolset: String,
    },
    /// One of the host's results, at another place.
    Moved {
        /// The call's id, as it goes out.
        id: String,
        /// The tool's name.
        name: String,
        /// The host's message.
        message: MessageId,
        /// The piece in it.
        piece: u32,
    },
    /// All results of a turn in one message, where the provider wants them so: each a `Result` or a `Moved`.
    Results(Vec<Self>),
}

/// A part of a user message of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MadePart {
    /// Text of ours.
    Text(String),
    /// A part of one of the host's messages: message, piece.
    Host(MessageId, u32),
}

json::json_struct! {
    /// Something of the host's that is put into a message of ours: carried over by reference, never through the core.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Copied {
        /// JSON Pointer in the message of ours.
        pub path: String,
        /// The host's message.
        pub index: MessageId,
        /// JSON Pointer in it.
        pub from: String,
    }
}

/// One message of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// The host's message as it is.
    Keep(MessageId),
    /// The host's message, changed.
    Edit(MessageId, Vec<Op>),
    /// A message of ours.
    Make(Made),
    /// Several in one, because the provider wants roles to alternate; or the system's message as the user's.
    Join(Voice, Vec<Joint>),
    /// A line of ours in the assistant's name, between two of the user's; it claims nothing.
    Filler(&'static str),
}

impl Item {
    /// The messages of the host's that it is made of.
    pub fn hosts(&self) -> impl Iterator<Item = MessageId> {
        let (one, parts) = match self {
            Self::Keep(at) | Self::Edit(at, _) => (Some(*at), [].as_slice()),
            Self::Make(_) | Self::Filler(_) => (None, [].as_slice()),
            Self::Join(_, parts) => (None, parts.as_slice()),
        };
        let mut last = None;
        let joined = parts.iter().filter_map(move |part| {
            let Joint::Host(message, _) = *part else { return None };
            (last.replace(message) != Some(message)).then_some(message)
        });
        one.into_iter().chain(joined)
    }
}

/// Whose a joined message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    /// The user's.
    User,
    /// The model's.
    Assistant,
}

/// A part of a joined message.
#[derive(Clone, Debug, PartialEq)]
pub enum Joint {
    /// A piece of one of the host's messages: message, piece. It goes out as it would on its own.
    Host(MessageId, u32),
    /// All that a message of ours says.
    Made(Made),
}

json::json_struct! {
    /// Violation of a provider's rule.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
    pub struct Violation {
        /// Id of a rule in `docs/rules.md`.
        pub rule: &'static str,
        /// Index of the message.
        pub index: u32,
        /// JSON Pointer into the message.
        pub path: Option<String> as "path?",
        /// What is wrong and what the provider expects, in words.
        pub message: String,
    }
}

/// What mends one violation: how a message of the host goes out, or what goes out before or after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The message it is about.
    pub index: MessageId,
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
    /// The piece's text is replaced by this: a blank result. Of a call that holds its own result: it is answered with this.
    Text {
        /// The piece.
        piece: u32,
        /// Our text, or `None`: the host's own without its blank blocks.
        text: Option<String>,
    },
    /// Half surrogate pairs in the piece's strings go out as U+FFFD.
    Unicode {
        /// The piece.
        piece: u32,
    },
    /// The call's arguments go out as an object.
    Arguments {
        /// The piece.
        piece: u32,
    },
    /// The call goes out with the sentinel that stands for a lost signature.
    Sign {
        /// The piece.
        piece: u32,
    },
    /// These of the piece's cache markers do not go out.
    Unmark {
        /// The piece.
        piece: u32,
        /// See [`Traits::marks`](super::Traits::marks).
        marks: u64,
    },
    /// The system's message goes out as the user's, at its place.
    AsUser,
    /// It goes out in one message with the one before it, or with a line of ours between them.
    Turn,
    /// A message of ours goes out directly before this one.
    Before(Made),
    /// A message of ours goes out directly after this one.
    After(Made),
}

impl FixKind {
    /// The piece that it changes, or `NONE`.
    pub const fn piece(&self) -> u32 {
        match self {
            Self::Drop { piece }
            | Self::Rename { piece, .. }
            | Self::Text { piece, .. }
            | Self::Unicode { piece }
            | Self::Arguments { piece }
            | Self::Sign { piece }
            | Self::Unmark { piece, .. } => *piece,
            Self::AsUser | Self::Turn | Self::Before(_) | Self::After(_) => NONE,
        }
    }
}
