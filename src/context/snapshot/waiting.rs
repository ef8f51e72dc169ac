//! A session that waits for the messages that its snapshot was made of, and how it takes up what it knew of them.

use std::ops::Range;

use super::{Changed, Shape, Snapshot, UNKNOWN, count, mark, rolled_by};
use crate::context::compactions::Compactions;
use crate::context::lines::{SUMMARY, Want};
use crate::context::state::State;
use crate::estimate::MESSAGE;
use crate::model::{Draft, Form, Kind, NONE};
use crate::prune::{Change, Head, Rule, Shorten};

/// A snapshot that waits for the messages it was made of.
#[derive(Clone, Debug)]
pub(in crate::context) struct Waiting {
    pub(super) snapshot: Snapshot,
    /// Of the messages that have come.
    pub(super) rolling: u64,
    /// The measured messages are kept where the history parts.
    pub(super) keeps: bool,
    /// From this message on it is another history.
    pub(super) ends: u32,
    /// The host's side has not been asked yet whether it has forgotten how the history starts.
    pub(super) may_start_late: bool,
    /// It is being asked.
    pub(in crate::context) starts_late: bool,
    /// Blocks of messages that the host has forgotten.
    pub(super) forgotten: Range<u32>,
}

impl Waiting {
    pub(super) fn new(snapshot: Snapshot) -> Self {
        Self {
            snapshot,
            rolling: 0,
            keeps: false,
            ends: NONE,
            may_start_late: false,
            starts_late: false,
            forgotten: 0..0,
        }
    }

    /// What the job engine kept of checkpoints.
    pub(in crate::context) fn checkpoints(&self) -> &str {
        &self.snapshot.compactions.checkpoints
    }
}

/// What a message does to a session that waits.
pub(in crate::context) enum Known {
    /// It is one of those that the snapshot was made of.
    Same,
    /// It is not, or there are no more: the session has been taken up as far as it came.
    Ends,
    /// The session is another altogether, or starts later than it did: it waits as before.
    Strange,
}

impl State {
    pub(super) fn wait_for(&mut self, snapshot: Snapshot) {
        self.pins.clone_from(&snapshot.pins);
        self.pins.detach();
        self.waiting = Some(Waiting::new(snapshot));
    }

    /// Whether the next message is the one that the snapshot was made of; if not, takes up what came before it.
    pub(in crate::context) fn meet(&mut self, index: u32, fingerprint: u64) -> Known {
        let Some(waiting) = &mut self.waiting else { return Known::Ends };
        let snapshot = &waiting.snapshot;
        if waiting.may_start_late && snapshot.opens_otherwise(index, fingerprint) {
            self.wait_for_a_later_part();
            return Known::Strange;
        }
        let single = count(snapshot.marks.len());
        let first = snapshot.upto.saturating_sub(single);
        if index == first && waiting.rolling != snapshot.before {
            self.waiting = None;
            self.reset();
            return Known::Strange;
        }
        let known = snapshot.marks.get(index.wrapping_sub(first) as usize);
        if index < waiting.ends && (index < first || known == Some(&mark(fingerprint))) {
            waiting.rolling = rolled_by(waiting.rolling, snapshot.print(fingerprint));
            return Known::Same;
        }
        self.take_up();
        Known::Ends
    }

    /// Writes again what is capped of a message that the snapshot was made of; the rest follows when all have come.
    pub(in crate::context) fn cap_again(&mut self, draft: &Draft<'_>, first_block: u32) {
        let Some(waiting) = &self.waiting else { return };
        let changed = &waiting.snapshot.changed;
        let line = Want::Shorten(Shorten::Line);
        let quotes =
            changed.iter().any(|it| matches!(it.form, Shape::Cut(want, _) if want == line));
        let mut cuts = Vec::new();
        for (at, part) in (first_block..).zip(&draft.parts) {
            let found = changed.binary_search_by_key(&at, |changed| changed.block).ok();
            let form = found.and_then(|at| changed.get(at)).map(|it| &it.form);
            let want = if let Some(Shape::Cut(want, _)) = form { Some(*want) } else { None };
            cuts.push((at, part, want));
        }
        for (at, part, want) in cuts {
            if quotes && part.piece.kind == Kind::Call {
                self.note_call(at, part);
            }
            if let Some(want) = want {
                let about = self.about(at);
                self.lines.wanted.insert(at, want);
                let overhead = self.ledger.blocks.get(at as usize).map_or(0, |it| it.overhead);
                self.lines.supply(at, overhead, part, &about);
            }
        }
    }

