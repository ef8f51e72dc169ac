//! Reason why a summary is refused.

use std::borrow::Cow;

/// Why an answer is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Empty,
    Cut,
    Refused,
    Inflated,
    Unverified,
}

impl Fault {
    /// Its public name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Cut => "cut",
            Self::Refused => "refused",
            Self::Inflated => "inflated",
            Self::Unverified => "unverified",
        }
    }

    pub(super) const fn why<T>(self, why: &'static str) -> Result<T, Why> {
        Err((self, Cow::Borrowed(why)))
    }
}

/// A fault, and what the answer lacks in words.
pub(super) type Why = (Fault, Cow<'static, str>);
