//! Summaries that stand in the host's history, of an earlier process or of another system: the next fold updates them.
//!
//! The host says which messages these are; nothing is read from their words.

use crate::context::request::placeholders::{REMOVED, SUMMARY, shared};
use crate::context::session::Session;
use crate::model::{BlockId, Draft, Form, Kind};
use crate::text::redact;

/// The next message that is pushed is a summary.
pub const fn next_is_summary(session: &mut Session) {
    session.compactions.adopts = true;
}

/// Takes the texts of the message with this first block for summaries. They are sent as they stand until a fold.
#[inline(never)]
pub(in crate::context) fn adopt_summary(session: &mut Session, first: BlockId, draft: &Draft<'_>) {
    for (at, part) in first.on().zip(&draft.parts) {
        if part.piece.kind == Kind::Text {
            let text = part.text.trim();
            // What a head of ours begins with is put before the next one too.
            let mut heads = [SUMMARY.trim_end(), REMOVED].into_iter();
            let inner = heads.find_map(|it| text.strip_prefix(it)).unwrap_or(text);
            let text = inner.trim_start();
            let text = if session.options.redacts { redact(text) } else { text.into() };
            session.decisions.placeholders.adopted.insert(at, shared(&text));
            session.transcript.ledger.mark_summary(at);
            // It is looked at as a text.
            if let Some(block) = session.transcript.ledger.block(at) {
                session.transcript.occurrences.forget(block.message.index());
            }
        }
    }
}

/// The summary that the next one updates: the last one, and those of the host's among the blocks that go.
pub(in crate::context) fn previous_summary(session: &Session, going: &[BlockId]) -> Option<String> {
    let is_live =
        |at: &BlockId| session.transcript.ledger.block(*at).is_some_and(|it| it.form != Form::Gone);
    let live: Vec<BlockId> = going.iter().copied().filter(is_live).collect();
    Some(session.decisions.placeholders.joined(&live)).filter(|it| !it.is_empty())
}
