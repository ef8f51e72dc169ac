//! Response for the facade: the new part of a request, and how it differs from the last one.

use crate::context::compaction::compaction_outcome::{Folded, Outcome};
use crate::context::request::edits::Edit;
use crate::context::request::view::{Entry, SentItem, Written};
use crate::context::session::{Decided, Session};
use crate::json;
use crate::model::{Fix, Item, Message, NONE, Role, Violation};
use crate::number::count;
use crate::prune::{Change, Rule};
use crate::validity;

json::json_struct! {
    /// A request: what stays of the one before, what follows, and what is to be said about it.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Answer {
        /// So many messages of the last request stand at the start of this one.
        pub keep: u32,
        /// The messages behind them.
        pub items: Vec<Written>,
        /// Changes only when something other than the end of the request does.
        pub epoch: u32,
        /// First message that differs from the last request; -1: system or tools; none: it only grew.
        pub first_changed: Option<i64>,
        /// By our estimate the request fits the usable window.
        pub fits: bool,
        /// Why it does not.
        pub why: Option<json::Value>,
        /// Its tokens.
        pub tokens: u64,
        /// The same as we count, whatever the provider's own figures say.
        pub estimate: u64,
        /// What `tokens` stands on.
        pub source: &'static str,
        /// Tokens of the request before.
        pub tokens_before: u64,
        /// Tokens of the request before that stood behind the first change.
        pub cached_tokens_lost: u64,
        /// What had to be repaired in the host's history.
        pub repairs: Vec<Violation>,
        /// Edits that are new in this request.
        pub edits: Vec<Edit>,
        /// What the policy did.
        pub event: Option<Event>,
        /// What room was made.
        pub outcome: Option<Outcome>,
        /// The fold that was carried out.
        pub fold: Option<Folded>,
        /// A fold pays, and waits for a summarizer.
        pub fold_due: bool,
        /// What the provider must be told, as the JSON of members of its body and headers: reasoning is sent behind a change,
        /// and it is to drop what it no longer accepts.
        pub hints: Option<&'static str>,
        /// What the host's system prompt is to say.
        pub system_note: Option<&'static str>,
        /// In which format, and by whose rules.
        pub format: &'static str,
        /// The provider's name.
        pub provider: &'static str,
        /// Cache markers of the host's in these messages.
        pub marked: u32,
        /// Positions of messages in the request after which a cache marker pays: at most three, for a provider that is told.
        pub cache_breakpoints: Vec<u32>,
        /// First message of the last group: until another message follows, it may still change.
        pub last_group: u32,
    }
}

/// What the policy did at a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Blocks were stubbed, capped or thinned.
    Edit,
    /// A fold was carried out.
    Fold,
}

impl json::Write for Event {
    fn write(&self, out: &mut String) {
        let name = match self {
            Self::Edit => "edit",
            Self::Fold => "fold",
        };
        name.write(out);
    }
}

