//! The step: what this request sends. One function decides; what it needs from the host it answers as a need.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::state::State;
use super::view::Entry;
use crate::error::Result;
use crate::format::Format;
use crate::model::{Fix, Form, Item, Kind, NONE, Op, Role, Violation};
use crate::prune::{Change, Decision, Moment, Rule, Setting};
use crate::validity::{self, Provider};

/// What a step comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Step {
    /// The texts of these messages are needed: hand them over and resume.
    Need(Vec<u32>),
    /// The request.
    Done(Box<Answer>),
}

/// A request: what stays of the one before, what follows, and what is to be said about it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// So many messages of the last request stand at the start of this one.
    pub keep: u32,
    /// The messages behind them.
    pub items: Vec<Value>,
    /// Changes only when something other than the end of the request does.
    pub epoch: u32,
    /// First message that differs from the last request; -1: system or tools; none: it only grew.
    pub first_changed: Option<i64>,
    /// By our estimate the request fits the usable window.
    pub fits: bool,
    /// Its tokens.
    pub tokens: u64,
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
    /// The fold that was carried out.
    pub fold: Option<Folded>,
    /// A fold pays, and waits for a summarizer.
    pub fold_due: bool,
    /// Reasoning is sent behind a change: the provider must be told to drop what it no longer accepts.
    pub drop_thinking: bool,
    /// First message of the last group: until another message follows, it may still change.
    pub last_group: u32,
}

/// A fold: what stands before `first_kept` is replaced by a head, except `kept`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Folded {
    /// Folds so far.
    pub number: u32,
    /// First message that is kept as it is.
    pub first_kept: u32,
    /// Messages before it of which something stays, as [from, to).
    pub kept: Vec<(u32, u32)>,
    /// What stands for the rest.
    pub head: String,
    /// The identifiers of its digest.
    pub identifiers: Vec<String>,
    /// Tokens of the request before.
    pub tokens_before: u64,
    /// Tokens of the request now.
    pub tokens_after: u64,
}

/// What the policy did at a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Event {
    /// Blocks were stubbed, capped or thinned.
    Edit,
    /// A fold was carried out.
    Fold,
}

/// A message that is now edited otherwise than before.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Edit {
    /// The message.
    pub index: u32,
    /// All operations on it.
    pub ops: Vec<Op>,
    /// Why.
    pub rule: &'static str,
    /// Its tokens before.
    pub tokens_before: u64,
    /// Its tokens now.
    pub tokens_after: u64,
}

impl State {
    /// Decides what to send now. The same history, parts and options give the same request and move nothing.
    pub fn request(&mut self, now_ms: i64) -> Step {
        if self.sent.settled {
            let keep = count(&self.sent.items);
            return Step::Done(Box::new(self.answer(
                keep,
                Vec::new(),
                Vec::new(),
                Said::default(),
            )));
        }
        self.ending = self.mender.finish();
        let before = self.pruner.context(&self.ledger, &self.setting());
        let decision = self.decide(now_ms);
        self.decided = Some((decision.folded.then_some(before), decision.fold_due));
        self.sent.at_ms = Some(self.sent.at_ms.map_or(now_ms, |last| last.max(now_ms)));
        self.resume()
    }

    /// Goes on once the texts that were needed are there.
    pub fn resume(&mut self) -> Step {
        let mut messages: Vec<u32> = self
            .lines
            .wanted
            .keys()
            .filter_map(|&at| self.ledger.blocks.get(at as usize))
            .filter(|block| block.form != Form::Gone)
            .map(|block| block.message)
            .collect();
        messages.dedup();
        if messages.is_empty() {
            return Step::Done(Box::new(self.carry_out()));
        }
        Step::Need(messages)
    }

