//! Ids of messages, blocks and groups: numbers that the compiler keeps apart.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use crate::json::Write;

/// Number of a message, a block or a group.
pub trait Id: Copy + Ord + From<u32> + Into<u32> {}

/// Ids in a row, from the first up to, but without, the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span<T> {
    /// The first.
    pub start: T,
    /// The one after the last.
    pub end: T,
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(u32);

        impl $name {
            /// The first of all.
            pub const FIRST: Self = Self(0);
            /// None of them: it is after all others, and nothing has it.
            pub const NONE: Self = Self(u32::MAX);

            /// The id of that place in the list of all; `NONE` if there can be no such place.
            pub fn at(index: usize) -> Self {
                u32::try_from(index).map_or(Self::NONE, Self)
            }

            /// Its place in the list of all.
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// Its number, as it crosses to the host or into a snapshot.
            pub const fn get(self) -> u32 {
                self.0
            }

            /// None of them.
            pub const fn is_none(self) -> bool {
                self.0 == u32::MAX
            }

            /// One of them.
            pub const fn is_some(self) -> bool {
                !self.is_none()
            }

            /// The one `count` after it.
            #[must_use]
            pub const fn plus(self, count: u32) -> Self {
                Self(self.0.saturating_add(count))
            }

            /// The one `count` before it, or the first.
            #[must_use]
            pub const fn minus(self, count: u32) -> Self {
                Self(self.0.saturating_sub(count))
            }

            /// The next.
            #[must_use]
            pub const fn next(self) -> Self {
                self.plus(1)
            }

            /// The one before it, if it is not the first.
            pub fn previous(self) -> Option<Self> {
                self.0.checked_sub(1).map(Self)
            }

            /// How many there are from `first` up to it.
            pub const fn since(self, first: Self) -> u32 {
                self.0.saturating_sub(first.0)
            }

            /// It and all after it.
            pub const fn on(self) -> Span<Self> {
                self.to(Self::NONE)
            }

            /// From it up to, but without, `end`.
            pub const fn to(self, end: Self) -> Span<Self> {
                Span { start: self, end }
            }
        }

        impl Id for $name {}

        impl From<u32> for $name {
            fn from(number: u32) -> Self {
                Self(number)
            }
        }

        impl From<$name> for u32 {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl From<$name> for i64 {
            fn from(id: $name) -> Self {
                id.0.into()
            }
        }

        impl From<$name> for u64 {
            fn from(id: $name) -> Self {
                id.0.into()
            }
        }

        impl FromStr for $name {
            type Err = ParseIntError;

            fn from_str(text: &str) -> Result<Self, ParseIntError> {
                text.parse().map(Self)
            }
        }

        impl Write for $name {
            fn write(&self, out: &mut String) {
                self.0.write(out);
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

id! {
    /// A block of a transcript, by order of arrival.
    BlockId
}

id! {
    /// A message of a transcript: its index in the host's history.
    MessageId
}

id! {
    /// Blocks that stay or go together, by the message that the group begins with; `NONE` for a block on its own.
    GroupId
}

impl GroupId {
    /// The group that begins with this message.
    pub const fn starting_at(message: MessageId) -> Self {
        Self(message.0)
    }

    /// The message that it begins with.
    pub const fn first_message(self) -> MessageId {
        MessageId(self.0)
    }
}

impl<T: Id> Span<T> {
    /// Whether it has this one.
    pub fn contains(self, id: T) -> bool {
        self.start <= id && id < self.end
    }

    /// Whether it has none.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// How many it has.
    pub fn len(self) -> usize {
        self.end.into().saturating_sub(self.start.into()) as usize
    }
}

#[expect(
    clippy::copy_iterator,
    reason = "a span is asked for its ids more often than it is walked"
)]
impl<T: Id> Iterator for Span<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let first = (self.start < self.end).then_some(self.start)?;
        self.start = first.into().saturating_add(1).into();
        Some(first)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len(), Some(self.len()))
    }
}

impl<T: Id> DoubleEndedIterator for Span<T> {
    fn next_back(&mut self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        self.end = self.end.into().saturating_sub(1).into();
        Some(self.end)
    }
}