impl Session {
    /// Builds the view, as far as it is new, and compares it with the last one.
    pub(in crate::context) fn carry_out(&mut self) -> Answer {
        let decided = self.pending.take().unwrap_or_default();
        let mut decided = decided;
        let untold = self.compactions.untold.take();
        // A fold of its own goes further than the compaction that no request has told of.
        let by_itself = decided.folded;
        if by_itself {
            self.fold_by_itself();
        }
        let committed = untold.filter(|_| !by_itself);
        if let Some((before, _)) = committed {
            (decided.before, decided.folded) = (before, true);
        }
        let Decided { folded, fold_due, .. } = decided;
        let parts = Some(self.extras.fingerprint);
        let parts_changed = self.last_request.parts.is_some() && self.last_request.parts != parts;
        let marked = self.keep_markers();
        let rebuild = folded || parts_changed || self.must_rebuild();
        let sent = self.last_request.items.len();
        let start = if rebuild { None } else { self.resume_from(marked) };
        let grown = start.and_then(|(at, from, before)| Some((at, self.after(from, before)?)));
        // What is new belongs into the last message that was sent: that one changes.
        let grown = grown.filter(|(at, (entries, _))| self.alike(*at, entries) == sent);
        let rebuild = grown.is_none();
        let (start, (mut entries, mut trailed)) =
            grown.or_else(|| Some((0, self.whole()?))).unwrap_or_default();
        let same = if rebuild { self.alike(0, &entries) } else { sent };
        let changes = parts_changed || same < sent;
        if changes && self.unbind(&entries, if parts_changed { 0 } else { same }) {
            (entries, trailed) = self.whole().unwrap_or_default();
        }
        let same = if rebuild { self.alike(0, &entries) } else { sent };
        // Reasoning that a pin brought back may be all that differed.
        let opens = parts_changed || same < sent;
        let first_changed = match (parts_changed, opens) {
            (true, _) => Some(-1),
            (false, true) => i64::try_from(same).ok(),
            (false, false) => None,
        };
        self.last_request.trailed = trailed;
        let lost = if opens { self.lost(&entries, same, parts_changed) } else { 0 };
        self.last_request.violations =
            if opens { self.check_outgoing(&entries) } else { Vec::new() };
        self.last_request.epoch = self.last_request.epoch.saturating_add(u32::from(opens));
        let fresh = std::mem::take(&mut self.decisions.unreported);
        let edited = fresh.iter().any(|change| change.rule != Rule::Repair);
        let edits = self.edits(&entries, &fresh, folded);
        // A view that the host's side does not hold goes out whole: it is built anew.
        let keep = if std::mem::take(&mut self.last_request.unheld) {
            0
        } else {
            self.shared(start, &entries)
        };
        let new = entries.iter().skip(keep.saturating_sub(start));
        let items: Vec<Written> = new.map(|entry| self.write(&entry.item, entry.about)).collect();
        self.counters.items_written =
            self.counters.items_written.saturating_add(items.len() as u64);
        let before = self.last_request.tokens;
        let before_end = if opens { same } else { sent };
        self.remember(start, &entries, parts, fold_due);
        self.monitor_request(folded);
        self.renew_flush();
        self.mark_breakpoints(before_end);
        let outcome = self.outcome(decided, &fresh, committed.map(|(_, after)| after));
        if let Some(outcome) = outcome.as_ref().filter(|_| by_itself) {
            self.keep_record(outcome.tokens_before, outcome.tokens_after);
        }
        if let Some(Outcome { status, tokens_before, tokens_after, .. }) = outcome {
            self.monitor_room(status, tokens_before, tokens_after);
        }
        let said = Said {
            keep: count(keep),
            before,
            lost,
            first_changed,
            event: match (folded, edited) {
                (true, _) => Some(Event::Fold),
                (false, true) => Some(Event::Edit),
                (false, false) => None,
            },
            outcome,
            fold: folded.then(|| self.folded()),
        };
        self.answer(items, edits, said)
    }

    /// The last request once more, whole.
    pub(in crate::context) fn again(&self) -> Answer {
        let entries = self.whole().unwrap_or_default().0;
        let items = entries.iter().map(|entry| self.write(&entry.item, entry.about)).collect();
        self.answer(items, Vec::new(), Said { before: self.last_request.tokens, ..Said::default() })
    }

    /// Builds what the last request sent of the messages that have come, and knows it as sent.
    pub(in crate::context) fn view_again(&mut self, whole: bool) {
        self.keep_markers();
        self.decisions.unreported.clear();
        let ending = if whole { self.repairs.mender.finish() } else { Vec::new() };
        self.end_with(ending);
        let (entries, trailed) = self.whole().unwrap_or_default();
        for (index, _, key) in
            entries.iter().flat_map(|entry| self.edited(entry)).collect::<Vec<_>>()
        {
            self.last_request.reported_edits.insert(index, key);
        }
        self.last_request.trailed = trailed;
        self.remember(0, &entries, self.last_request.parts, self.last_request.fold_due);
    }

    /// All messages, and whether a line of ours had to end them.
    fn whole(&self) -> Option<(Vec<Entry>, bool)> {
        self.after(0, None)
    }

