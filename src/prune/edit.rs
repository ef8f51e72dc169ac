//! Timed edits: rent on stale blocks against the price of rewriting what stands after them.

use super::need::{gain, is_candidate, is_stale, stub_base, stub_identifiers, stub_room};
use super::{Change, Decision, Early, Moment, Pruner, Rule, Writer};
use crate::ledger::Ledger;
use crate::model::{BlockId, Form, Kind, MessageId};

/// An edit waits until this many times its price has been paid as rent.
///
/// That is rent or buy: whatever comes, the total is at most a constant times the best choice in hindsight. At 1 the bound is
/// tightest; 2 costs the same on recorded sessions, and edits a little less often.
const ALPHA: u64 = 2;
/// With a cold cache an edit costs nothing, but must gain this much, in 1/100 token.
const COLD_GAIN: u64 = 50_000;

impl Pruner {
    /// Charges rent to every stale block before the tail; when the rent after some block pays for rewriting all that
    /// follows it, the stale ones from there on are stubbed at once. Returns the stale blocks, newest first.
    #[expect(clippy::too_many_arguments, reason = "the moment of a decision has that many sides")]
    pub(super) fn timed_edit(
        &mut self,
        ledger: &mut Ledger,
        context: u64,
        tail: MessageId,
        moment: Moment,
        charge: bool,
        writer: &mut dyn Writer,
        decision: &mut Decision,
    ) -> Vec<BlockId> {
        let before = self.open_before(ledger, tail, decision);
        let policy = &self.policy;
        let read = policy.prices.read;
        let (mut rent, mut gained) = (0u64, 0u64);
        let mut stale = Vec::new();
        let mut best: Option<(i128, BlockId)> = None;
        for at in before.into_iter().rev() {
            let Some(block) = ledger.block(at) else { continue };
            if !is_candidate(block) || !is_stale(block, policy, moment.call, context) {
                continue;
            }
            // One cut for all stale blocks after it: they share the price of rewriting what follows.
            let after = ledger.tokens_from(at).saturating_mul(100);
            let Some(block) = ledger.blocks.get_mut(at.index()) else { continue };
            let gain = gain(block, policy);
            if charge {
                block.rent = block.rent.saturating_add(read.saturating_mul(gain));
            }
            rent = rent.saturating_add(block.rent);
            gained = gained.saturating_add(gain);
            stale.push(at);
            let net = self.net(rent, gained, after, moment.warm);
            // Of two with the same net the earlier one wins: its epoch removes more.
            if let Some(net) = net.filter(|&net| net >= best.map_or(0, |(net, _)| net)) {
                best = Some((net, at));
            }
        }
        if let Some((_, from)) = best
            && !moment.first
            && self.policy.early > Early::Nothing
        {
            let rule = if moment.warm { Rule::Timed } else { Rule::Cold };
            for &at in stale.iter().filter(|&&at| at >= from) {
                stub(ledger, at, rule, writer, decision);
            }
        }
        stale
    }

    /// Rent on the stale blocks from one on, less the price of rewriting what stands from there on once they are stubbed. None:
    /// that gains too little.
    pub(super) fn net(&self, rent: u64, gained: u64, after: u64, warm: bool) -> Option<i128> {
        let prices = &self.policy.prices;
        let following = after.saturating_sub(gained);
        let rewrite = prices.write.saturating_sub(prices.read).saturating_mul(following);
        let price = if warm { rewrite.saturating_mul(ALPHA) } else { 0 };
        let net = i128::from(rent).saturating_sub(i128::from(price));
        let enough = warm || gained > COLD_GAIN;
        let worth = gained >= self.policy.minimum_gain.saturating_mul(100);
        (enough && worth).then_some(net)
    }

    /// Blocks before the message `tail` that are, or may become, candidates; those that are none any more are let go.
    pub(super) fn open_before(
        &mut self,
        ledger: &Ledger,
        tail: MessageId,
        decision: &mut Decision,
    ) -> Vec<BlockId> {
        decision.visited = decision.visited.saturating_add(self.open.len() as u64);
        let mut open = std::mem::take(&mut self.open);
        open.retain(|at| ledger.block(*at).is_some_and(|it| self.may_open(it)));
        self.open = open;
        let end = ledger.blocks_of(tail).start;
        let before = self.open.partition_point(|&at| at < end);
        self.open.get(..before).unwrap_or(&[]).to_vec()
    }
}

/// Stubs a block: a line with its most telling identifiers for a result or call, nothing for an image or reasoning. What the
/// mask fixes is the caller's to ask.
pub fn stub(
    ledger: &mut Ledger,
    at: BlockId,
    rule: Rule,
    writer: &mut dyn Writer,
    decision: &mut Decision,
) {
    let Some(block) = ledger.block(at) else { return };
    let (kind, before) = (block.kind, block.now);
    decision.changes.push(Change { block: at, rule, before });
    if matches!(kind, Kind::Thinking | Kind::Image) {
        ledger.set_form(at, Form::Gone, 0);
        return;
    }
    let (ids, ids_tokens) = stub_identifiers(ledger, at, stub_room(before));
    for &id in &ids {
        if let Some(identifier) = ledger.identifiers.get_mut(id) {
            identifier.stubbed = true;
        }
    }
    let now = writer.stub(ledger, at, &ids, ids_tokens);
    ledger.set_form(at, Form::Stubbed, now);
}

/// Chooses again which identifiers stand in stubs, after a fold removed some of them.
pub(super) fn refresh_stubbed(ledger: &mut Ledger) {
    ledger.identifiers.change_those(|it| it.stubbed, |it| it.stubbed = false);
    let stubbed: Vec<(BlockId, u32)> = ledger
        .live()
        .iter()
        .filter_map(|&at| ledger.block(at).map(|block| (at, block)))
        .filter(|(_, block)| block.form == Form::Stubbed)
        .map(|(at, block)| (at, block.now))
        .collect();
    for (at, now) in stubbed {
        let room = u64::from(now.saturating_sub(stub_base(Kind::Result))).saturating_mul(100);
        for id in stub_identifiers(ledger, at, room).0 {
            if let Some(identifier) = ledger.identifiers.get_mut(id) {
                identifier.stubbed = true;
            }
        }
    }
}
