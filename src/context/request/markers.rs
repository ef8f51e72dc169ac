//! Cache markers of the host: a provider takes a few in a request, so the earliest are removed. That opens no epoch, as
//! no provider compares markers.

use litemap::LiteMap;

use crate::context::session::Session;
use crate::error::Result;
use crate::model::{Draft, Fix, Form, Item, NONE, Outline, Role};
use crate::validity;

/// Cache markers in the session's messages.
#[derive(Clone, Debug)]
pub(in crate::context) struct Markers {
    /// Messages with markers, in order.
    marked: Vec<u32>,
    /// Messages read since the last request. A host moves its markers in place: those of other messages may be gone.
    read: LiteMap<u32, ()>,
    /// No marker before this message goes out, and of its own so many of the last.
    cut: (u32, u32),
    /// The first message that was sent and has its parts, or its markers, at other places now.
    moved: Option<u32>,
}

/// All markers go out.
const ALL: (u32, u32) = (0, u32::MAX);

impl Default for Markers {
    fn default() -> Self {
        Self { marked: Vec::new(), read: LiteMap::new(), cut: ALL, moved: None }
    }
}

impl Markers {
    /// A message was read.
    pub(in crate::context) fn note(&mut self, index: u32, outline: &Outline) {
        let place = self.marked.partition_point(|&at| at < index);
        let known = self.marked.get(place) == Some(&index);
        match (validity::is_marked(outline), known) {
            (true, false) => self.marked.insert(place, index),
            (false, true) => {
                self.marked.remove(place);
            }
            (true, true) => {}
            (false, false) => return,
        }
        self.read.insert(index, ());
    }

    /// The messages from this one on come again.
    pub(in crate::context) fn keep(&mut self, before: u32) {
        self.marked.retain(|&at| at < before);
        self.read.retain(|&at, ()| at < before);
        self.moved = self.moved.filter(|&at| at < before);
    }

    fn kept(&self, message: u32) -> u32 {
        match message.cmp(&self.cut.0) {
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Equal => self.cut.1,
            std::cmp::Ordering::Greater => u32::MAX,
        }
    }
}

impl Session {
    /// The host has another object now for a message, or has changed its markers in place: where its parts stand, and which
    /// of them are marked, may be other than before.
    ///
    /// # Errors
    /// `InvalidArgument`, `MalformedMessage`.
    pub fn reread(&mut self, index: u32, bytes: &[u8]) -> Result<()> {
        let draft = self.read(index, bytes)?;
        self.last_request.settled &= !self.find_again(index, &draft);
        Ok(())
    }

    /// Takes over where the parts of a message stand, and which are marked; whether anything is new.
    pub(in crate::context) fn find_again(&mut self, index: u32, draft: &Draft<'_>) -> bool {
        let first = self.transcript.ledger.blocks_of(index).start;
        let Some(outline) = self.transcript.outlines.get_mut(index as usize) else { return false };
        // The host has changed what the message says: only a resync reads that.
        if outline.pieces.len() != draft.parts.len() {
            return false;
        }
        let mut is_other = false;
        for (at, (piece, part)) in (first..).zip(outline.pieces.iter_mut().zip(&draft.parts)) {
            let now = &part.piece;
            if piece.place != now.place && !part.mended.is_empty() {
                self.transcript.sanitized.insert(at, part.mended.clone());
            }
            is_other |= (piece.place, piece.marks, piece.marked_at)
                != (now.place, now.marks, now.marked_at);
            (piece.place, piece.marks, piece.marked_at) = (now.place, now.marks, now.marked_at);
        }
        self.markers.note(index, outline);
        if is_other && index < self.last_request.upto {
            self.markers.moved = Some(self.markers.moved.map_or(index, |first| first.min(index)));
        }
        is_other
    }

    /// Messages that have to be read again before more markers are removed.
    pub(in crate::context) fn unread_markers(&self) -> Vec<u32> {
        let (known, cut) = (self.markers.cut, self.marker_cut());
        if cut.0 < known.0 || (cut.0 == known.0 && cut.1 >= known.1) {
            return Vec::new();
        }
        let sent = self.markers.marked.iter().copied().filter(|&at| at >= known.0);
        sent.filter(|at| !self.markers.read.contains_key(at) && self.is_live(*at)).collect()
    }

