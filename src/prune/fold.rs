//! Folds: what stands before a cut is replaced by a head; a hot set, the user's texts and a digest are carried across.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "tokens, prices and shares: u32 sums and small constants, far below u64"
)]

use litemap::LiteMap;

use super::edit::refresh_stubbed;
use super::fold_room::{FOLD_OUTPUT, USER_SHARE, fold_tail};
use super::need::{chance, refetch};
use super::presets::with_margin;
use super::{
    BASIS_POINTS, Change, Decision, Early, Folds, Moment, Pruner, Rule, Setting, Writer, now_of,
};
use crate::identifiers::Identifier;
use crate::ledger::Ledger;
use crate::model::{BlockId, Form, GroupId, Kind, MessageId, Role};
use crate::number::{Lg, isqrt, lg, lg_sum};
use crate::sort::{largest_first, ranked, sort_by, sort_set};

/// What stands for everything that folds removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its tokens.
    pub tokens: u32,
    /// The identifiers of its digest, the most telling first.
    pub digest: Vec<u32>,
    /// It holds a summary.
    pub summary: bool,
    /// Folds so far.
    pub folds: u32,
}

/// What a fold is expected to rewrite beside the tail.
const FOLD_REWRITE: u64 = 2500;

impl Pruner {
    /// The fold clock: rent on all that stands before the tail against the price of a fold; and a cold cache when the
    /// request is over half the usable window.
    pub(super) fn fold_pays(
        &mut self,
        ledger: &Ledger,
        setting: &Setting,
        moment: Moment,
        context: u64,
        tail: MessageId,
        charge: bool,
    ) -> bool {
        let tail = ledger.tokens_from(ledger.blocks_of(tail).start);
        let rest = ledger.total().saturating_sub(tail);
        let prices = &self.policy.prices;
        // A cold cache is not read, so nothing is owed for what it would have held.
        if charge && moment.warm {
            self.fold_rent = self.fold_rent.saturating_add(prices.read.saturating_mul(rest));
        }
        let paid = self.fold_is_paid(setting, context, rest, self.fold_rent);
        // Cold: the whole request is written anew in any case, so that a fold costs no cache.
        let cold = !moment.warm && !moment.first && 2 * context > setting.usable;
        let policy = &self.policy;
        let early = if moment.summarizes { policy.early } else { policy.early_alone };
        (paid && early >= Early::Folds) || (cold && early >= Early::ColdFolds)
    }

    /// The rent on the `rest` before the tail has paid for a fold, and there is enough of it.
    pub(super) fn fold_is_paid(
        &self,
        setting: &Setting,
        context: u64,
        rest: u64,
        fold_rent: u64,
    ) -> bool {
        let prices = &self.policy.prices;
        let after = context.saturating_sub(setting.fixed).saturating_sub(rest);
        let rewrite = prices.write.saturating_sub(prices.read);
        let price = rewrite
            .saturating_mul(after.saturating_add(FOLD_REWRITE))
            .saturating_add(prices.read.saturating_mul(context))
            .saturating_add(prices.output.saturating_mul(FOLD_OUTPUT));
        let paid = u128::from(fold_rent) * 10_000 > u128::from(self.policy.phi) * u128::from(price);
        // Less than that before the tail is not worth a head and a summary.
        paid && 100 * rest > 15 * setting.usable
    }

    /// Carries out a fold at the fold tail, if that lies behind the last one. `without_head` allows a first fold at its start.
    #[inline(never)]
    pub(super) fn fold(
        &mut self,
        ledger: &mut Ledger,
        setting: &Setting,
        moment: Moment,
        without_head: bool,
        writer: &mut dyn Writer,
        decision: &mut Decision,
    ) {
        let next = self.next_fold(ledger, setting, moment, without_head, writer, decision);
        let Some((cut, gone)) = next else { return };
        if self.is_deferred(ledger, setting, moment, &gone) {
            decision.fold_due = true;
            return;
        }
        let large = self.is_large(ledger, &gone);
        self.replace(ledger, setting, moment.call, cut, &gone, large, writer, decision);
        decision.refused = self.too_large(ledger, setting);
    }

