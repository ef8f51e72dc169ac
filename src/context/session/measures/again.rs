//! Appending messages that the session had before its history parted: they are taken from what it measured of them.

use std::rc::Rc;

use super::append::may_append;
use super::setting_of;
use crate::context::session::Session;
use crate::context::session::arrival::append_measured;
use crate::context::session::snapshot::Match;
use crate::context::session::snapshot::measured::keep_where_closed;
use crate::context::session::snapshot::restore::match_message;
use crate::context::transcript::Transcript;
use crate::context::transcript::measure::{Measure, Measured, each_once};
use crate::identifiers::Identifiers;
use crate::model::{MessageId, Occurrence, Span};
use crate::validity::Findings;

/// How many of the first messages can be appended again without their texts: none that no request has sent or left out.
pub(in crate::context) fn measured_until(session: &Session) -> MessageId {
    let is_possible = may_append(session)
        && setting_of(session).is_some()
        && session.decisions.pruner.forgotten == MessageId::FIRST;
    let kept = MessageId::at(session.transcript.occurrences.kept_until());
    if is_possible { kept.min(session.request.last.upto) } else { MessageId::FIRST }
}

/// Appends messages, each as `old` measured it, as far as [`measured_until`] says.
pub(in crate::context) fn append_again(
    session: &mut Session,
    old: &Transcript,
    messages: Span<MessageId>,
) {
    let mut from = Measures { old, spare: Vec::new() };
    let mut findings = Findings::default();
    for message in messages {
        // Before its identifiers have numbers.
        keep_where_closed(session);
        let Some(mut measure) = from.measure(session, message) else { return };
        if !matches!(match_message(session, message, measure.fingerprint), Match::Same) {
            return;
        }
        append_measured(session, &measure, None, &mut findings);
        from.spare.append(&mut measure.blocks);
    }
}

/// What a transcript has measured, for a session that begins with the same messages.
struct Measures<'a> {
    old: &'a Transcript,
    /// Blocks that were appended: those of the next messages take their room.
    spare: Vec<Measured>,
}

impl Measures<'_> {
    fn measure(&mut self, session: &mut Session, index: MessageId) -> Option<Measure> {
        let ledger = &self.old.ledger;
        let message = ledger.message(index)?;
        let outline = self.old.outlines.get(index.index())?;
        let mut found = self.old.occurrences.of_message(index.index())?;
        let mut blocks = Vec::with_capacity(outline.pieces.len());
        for at in ledger.blocks_of(index) {
            let mut block = self.spare.pop().unwrap_or_default();
            block.found.get_or_insert_default().take(&mut found, &mut block.ids)?;
            let known = &mut session.transcript.ledger.identifiers;
            take_over(known, &ledger.identifiers, &block.ids)?;
            each_once(&mut block, known);
            let it = ledger.block(at)?;
            (block.tokens, block.overhead, block.chars) = (it.tokens, it.overhead, it.chars);
            (block.key, block.bytes) = (it.key, it.bytes);
            blocks.push(block);
        }
        Some(Measure {
            outline: Rc::clone(outline),
            fingerprint: message.fingerprint,
            written: message.written,
            bytes: message.bytes,
            at_ms: message.at_ms,
            is_request: ledger.starts_turn(index),
            blocks,
        })
    }
}

/// Numbers those that are new as they were numbered before. None: they would get other numbers.
fn take_over(known: &mut Identifiers, old: &Identifiers, ranks: &[u32]) -> Option<()> {
    for rank in ranks {
        let Occurrence { id, .. } = Occurrence::of_rank(*rank);
        if id >= known.len() {
            let tokens = old.get(id)?.tokens;
            let number = known.intern(old.text(id), |_| tokens.into());
            (number == id).then_some(())?;
        }
    }
    Some(())
}
