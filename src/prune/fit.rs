//! Capacity and hard fit: what goes when the window is nearly full, and when it is.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "tokens, prices and shares: u32 sums and small constants, far below u64"
)]

use super::edit::stub;
use super::need::{chance, gain, is_candidate, may_become_candidate, refetch};
use super::{BASIS_POINTS, Change, Decision, Folds, Moment, Policy, Pruner, Rule, Setting, Writer};
use crate::ledger::Ledger;
use crate::model::{Block, BlockId, Form, GroupId, Kind, MessageId};
use crate::number::lg;
use crate::sort::{down, sort_by};

/// Whether a block is picked; the flag tells that it stands in the last message.
type Pick = fn(&Block, bool) -> bool;

/// A block is not capped below this, nor one of at most `SMALL` (`SMALL_TEXT` for text) capped at all.
const LEAST: u64 = 150;
const SMALL: u32 = 300;
const SMALL_TEXT: u32 = 200;
/// What is left of a block when nothing else helps.
const REMNANT: u32 = 50;

impl Pruner {
    /// The window is nearly full: stub all that is stale; then by least need per token, if that reaches the target, or
    /// else fold.
    #[expect(clippy::too_many_arguments, reason = "the moment of a decision has that many sides")]
    #[inline(never)]
    pub(super) fn make_room(
        &mut self,
        ledger: &mut Ledger,
        setting: &Setting,
        moment: Moment,
        stale: &[BlockId],
        tail: MessageId,
        writer: &mut dyn Writer,
        decision: &mut Decision,
    ) {
        // Shares of shares: everything below is in 1e-8 of a token.
        let target = self.room(setting);
        let by_edits = self.freed_by_edits(ledger, tail, decision);
        if self.frees_too_little(ledger, setting, moment, by_edits / 100, writer) {
            return;
        }
        let context = self.context(ledger, setting) * BASIS_POINTS * BASIS_POINTS;
        let edits_suffice =
            context.saturating_sub(by_edits * (BASIS_POINTS * BASIS_POINTS / 100)) <= target;
        if moment.folds == Folds::Deferred && !edits_suffice {
            // Edits now and the fold when its summary is there would be two epochs.
            let next = self.next_fold(ledger, setting, moment, true, writer, decision);
            if next.is_some_and(|(_, gone)| self.is_deferred(ledger, setting, moment, &gone)) {
                decision.fold_due = true;
                return;
            }
            decision.refused = None;
        }
        for &at in stale {
            if ledger.block(at).is_some_and(|block| block.form < Form::Stubbed) {
                stub(ledger, at, Rule::Capacity, writer, decision);
            }
        }
        let context = self.context(ledger, setting);
        if context * BASIS_POINTS * BASIS_POINTS > target {
            self.stub_least_needed(ledger, moment, tail, context, target, writer, decision);
        }
        let context = self.context(ledger, setting);
        if context * BASIS_POINTS * BASIS_POINTS > target + BASIS_POINTS * BASIS_POINTS {
            // What can wait has waited above: with these edits it would be a second epoch soon.
            let folds = match moment.folds {
                Folds::Deferred => Folds::Carried,
                folds @ (Folds::Carried | Folds::Never) => folds,
            };
            self.fold(ledger, setting, Moment { folds, ..moment }, true, writer, decision);
        }
    }

    /// The target of ours, in 1e-8 of a token.
    pub(super) fn room(&self, setting: &Setting) -> u64 {
        let Policy { trigger, target, aim, .. } = self.policy;
        if let Some(aim) = aim {
            return (aim * setting.usable).min(setting.cap.saturating_mul(target)) * BASIS_POINTS;
        }
        let trigger = trigger.saturating_mul(setting.usable);
        target * trigger.min(setting.cap.saturating_mul(BASIS_POINTS))
    }

    /// What all that may be stubbed would free together, in hundredths of a token.
    fn freed_by_edits(&mut self, ledger: &Ledger, tail: MessageId, decision: &mut Decision) -> u64 {
        let before = self.open_before(ledger, tail, decision);
        let candidates = before.into_iter().filter_map(|at| ledger.block(at));
        candidates.filter(|block| is_candidate(block)).map(|block| gain(block, &self.policy)).sum()
    }