    /// Above the trigger, but not over the window: neither edits, which free so much at most, nor a fold bring the request back below the
    /// trigger, and both free less than a fold's tail. At nearly every call they would lose the prompt cache for that.
    pub(super) fn frees_too_little(
        &self,
        ledger: &Ledger,
        setting: &Setting,
        moment: Moment,
        by_edits: u64,
        writer: &dyn Writer,
    ) -> bool {
        let context = self.context(ledger, setting);
        let is_little = |frees: u64| {
            100 * frees < fold_tail(setting) && context.saturating_sub(frees) > self.line(setting)
        };
        if context > setting.usable || !is_little(by_edits) {
            return false;
        }
        let fold = self.next_fold(ledger, setting, moment, true, writer, &mut Decision::default());
        fold.is_none_or(|(_, gone)| is_little(now_of(ledger, &gone)))
    }

    /// Where the next fold would cut, and the blocks that would go; none, and why, if there is none.
    pub(super) fn next_fold(
        &self,
        ledger: &Ledger,
        setting: &Setting,
        moment: Moment,
        without_head: bool,
        writer: &dyn Writer,
        decision: &mut Decision,
    ) -> Option<(MessageId, Vec<BlockId>)> {
        let seed = self.policy.seed.as_ref();
        let is_seed = seed.is_some();
        let limit = if is_seed { 0 } else { fold_tail(setting) };
        let mut cut = self.tail(ledger, limit).min(self.bounds.fold);
        if let Some(seed) = seed {
            // A person's words stay with the reply to them.
            while let Some(before) = cut.previous()
                && ledger.starts_turn(before)
                && ledger.may_cut(before)
            {
                cut = before;
            }
            decision.refused = self.refuses(seed, cut);
        }
        // A second fold at the same cut would write the same head again.
        let cuts_more = cut > self.start || (without_head && self.head.is_none());
        if moment.folds == Folds::Never || decision.refused.is_some() || !cuts_more {
            return None;
        }
        let end = ledger.blocks_of(cut).start;
        let live = ledger.live();
        let before = live.get(..live.partition_point(|&b| b < end)).unwrap_or(&[]).to_vec();
        decision.visited = decision.visited.saturating_add(live.len() as u64);
        let kept = self.kept(ledger, setting, moment, &before);
        let gone: Vec<BlockId> =
            before.iter().copied().filter(|at| kept.binary_search(at).is_err()).collect();
        if gone.is_empty() {
            decision.refused = is_seed.then_some("all that is old enough to go is protected");
            // A first head would say what is not true; another one would cost the prompt cache, and free a few tokens at most.
            return None;
        }
        if self.is_no_smaller(ledger, setting, moment.call, &gone, writer) {
            let reason = "what could go is no larger than what would stand for it";
            decision.refused = (is_seed || self.fold_wanted).then_some(reason);
            return None;
        }
        Some((cut, gone))
    }

    /// The request fits, and a fold of these blocks waits for a summary of them.
    pub(super) fn is_deferred(
        &self,
        ledger: &Ledger,
        setting: &Setting,
        moment: Moment,
        gone: &[BlockId],
    ) -> bool {
        let is_seed = self.policy.seed.is_some();
        let usable = if is_seed { with_margin(setting).usable } else { setting.usable };
        moment.folds == Folds::Deferred
            && self.is_large(ledger, gone)
            && self.context(ledger, setting) <= usable
    }

    /// These blocks get a summary: what is too small for one waits for none.
    fn is_large(&self, ledger: &Ledger, gone: &[BlockId]) -> bool {
        now_of(ledger, gone) >= self.policy.summary_minimum
    }