    /// Goes on where the snapshot was made, with the messages that have come: all of them, or those before a branch.
    pub(in crate::context) fn take_up(&mut self) {
        self.keep_measured();
        self.lines.calls.clear();
        let Some(Waiting { snapshot, forgotten, .. }) = self.waiting.take() else { return };
        let messages = self.ledger.message_count();
        // Nothing that would have to be said of a session without messages.
        if messages == 0 {
            self.sent.rebuild = true;
            return;
        }
        // Only repairs have been made yet.
        let repaired: Vec<u32> = self.why.keys().copied().collect();
        let is_missing = self.take_forms(&snapshot, &forgotten);
        let (ours, calls) = (&mut self.pruner, self.call);
        ours.lost = is_missing;
        ours.fold_rent = snapshot.fold_rent;
        ours.charged = snapshot.charged.map(|charged| charged.min(calls));
        self.sent.epoch = snapshot.epoch;
        self.sent.at_ms = snapshot.at_ms;
        self.flush = snapshot.flush;
        self.sent.parts = snapshot.parts.map(|(fingerprint, _)| fingerprint);
        self.sent.fold_due = snapshot.fold_due;
        let whole = messages == snapshot.upto;
        let untold = self.compactions.untold.is_some();
        // What was sent ended as it did then, whatever is asked for now.
        let open = self.mender.set_open(snapshot.open);
        self.view_again(whole);
        self.mender.set_open(open);
        self.rebind(snapshot.bound);
        let goes = self.keep_reasoning();
        self.sent.breakpoints = snapshot.breakpoints;
        let sent = count(self.sent.items.len());
        self.sent.breakpoints.retain(|at| *at < sent);
        (self.sent.peak, self.sent.tokens) = (snapshot.peak, snapshot.tokens);
        self.sent.last = snapshot.last;
        if let Some(items) = snapshot.items {
            self.sent.items = items;
        } else if untold || is_missing {
            self.sent.items = vec![UNKNOWN];
        } else if !whole || snapshot.anew {
            // What stood behind these is not known: the request is not what it was from there on.
            self.sent.items.push(UNKNOWN);
        }
        self.sent.rebuild = !whole || snapshot.anew || untold || is_missing;
        let beside = (self.parts.fingerprint, self.parts.total());
        let same_window = snapshot.window == (self.options.window, self.options.usable);
        self.sent.settled = whole
            && same_window
            && snapshot.open == open
            && !goes
            && !snapshot.anew
            && !untold
            && !is_missing
            && snapshot.parts == Some(beside);
        // Nothing is built anew only because the host's side does not hold it.
        self.sent.rebuild &= !self.sent.settled;
        if snapshot.reshaped {
            self.tell_again(&snapshot.changed);
        }
        // What was in this process needs no proof.
        if self.sent.unheld {
            self.disbelieve(&snapshot.changed, &repaired, &forgotten);
        }
    }

    /// Where something stands is another place now: every message is handed over, and every edit told, once more.
    fn tell_again(&mut self, changed: &[Changed]) {
        self.sent.items = vec![UNKNOWN];
        (self.sent.settled, self.sent.rebuild, self.sent.unheld) = (false, true, true);
        self.sent.reshaped = false;
        self.told.clear();
        for Changed { block, why, .. } in changed {
            if let Some(it) = self.ledger.blocks.get(*block as usize) {
                self.fresh.push(Change { block: *block, rule: why.rule, before: it.tokens });
            }
        }
    }

