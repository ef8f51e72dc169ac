//! A section of a system prompt, as the host gives it.

use std::borrow::Cow;

/// A part of the prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section<'t> {
    /// Its name: `base`, `memory:soul`, `rules:testing`, `git`. Boosts go by it.
    pub key: Cow<'t, str>,
    /// Its text, with the line ends that part it from the next.
    pub content: Cow<'t, str>,
    /// 0 to 100; what has less goes first.
    pub priority: u32,
    /// Cut only after everything else, or never.
    pub protected: bool,
    /// Where it comes from.
    pub source: Option<Cow<'t, str>>,
    /// `always-on` or `task-local`.
    pub scope: Option<Cow<'t, str>>,
    /// Why it is there.
    pub reason: Option<Cow<'t, str>>,
    /// What speaks for it.
    pub evidence: Vec<String>,
    /// It is the same from request to request: a prompt cache may count on it.
    pub stable: bool,
}

/// What becomes of protected sections when they alone are over the total (D4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protect {
    /// They are cut after all others.
    #[default]
    Last,
    /// They stay whole; the prompt may be over its budget.
    Never,
    /// It is an error.
    Error,
}

/// In what order sections stand in the prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As given.
    #[default]
    Insertion,
    /// Those that are stable first, each kind as given.
    StableFirst,
    /// The order of `AceClaw`'s requests (`super::aceclaw`).
    Aceclaw,
}