    /// Stubs by ascending need per token until the target is reached, if all candidates together reach it.
    #[expect(clippy::too_many_arguments, reason = "the moment of a decision has that many sides")]
    fn stub_least_needed(
        &mut self,
        ledger: &mut Ledger,
        moment: Moment,
        tail: MessageId,
        context: u64,
        target: u64,
        writer: &mut dyn Writer,
        decision: &mut Decision,
    ) {
        let before = self.open_before(ledger, tail, decision);
        let prices = &self.policy.prices;
        let mut candidates: Vec<_> = before
            .into_iter()
            .filter_map(|at| ledger.block(at).map(|block| (at, block)))
            .filter(|(_, block)| is_candidate(block))
            .map(|(at, block)| {
                let need = chance(block, moment.call) + refetch(block, prices, 2 * context);
                // At least one token, since zero has no logarithm.
                let gain = gain(block, &self.policy);
                (need - lg(gain.max(100)), at, gain)
            })
            .collect();
        sort_by(&mut candidates, |&(need, at, _)| (need, i64::from(at)));
        let per_hundredth = BASIS_POINTS * BASIS_POINTS / 100;
        let mut context = context * BASIS_POINTS * BASIS_POINTS;
        let possible: u64 = candidates.iter().map(|&(_, _, gain)| gain).sum();
        if context.saturating_sub(possible * per_hundredth) > target {
            // A fold is needed anyway: stubs before it would lose texts and gain nothing.
            return;
        }
        for (_, at, gain) in candidates {
            if context <= target {
                break;
            }
            context = context.saturating_sub(gain * per_hundredth);
            stub(ledger, at, Rule::Capacity, writer, decision);
        }
    }

    /// The request does not fit: candidates largest first, then long texts of the model, then whatever is largest, then
    /// the oldest groups, then remnants. Only what the mask frees.
    #[inline(never)]
    pub(super) fn hard_fit(
        &self,
        ledger: &mut Ledger,
        setting: &Setting,
        writer: &mut dyn Writer,
        decision: &mut Decision,
    ) {
        if self.context(ledger, setting) <= setting.usable {
            return;
        }
        // What the host protects goes last, but it goes: a provider refuses a request that does not fit.
        self.fit(ledger, setting, false, writer, decision);
        let is_protected = |at: &BlockId| ledger.block(*at).is_some_and(Block::is_protected);
        if ledger.live().iter().any(is_protected) {
            self.fit(ledger, setting, true, writer, decision);
        }
    }

    /// The same, touching what the host protects or not.
    #[inline(never)]
    fn fit(
        &self,
        ledger: &mut Ledger,
        setting: &Setting,
        touches: bool,
        writer: &mut dyn Writer,
        decision: &mut Decision,
    ) {
        let last = ledger.next_message().minus(1);
        let over = |ledger: &Ledger| self.context(ledger, setting).saturating_sub(setting.usable);
        let rounds: [(bool, Pick); 3] = [
            (true, |block, is_last| !is_last && may_become_candidate(block)),
            (false, |block, is_last| {
                !is_last && !block.user && block.kind == Kind::Text && block.now > SMALL_TEXT
            }),
            (false, |block, _| block.now > SMALL),
        ];
        for (stubs, pick) in rounds {
            if over(ledger) == 0 {
                return;
            }
            decision.visited = decision.visited.saturating_add(ledger.live().len() as u64);
            let free = |block: &Block| touches || !block.is_protected();
            for at in largest_first(ledger, |it| free(it) && pick(it, it.message >= last)) {
                let need = over(ledger);
                if need == 0 {
                    break;
                }
                if stubs {
                    stub(ledger, at, Rule::HardFit, writer, decision);
                } else {
                    let now = ledger.block(at).map_or(0, |block| block.now);
                    let left = u64::from(now).saturating_sub(need).max(LEAST);
                    cap(ledger, at, u32::try_from(left).unwrap_or(u32::MAX), writer, decision);
                }
            }
        }
        if over(ledger) == 0 {
            return;
        }
        decision.visited = decision.visited.saturating_add(ledger.live().len() as u64);
        // The last turn may still grow: what it said before its last message stays with what it will say.
        let grows = |at: MessageId| ledger.message(at).is_some_and(|m| !m.may_cut);
        let mut newest = last;
        while newest > MessageId::FIRST && grows(newest) {
            newest = newest.minus(1);
        }
        let groups = live_groups(ledger);
        for at in ledger.live().to_vec() {
            if over(ledger) == 0 {
                return;
            }
            drop_group(ledger, &groups, at, newest, touches, Rule::HardFit, decision);
        }
        for at in ledger.live().to_vec().into_iter().rev() {
            if over(ledger) == 0 {
                return;
            }
            let is_large = |block: &Block| {
                block.now > REMNANT
                    && block.mask.may_edit
                    && block.form < Form::Stubbed
                    && (touches || !block.is_protected())
            };
            if ledger.block(at).is_some_and(is_large) {
                cap(ledger, at, REMNANT, writer, decision);
            }
        }
    }
}

