//! Token counter: an estimator of ours, or the numbers of the host's own counter.
//!
//! The core calls no function of the host's: it says which texts it would count, and takes the numbers with them.

use crate::context::request::request_extras::Parts;
use crate::context::session::Session;
use crate::context::transcript::counter::Learned;
use crate::error::{Error, Result};
use crate::estimate::Estimator;
use crate::format::Format;
use crate::json;
use crate::model::{Draft, Kind};

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
    let shown = if session.transcript.dialect.certain { None } else { Format::shown_by(bytes) };
    let shown = shown.filter(|(it, certain)| {
        *certain || it.is_more_specific_than(session.transcript.dialect.format)
    });
    let draft = shown
        .map_or(session.transcript.dialect.format, |(format, _)| format)
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
    session.counts.next.clear();
    let refused = |got| Error::argument("estimator", "whole numbers", got);
    for count in json::items(json).map_err(|error| refused(error.to_string()))? {
        session.counts.next.push(count.parse().map_err(|_| refused(count.into()))?);
    }
    Ok(())
}

/// Our own lines cost what the host's counter makes of texts, by and large.
pub(in crate::context) fn set_learned(session: &mut Session, learned: Learned) {
    session.counts.learned.add(learned);
    if matches!(session.options.estimator, Estimator::Scaled(_)) {
        session.options.estimator = session.counts.learned.estimator();
        session.decisions.placeholders.estimator = session.options.estimator;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Format;

    #[test]
    fn the_host_is_asked_for_the_texts_that_are_counted() {
        let message = br#"{"role":"assistant","content":[{"type":"text","text":"look"},{"type":"text","text":""},
            {"type":"tool_use","id":"a","name":"ls","input":{"path":"src"}}]}"#;
        let draft = Format::Anthropic.read(message, 0).unwrap();
        assert_eq!(texts(&draft), ["look", r#"{"path":"src"}"#, "ls"]);
    }
}