    /// Removes messages that the host has forgotten, once they are more than those that it still holds: each such epoch halves the
    /// request, so there are few. Where an epoch opens because some of them are lost, those go too that would be lost soon.
    #[inline(never)]
    pub(super) fn remove_forgotten(
        &mut self,
        ledger: &mut Ledger,
        setting: &Setting,
        moment: Moment,
        writer: &mut dyn Writer,
        decision: &mut Decision,
    ) {
        let mut end = ledger.blocks_of(self.forgotten).start;
        let tail_tokens = ledger.tokens_from(end);
        let is_lost = std::mem::take(&mut self.lost);
        if is_lost {
            end = end.max(ledger.blocks_of(self.start).start);
        } else if ledger.total() <= tail_tokens.saturating_mul(2) {
            return;
        }
        if moment.folds == Folds::Never {
            return;
        }
        let live = ledger.live();
        let before = live.get(..live.partition_point(|&at| at < end)).unwrap_or(&[]).to_vec();
        let kept = self.kept(ledger, setting, moment, &before);
        let gone: Vec<BlockId> =
            before.iter().copied().filter(|at| kept.binary_search(at).is_err()).collect();
        if gone.is_empty() || self.is_no_smaller(ledger, setting, moment.call, &gone, writer) {
            return;
        }
        let cut = self.start.max(self.forgotten);
        self.replace(ledger, setting, moment.call, cut, &gone, false, writer, decision);
    }

    /// The identifiers that a fold now would list, beside lines that hold these (sorted).
    pub fn digest(
        &self,
        ledger: &Ledger,
        setting: &Setting,
        call: u32,
        in_lines: &[u32],
    ) -> Vec<u32> {
        digest(ledger, self.digest_room(ledger, setting), call, in_lines).0
    }

    /// What would stand for what is `gone` is no smaller than that, even without a new summary.
    fn is_no_smaller(
        &self,
        ledger: &Ledger,
        setting: &Setting,
        call: u32,
        gone: &[BlockId],
        writer: &dyn Writer,
    ) -> bool {
        let (frees, most) = (now_of(ledger, gone), self.most_digest(setting));
        // Most folds free far more than a digest may cost; only near that size the head is written to compare the two.
        if self.policy.seed.is_some() || frees > 2 * most {
            return frees <= most;
        }
        let (tokens, summary) =
            self.head.as_ref().map_or((0, false), |head| (u64::from(head.tokens), head.summary));
        let (digest, digest_tokens) = digest(ledger, self.digest_room(ledger, setting), call, &[]);
        let head = u64::from(writer.head_tokens(ledger, &digest, digest_tokens, summary));
        head >= tokens + frees
    }

    /// Carries a fold out: the head takes the place of what is `gone` of the blocks before `cut` (ascending, and closed: what stays or
    /// goes together is in it or not). `asks`: the writer may have a summary.
    #[expect(clippy::too_many_arguments, reason = "the moment of a decision has that many sides")]
    pub fn replace(
        &mut self,
        ledger: &mut Ledger,
        setting: &Setting,
        call: u32,
        cut: MessageId,
        gone: &[BlockId],
        asks: bool,
        writer: &mut dyn Writer,
        decision: &mut Decision,
    ) {
        for &block in gone {
            let it = ledger.block(block);
            let before = it.map_or(0, |block| block.now);
            self.taken = self.taken.saturating_add(it.map_or(0, |block| block.tokens.into()));
            decision.changes.push(Change { block, rule: Rule::Fold, before });
        }
        let had_summary = self.head.as_ref().is_some_and(|head| head.summary);
        // An earlier summary is never dropped: nothing else holds what it says (F9).
        let summary = writer.summarize(ledger, gone, asks) || had_summary;
        let used = self.used(ledger, gone, call);
        writer.keep_lines(ledger, used, self.forgotten);
        let (digest, digest_tokens) = digest(ledger, self.digest_room(ledger, setting), call, &[]);
        let tokens = writer.head(ledger, &digest, digest_tokens, summary);
        let room = self.lines_room(ledger, setting, gone, tokens);
        let tokens = tokens.saturating_add(writer.reserve_lines(room));
        ledger.drop_all(gone);
        let folds = self.head.as_ref().map_or(0, |head| head.folds).saturating_add(1);
        self.head = Some(Head { tokens, digest, summary, folds });
        self.start = cut;
        self.head_from = self.bounds.first;
        // The rent has paid for this fold; the clock of the next one starts at nothing.
        self.fold_rent = 0;
        refresh_stubbed(ledger);
        decision.folded = true;
    }

