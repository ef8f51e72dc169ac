//! A session that waits for the messages that its snapshot was made of, and how it takes up what it knew of them.

use std::ops::Range;

use super::{Changed, Shape, Snapshot, UNKNOWN, count, mark, rolled_by};
use crate::context::compaction::compaction_history::Compactions;
use crate::context::request::placeholders::{SUMMARY, Want};
use crate::context::session::Session;
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

impl Session {
    pub(super) fn wait_for(&mut self, snapshot: Snapshot) {
        self.pins.clone_from(&snapshot.pins);
        self.pins.detach();
        self.restoration.waiting = Some(Waiting::new(snapshot));
    }

    /// Whether the next message is the one that the snapshot was made of; if not, takes up what came before it.
    pub(in crate::context) fn meet(&mut self, index: u32, fingerprint: u64) -> Known {
        let Some(waiting) = &mut self.restoration.waiting else { return Known::Ends };
        let snapshot = &waiting.snapshot;
        if waiting.may_start_late && snapshot.opens_otherwise(index, fingerprint) {
            self.wait_for_a_later_part();
            return Known::Strange;
        }
        let single = count(snapshot.marks.len());
        let first = snapshot.upto.saturating_sub(single);
        if index == first && waiting.rolling != snapshot.before {
            self.restoration.waiting = None;
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
        let Some(waiting) = &self.restoration.waiting else { return };
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
                self.decisions.placeholders.wanted.insert(at, want);
                let overhead =
                    self.transcript.ledger.blocks.get(at as usize).map_or(0, |it| it.overhead);
                self.decisions.placeholders.supply(at, overhead, part, &about);
            }
        }
    }

    /// Goes on where the snapshot was made, with the messages that have come: all of them, or those before a branch.
    pub(in crate::context) fn take_up(&mut self) {
        self.keep_measured();
        self.decisions.placeholders.calls.clear();
        let Some(Waiting { snapshot, forgotten, .. }) = self.restoration.waiting.take() else {
            return;
        };
        let messages = self.transcript.ledger.message_count();
        // Nothing that would have to be said of a session without messages.
        if messages == 0 {
            self.last_request.rebuild = true;
            return;
        }
        // Only repairs have been made yet.
        let repaired: Vec<u32> = self.decisions.reasons.keys().copied().collect();
        let is_missing = self.take_forms(&snapshot, &forgotten);
        let (ours, calls) = (&mut self.decisions.pruner, self.transcript.call);
        ours.lost = is_missing;
        ours.fold_rent = snapshot.fold_rent;
        ours.charged = snapshot.charged.map(|charged| charged.min(calls));
        self.last_request.epoch = snapshot.epoch;
        self.last_request.at_ms = snapshot.at_ms;
        self.flush = snapshot.flush;
        self.last_request.parts = snapshot.parts.map(|(fingerprint, _)| fingerprint);
        self.last_request.fold_due = snapshot.fold_due;
        let whole = messages == snapshot.upto;
        let untold = self.compactions.untold.is_some();
        // What was sent ended as it did then, whatever is asked for now.
        let open = self.repairs.mender.set_open(snapshot.open);
        self.view_again(whole);
        self.repairs.mender.set_open(open);
        self.rebind(snapshot.bound);
        let goes = self.keep_reasoning();
        self.last_request.breakpoints = snapshot.breakpoints;
        let sent = count(self.last_request.items.len());
        self.last_request.breakpoints.retain(|at| *at < sent);
        (self.last_request.peak, self.last_request.tokens) = (snapshot.peak, snapshot.tokens);
        self.last_request.last = snapshot.last;
        if let Some(items) = snapshot.items {
            self.last_request.items = items;
        } else if untold || is_missing {
            self.last_request.items = vec![UNKNOWN];
        } else if !whole || snapshot.anew {
            // What stood behind these is not known: the request is not what it was from there on.
            self.last_request.items.push(UNKNOWN);
        }
        self.last_request.rebuild = !whole || snapshot.anew || untold || is_missing;
        let beside = (self.extras.fingerprint, self.extras.total());
        let same_window = snapshot.window == (self.options.window, self.options.usable);
        self.last_request.settled = whole
            && same_window
            && snapshot.open == open
            && !goes
            && !snapshot.anew
            && !untold
            && !is_missing
            && snapshot.parts == Some(beside);
        // Nothing is built anew only because the host's side does not hold it.
        self.last_request.rebuild &= !self.last_request.settled;
        if snapshot.reshaped {
            self.tell_again(&snapshot.changed);
        }
        // What was in this process needs no proof.
        if self.last_request.unheld {
            self.disbelieve(&snapshot.changed, &repaired, &forgotten);
        }
    }

    /// Where something stands is another place now: every message is handed over, and every edit told, once more.
    fn tell_again(&mut self, changed: &[Changed]) {
        self.last_request.items = vec![UNKNOWN];
        (self.last_request.settled, self.last_request.rebuild, self.last_request.unheld) =
            (false, true, true);
        self.last_request.reshaped = false;
        self.last_request.reported_edits.clear();
        for Changed { block, why, .. } in changed {
            if let Some(it) = self.transcript.ledger.blocks.get(*block as usize) {
                self.decisions.unreported.push(Change {
                    block: *block,
                    rule: why.rule,
                    before: it.tokens,
                });
            }
        }
    }

    /// What was sent of the blocks, as far as the messages have come; a fold holds only if all that it touched has, and what
    /// was dropped for the sake of messages that have not come is there again.
    /// True: something was sent of a message that the host has forgotten.
    fn take_forms(&mut self, snapshot: &Snapshot, forgotten: &Range<u32>) -> bool {
        let end = self.transcript.ledger.block_count();
        let mut missing = forgotten.len();
        let folds_hold = snapshot.start <= self.transcript.ledger.message_count();
        for changed in snapshot.changed.iter().take_while(|changed| changed.block < end) {
            let Changed { block, now, why, form } = changed;
            if forgotten.contains(block) {
                missing = missing.saturating_sub(usize::from(*form == Shape::Gone));
                continue;
            }
            let dropped = matches!(
                (why.rule, form),
                (Rule::HardFit | Rule::Discard, Shape::Gone) if why.call > self.transcript.call
            );
            // What messages that have not come made a repair of, needs none now.
            let mended =
                why.rule == Rule::Repair && self.transcript.ledger.message_count() < snapshot.upto;
            if dropped || mended || (why.rule == Rule::Fold && !folds_hold) {
                continue;
            }
            let form = match form {
                Shape::Cut(_, form) => *form,
                Shape::Stubbed(line) => {
                    self.decisions.placeholders.text.insert(*block, line.clone());
                    Form::Stubbed
                }
                Shape::Gone => Form::Gone,
            };
            if why.rule.takes() {
                let tokens =
                    self.transcript.ledger.blocks.get(*block as usize).map_or(0, |it| it.tokens);
                self.decisions.pruner.taken =
                    self.decisions.pruner.taken.saturating_add(tokens.into());
            }
            let now = if snapshot.recount { self.recounted(*block, form) } else { *now };
            self.transcript.ledger.set_form(*block, form, now);
            self.decisions.reasons.insert(*block, *why);
        }
        if folds_hold {
            self.decisions.pruner.start = snapshot.start;
            self.decisions.pruner.head_from = snapshot.head_from;
            self.decisions.pruner.head.clone_from(&snapshot.head);
            // As it was sent, also where the host's history does not say it any more.
            let about = self.head_about();
            if let Some(message) = self.transcript.ledger.messages.get_mut(about as usize) {
                message.at_ms = snapshot.head_at.or(message.at_ms);
            }
            self.decisions.placeholders.head.clone_from(&snapshot.said);
            let summary =
                snapshot.said.get(SUMMARY.len()..).and_then(|it| it.get(..snapshot.summary));
            self.decisions.placeholders.summary = summary.unwrap_or_default().into();
            let Compactions { guard, limit, .. } = std::mem::take(&mut self.compactions);
            self.compactions = Compactions { guard, limit, ..snapshot.compactions.clone() };
        }
        if folds_hold
            && snapshot.recount
            && let Some(head) = &snapshot.head
        {
            let tokens = self.options.estimator.tokens(&snapshot.said).saturating_add(MESSAGE);
            self.decisions.pruner.head = Some(Head { tokens, ..head.clone() });
        }
        for &(at, rent) in &snapshot.rents {
            if let Some(block) = self.transcript.ledger.blocks.get_mut(at as usize) {
                block.rent = rent;
            }
        }
        // Numbers of identifiers are those of their first appearance, which may be forgotten.
        let is_whole = forgotten.is_empty();
        for &id in snapshot.stubbed.iter().filter(|_| is_whole) {
            if let Some(identifier) = self.transcript.ledger.identifiers.get_mut(id) {
                identifier.stubbed = true;
            }
        }
        for &id in snapshot.summarized.iter().filter(|_| is_whole) {
            if let Some(identifier) = self.transcript.ledger.identifiers.get_mut(id) {
                identifier.summarized = folds_hold;
            }
        }
        // Not extended, which would bring a sort of its own.
        for at in snapshot.unbound.iter().filter(|&&at| at < end) {
            self.decisions.unbound.insert(*at, ());
        }
        if !is_whole {
            let summary = std::mem::take(&mut self.decisions.placeholders.summary);
            self.transcript.ledger.identifiers.note_summary(&summary);
            self.decisions.placeholders.summary = summary;
            self.decisions.pruner.start =
                self.decisions.pruner.start.max(self.decisions.pruner.forgotten);
        }
        self.decisions.unreported.clear();
        self.decisions.pruner.fold_wanted = snapshot.fold_wanted;
        missing > 0
    }

    /// What a changed block costs by the estimator of now.
    fn recounted(&self, block: u32, form: Form) -> u32 {
        let Some(it) =
            self.transcript.ledger.blocks.get(block as usize).filter(|_| form != Form::Gone)
        else {
            return 0;
        };
        let line = self.decisions.placeholders.text.get(&block);
        line.map_or(it.tokens, |line| self.decisions.placeholders.cost(it, block, line))
    }
}

#[cfg(test)]
impl Session {
    /// What the head of a session that waits says.
    pub(in crate::context) fn waiting_head(&self) -> String {
        self.restoration.waiting.as_ref().map(|it| it.snapshot.said.clone()).unwrap_or_default()
    }
}
