//! One error for the whole core; its codes and messages are part of the public contract.

use std::fmt;

pub use crate::json::listed;
use crate::json::{self, Write};

/// Error of the core. It is one word: what can fail takes little code where it does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<ErrorInfo>);

/// What is wrong, where, and what is allowed. As JSON it is the `info` of a `PlimsollError`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "CoreError", tag = "code"))]
#[cfg_attr(test, ts(rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase"))]
pub enum ErrorInfo {
    /// An argument or option is not of the form it must have.
    InvalidArgument {
        /// Name of the argument, with its path if it is nested: `window.contextTokens`.
        argument: String,
        /// What is allowed.
        expected: String,
        /// What was passed, as text.
        got: String,
    },
    /// An option that does not exist. As `info`, an `InvalidArgument`.
    #[cfg_attr(test, ts(skip))]
    UnknownOption {
        /// The option's name, with its path.
        argument: String,
        /// The names that exist there: `a, b, c`.
        known: String,
        /// Its value.
        got: String,
    },
    /// The messages are of no format that is known.
    UnknownFormat {
        /// What the first messages looked like.
        saw: String,
    },
    /// A message is not of its format.
    MalformedMessage {
        /// Index of the message in the history.
        index: u32,
        /// JSON Pointer into the message, or `line L column C` of its JSON.
        path: String,
        /// What is allowed there.
        expected: String,
    },
    /// Something is larger than its cap.
    TooLarge {
        /// What is too large.
        what: String,
        /// Its size, in bytes or UTF-16 code units.
        #[cfg_attr(test, ts(type = "number"))]
        size: u64,
        /// The largest size that is allowed, in the same unit.
        #[cfg_attr(test, ts(type = "number"))]
        cap: u64,
    },
    /// The history that a plan was made for has changed.
    StalePlan {
        /// The history that the plan was made for.
        planned: String,
        /// The history now.
        found: String,
    },
    /// A snapshot or record does not verify.
    CorruptState {
        /// The snapshot or record.
        what: String,
        /// What does not verify.
        reason: String,
    },
}

/// The result of anything in the core that can fail.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of this.
    #[cold]
    pub fn new(info: ErrorInfo) -> Self {
        Self(Box::new(info))
    }

    /// An option that does not exist.
    pub fn unknown_option(argument: &str, known: &[&str], got: &str) -> Self {
        let known = listed(known, "");
        Self::new(ErrorInfo::UnknownOption { argument: argument.into(), known, got: got.into() })
    }

    /// The options that exist where one did not.
    pub fn known_options(&self) -> Option<&str> {
        match self.info() {
            ErrorInfo::UnknownOption { known, .. } => Some(known),
            ErrorInfo::InvalidArgument { .. }
            | ErrorInfo::UnknownFormat { .. }
            | ErrorInfo::MalformedMessage { .. }
            | ErrorInfo::TooLarge { .. }
            | ErrorInfo::StalePlan { .. }
            | ErrorInfo::CorruptState { .. } => None,
        }
    }

    /// An argument that is not of the form it must have.
    pub fn argument(argument: &str, expected: &str, got: impl fmt::Display) -> Self {
        Self::new(ErrorInfo::InvalidArgument {
            argument: argument.into(),
            expected: expected.into(),
            got: got.to_string(),
        })
    }

    /// What is wrong.
    pub const fn info(&self) -> &ErrorInfo {
        &self.0
    }
}

impl Write for Error {
    fn write(&self, out: &mut String) {
        let members: &[(&str, &dyn Write)] = match self.info() {
            ErrorInfo::InvalidArgument { argument, expected, got } => &[
                ("code", &"INVALID_ARGUMENT"),
                ("argument", argument),
                ("expected", expected),
                ("got", got),
            ],
            ErrorInfo::UnknownOption { argument, known, got } => &[
                ("code", &"INVALID_ARGUMENT"),
                ("argument", argument),
                ("expected", &format!("one of {known}")),
                ("got", got),
            ],
            ErrorInfo::UnknownFormat { saw } => &[("code", &"UNKNOWN_FORMAT"), ("saw", saw)],
            ErrorInfo::MalformedMessage { index, path, expected } => &[
                ("code", &"MALFORMED_MESSAGE"),
                ("index", index),
                ("path", path),
                ("expected", expected),
            ],
            ErrorInfo::TooLarge { what, size, cap } => {
                &[("code", &"TOO_LARGE"), ("what", what), ("size", size), ("cap", cap)]
            }
            ErrorInfo::StalePlan { planned, found } => {
                &[("code", &"STALE_PLAN"), ("planned", planned), ("found", found)]
            }
            ErrorInfo::CorruptState { what, reason } => {
                &[("code", &"CORRUPT_STATE"), ("what", what), ("reason", reason)]
            }
        };
        json::object(members, out);
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.info() {
            ErrorInfo::InvalidArgument { argument, expected, got } => {
                write!(f, "{argument}: expected {expected}, got {got}")
            }
            ErrorInfo::UnknownOption { argument, known, .. } => {
                write!(f, "unknown option {argument}; the options are {known}")
            }
            ErrorInfo::UnknownFormat { saw } => write!(f, "unknown format: saw {saw}"),
            ErrorInfo::MalformedMessage { index, path, expected } => {
                write!(f, "message {index}, at {path}: expected {expected}")
            }
            ErrorInfo::TooLarge { what, size, cap } => {
                write!(f, "{what} has {size} bytes; at most {cap} are taken")
            }
            ErrorInfo::StalePlan { planned, found } => {
                write!(
                    f,
                    "the history has changed since the plan was made: planned {planned}, found {found}"
                )
            }
            ErrorInfo::CorruptState { what, reason } => {
                write!(f, "{what} does not verify: {reason}")
            }
        }
    }
}

impl std::error::Error for Error {}

/// It was refused since the history has changed.
#[cfg(test)]
pub(crate) fn is_stale<T>(result: &Result<T>) -> bool {
    result.as_ref().is_err_and(|error| matches!(error.info(), ErrorInfo::StalePlan { .. }))
}
