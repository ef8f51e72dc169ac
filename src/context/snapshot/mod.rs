//! Snapshots: what a session knows that its messages do not tell, and how it is taken up again.
//!
//! Measures, uses and live counts are a function of the transcript; forms, stubs, the head, rent and the clocks are history.
//! A session that was parked, and one whose host has branched off or changed an earlier message, measures its messages
//! again and takes its history from here, as far as the messages are the same.

pub(super) mod bytes;
mod code;
mod merge;

use super::calibration::Calibration;
use super::compactions::Compactions;
use super::flush::Flush;
use super::lines::{SUMMARY, Want};
use super::pins::Pins;
use super::state::{State, Why, native};
use crate::estimate::{Estimator, MESSAGE};
use crate::format::Format;
use crate::model::{Draft, Form};
use crate::prune::{Change, Head, Rule};

/// So many of the last messages are known one by one; those before them as a whole.
const KNOWN_SINGLY: u32 = 512;

/// The history of a session, up to its last request.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a session, not a state")]
pub(super) struct Snapshot {
    /// Messages that the last request stood for.
    pub upto: u32,
    format: Format,
    /// A message has shown the format.
    certain: bool,
    /// Of all messages before those that have a mark.
    before: u64,
    marks: Vec<u32>,
    epoch: u32,
    at_ms: Option<i64>,
    peak: u64,
    tokens: u64,
    last: u64,
    /// Fingerprint and tokens of what went out beside the messages.
    parts: Option<(u64, u64)>,
    fold_due: bool,
    /// First message that no fold has touched.
    start: u32,
    /// First message behind the head.
    head_from: u32,
    head: Option<Head>,
    /// What the head says, and how many bytes of it are the summary.
    said: String,
    summary: usize,
    fold_rent: u64,
    charged: Option<u32>,
    changed: Vec<Changed>,
    /// Rent of blocks that are still whole.
    rents: Vec<(u32, u64)>,
    unbound: Vec<u32>,
    /// Reasoning was bound to what stood before it.
    bound: bool,
    calibration: Calibration,
    usable: u64,
    /// What the options allowed: under another window what was sent is decided anew.
    window: (u64, u64),
    breakpoints: Vec<u32>,
    pins: Pins,
    compactions: Compactions,
    flush: Flush,
    fold_wanted: bool,
    /// Identifiers in stubs, and in the summary.
    stubbed: Vec<u32>,
    summarized: Vec<u32>,
    /// Other options hold from now on: what was sent is decided anew; by another estimator also what lines cost.
    anew: bool,
    recount: bool,
    reshaped: bool,
    /// What the last request sent, where that is at hand.
    items: Option<Vec<(u64, u32)>>,
}

/// A block that is not sent as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Changed {
    block: u32,
    now: u32,
    why: Why,
    form: Shape,
}

/// Its form, with what is needed to write it again.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Shape {
    /// Cut like this; stubbed where nothing more may become of it.
    Cut(Want, Form),
    /// With this line in its place.
    Stubbed(String),
    Gone,
}

/// A snapshot that waits for the messages it was made of.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    snapshot: Snapshot,
    /// Of the messages that have come.
    rolling: u64,
}

/// What a message does to a session that waits.
pub(super) enum Known {
    /// It is one of those that the snapshot was made of.
    Same,
    /// It is not, or there are no more: the session has been taken up as far as it came.
    Ends,
    /// The session is another altogether.
    Strange,
}

/// Goes on with the hash of messages by one more of them.
pub(super) fn rolled(rolling: u64, fingerprint: u64) -> u64 {
    crate::hash::mix(rolling ^ fingerprint)
}