    /// Identifiers that the model has used and whose newest result goes or is gone, in the digest's order.
    fn used(&self, ledger: &Ledger, gone: &[BlockId], call: u32) -> Vec<u32> {
        if !self.policy.lines {
            return Vec::new();
        }
        let mut ranks = Vec::new();
        for (id, identifier) in ledger.identifiers.iter() {
            let source = identifier.source;
            let is_gone = || ledger.block(source).is_some_and(|it| it.form == Form::Gone);
            if identifier.uses > 0 && (gone.binary_search(&source).is_ok() || is_gone()) {
                ranks.push(ranked(score(identifier, call), id));
            }
        }
        largest_first(ranks).collect()
    }

    /// What stays verbatim of the blocks before the cut, sorted: hot results with their groups, user texts newest first,
    /// and whatever may not go.
    fn kept(
        &self,
        ledger: &Ledger,
        setting: &Setting,
        moment: Moment,
        before: &[BlockId],
    ) -> Vec<BlockId> {
        let mut kept: Vec<BlockId> = Vec::new();
        let mut room =
            setting.usable * self.policy.hot * self.share(ledger, setting) / BASIS_POINTS;
        // A group that does not fit is skipped: a smaller one after it may fit.
        for group in self.groups(ledger, setting, moment, before) {
            let size = group.tokens.saturating_mul(10_000);
            if group.fixed {
                kept.extend(group.members);
            } else if group.need.is_some() && size <= room && self.lasts(ledger, group.newest) {
                room = room.saturating_sub(size);
                kept.extend(group.members);
            }
        }
        let mut room = setting.usable.saturating_mul(USER_SHARE);
        for &at in before.iter().rev() {
            let Some(block) = ledger.block(at) else { continue };
            let size = u64::from(block.now).saturating_mul(10_000);
            if block.user && block.may_go() && size <= room && self.lasts(ledger, at) {
                room = room.saturating_sub(size);
                kept.push(at);
            }
        }
        sort_set(&mut kept);
        kept
    }

    /// A host that forgets its oldest messages will hold this block for a while: it is of the newer half. What is kept and then
    /// forgotten is lost with a restart, and each such loss opens an epoch.
    fn lasts(&self, ledger: &Ledger, block: BlockId) -> bool {
        let known = ledger.next_message().since(self.forgotten);
        let lasting = self.forgotten.plus(known / 2);
        self.forgotten == MessageId::FIRST
            || ledger.block(block).is_some_and(|it| it.message >= lasting)
    }

