//! Room without summaries: after shortening, bodies are cut or the oldest messages dropped.

#![expect(clippy::arithmetic_side_effects, reason = "sums of tokens, far below u64")]

use super::{Marker, Seed, Shorten, is_free, shorten};
use crate::ledger::Ledger;
use crate::model::{Form, Kind, MessageId};
use crate::prune::fit::{drop_group, live_groups};
use crate::prune::{BASIS_POINTS, Decision, Pruner, Rule, Setting, Writer};

impl Pruner {
    /// Cuts old bodies, the oldest first, until the target is reached; a person's words stay.
    pub(super) fn truncate(
        &self,
        seed: &Seed,
        ledger: &mut Ledger,
        setting: &Setting,
        writer: &mut dyn Writer,
        decision: &mut Decision,
    ) {
        for at in ledger.live().to_vec() {
            if self.context(ledger, setting) <= self.aim(setting) {
                return;
            }
            let Some(block) = ledger.block(at) else { continue };
            if block.message >= self.bounds.edit {
                return;
            }
            let long = block.chars > seed.stub_chars * seed.above.max(2);
            let how = match block.kind {
                Kind::Result | Kind::Text => Shorten::Head(seed.stub_chars, Marker::Pruned),
                Kind::Call => Shorten::Leaves(seed.stub_chars),
                Kind::Thinking | Kind::Image | Kind::Other => continue,
            };
            if long && is_free(block) && block.form == Form::Full {
                shorten(ledger, at, how, Rule::Truncate, writer, decision);
            }
        }
    }

    /// Drops the oldest until the target is reached: group by group, or chunk by chunk.
    pub(super) fn discard(
        &mut self,
        seed: &Seed,
        ledger: &mut Ledger,
        setting: &Setting,
        decision: &mut Decision,
    ) {
        let first = decision.changes.len();
        let end = self.bounds.fold;
        let mut from = self.start.max(self.bounds.first);
        let groups = live_groups(ledger);
        while self.context(ledger, setting) > self.aim(setting) {
            let chunk =
                if seed.parts > 0 { oldest_chunk(ledger, from, end, seed.parts) } else { None };
            let upto = if seed.parts > 0 { chunk.unwrap_or(end) } else { from.next() };
            if from >= end {
                break;
            }
            let blocks = ledger.blocks_of(from).start.to(ledger.blocks_of(upto).start);
            for at in blocks {
                drop_group(ledger, &groups, at, end, false, Rule::Discard, decision);
            }
            from = upto;
        }
        // The trigger counts what arrived. What is dropped must leave that sum, or the next request would drop more.
        for change in decision.changes.iter().skip(first) {
            let tokens = ledger.block(change.block).map_or(0, |it| it.tokens);
            self.taken = self.taken.saturating_add(tokens.into());
        }
    }

    /// Tokens that a preset aims for.
    pub(in crate::prune) fn aim(&self, setting: &Setting) -> u64 {
        (self.policy.target * setting.usable / BASIS_POINTS).min(setting.cap / 10 * 7)
    }
}

/// First message after the first of `parts` chunks of equal tokens of the messages from `from` to `to`: a group is not
/// split, and a chunk has at least one (G13). None where there is only one chunk.
pub fn oldest_chunk(
    ledger: &Ledger,
    from: MessageId,
    to: MessageId,
    parts: u32,
) -> Option<MessageId> {
    let after = |at: MessageId| ledger.tokens_from(ledger.blocks_of(at).start);
    let tokens = |from, to| after(from).saturating_sub(after(to));
    let parts = u64::from(parts.min(to.since(from)));
    if parts <= 1 {
        return None;
    }
    let total = tokens(from, to);
    let mut ends = from.next().to(to.next()).filter(|&at| at == to || ledger.may_cut(at));
    let mut end = ends.next().filter(|&at| at < to)?;
    for next in ends {
        if parts * tokens(from, next) > total {
            break;
        }
        end = next;
    }
    (end < to).then_some(end)
}
