//! A history whose end is another each turn: only what differs is handed over again.
//!
//! What a message did to those before it is not taken back. Instead the session is kept once more as it was measured up to where
//! its history last parted, with nothing decided: from there it goes on as one that waits for its messages does.

use std::rc::Rc;

use super::Waiting;
use crate::context::session::Session;
use crate::context::session::marks::{mark, rolled};
use crate::context::session::measures::{append_again, measured_until};
use crate::context::session::pinning::attach_pins;
use crate::context::session::snapshot::content::Shape;
use crate::context::session::snapshot::{earlier_marks, resync, snapshot_of};
use crate::model::MessageId;

/// How many messages the session keeps where its history parts after so many.
pub fn keeps(session: &Session, same: MessageId) -> MessageId {
    if session.restoration.waiting.is_some() {
        return MessageId::FIRST;
    }
    let copied = copy_of(session, same).map_or(MessageId::FIRST, length);
    // A call that waits there may have come again under another id.
    let known = same.min(session.transcript.ledger.next_message());
    let closed = session.transcript.ledger.cut_at_or_before(known.min(measured_until(session)));
    copied.max(closed)
}

/// The copy that goes on from there.
fn copy_of(session: &Session, same: MessageId) -> Option<&Rc<Session>> {
    // A call that waits there may have come again under another id.
    let fits = |it: &&Rc<Session>| {
        length(it) <= same
            && it.request.pins.are_those(&session.request.pins)
            && !it.repairs.repairer.is_open()
    };
    session.restoration.measured.as_ref().filter(fits)
}

fn length(session: &Rc<Session>) -> MessageId {
    session.transcript.ledger.next_message()
}

/// The host's history is the known one in its first `same` messages only. How many of these the session keeps: those after
/// them come again. `parts`: the message that follows is another, whatever it says.
pub fn truncate(session: &mut Session, same: MessageId, parts: bool) -> MessageId {
    let kept = keeps(session, same);
    if kept == MessageId::FIRST {
        let ends = ends_at(session, same, parts);
        begin_without_messages(session, ends, same == MessageId::FIRST);
        return kept;
    }
    let (ends, closed) = ends_at(session, same, parts);
    let copy = copy_of(session, same).cloned();
    session.restoration.measured = None;
    let snapshot = snapshot_of(session);
    let earlier = earlier_marks(session, &snapshot);
    let fresh = || Session::new(session.options.clone(), session.transcript.dialect.format);
    let old = session.begin_again(copy.map_or_else(fresh, Rc::unwrap_or_clone));
    let (messages, blocks) =
        (session.transcript.ledger.next_message(), session.transcript.ledger.next_block());
    // Where parts stand and which are marked may have changed since.
    session.transcript.outlines = old.transcript.outlines.clone();
    session.transcript.outlines.truncate(messages.index());
    session.request.markers = old.request.markers.clone();
    session.request.markers.keep(messages);
    for (&block, ops) in old.transcript.sanitized.iter().filter(|(block, _)| **block < blocks) {
        session.transcript.sanitized.insert(block, ops.clone());
    }
    let end = old.transcript.ledger.blocks_of(kept).start;
    for changed in &snapshot.changed {
        let block = changed.block;
        if let Shape::Cut(want, _) = &changed.form
            && block < end
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
        Some(Waiting { rolling, earlier, keeps: true, ends, closed, ..Waiting::new(snapshot) });
    attach_pins(session);
    append_again(session, &old.transcript, messages.to(kept));
    session.transcript.ledger.next_message()
}

/// As [`truncate`], but all messages come again.
pub(in crate::context) fn hand_over_again(session: &mut Session, same: MessageId) {
    session.restoration.measured = None;
    let ends = ends_at(session, same, true);
    begin_without_messages(session, ends, same == MessageId::FIRST);
}

fn begin_without_messages(
    session: &mut Session,
    (ends, closed): (MessageId, MessageId),
    may_start_late: bool,
) {
    session.restoration.measured = None;
    resync(session);
    if let Some(waiting) = &mut session.restoration.waiting {
        waiting.keeps = true;
        (waiting.ends, waiting.closed) = (ends, closed);
        waiting.may_start_late = may_start_late;
    }
}

/// From where on it is another history, and the last place before that at which no call waits.
fn ends_at(session: &Session, same: MessageId, parts: bool) -> (MessageId, MessageId) {
    if parts { (same, last_closed(session, same)) } else { (MessageId::NONE, MessageId::NONE) }
}

/// The last place, up to that of a message, at which no call waits; `NONE` if that is the first.
fn last_closed(session: &Session, message: MessageId) -> MessageId {
    let closed = session.transcript.ledger.cut_at_or_before(message);
    if closed > MessageId::FIRST { closed } else { MessageId::NONE }
}