    /// The text of a message that was needed.
    ///
    /// # Errors
    /// `MalformedMessage`.
    pub fn supply(&mut self, index: u32, bytes: &[u8]) -> Result<()> {
        let draft = self.read(index, bytes)?;
        let blocks = self.ledger.blocks_of(index);
        for (at, part) in blocks.zip(&draft.parts) {
            if let Some(now) = self.lines.supply(at, part) {
                self.ledger.set_form(at, Form::Capped, now);
            }
        }
        Ok(())
    }

    fn decide(&mut self, now_ms: i64) -> Decision {
        if self.options.window == 0 {
            return Decision::default();
        }
        let ttl = i64::try_from(self.pruner.policy.prices.ttl_ms).unwrap_or(i64::MAX);
        let moment = Moment {
            call: self.calls(),
            warm: self.sent.at_ms.is_some_and(|last| now_ms.saturating_sub(last) <= ttl),
            first: self.sent.at_ms.is_none(),
            defer_folds: self.options.defer_folds,
        };
        let setting = self.setting();
        let decision = self.pruner.decide(&mut self.ledger, &setting, moment, &mut self.lines);
        self.counters.blocks_visited =
            self.counters.blocks_visited.saturating_add(decision.visited);
        for &change in &decision.changes {
            self.note(change);
        }
        decision
    }

    pub(super) fn setting(&self) -> Setting {
        Setting {
            window: self.options.window,
            usable: self.options.usable,
            fixed: self.parts.total().saturating_add(self.sent.made_tokens),
        }
    }

    /// Builds the view, as far as it is new, and compares it with the last one.
    fn carry_out(&mut self) -> Answer {
        let (folded_from, fold_due) = self.decided.take().unwrap_or_default();
        let folded = folded_from.is_some();
        let upto = self.sent.upto;
        let fresh = std::mem::take(&mut self.fresh);
        let block_message =
            |change: &Change| self.ledger.blocks.get(change.block as usize).map(|b| b.message);
        let touched = fresh.iter().filter_map(block_message).any(|message| message < upto);
        let ended = |fixes: &[Fix]| -> Vec<Fix> {
            fixes.iter().filter(|fix| fix.index < upto).cloned().collect()
        };
        let rebuild = self.sent.rebuild
            || touched
            || folded
            || upto == 0
            || ended(&self.ending) != ended(&self.sent.ending);
        let mut entries = self.build(if rebuild { 0 } else { upto });
        let same = if rebuild { self.shared(&entries) } else { self.sent.items.len() };
        let parts = Some(self.parts.fingerprint);
        let parts_changed = self.sent.parts.is_some() && self.sent.parts != parts;
        let grew = same == self.sent.items.len();
        let changed_at = if parts_changed { 0 } else { same };
        if (parts_changed || !grew) && self.unbind(&entries, changed_at) {
            entries = self.build(0);
        }
        let rebuild = rebuild || parts_changed;
        let items = || entries.iter().map(|entry| (entry.key, entry.source));
        let same = if rebuild { self.shared(&entries) } else { same };
        let made = self.made_tokens(&entries);
        let first_changed = if parts_changed {
            Some(-1)
        } else if grew {
            None
        } else {
            i64::try_from(same).ok()
        };
        self.sent.epoch = self.sent.epoch.saturating_add(u32::from(first_changed.is_some()));
        let new_from = if rebuild { same } else { 0 };
        let mut fresh = fresh;
        fresh.append(&mut self.fresh);
        let before = std::mem::replace(&mut self.sent.tokens, 0);
        let unchanged: u64 =
            entries.iter().take(same).map(|entry| self.tokens_of(entry.source)).sum();
        let beside = if parts_changed { 0 } else { self.parts.total() };
        let lost = match first_changed {
            Some(_) => before.saturating_sub(unchanged).saturating_sub(beside),
            None => 0,
        };
        self.broken = match first_changed {
            Some(_) => self.check_outgoing(&entries),
            None => Vec::new(),
        };
        let edits = self.edits(&entries, &fresh, folded);
        let written: Vec<Value> =
            entries.iter().skip(new_from).map(|entry| self.write(&entry.item)).collect();
        self.counters.items_written =
            self.counters.items_written.saturating_add(written.len() as u64);
        let sent: Vec<_> = items().collect();
        if rebuild {
            self.sent.items = sent;
            self.sent.made_tokens = made;
        } else {
            self.sent.items.extend(sent);
            self.sent.made_tokens = self.sent.made_tokens.saturating_add(made);
        }
        self.sent.parts = parts;
        self.sent.upto = self.ledger.message_count();
        self.sent.ending = self.ending.clone();
        self.sent.rebuild = false;
        self.sent.settled = true;
        let event = if folded {
            Some(Event::Fold)
        } else {
            let edited = fresh.iter().any(|change| change.rule != Rule::Repair);
            edited.then_some(Event::Edit)
        };
        let keep = u32::try_from(same).unwrap_or(u32::MAX);
        self.sent.fold_due = fold_due;
        self.sent.tokens = self.pruner.context(&self.ledger, &self.setting());
        self.sent.peak = self.sent.peak.max(self.sent.tokens);
        let fold = folded_from.map(|before| self.folded(before));
        self.answer(keep, written, edits, Said { fold, before, lost, first_changed, event })
    }

