//! A history whose end is another each turn: only what differs is handed over again.
//!
//! What a message did to those before it is not taken back. Instead the session is kept once more as it was measured up to where
//! its history last parted, with nothing decided: from there it goes on as one that waits for its messages does.

use std::rc::Rc;

use super::Waiting;
use crate::context::session::Session;
use crate::context::session::marks::{mark, rolled};
use crate::context::session::pinning::attach_pins;
use crate::context::session::snapshot::content::Shape;
use crate::context::session::snapshot::measured::keeps;
use crate::context::session::snapshot::{resync, snapshot_of};
use crate::model::MessageId;

/// The host's history is the known one in its first `same` messages only. How many of these the session keeps: those after
/// them come again. `parts`: the message that follows is another, whatever it says.
pub fn truncate(session: &mut Session, same: MessageId, parts: bool) -> MessageId {
    let ends = if parts { same } else { MessageId::NONE };
    let closed = if parts { last_closed(session, same) } else { MessageId::NONE };
    let fits = keeps(session, same) > MessageId::FIRST;
    let Some(measured) = session.restoration.measured.take().filter(|_| fits) else {
        resync(session);
        if let Some(waiting) = &mut session.restoration.waiting {
            waiting.keeps = true;
            (waiting.ends, waiting.closed) = (ends, closed);
            waiting.may_start_late = same == MessageId::FIRST;
        }
        return MessageId::FIRST;
    };
    let snapshot = snapshot_of(session);
    let old = session.begin_again(Rc::unwrap_or_clone(measured));
    // Where parts stand and which are marked may have changed since.
    let (messages, blocks) =
        (session.transcript.ledger.next_message(), session.transcript.ledger.next_block());
    session.transcript.outlines = old.transcript.outlines;
    session.transcript.outlines.truncate(messages.index());
    session.request.markers = old.request.markers;
    session.request.markers.keep(messages);
    for (&block, ops) in old.transcript.sanitized.iter().filter(|(block, _)| **block < blocks) {
        session.transcript.sanitized.insert(block, ops.clone());
    }
    for changed in &snapshot.changed {
        let block = changed.block;
        if let Shape::Cut(want, _) = &changed.form
            && block < blocks
            && let Some(line) = old.decisions.placeholders.text.get(&block)
        {
            session.decisions.placeholders.caps.insert(block, *want);
            session.decisions.placeholders.text.insert(block, Rc::clone(line));
            if old.decisions.placeholders.uncut_arguments.contains_key(&block) {
                session.decisions.placeholders.uncut_arguments.insert(block, ());
            }
        }
    }
    let marks = session.transcript.ledger.messages.iter().map(|it| mark(it.fingerprint));
    let rolling = marks.fold(0, rolled);
    session.request.pins.clone_from(&snapshot.pins);
    session.request.pins.detach();
    session.restoration.waiting =
        Some(Waiting { rolling, keeps: true, ends, closed, ..Waiting::new(snapshot) });
    attach_pins(session);
    session.transcript.ledger.next_message()
}

/// The last place, up to that of a message, at which no call waits; `NONE` if that is the first.
fn last_closed(session: &Session, message: MessageId) -> MessageId {
    let closed = session.transcript.ledger.cut_at_or_before(message);
    if closed > MessageId::FIRST { closed } else { MessageId::NONE }
}
