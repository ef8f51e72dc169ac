//! A session as it was measured, kept for histories whose end is another at each turn.

use std::rc::Rc;

use crate::context::request::last_request::LastRequest;
use crate::context::session::Session;

/// Of a session that starts late all comes again, so that it knows no more of what is forgotten than one that was woken.
pub(in crate::context) fn keep_nothing(session: &mut Session) {
    session.restoration.measured = None;
    if let Some(waiting) = &mut session.restoration.waiting {
        waiting.keeps = false;
    }
}

/// Keeps the session as it was measured up to the next message, if that is the place for it.
pub(in crate::context) fn keep_where_closed(session: &mut Session) {
    let index = session.transcript.ledger.next_message();
    let waiting = session.restoration.waiting.as_ref();
    if waiting.is_some_and(|it| it.closed == index) && !session.repairs.repairer.is_open() {
        keep_measured(session);
        if let Some(waiting) = &mut session.restoration.waiting {
            waiting.keeps = false;
        }
    }
}

/// Keeps the session as it was measured up to here, for the next time.
pub(super) fn keep_measured(session: &mut Session) {
    let waiting = session.restoration.waiting.take_if(|it| it.keeps);
    if waiting.is_some() {
        keep_copy(session);
        session.restoration.waiting = waiting;
    }
}

#[inline(never)]
fn keep_copy(session: &mut Session) {
    let visited = session.decisions.pruner.look_at_new(&session.transcript.ledger);
    session.monitor.work.blocks_visited =
        session.monitor.work.blocks_visited.saturating_add(visited);
    let mut measured = session.clone();
    measured.decisions.placeholders.text.clear();
    measured.decisions.placeholders.caps.clear();
    measured.decisions.placeholders.uncut_arguments.clear();
    measured.request.last = LastRequest::default();
    session.restoration.measured = Some(Rc::new(measured));
}
