//! Cache markers of the host: how many are sent, and which go first.

use std::rc::Rc;

use litemap::LiteMap;

use crate::context::request::builder::Builder;
use crate::context::request::markers::ALL;
use crate::context::session::Session;
use crate::model::{Draft, Fix, Form, MessageId, Outline};
use crate::validity;

impl Builder<'_> {
    /// Of each piece of a message the markers that do not go out.
    pub(in crate::context) fn unmarked(
        &self,
        message: MessageId,
        outline: &Outline,
    ) -> Vec<(u32, u64)> {
        if !validity::is_marked(outline) || self.transcript.dialect.provider.most_markers() == 0 {
            return Vec::new();
        }
        validity::unmarked(outline, self.markers.kept(message))
    }

    #[inline(never)]
    fn unmark(&self, at: MessageId, outline: &Outline, kept: u32, found: u32) -> Vec<Fix> {
        if self.transcript.dialect.provider.most_markers() == 0 {
            return Vec::new();
        }
        validity::unmark(at, outline, kept, (found, self.transcript.dialect.provider))
    }
}

/// Takes over where the parts of a message stand, and which are marked; whether anything is new.
pub(in crate::context) fn renew_places(
    session: &mut Session,
    index: MessageId,
    draft: &Draft<'_>,
) -> bool {
    let first = session.transcript.ledger.blocks_of(index).start;
    let Some(outline) = session.transcript.outlines.get_mut(index.index()) else { return false };
    let outline = Rc::make_mut(outline);
    // The host has changed what the message says: only a resync reads that.
    if outline.pieces.len() != draft.parts.len() {
        return false;
    }
    let mut is_other = false;
    for (at, (piece, part)) in first.on().zip(outline.pieces.iter_mut().zip(&draft.parts)) {
        let now = &part.piece;
        if piece.place != now.place && !part.mended.is_empty() {
            session.transcript.sanitized.insert(at, part.mended.clone());
        }
        is_other |=
            (piece.place, piece.marks, piece.marked_at) != (now.place, now.marks, now.marked_at);
        (piece.place, piece.marks, piece.marked_at) = (now.place, now.marks, now.marked_at);
    }
    session.request.markers.note(index, outline);
    if is_other && index < session.request.last.upto {
        session.request.markers.moved =
            Some(session.request.markers.moved.map_or(index, |first| first.min(index)));
    }
    is_other
}

/// Messages that have to be read again before more markers are removed.
pub(in crate::context) fn unread_markers(session: &Session) -> Vec<MessageId> {
    // Only to remove more markers is a message read again: its host may have moved them since.
    let (known, cut) = (session.request.markers.cut, marker_cut(session));
    if cut.0 < known.0 || (cut.0 == known.0 && cut.1 >= known.1) {
        return Vec::new();
    }
    let sent = session.request.markers.marked.iter().copied().filter(|&at| at >= known.0);
    sent.filter(|at| !session.request.markers.read.contains_key(at) && is_sent(session, *at))
        .collect()
}

/// Decides which markers go out, and tells the first message that was sent and changes by it.
pub(in crate::context) fn decide_markers(session: &mut Session) -> Option<MessageId> {
    let (old, new) = (session.request.markers.cut, marker_cut(session));
    session.request.markers.cut = new;
    session.request.markers.read = LiteMap::new();
    let moved = session.request.markers.moved.take();
    let other = (old != new).then_some(old.0.min(new.0));
    let first = moved.into_iter().chain(other).min();
    first.filter(|&first| first < session.request.last.upto)
}

/// Where the earliest marker stands that goes out: see [`Markers::cut`].
fn marker_cut(session: &Session) -> (MessageId, u32) {
    let most = session.transcript.dialect.provider.most_markers();
    if most == 0 {
        return ALL;
    }
    // Those in system and tools are not ours to remove, so they count first (I13).
    let mut room = most.saturating_sub(session.request.extras.marks);
    for &at in session.request.markers.marked.iter().rev().filter(|at| is_sent(session, **at)) {
        let own = session.transcript.outline(at).map_or(0, validity::most_sent);
        if own > room {
            return (at, room);
        }
        room = room.saturating_sub(own);
    }
    ALL
}

/// What removes markers from messages that are sent. That there are too many is told once, by the last of those that do
/// not go out: a turn stays as cheap however many there were.
pub(in crate::context) fn marker_fixes(session: &Session) -> Vec<Fix> {
    let (cut, kept) = session.request.markers.cut;
    let (mut fixes, mut last) = (Vec::new(), None);
    let mut found = session.request.extras.marks;
    for &at in session.request.markers.marked.iter().filter(|at| is_sent(session, **at)) {
        let Some(outline) = session.transcript.outline(at) else { continue };
        let all = validity::most_sent(outline);
        found = found.saturating_add(all);
        if all > 0 && (at < cut || (at == cut && all > kept)) {
            last = Some((at, outline));
        }
        // Those on reasoning.
        if all < validity::markers_of(outline) {
            fixes.extend(Builder::new(session).unmark(at, outline, u32::MAX, found));
        }
    }
    if let Some((at, outline)) = last {
        fixes.extend(
            Builder::new(session)
                .unmark(at, outline, session.request.markers.kept(at), found)
                .pop(),
        );
    }
    fixes
}

/// Markers of the host's that go out in messages.
pub(in crate::context) fn markers_sent(session: &Session) -> u32 {
    let sent = session.request.markers.marked.iter().filter(|at| is_sent(session, **at));
    let of = |&at: &MessageId| {
        let own = session.transcript.outline(at).map_or(0, validity::most_sent);
        own.min(session.request.markers.kept(at))
    };
    sent.map(of).fold(0, u32::saturating_add)
}

/// Something of the message is sent.
fn is_sent(session: &Session, message: MessageId) -> bool {
    let mut blocks = session.transcript.ledger.blocks_of(message);
    blocks.any(|at| session.transcript.ledger.block(at).is_some_and(|it| it.form != Form::Gone))
}
