//! A history whose end is another each turn: only what differs is handed over again.
//!
//! What a message did to those before it is not taken back. Instead the session is kept once more as it was measured up to where
//! its history last parted, with nothing decided: from there it goes on as one that waits for its messages does.

use std::rc::Rc;

use super::{Shape, Waiting, mark, rolled};
use crate::context::request::view::LastRequest;
use crate::context::session::Session;
use crate::model::NONE;

impl Session {
    /// The host's history is the known one in its first `same` messages only. How many of these the session keeps: those behind
    /// them come again. `parts`: the message that follows is another, whatever it says.
    pub fn truncate(&mut self, same: u32, parts: bool) -> u32 {
        let ends = if parts { same } else { NONE };
        let fits = self.keeps(same) > 0;
        let Some(measured) = self.restoration.measured.take().filter(|_| fits) else {
            self.resync();
            if let Some(waiting) = &mut self.restoration.waiting {
                waiting.keeps = true;
                waiting.ends = ends;
                waiting.may_start_late = same == 0;
            }
            return 0;
        };
        let snapshot = self.history();
        let old = self.begin_again(Rc::unwrap_or_clone(measured));
        // Where parts stand and which are marked may have changed since.
        let (messages, blocks) =
            (self.transcript.ledger.message_count(), self.transcript.ledger.block_count());
        self.transcript.outlines = old.transcript.outlines;
        self.transcript.outlines.truncate(messages as usize);
        self.markers = old.markers;
        self.markers.keep(messages);
        for (&block, ops) in old.transcript.sanitized.iter().filter(|(block, _)| **block < blocks) {
            self.transcript.sanitized.insert(block, ops.clone());
        }
        for changed in &snapshot.changed {
            let block = changed.block;
            if let Shape::Cut(want, _) = &changed.form
                && block < blocks
                && let Some(line) = old.decisions.placeholders.text.get(&block)
            {
                self.decisions.placeholders.caps.insert(block, *want);
                self.decisions.placeholders.text.insert(block, line.clone());
                if old.decisions.placeholders.whole_arguments.contains_key(&block) {
                    self.decisions.placeholders.whole_arguments.insert(block, ());
                }
            }
        }
        let marks = self.transcript.ledger.messages.iter().map(|it| mark(it.fingerprint));
        let rolling = marks.fold(0, rolled);
        self.pins.clone_from(&snapshot.pins);
        self.pins.detach();
        self.restoration.waiting =
            Some(Waiting { rolling, keeps: true, ends, ..Waiting::new(snapshot) });
        self.attach_pins();
        self.transcript.ledger.message_count()
    }

    /// How many messages the session keeps where its history parts behind so many.
    pub fn keeps(&self, same: u32) -> u32 {
        // A call that waits there may have come again under another id.
        let fits = |it: &&Rc<Self>| {
            it.transcript.ledger.message_count() <= same
                && it.pins.are_those(&self.pins)
                && !it.repairs.mender.is_open()
        };
        let measured = self
            .restoration
            .measured
            .as_ref()
            .filter(|_| self.restoration.waiting.is_none())
            .filter(fits);
        measured.map_or(0, |it| it.transcript.ledger.message_count())
    }

    /// Of a session that starts late all comes again, so that it knows no more of what is forgotten than one that was woken.
    pub(in crate::context) fn keep_nothing(&mut self) {
        self.restoration.measured = None;
        if let Some(waiting) = &mut self.restoration.waiting {
            waiting.keeps = false;
        }
    }

    /// Keeps the session as it was measured up to here, for the next time.
    pub(super) fn keep_measured(&mut self) {
        let waiting = self.restoration.waiting.take_if(|it| it.keeps);
        if waiting.is_some() {
            let visited = self.decisions.pruner.look_at_new(&self.transcript.ledger);
            self.counters.blocks_visited = self.counters.blocks_visited.saturating_add(visited);
            let mut measured = self.clone();
            measured.decisions.placeholders.text.clear();
            measured.decisions.placeholders.caps.clear();
            measured.decisions.placeholders.whole_arguments.clear();
            measured.last_request = LastRequest::default();
            self.restoration.measured = Some(Rc::new(measured));
            self.restoration.waiting = waiting;
        }
    }
}