    /// The closed sets of these blocks, by need per token, newest first where equal.
    fn groups(
        &self,
        ledger: &Ledger,
        setting: &Setting,
        moment: Moment,
        before: &[BlockId],
    ) -> Vec<Group> {
        let turn = |at: BlockId| {
            let block = ledger.block(at);
            block.and_then(|it| ledger.message(it.message)).map(|it| it.turn)
        };
        let newest = ledger.messages.last().map(|message| message.turn);
        // In a turn that is split, the reply before it would stand after its request.
        let splits = before.last().and_then(|&at| turn(at)) == newest;
        let replies = self.policy.seed.is_some() && !splits;
        let reply = if replies { last_reply(ledger) } else { BlockId::NONE };
        let (mut groups, mut by_group) = (Vec::new(), LiteMap::<GroupId, Group>::new());
        for &at in before {
            let Some(block) = ledger.block(at) else { continue };
            let group = if block.group.is_none() {
                groups.push_mut(Group::default())
            } else {
                by_group.entry(block.group).or_default()
            };
            group.members.push(at);
            group.tokens = group.tokens.saturating_add(u64::from(block.now));
            group.fixed |= !block.may_go() || at == reply;
            // A stub holds nothing to keep, and of a duplicate the newer copy is sent.
            if block.kind != Kind::Result || block.form > Form::Capped || block.duplicate {
                continue;
            }
            // At half of the usable window (the argument counts halves), which is about what a fold leaves.
            let refetch = refetch(block, &self.policy.prices, setting.usable);
            let need = chance(block, moment.call).saturating_add(refetch);
            group.need = Some(group.need.map_or(need, |sum| lg_sum(sum, need)));
            group.hot_tokens = group.hot_tokens.saturating_add(u64::from(block.now));
            group.newest = at;
        }
        // A program that still runs at the cut: what it called before stays with what it calls after.
        for &at in ledger.live().get(before.len()..).unwrap_or(&[]) {
            if let Some(group) = ledger.block(at).and_then(|block| by_group.get_mut(&block.group)) {
                group.fixed = true;
            }
        }
        groups.extend(by_group.into_iter().map(|(_, group)| group));
        sort_by(&mut groups, |group| {
            let need = group.need_per_token().unwrap_or(Lg::MIN);
            (need.saturating_neg(), i64::from(group.newest).saturating_neg())
        });
        groups
    }
}

/// The last text of the model's that stands beside no call (H13).
fn last_reply(ledger: &Ledger) -> BlockId {
    let replies = |at: &&BlockId| {
        let block = ledger.block(**at);
        let message = block.and_then(|it| ledger.message(it.message));
        let is_call = |at| ledger.block(at).is_some_and(|it| it.kind == Kind::Call);
        block.is_some_and(|it| it.kind == Kind::Text && !ledger.blocks_of(it.message).any(is_call))
            && message.is_some_and(|it| it.role == Role::Assistant)
    };
    ledger.live().iter().rev().find(replies).copied().unwrap_or(BlockId::NONE)
}

/// Blocks that stay or go together.
#[derive(Default)]
struct Group {
    members: Vec<BlockId>,
    tokens: u64,
    fixed: bool,
    need: Option<Lg>,
    hot_tokens: u64,
    newest: BlockId,
}

impl Group {
    fn need_per_token(&self) -> Option<Lg> {
        self.need.map(|need| need.saturating_sub(lg(self.hot_tokens)))
    }
}

/// What an identifier is worth in a head.
fn score(identifier: &Identifier, call: u32) -> u32 {
    let age = u64::from(call.saturating_sub(identifier.last_use).max(1));
    let uses = isqrt(u64::from(identifier.uses.min(10)) << 40); // Q20
    let recent = (1 << 20) + isqrt((64 << 40) / age); // 1 + 8 / sqrt(age)
    let spread = ((15 * u64::from(identifier.blocks.min(8))) << 20) / 100;
    // Below 2^25.
    u32::try_from(((uses * recent) >> 20) + spread).unwrap_or(u32::MAX)
}

/// The identifiers that the head lists, and their tokens: by use, its recency, and how many blocks hold them, newer
/// first where equal; none that the summary holds, nor these (sorted).
pub(super) fn digest(ledger: &Ledger, room: u64, call: u32, without: &[u32]) -> (Vec<u32>, u32) {
    let mut ranks = Vec::new();
    for (id, identifier) in ledger.identifiers.iter() {
        let is_listed = identifier.blocks > 0 && !identifier.summarized;
        if is_listed && without.binary_search(&id).is_err() {
            ranks.push(ranked(score(identifier, call), id));
        }
    }
    let mut tokens = 0u32;
    let mut chosen = Vec::new();
    for id in largest_first(ranks) {
        let Some(identifier) = ledger.identifiers.get(id) else { continue };
        let with = tokens.saturating_add(identifier.tokens.into());
        // Ends here, though a shorter one might fit, as the simulator does: `tests/native/oracle` compares the two call by
        // call.
        if u64::from(with) > room {
            break;
        }
        tokens = with;
        chosen.push(id);
    }
    (chosen, tokens)
}