    /// The same from a message on. None: the first of them belongs into the one before it, in which `before` speaks.
    pub(in crate::context) fn after(
        &self,
        from: u32,
        before: Option<Role>,
    ) -> Option<(Vec<Entry>, bool)> {
        if self.options.noop {
            let kept = from..self.transcript.ledger.message_count();
            return Some((kept.map(|at| self.entry(Item::Keep(at), at)).collect(), false));
        }
        let mut entries = self.build(from);
        let trailed = self.trail(&mut entries, from == 0);
        Some((self.take_turns(entries, before)?, trailed))
    }

    /// Something before the end of the last request may go out otherwise now.
    fn must_rebuild(&self) -> bool {
        let upto = self.last_request.upto;
        let message = |change: &Change| {
            self.transcript.ledger.blocks.get(change.block as usize).map(|b| b.message)
        };
        let touched =
            self.decisions.unreported.iter().filter_map(message).any(|message| message < upto);
        let sent = |fixes: &[Fix]| -> Vec<Fix> {
            fixes.iter().filter(|fix| fix.index < upto).cloned().collect()
        };
        self.last_request.rebuild
            || self.last_request.unheld
            || self.last_request.trailed
            || touched
            || upto == 0
            || sent(&self.decisions.end_fixes) != sent(&self.last_request.ending)
    }

    /// Where a cache marker pays: behind the head of a fold, behind what this request shares with the last one, and at its end;
    /// the last of them where the host's own, in system and tools, leave no room for more (I13).
    fn mark_breakpoints(&mut self, shared: usize) {
        self.last_request.breakpoints.clear();
        let most = self.dialect.provider.most_markers();
        if most == 0 {
            return;
        }
        let items = &self.last_request.items;
        let ours = |it: &SentItem| it.source == NONE;
        let head = items.iter().position(ours).filter(|_| self.decisions.pruner.head.is_some());
        let ends = [shared.checked_sub(1), items.len().checked_sub(1)];
        for at in head.into_iter().chain(ends.into_iter().flatten()) {
            let at = count(at);
            if self.last_request.breakpoints.last().is_none_or(|&last| last < at) {
                self.last_request.breakpoints.push(at);
            }
        }
        let room = most.saturating_sub(self.extras.marks) as usize;
        while self.last_request.breakpoints.len() > room {
            self.last_request.breakpoints.remove(0);
        }
    }

    /// Tokens of the last request behind what this one shares with it.
    fn lost(&self, entries: &[Entry], same: usize, parts_changed: bool) -> u64 {
        let shared = entries.iter().take(same).map(|entry| self.tokens_of(entry.source)).sum();
        let beside = if parts_changed { 0 } else { self.extras.total() };
        let shared = if parts_changed { 0 } else { shared };
        self.last_request.tokens.saturating_sub(shared).saturating_sub(beside)
    }

    /// Keeps what the next request is compared with: what was sent before `from`, and these.
    fn remember(&mut self, from: usize, entries: &[Entry], parts: Option<u64>, fold_due: bool) {
        self.last_request.items.truncate(from);
        if from == 0 {
            self.last_request.made_tokens = 0;
        }
        let made = self.made_tokens(entries);
        self.last_request.items.extend(entries.iter().map(Entry::sent));
        self.last_request.made_tokens = self.last_request.made_tokens.saturating_add(made);
        self.last_request.speaker = self.last_speaker(entries).or(self.last_request.speaker);
        self.last_request.parts = parts;
        self.last_request.beside = self.extras.total();
        self.last_request.upto = self.transcript.ledger.message_count();
        self.last_request.ending.clone_from(&self.decisions.end_fixes);
        self.last_request.rebuild = false;
        self.last_request.open = self.repairs.mender.is_prefix();
        self.last_request.settled = true;
        self.last_request.fold_due = fold_due;
        self.last_request.last = self.last_request.tokens;
        self.last_request.peak = self.peak();
        self.last_request.tokens =
            self.decisions.pruner.context(&self.transcript.ledger, &self.setting());
    }

    /// Tokens of the largest request so far, each as it was known when the next one was made.
    pub(in crate::context) fn peak(&self) -> u64 {
        self.last_request.peak.max(self.calibration.tokens(self.last_request.tokens))
    }

