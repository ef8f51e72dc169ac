//! A history whose end is another each turn: only what differs is handed over again.
//!
//! What a message did to those before it is not taken back. Instead the session is kept once more as it was measured up to where
//! its history last parted, with nothing decided: from there it goes on as one that waits for its messages does.

use crate::context::session::pins::attach_pins;
use crate::context::session::snapshot::resync;
use crate::context::session::snapshot::snapshot_of;
use std::rc::Rc;

use super::{Shape, Waiting, mark, rolled};
use crate::context::request::view::LastRequest;
use crate::context::session::Session;
use crate::model::MessageId;

/// The host's history is the known one in its first `same` messages only. How many of these the session keeps: those behind
/// them come again. `parts`: the message that follows is another, whatever it says.
pub fn truncate(session: &mut Session, same: MessageId, parts: bool) -> MessageId {
    let ends = if parts { same } else { MessageId::NONE };
    let fits = keeps(session, same) > MessageId::FIRST;
    let Some(measured) = session.restoration.measured.take().filter(|_| fits) else {
        resync(session);
        if let Some(waiting) = &mut session.restoration.waiting {
            waiting.keeps = true;
            waiting.ends = ends;
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
    session.markers = old.markers;
    session.markers.keep(messages);
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
            session.decisions.placeholders.text.insert(block, line.clone());
            if old.decisions.placeholders.uncut_arguments.contains_key(&block) {
                session.decisions.placeholders.uncut_arguments.insert(block, ());
            }
        }
    }
    let marks = session.transcript.ledger.messages.iter().map(|it| mark(it.fingerprint));
    let rolling = marks.fold(0, rolled);
    session.pins.clone_from(&snapshot.pins);
    session.pins.detach();
    session.restoration.waiting =
        Some(Waiting { rolling, keeps: true, ends, ..Waiting::new(snapshot) });
    attach_pins(session);
    session.transcript.ledger.next_message()
}

/// How many messages the session keeps where its history parts behind so many.
pub fn keeps(session: &Session, same: MessageId) -> MessageId {
    // A call that waits there may have come again under another id.
    let fits = |it: &&Rc<Session>| {
        it.transcript.ledger.next_message() <= same
            && it.pins.are_those(&session.pins)
            && !it.repairs.mender.is_open()
    };
    let measured = session
        .restoration
        .measured
        .as_ref()
        .filter(|_| session.restoration.waiting.is_none())
        .filter(fits);
    measured.map_or(MessageId::FIRST, |it| it.transcript.ledger.next_message())
}

/// Of a session that starts late all comes again, so that it knows no more of what is forgotten than one that was woken.
pub(in crate::context) fn keep_nothing(session: &mut Session) {
    session.restoration.measured = None;
    if let Some(waiting) = &mut session.restoration.waiting {
        waiting.keeps = false;
    }
}

/// Keeps the session as it was measured up to here, for the next time.
pub(super) fn keep_measured(session: &mut Session) {
    let waiting = session.restoration.waiting.take_if(|it| it.keeps);
    if waiting.is_some() {
        let visited = session.decisions.pruner.look_at_new(&session.transcript.ledger);
        session.counters.blocks_visited = session.counters.blocks_visited.saturating_add(visited);
        let mut measured = session.clone();
        measured.decisions.placeholders.text.clear();
        measured.decisions.placeholders.caps.clear();
        measured.decisions.placeholders.uncut_arguments.clear();
        measured.last_request = LastRequest::default();
        session.restoration.measured = Some(Rc::new(measured));
        session.restoration.waiting = waiting;
    }
}