fn largest_first(ledger: &Ledger, pick: impl Fn(&Block) -> bool) -> Vec<BlockId> {
    let mut picked: Vec<(u32, BlockId)> = ledger
        .live()
        .iter()
        .filter_map(|&at| ledger.block(at).map(|block| (at, block)))
        .filter(|(_, block)| block.mask.may_edit && pick(block))
        .map(|(at, block)| (block.now, at))
        .collect();
    sort_by(&mut picked, |&(now, at)| (down(u64::from(now)), i64::from(at)));
    picked.into_iter().map(|(_, at)| at).collect()
}

fn cap(
    ledger: &mut Ledger,
    at: BlockId,
    tokens: u32,
    writer: &mut dyn Writer,
    decision: &mut Decision,
) {
    let Some(block) = ledger.block(at) else { return };
    decision.changes.push(Change { block: at, rule: Rule::HardFit, before: block.now });
    // A part of it would not be valid, so it goes.
    if block.mask.atomic {
        ledger.set_form(at, Form::Gone, 0);
        return;
    }
    let now = writer.cap(ledger, at, tokens.saturating_sub(ledger.at_end(at)));
    ledger.set_form(at, Form::Capped, now);
}

/// What is sent of each group: group and block, in order.
pub(super) fn live_groups(ledger: &Ledger) -> Vec<(GroupId, BlockId)> {
    let group = |at: &BlockId| Some((ledger.block(*at)?.group, *at));
    let mut groups: Vec<_> = ledger.live().iter().filter_map(group).collect();
    groups.retain(|(group, _)| group.is_some());
    sort_by(&mut groups, |&(group, at)| (i64::from(group), i64::from(at)));
    groups
}

/// Drops the block with its group, unless something of it stands in the last message or may not go.
pub(super) fn drop_group(
    ledger: &mut Ledger,
    groups: &[(GroupId, BlockId)],
    at: BlockId,
    last: MessageId,
    touches: bool,
    rule: Rule,
    decision: &mut Decision,
) {
    let Some(block) = ledger.block(at) else { return };
    if block.form == Form::Gone {
        return;
    }
    let group = block.group;
    let members: Vec<BlockId> = if group.is_none() {
        vec![at]
    } else {
        let first = groups.partition_point(|(of, _)| *of < group);
        let own = groups.iter().skip(first).take_while(|(of, _)| *of == group);
        own.map(|(_, at)| *at).collect()
    };
    let stays = |at: &BlockId| {
        ledger
            .block(*at)
            .is_none_or(|b| b.message >= last || !b.mask.may_drop || (b.is_protected() && !touches))
    };
    if members.iter().any(stays) {
        return;
    }
    for at in members {
        let before = ledger.block(at).map_or(0, |block| block.now);
        decision.changes.push(Change { block: at, rule, before });
        ledger.set_form(at, Form::Gone, 0);
    }
}