    /// Decides which markers go out, and tells the first message that was sent and changes by it.
    pub(in crate::context) fn keep_markers(&mut self) -> Option<u32> {
        let (old, new) = (self.markers.cut, self.marker_cut());
        self.markers.cut = new;
        self.markers.read = LiteMap::new();
        let moved = self.markers.moved.take();
        let other = (old != new).then_some(old.0.min(new.0));
        let first = moved.into_iter().chain(other).min();
        first.filter(|&first| first < self.last_request.upto)
    }

    /// Where the earliest marker stands that goes out: see [`Markers::cut`].
    fn marker_cut(&self) -> (u32, u32) {
        let most = self.dialect.provider.most_markers();
        if most == 0 {
            return ALL;
        }
        let mut room = most.saturating_sub(self.extras.marks);
        for &at in self.markers.marked.iter().rev().filter(|at| self.is_live(**at)) {
            let own = self.transcript.outlines.get(at as usize).map_or(0, validity::most_sent);
            if own > room {
                return (at, room);
            }
            room = room.saturating_sub(own);
        }
        ALL
    }

    /// Of each piece of a message the markers that do not go out.
    pub(in crate::context) fn unmarked(&self, message: u32, outline: &Outline) -> Vec<(u32, u64)> {
        if !validity::is_marked(outline) || self.dialect.provider.most_markers() == 0 {
            return Vec::new();
        }
        validity::unmarked(outline, self.markers.kept(message))
    }

    /// What removes markers from messages that are sent. That there are too many is told once, by the last of those that do
    /// not go out: a turn stays as cheap however many there were.
    pub(in crate::context) fn marker_fixes(&self) -> Vec<Fix> {
        let (cut, kept) = self.markers.cut;
        let (mut fixes, mut last) = (Vec::new(), None);
        let mut found = self.extras.marks;
        for &at in self.markers.marked.iter().filter(|at| self.is_live(**at)) {
            let Some(outline) = self.transcript.outlines.get(at as usize) else { continue };
            let all = validity::most_sent(outline);
            found = found.saturating_add(all);
            if all > 0 && (at < cut || (at == cut && all > kept)) {
                last = Some((at, outline));
            }
            // Those on reasoning.
            if all < validity::markers_of(outline) {
                fixes.extend(self.unmark(at, outline, u32::MAX, found));
            }
        }
        if let Some((at, outline)) = last {
            fixes.extend(self.unmark(at, outline, self.markers.kept(at), found).pop());
        }
        fixes
    }

    /// Markers of the host's that go out in messages.
    pub(in crate::context) fn marked(&self) -> u32 {
        let sent = self.markers.marked.iter().filter(|at| self.is_live(**at));
        let of = |&at: &u32| {
            let own = self.transcript.outlines.get(at as usize).map_or(0, validity::most_sent);
            own.min(self.markers.kept(at))
        };
        sent.map(of).fold(0, u32::saturating_add)
    }

    fn unmark(&self, at: u32, outline: &Outline, kept: u32, found: u32) -> Vec<Fix> {
        if self.dialect.provider.most_markers() == 0 {
            return Vec::new();
        }
        validity::unmark(at, outline, kept, (found, self.dialect.provider))
    }

    /// Something of the message is sent.
    fn is_live(&self, message: u32) -> bool {
        let mut blocks = self.transcript.ledger.blocks_of(message);
        blocks.any(|at| {
            self.transcript.ledger.blocks.get(at as usize).is_some_and(|it| it.form != Form::Gone)
        })
    }

    /// From where on the last request is built anew, if only what follows it and messages from `changed` on are other now:
    /// the place in it, the message there, and who speaks before. None: from its start.
    pub(in crate::context) fn resume_from(
        &self,
        changed: Option<u32>,
    ) -> Option<(usize, u32, Option<Role>)> {
        let items = &self.last_request.items;
        let Some(changed) = changed else {
            return Some((items.len(), self.last_request.upto, self.last_request.speaker));
        };
        // What a fold kept of it may stand in the fold's own message.
        if changed < self.decisions.pruner.start {
            return None;
        }
        for (at, pair) in items.windows(2).enumerate().rev() {
            let [before, item] = pair else { return None };
            // What is ours has no place in the history of its own.
            if item.source == NONE {
                return None;
            }
            if item.source <= changed && before.source != NONE {
                return Some((
                    at.saturating_add(1),
                    item.source,
                    self.speaker(&Item::Keep(before.source)),
                ));
            }
        }
        None
    }
}