    /// What was sent of the blocks, as far as the messages have come; a fold holds only if all that it touched has, and what
    /// was dropped for the sake of messages that have not come is there again.
    /// True: something was sent of a message that the host has forgotten.
    fn take_forms(&mut self, snapshot: &Snapshot, forgotten: &Range<u32>) -> bool {
        let end = self.ledger.block_count();
        let mut missing = forgotten.len();
        let folds_hold = snapshot.start <= self.ledger.message_count();
        for changed in snapshot.changed.iter().take_while(|changed| changed.block < end) {
            let Changed { block, now, why, form } = changed;
            if forgotten.contains(block) {
                missing = missing.saturating_sub(usize::from(*form == Shape::Gone));
                continue;
            }
            let dropped = matches!(
                (why.rule, form),
                (Rule::HardFit | Rule::Discard, Shape::Gone) if why.call > self.call
            );
            // What messages that have not come made a repair of, needs none now.
            let mended = why.rule == Rule::Repair && self.ledger.message_count() < snapshot.upto;
            if dropped || mended || (why.rule == Rule::Fold && !folds_hold) {
                continue;
            }
            let form = match form {
                Shape::Cut(_, form) => *form,
                Shape::Stubbed(line) => {
                    self.lines.text.insert(*block, line.clone());
                    Form::Stubbed
                }
                Shape::Gone => Form::Gone,
            };
            if why.rule.takes() {
                let tokens = self.ledger.blocks.get(*block as usize).map_or(0, |it| it.tokens);
                self.pruner.taken = self.pruner.taken.saturating_add(tokens.into());
            }
            let now = if snapshot.recount { self.recounted(*block, form) } else { *now };
            self.ledger.set_form(*block, form, now);
            self.why.insert(*block, *why);
        }
        if folds_hold {
            self.pruner.start = snapshot.start;
            self.pruner.head_from = snapshot.head_from;
            self.pruner.head.clone_from(&snapshot.head);
            // As it was sent, also where the host's history does not say it any more.
            let about = self.head_about();
            if let Some(message) = self.ledger.messages.get_mut(about as usize) {
                message.at_ms = snapshot.head_at.or(message.at_ms);
            }
            self.lines.head.clone_from(&snapshot.said);
            let summary =
                snapshot.said.get(SUMMARY.len()..).and_then(|it| it.get(..snapshot.summary));
            self.lines.summary = summary.unwrap_or_default().into();
            let Compactions { guard, limit, .. } = std::mem::take(&mut self.compactions);
            self.compactions = Compactions { guard, limit, ..snapshot.compactions.clone() };
        }
        if folds_hold
            && snapshot.recount
            && let Some(head) = &snapshot.head
        {
            let tokens = self.options.estimator.tokens(&snapshot.said).saturating_add(MESSAGE);
            self.pruner.head = Some(Head { tokens, ..head.clone() });
        }
        for &(at, rent) in &snapshot.rents {
            if let Some(block) = self.ledger.blocks.get_mut(at as usize) {
                block.rent = rent;
            }
        }
        // Numbers of identifiers are those of their first appearance, which may be forgotten.
        let is_whole = forgotten.is_empty();
        for &id in snapshot.stubbed.iter().filter(|_| is_whole) {
            if let Some(identifier) = self.ledger.identifiers.get_mut(id) {
                identifier.stubbed = true;
            }
        }
        for &id in snapshot.summarized.iter().filter(|_| is_whole) {
            if let Some(identifier) = self.ledger.identifiers.get_mut(id) {
                identifier.summarized = folds_hold;
            }
        }
        // Not extended, which would bring a sort of its own.
        for at in snapshot.unbound.iter().filter(|&&at| at < end) {
            self.unbound.insert(*at, ());
        }
        if !is_whole {
            let summary = std::mem::take(&mut self.lines.summary);
            self.ledger.identifiers.note_summary(&summary);
            self.lines.summary = summary;
            self.pruner.start = self.pruner.start.max(self.pruner.forgotten);
        }
        self.fresh.clear();
        self.pruner.fold_wanted = snapshot.fold_wanted;
        missing > 0
    }

    /// What a changed block costs by the estimator of now.
    fn recounted(&self, block: u32, form: Form) -> u32 {
        let Some(it) = self.ledger.blocks.get(block as usize).filter(|_| form != Form::Gone) else {
            return 0;
        };
        let line = self.lines.text.get(&block);
        line.map_or(it.tokens, |line| self.lines.cost(it, block, line))
    }
}

#[cfg(test)]
impl State {
    /// What the head of a session that waits says.
    pub(in crate::context) fn waiting_head(&self) -> String {
        self.waiting.as_ref().map(|it| it.snapshot.said.clone()).unwrap_or_default()
    }
}