    pub(in crate::context) fn answer(
        &self,
        items: Vec<Written>,
        edits: Vec<Edit>,
        said: Said,
    ) -> Answer {
        let tokens = self.decisions.pruner.context(&self.transcript.ledger, &self.setting());
        let fits = self.options.window == 0 || tokens <= self.decisions.usable;
        Answer {
            keep: said.keep,
            items,
            epoch: self.last_request.epoch,
            first_changed: said.first_changed,
            fits,
            why: (!fits).then(|| self.why(tokens)),
            tokens: self.calibration.tokens(tokens),
            estimate: tokens,
            source: self.source(),
            tokens_before: self.calibration.tokens(said.before),
            cached_tokens_lost: said.lost,
            repairs: self.repairs(),
            edits,
            event: said.event,
            outcome: said.outcome,
            fold: said.fold,
            fold_due: self.last_request.fold_due || self.is_wanting(),
            hints: self.drop_hint(),
            system_note: self.note_for_system(),
            format: self.dialect.format.name(),
            provider: self.dialect.provider.name(),
            marked: self.marked(),
            cache_breakpoints: self.last_request.breakpoints.clone(),
            last_group: self.last_group(),
        }
    }

    /// The newest message of the model, or the first of the run that it ends; the last message if there is none.
    pub(in crate::context) fn last_group(&self) -> u32 {
        let messages = &self.transcript.ledger.messages;
        let speaks = |message: &Message| message.role == Role::Assistant;
        let mut at = messages.iter().rposition(speaks);
        while let Some(before) = at.and_then(|at| at.checked_sub(1))
            && self.dialect.format.has_runs()
            && messages.get(before).is_some_and(speaks)
        {
            at = Some(before);
        }
        u32::try_from(at.unwrap_or_else(|| messages.len().saturating_sub(1))).unwrap_or(NONE)
    }

    /// How many messages of the last request stand at the start of this one, which has these from `from` on, and from the same
    /// places in the history.
    fn shared(&self, from: usize, entries: &[Entry]) -> usize {
        let items = self.last_request.items.iter().skip(from).zip(entries);
        from.saturating_add(items.take_while(|(old, new)| **old == new.sent()).count())
    }

    /// How many say there what the last request said, whichever of the host's messages they are.
    fn alike(&self, from: usize, entries: &[Entry]) -> usize {
        let written =
            |at: u32| self.transcript.ledger.messages.get(at as usize).map(|it| it.written);
        let is_alike = |(old, new): &(&SentItem, &Entry)| {
            let from = [old.source, new.source];
            let [one, other] = from.map(written);
            old.key == new.key && (old.source == new.source || (one.is_some() && one == other))
        };
        let items = self.last_request.items.iter().skip(from).zip(entries);
        from.saturating_add(items.take_while(is_alike).count())
    }

    /// Tokens of a message as it is sent.
    pub(in crate::context) fn tokens_of(&self, message: u32) -> u64 {
        let blocks = self.transcript.ledger.blocks_of(message);
        blocks
            .filter_map(|at| self.transcript.ledger.blocks.get(at as usize))
            .map(|b| u64::from(b.now))
            .sum()
    }

    /// Rules of the provider that the last request breaks; none, unless the host's history is beyond repair.
    pub fn violations(&self) -> Vec<Violation> {
        self.check_outgoing(&self.whole().unwrap_or_default().0)
    }

    /// The one validator, over what goes out: whole when an epoch opens; within one, the new end was mended as it came.
    fn check_outgoing(&self, entries: &[Entry]) -> Vec<Violation> {
        let outgoing = self.outgoing(entries);
        validity::check(&outgoing, self.dialect.provider, self.request_options(false))
    }
}

/// What is said of a request that is new.
#[derive(Default)]
pub(in crate::context) struct Said {
    pub(in crate::context) keep: u32,
    pub(in crate::context) outcome: Option<Outcome>,
    pub(in crate::context) fold: Option<Folded>,
    pub(in crate::context) before: u64,
    pub(in crate::context) lost: u64,
    pub(in crate::context) first_changed: Option<i64>,
    pub(in crate::context) event: Option<Event>,
}
