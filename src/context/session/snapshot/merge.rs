//! Two sessions that have gone on from one: another process has committed since this one was taken up.
//!
//! Of what was cut only one side's holds, for a request has one start: that of the side which has folded; theirs, if both
//! have; the one that is further, if neither has. What stands beside the messages is of both: pins, what a provider counted
//! or refused, what summarizers came to. What one side let go is let go: the same thing is one pin.

use super::{Session, capture};
use crate::context::session::calibration::{Calibration, Counted};
use crate::context::session::marks::{mark, rolled_by};
use crate::context::session::pinning::set_pins;
use crate::context::session::snapshot::content::Snapshot;
use crate::context::session::snapshot::{session_from, snapshot_of};
use crate::error::Result;
use crate::model::{MessageId, NONE};

/// Takes in what another has committed since `base` (empty: this session was never committed). True: this session goes on
/// from theirs, once its messages have come again; false: from its own, which stays as it is.
///
/// # Errors
/// `CorruptState`; then nothing has changed.
pub fn merge_committed(session: &mut Session, theirs: &[u8], base: &[u8]) -> Result<bool> {
    let theirs = Snapshot::from_bytes(theirs)?;
    let base = if base.is_empty() {
        capture(&Session::new(session.options.clone(), session.transcript.dialect.format))
    } else {
        Snapshot::from_bytes(base)?
    };
    let mut ours = snapshot_of(session);
    let upto = if ours.folded_since(&base) { ours.start } else { ours.upto };
    let ahead = ours.folded_since(&base) || ours.ahead() > theirs.ahead();
    if theirs.folded_since(&base) || !ahead || !agrees_with(session, &ours, &theirs, upto) {
        let mut merged = theirs;
        if merged.take_in(&ours, &base) {
            merged.build_anew();
        }
        *session = session_from(session.options.clone(), merged);
        return Ok(true);
    }
    let fewer = ours.take_in(&theirs, &base);
    set_pins(session, ours.pins, fewer);
    session.counts.calibration = ours.calibration;
    session.compactions.guard = ours.compactions.guard;
    session.compactions.limit = ours.compactions.limit;
    session.compactions.checkpoints = ours.compactions.checkpoints;
    session.decisions.pruner.fold_wanted = ours.fold_wanted;
    session.request.last.peak = ours.peak;
    session.compactions.flush = ours.compactions.flush;
    if let Some(waiting) = &mut session.restoration.waiting {
        waiting.snapshot.fold_wanted = ours.fold_wanted;
        waiting.snapshot.peak = ours.peak;
        waiting.snapshot.compactions.flush = ours.compactions.flush;
    }
    Ok(false)
}

/// Theirs is made of the same messages, as far as both have come and up to this one.
fn agrees_with(session: &Session, ours: &Snapshot, theirs: &Snapshot, upto: MessageId) -> bool {
    let (first, upto) = (theirs.first().index(), upto.min(theirs.upto).index());
    let known = &session.transcript.ledger.messages;
    if session.restoration.waiting.is_some() {
        let marks = ours.marks.iter().zip(&theirs.marks);
        return (ours.first().index(), ours.before) == (first, theirs.before)
            && marks.take(upto.saturating_sub(first)).all(|(a, b)| a == b);
    }
    let before = known.iter_to(first).map(|it| theirs.print(it.fingerprint));
    known.len() >= first.max(upto)
        && before.fold(0, rolled_by) == theirs.before
        && known.iter_to(upto).skip(first).map(|it| mark(it.fingerprint)).eq(theirs
            .marks
            .iter()
            .take(upto.saturating_sub(first))
            .copied())
}

impl Snapshot {
    /// How far it has come: of two that were cut alike the greater is the later.
    fn ahead(&self) -> (MessageId, u32) {
        (self.upto, self.epoch)
    }

    fn folded_since(&self, base: &Self) -> bool {
        (self.start, &self.head_text) != (base.start, &base.head_text)
    }

    /// Takes in what stands beside the messages in another that has gone on from `base` too. True: a text that was pinned and sent is
    /// not any more.
    fn take_in(&mut self, other: &Self, base: &Self) -> bool {
        let (folded, other_folded) = (self.folded_since(base), other.folded_since(base));
        self.calibration.take_in(&other.calibration, &base.calibration);
        let guards = (&other.compactions.guard, &base.compactions.guard);
        self.compactions.guard.take_in(guards.0, guards.1, other_folded);
        // What a provider refused holds until the model is another.
        let (limit, before) = (other.compactions.limit, base.compactions.limit);
        if self.compactions.limit == before
            || limit
                .is_some_and(|it| self.compactions.limit.is_some_and(|own| it.tokens < own.tokens))
        {
            self.compactions.limit = limit;
        }
        self.peak = self.peak.max(other.peak);
        self.fold_wanted |= other.fold_wanted && !folded;
        if self.compactions.flush == base.compactions.flush && !other_folded {
            self.compactions.flush = other.compactions.flush;
        }
        // Summaries that were made ahead, of messages that are still there.
        if self.compactions.checkpoints == base.compactions.checkpoints && !folded {
            self.compactions.checkpoints.clone_from(&other.compactions.checkpoints);
        }
        self.pins.merge(&other.pins, &base.pins)
    }
}

impl Calibration {
    /// What was learned elsewhere since `base` is learned here too.
    fn take_in(&mut self, other: &Self, base: &Self) {
        // Where sums were halved meanwhile, what was added is not known.
        let theirs = other.grown.0.checked_sub(base.grown.0);
        let ours = other.grown.1.checked_sub(base.grown.1);
        if let (Some(theirs), Some(ours)) = (theirs, ours) {
            self.grown.0 = self.grown.0.saturating_add(theirs);
            self.grown.1 = self.grown.1.saturating_add(ours);
        }
        if other.last != base.last && self.last == base.last {
            // Their epochs are not these.
            self.last = other.last.map(|last| Counted { epoch: NONE, ..last });
        }
    }
}