    fn answer(&self, keep: u32, items: Vec<Value>, edits: Vec<Edit>, said: Said) -> Answer {
        let tokens = self.pruner.context(&self.ledger, &self.setting());
        Answer {
            keep,
            items,
            epoch: self.sent.epoch,
            first_changed: said.first_changed,
            fits: self.options.window == 0 || tokens <= self.options.usable,
            tokens,
            tokens_before: said.before,
            cached_tokens_lost: said.lost,
            repairs: self.repairs(),
            edits,
            event: said.event,
            fold: said.fold,
            fold_due: self.sent.fold_due,
            drop_thinking: self.needs_drop_hint(),
            last_group: self.last_group(),
        }
    }

    /// What a fold that has just been carried out came to.
    fn folded(&self, tokens_before: u64) -> Folded {
        let head = self.pruner.head.as_ref();
        let digest = head.map_or(&[][..], |head| &head.digest);
        let mut kept: Vec<(u32, u32)> = Vec::new();
        for block in self.ledger.live().iter().filter_map(|&at| self.ledger.blocks.get(at as usize))
        {
            let (message, next) = (block.message, block.message.saturating_add(1));
            match kept.last_mut() {
                _ if message >= self.pruner.start => break,
                Some((_, end)) if *end >= message => *end = next,
                _ => kept.push((message, next)),
            }
        }
        Folded {
            number: head.map_or(0, |head| head.folds),
            first_kept: self.pruner.start,
            kept,
            head: self.lines.head.clone(),
            identifiers: digest.iter().map(|&id| self.ledger.identifiers.text(id).into()).collect(),
            tokens_before,
            tokens_after: self.pruner.context(&self.ledger, &self.setting()),
        }
    }

    /// The newest message of the model; the last message if there is none.
    fn last_group(&self) -> u32 {
        let messages = &self.ledger.messages;
        let at = messages.iter().rposition(|message| message.role == Role::Assistant);
        u32::try_from(at.unwrap_or_else(|| messages.len().saturating_sub(1))).unwrap_or(NONE)
    }

    /// How many messages of the last request stand at the start of these.
    fn shared(&self, entries: &[Entry]) -> usize {
        let items = entries.iter().map(|entry| (entry.key, entry.source));
        self.sent.items.iter().zip(items).take_while(|(old, new)| **old == *new).count()
    }

    /// Reasoning behind a change is bound to what is gone: it goes too, but for the newest, which only a hint saves.
    /// True if something went.
    fn unbind(&mut self, entries: &[Entry], changed_at: usize) -> bool {
        if self.provider != Provider::Anthropic {
            return false;
        }
        let behind = entries.iter().skip(changed_at).map(|entry| entry.source);
        let mut went = false;
        for message in behind.filter(|&source| source != NONE).collect::<Vec<_>>() {
            for at in self.ledger.blocks_of(message) {
                let Some(block) = self.ledger.blocks.get(at as usize) else { continue };
                if block.kind != Kind::Thinking || block.form == Form::Gone {
                    continue;
                }
                let before = block.now;
                if block.mask.may_edit {
                    self.ledger.set_form(at, Form::Gone, 0);
                    self.note(Change { block: at, rule: Rule::BoundThinking, before });
                    went = true;
                } else {
                    self.unbound.insert(at);
                }
            }
        }
        went
    }

