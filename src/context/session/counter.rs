//! Token counter: an estimator of ours, or the numbers of the host's own counter.
//!
//! The core calls no function of the host's: it says which texts it would count, and takes the numbers with them.

use std::slice::Iter;

use crate::context::request::request_extras::Parts;
use crate::context::session::Session;
use crate::error::{Error, Result};
use crate::estimate::{Estimator, image_tokens};
use crate::format::Format;
use crate::json;
use crate::model::{Draft, Kind};

/// Counts texts one after the other, in the order in which `texts` names them.
pub(in crate::context) struct Counter<'g> {
    /// For what the host was not asked about.
    pub(in crate::context) estimator: Estimator,
    /// Of an image, and of a page of a document.
    pub(in crate::context) image_tokens: u32,
    counts: Iter<'g, u32>,
    /// What the host's counter made of texts, and the default profile of the same.
    pub(in crate::context) learned: Learned,
}

/// Two counts of the same texts: how the host's counter compares with the default profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::context) struct Learned {
    host: u64,
    ours: u64,
}

impl Learned {
    /// Takes up another pair of sums.
    pub(in crate::context) fn add(&mut self, other: Self) {
        self.host = self.host.saturating_add(other.host);
        self.ours = self.ours.saturating_add(other.ours);
    }

    /// What stands for the host's counter where it cannot be asked: our own lines.
    pub(in crate::context) fn estimator(self) -> Estimator {
        let permille = self.host.saturating_mul(1000).div_ceil(self.ours.max(1));
        let known = self.ours > 0;
        Estimator::Scaled(if known { u32::try_from(permille).unwrap_or(u32::MAX) } else { 1000 })
    }
}

impl<'g> Counter<'g> {
    /// Counts by the estimator, but for the texts that come with a number of the host's.
    pub(in crate::context) fn new(estimator: Estimator, counts: &'g [u32]) -> Self {
        let image_tokens = image_tokens();
        Self { estimator, image_tokens, counts: counts.iter(), learned: Learned::default() }
    }

    /// Tokens of the next text.
    pub(in crate::context) fn tokens(&mut self, text: &str) -> u32 {
        if text.is_empty() {
            return 0;
        }
        let Some(&host) = self.counts.next() else { return self.estimator.tokens(text) };
        let ours = Estimator::default().tokens(text);
        self.learned.add(Learned { host: u64::from(host), ours: u64::from(ours) });
        host
    }
}

/// The texts of a message that are counted.
pub(in crate::context) fn texts<'d>(draft: &'d Draft<'_>) -> Vec<&'d str> {
    let mut texts = Vec::new();
    for part in draft.parts.iter().filter(|part| !part.piece.unsent) {
        texts.push(&*part.text);
        if part.piece.kind == Kind::Call {
            texts.push(&*part.piece.name);
        }
    }
    texts.retain(|text| !text.is_empty());
    texts
}

/// The texts of a message (JSON) that are counted when it is pushed: for a counter of the host's.
///
/// # Errors
/// `MalformedMessage` with the index that it would have.
pub fn counted_texts(session: &Session, bytes: &[u8]) -> Result<Vec<String>> {
    let shown = if session.dialect.certain { None } else { Format::shown_by(bytes) };
    let shown =
        shown.filter(|(it, certain)| *certain || it.is_more_specific_than(session.dialect.format));
    let draft = shown
        .map_or(session.dialect.format, |(format, _)| format)
        .read(bytes, session.transcript.ledger.message_count())?;
    Ok(texts(&draft).into_iter().map(ToOwned::to_owned).collect())
}

/// The texts of what goes out beside the messages (JSON) that are counted when it is set.
///
/// # Errors
/// `InvalidArgument` names the part.
pub fn counted_texts_of_extras(json: &str) -> Result<Vec<String>> {
    Parts::texts(json)
}

/// The numbers of the host's counter (a JSON array) for the texts of what is passed next: a message or parts.
///
/// # Errors
/// `InvalidArgument`.
pub fn take_counts(session: &mut Session, json: &str) -> Result<()> {
    session.counter.counts.clear();
    let refused = |got| Error::argument("estimator", "whole numbers", got);
    for count in json::items(json).map_err(|error| refused(error.to_string()))? {
        session.counter.counts.push(count.parse().map_err(|_| refused(count.into()))?);
    }
    Ok(())
}

/// Our own lines cost what the host's counter makes of texts, by and large.
pub(in crate::context) fn set_learned(session: &mut Session, learned: Learned) {
    session.counter.learned.add(learned);
    if matches!(session.options.estimator, Estimator::Scaled(_)) {
        session.options.estimator = session.counter.learned.estimator();
        session.decisions.placeholders.estimator = session.options.estimator;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Format;

    #[test]
    fn a_number_of_the_hosts_counts_and_teaches_what_our_own_lines_cost() {
        let counts = [30, 7];
        let mut counter = Counter::new(Estimator::default(), &counts);
        let words = "one two three four five six seven eight nine ten";
        assert_eq!([words, "", "ls"].map(|text| counter.tokens(text)), [30, 0, 7]);
        let ours = Estimator::default().tokens(words) + Estimator::default().tokens("ls");
        assert_eq!(counter.learned, Learned { host: 37, ours: u64::from(ours) });
        assert_eq!(counter.learned.estimator(), Estimator::Scaled((37_000u32).div_ceil(ours)));
        assert_eq!(counter.tokens("beyond"), Estimator::default().tokens("beyond"));
        assert_eq!(Learned::default().estimator(), Estimator::Scaled(1000));
    }

    #[test]
    fn the_texts_that_are_asked_for_are_those_that_are_counted() {
        let message = br#"{"role":"assistant","content":[{"type":"text","text":"look"},{"type":"text","text":""},
            {"type":"tool_use","id":"a","name":"ls","input":{"path":"src"}}]}"#;
        let draft = Format::Anthropic.read(message, 0).unwrap();
        assert_eq!(texts(&draft), ["look", r#"{"path":"src"}"#, "ls"]);
    }
}