/// The lower half tells one message from another at the same place.
pub(super) fn mark(fingerprint: u64) -> u32 {
    let [a, b, c, d, ..] = fingerprint.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

impl State {
    /// What this session knows that its messages do not tell.
    #[inline(never)]
    fn remembered(&self) -> Snapshot {
        // What was folded since the last request may go beyond it.
        let untold = self.compactions.untold.is_some();
        let upto = self.sent.upto.max(if untold { self.pruner.start } else { 0 });
        let end = self.ledger.blocks_of(upto).start;
        let first = upto.saturating_sub(KNOWN_SINGLY) as usize;
        let fingerprints = self.ledger.messages.iter().take(upto as usize).map(|it| it.fingerprint);
        let changed = self.why.iter().filter(|(at, _)| **at < end);
        let flagged = |flag: fn(&crate::identifiers::Identifier) -> bool| {
            let all = self.ledger.identifiers.iter().filter(|(_, it)| flag(it));
            all.map(|(id, _)| id).collect()
        };
        let live = self.ledger.live().iter().filter(|&&at| at < end);
        let rents = live.filter_map(|&at| {
            let rent = self.ledger.blocks.get(at as usize)?.rent;
            (rent > 0).then_some((at, rent))
        });
        let unbound = self.unbound.keys().copied().filter(|&at| at < end).collect();
        Snapshot {
            upto,
            format: self.format,
            certain: self.certain,
            before: fingerprints.clone().take(first).fold(0, rolled),
            marks: fingerprints.skip(first).map(mark).collect(),
            epoch: self.sent.epoch,
            at_ms: self.sent.at_ms,
            peak: self.sent.peak,
            tokens: self.sent.tokens,
            last: self.sent.last,
            parts: self.sent.parts.map(|parts| (parts, self.sent.beside)),
            fold_due: self.sent.fold_due,
            start: self.pruner.start,
            head_from: self.pruner.head_from,
            head: self.pruner.head.clone(),
            said: self.lines.head.clone(),
            summary: self.lines.summary.len(),
            fold_rent: self.pruner.fold_rent,
            charged: self.pruner.charged,
            changed: changed.filter_map(|(&at, why)| self.changed_block(at, *why)).collect(),
            rents: rents.collect(),
            unbound,
            bound: self.binds_reasoning() && !self.sent.rebind,
            calibration: self.calibration,
            usable: self.usable,
            window: (self.options.window, self.options.usable),
            breakpoints: self.sent.breakpoints.clone(),
            pins: self.pins.clone(),
            compactions: self.compactions.clone(),
            flush: self.flush,
            fold_wanted: self.pruner.fold_wanted,
            stubbed: flagged(|it| it.stubbed),
            summarized: flagged(|it| it.summarized),
            // A call failed half way: what was sent last went beyond these messages.
            anew: self.sent.rebuild && !self.sent.unheld,
            recount: false,
            reshaped: self.sent.reshaped,
            items: Some(self.sent.items.clone()),
        }
    }

    fn changed_block(&self, at: u32, why: Why) -> Option<Changed> {
        let block = self.ledger.blocks.get(at as usize)?;
        let form = match block.form {
            Form::Full => return None,
            Form::Capped | Form::Stubbed => match self.lines.caps.get(&at) {
                Some(&cut) => Shape::Cut(cut, block.form),
                None => Shape::Stubbed(self.lines.text.get(&at).cloned().unwrap_or_default()),
            },
            Form::Gone => Shape::Gone,
        };
        Some(Changed { block: at, now: block.now, why, form })
    }

    /// The session as bytes: its history, never the text of a message.
    pub fn snapshot(&self) -> Vec<u8> {
        self.history().to_bytes()
    }

    /// As it is now, also while it waits: what no message is needed for goes on meanwhile.
    fn history(&self) -> Snapshot {
        let Some(Waiting { snapshot, .. }) = &self.waiting else { return self.remembered() };
        let mut snapshot = snapshot.clone();
        snapshot.pins.clone_from(&self.pins);
        snapshot.calibration = self.calibration;
        snapshot.compactions.guard.clone_from(&self.compactions.guard);
        snapshot.compactions.limit = self.compactions.limit;
        snapshot
    }

    /// A session without messages that goes on where the snapshot was made, once its messages have come.
    ///
    /// # Errors
    /// `CorruptState` for bytes that are no snapshot, or have changed.
    pub fn restore(options: super::Options, bytes: &[u8]) -> crate::error::Result<Self> {
        Ok(Self::gone_on(options, Snapshot::from_bytes(bytes)?))
    }

    #[inline(never)]
    fn gone_on(options: super::Options, snapshot: Snapshot) -> Self {
        let mut state = Self::new(options, snapshot.format);
        state.certain |= snapshot.certain;
        state.sent.epoch = snapshot.epoch;
        state.sent.peak = snapshot.peak;
        state.calibration = snapshot.calibration;
        state.compactions.guard.clone_from(&snapshot.compactions.guard);
        state.compactions.limit = snapshot.compactions.limit;
        state.usable = snapshot.usable;
        // Whatever was sent, the host's side does not hold it: should the history be another, all of it has changed.
        state.sent.items = vec![(0, crate::model::NONE)];
        (state.sent.unheld, state.sent.rebuild) = (true, true);
        state.wait_for(snapshot);
        state
    }

    /// As `restore`, with the options of this session.
    ///
    /// # Errors
    /// `CorruptState`; then nothing has changed.
    pub fn wake(&mut self, bytes: &[u8]) -> crate::error::Result<()> {
        *self = Self::restore(self.options.clone(), bytes)?;
        Ok(())
    }

    /// The host's history is another, from some message on: it is handed over again, and what stays the same stays known.
    pub fn resync(&mut self) {
        let snapshot = self.history();
        self.reset();
        if snapshot.upto > 0 {
            self.wait_for(snapshot);
        } else {
            self.pins = snapshot.pins;
        }
    }

    /// What changes with the model. True: another provider or estimator counts and judges, and all messages must come again.
    pub fn set_options(&mut self, mut options: super::Options) -> bool {
        let scaled = [options.estimator, self.options.estimator];
        let same = scaled.iter().all(|it| matches!(it, Estimator::Scaled(_)));
        let recount = !same && options.estimator != self.options.estimator;
        let provider = options.provider.unwrap_or_else(|| native(self.format));
        let bound = self.binds_reasoning();
        self.sent.settled = false;
        self.pruner.policy = options.policy.clone();
        if recount || provider != self.provider {
            let snapshot = self.history();
            self.calibration = Calibration::default();
            (self.usable, self.options) = (options.usable, options);
            self.provider = provider;
            self.reset();
            self.usable = self.options.usable;
            let calibration = Calibration::default();
            let usable = self.usable;
            self.wait_for(Snapshot { calibration, usable, anew: true, recount, ..snapshot });
            return true;
        }
        if same {
            options.estimator = self.options.estimator;
        }
        self.options = options;
        self.compactions.limit = None;
        self.monitor.rearm();
        self.usable = self.calibration.estimate(self.options.usable);
        self.rebind(bound);
        self.hold_again();
        false
    }

    /// Reasoning may be bound that was not before: what stands before it counts as changed if an epoch was ever opened.
    fn rebind(&mut self, bound: bool) {
        self.sent.rebind |= !bound && self.binds_reasoning() && self.sent.epoch > 0;
    }

    /// What a changed block costs by the estimator of now.
    fn recounted(&self, block: u32, form: Form) -> u32 {
        let Some(it) = self.ledger.blocks.get(block as usize).filter(|_| form != Form::Gone) else {
            return 0;
        };
        let line = self.lines.text.get(&block);
        line.map_or(it.tokens, |line| self.lines.cost(it.kind, block, line))
    }

    fn wait_for(&mut self, snapshot: Snapshot) {
        self.pins.clone_from(&snapshot.pins);
        self.waiting = Some(Waiting { snapshot, rolling: 0 });
    }

    /// Whether the next message is the one that the snapshot was made of; if not, takes up what came before it.
    pub(super) fn meet(&mut self, index: u32, fingerprint: u64) -> Known {
        let Some(waiting) = &mut self.waiting else { return Known::Ends };
        let snapshot = &waiting.snapshot;
        let single = count(snapshot.marks.len());
        let first = snapshot.upto.saturating_sub(single);
        if index == first && waiting.rolling != snapshot.before {
            self.waiting = None;
            return Known::Strange;
        }
        let known = snapshot.marks.get(index.wrapping_sub(first) as usize);
        if index < first || known == Some(&mark(fingerprint)) {
            waiting.rolling = rolled(waiting.rolling, fingerprint);
            return Known::Same;
        }
        self.take_up();
        Known::Ends
    }

    /// Writes again what is capped of a message that the snapshot was made of; the rest follows when all have come.
    pub(super) fn cap_again(&mut self, draft: &Draft<'_>, first_block: u32) {
        let Some(waiting) = &self.waiting else { return };
        for (at, part) in (first_block..).zip(&draft.parts) {
            let changed = &waiting.snapshot.changed;
            let found = changed.binary_search_by_key(&at, |changed| changed.block).ok();
            if let Some(Shape::Cut(want, _)) =
                found.and_then(|at| changed.get(at)).map(|it| &it.form)
            {
                let about = self.about(at);
                self.lines.wanted.insert(at, *want);
                self.lines.supply(at, part, &about);
            }
        }
    }

    /// Goes on where the snapshot was made, with the messages that have come: all of them, or those before a branch.
    pub(super) fn take_up(&mut self) {
        let Some(Waiting { snapshot, .. }) = self.waiting.take() else { return };
        let messages = self.ledger.message_count();
        // Nothing that would have to be said of a session without messages.
        if messages == 0 {
            self.sent.rebuild = true;
            return;
        }
        self.take_forms(&snapshot);
        let (ours, calls) = (&mut self.pruner, self.call);
        ours.fold_rent = snapshot.fold_rent;
        ours.charged = snapshot.charged.map(|charged| charged.min(calls));
        self.sent.epoch = snapshot.epoch;
        self.sent.at_ms = snapshot.at_ms;
        self.flush = snapshot.flush;
        self.sent.parts = snapshot.parts.map(|(fingerprint, _)| fingerprint);
        self.sent.fold_due = snapshot.fold_due;
        let whole = messages == snapshot.upto;
        let untold = self.compactions.untold.is_some();
        self.view_again(whole);
        self.rebind(snapshot.bound);
        let goes = self.keep_reasoning();
        self.sent.breakpoints = snapshot.breakpoints;
        (self.sent.peak, self.sent.tokens) = (snapshot.peak, snapshot.tokens);
        self.sent.last = snapshot.last;
        if let Some(items) = snapshot.items {
            self.sent.items = items;
        } else if untold {
            self.sent.items = vec![(0, crate::model::NONE)];
        } else if !whole || snapshot.anew {
            // What stood behind these is not known: the request is not what it was from there on.
            self.sent.items.push((0, crate::model::NONE));
        }
        self.sent.rebuild = !whole || self.sent.unheld || snapshot.anew || untold;
        let beside = (self.parts.fingerprint, self.parts.total());
        let same_window = snapshot.window == (self.options.window, self.options.usable);
        self.sent.settled = whole
            && same_window
            && !goes
            && !snapshot.anew
            && !untold
            && snapshot.parts == Some(beside);
        if snapshot.reshaped {
            self.tell_again(&snapshot.changed);
        }
    }

    /// Where something stands is another place now: every message is handed over, and every edit told, once more.
    fn tell_again(&mut self, changed: &[Changed]) {
        self.sent.items = vec![(0, crate::model::NONE)];
        (self.sent.settled, self.sent.rebuild, self.sent.unheld) = (false, true, true);
        self.sent.reshaped = false;
        self.told.clear();
        for Changed { block, why, .. } in changed {
            if let Some(it) = self.ledger.blocks.get(*block as usize) {
                self.fresh.push(Change { block: *block, rule: why.rule, before: it.tokens });
            }
        }
    }

    /// What was sent of the blocks, as far as the messages have come; a fold holds only if all that it touched has.
    fn take_forms(&mut self, snapshot: &Snapshot) {
        let end = self.ledger.block_count();
        let folds_hold = snapshot.start <= self.ledger.message_count();
        for changed in snapshot.changed.iter().take_while(|changed| changed.block < end) {
            let Changed { block, now, why, form } = changed;
            if why.rule == Rule::Fold && !folds_hold {
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
        for &id in &snapshot.stubbed {
            if let Some(identifier) = self.ledger.identifiers.get_mut(id) {
                identifier.stubbed = true;
            }
        }
        for &id in &snapshot.summarized {
            if let Some(identifier) = self.ledger.identifiers.get_mut(id) {
                identifier.summarized = folds_hold;
            }
        }
        // Not extended, which would bring a sort of its own.
        for at in snapshot.unbound.iter().filter(|&&at| at < end) {
            self.unbound.insert(*at, ());
        }
        self.fresh.clear();
        self.pruner.fold_wanted = snapshot.fold_wanted;
    }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
impl State {
    /// What the head of a session that waits says.
    pub(super) fn waiting_head(&self) -> String {
        self.waiting.as_ref().map(|it| it.snapshot.said.clone()).unwrap_or_default()
    }
}