    /// Reasoning is sent that is bound to what is gone: the provider must be told to drop it.
    fn needs_drop_hint(&self) -> bool {
        let lives =
            |at: &u32| self.ledger.blocks.get(*at as usize).is_some_and(|b| b.form != Form::Gone);
        self.unbound.iter().any(lives)
    }

    /// Messages that are now edited otherwise, or gone without a fold (then with no operation), each with the rule of its
    /// first change.
    fn edits(&mut self, entries: &[Entry], fresh: &[Change], folded: bool) -> Vec<Edit> {
        let mut by_message: BTreeMap<u32, (Rule, u64)> = BTreeMap::new();
        for change in fresh {
            let Some(block) = self.ledger.blocks.get(change.block as usize) else { continue };
            let saved = u64::from(change.before.saturating_sub(block.now));
            let entry = by_message.entry(block.message).or_insert((change.rule, 0));
            entry.1 = entry.1.saturating_add(saved);
        }
        let mut edits = Vec::new();
        for entry in entries {
            let Item::Edit(index, ops) = &entry.item else { continue };
            let known = self.told.insert(*index, entry.key) == Some(entry.key);
            let moved = folded.then_some((Rule::Fold, 0));
            let change = by_message.remove(index).or(moved).filter(|_| !known);
            if let Some((rule, saved)) = change.filter(|(rule, _)| *rule != Rule::Repair) {
                edits.push(self.edit(*index, ops.clone(), rule, saved));
            }
        }
        let sent = |index: &u32| entries.iter().any(|entry| entry.source == *index);
        for (index, (rule, saved)) in by_message {
            if !matches!(rule, Rule::Fold | Rule::Repair) && !sent(&index) {
                edits.push(self.edit(index, Vec::new(), rule, saved));
            }
        }
        edits
    }

    fn edit(&self, index: u32, ops: Vec<Op>, rule: Rule, saved: u64) -> Edit {
        let after = self.tokens_of(index);
        let before = after.saturating_add(saved);
        Edit { index, ops, rule: rule.name(), tokens_before: before, tokens_after: after }
    }

    /// Tokens of a message as it is sent.
    pub(super) fn tokens_of(&self, message: u32) -> u64 {
        let blocks = self.ledger.blocks_of(message);
        blocks.filter_map(|at| self.ledger.blocks.get(at as usize)).map(|b| u64::from(b.now)).sum()
    }

    /// Rules of the provider that the last request breaks; none, unless the host's history is beyond repair.
    pub fn violations(&self) -> Vec<Violation> {
        self.check_outgoing(&self.build(0))
    }

    /// The one validator, over what goes out: whole when an epoch opens; within one, the new end was mended as it came.
    fn check_outgoing(&self, entries: &[Entry]) -> Vec<Violation> {
        let outgoing = self.outgoing(entries);
        let apart = self.format == Format::Pi;
        validity::check(&outgoing, self.provider, validity::Options { thinking: false, apart })
    }
}

/// What is said of a request that is new.
#[derive(Default)]
struct Said {
    fold: Option<Folded>,
    before: u64,
    lost: u64,
    first_changed: Option<i64>,
    event: Option<Event>,
}

fn count<T>(items: &[T]) -> u32 {
    u32::try_from(items.len()).unwrap_or(u32::MAX)
}

impl Step {
    /// As JSON for the facade: `{"need": [..]}` or `{"done": {..}}`.
    pub fn to_json(&self) -> String {
        json!(self).to_string()
    }
}
