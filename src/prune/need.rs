//! Need of a block: the probability that the next call uses it, the cost of having lost it, the gain of removing it.
//!
//! Need falls as a power of the calls since the last use; how many identifiers a result is the newest source of, and how
//! many of them the model has used, predicts it better than age. Everything is an integer: products are sums of logarithms.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "tokens, prices and shares: u32 sums and small constants, far below u64"
)]

use crate::ledger::Ledger;
use crate::model::{Block, BlockId, Form, Kind, Occurrence};
use crate::number::{Lg, lg};
use crate::prune::tuning::{Policy, Prices};
use crate::sort::{largest_first, ranked};

/// Tokens that the arguments of a call, and a result, must have before they are worth an edit: to fetch a small one again costs a
/// whole call, which is far more than its rent.
pub const SMALLEST_EDIT: u32 = 200;
/// What a result's stub costs besides its identifiers, and a call's.
const RESULT_STUB: u32 = 20;
const CALL_STUB: u32 = 30;
/// Identifiers of a stub: at most this many tokens, and this share of the block in percent.
/// On replayed sessions equal quality costs 1.5 % more without names, and 0.3 % more with 100 tokens of them.
const STUB_IDS: u64 = 30;
const STUB_IDS_PERCENT: u64 = 15;
/// Lines of a stub: at most this many tokens, and this share of the block in percent.
const STUB_LINES: u32 = 120;
const STUB_LINES_PERCENT: u64 = 10;
/// What asking for a lost block again costs in output tokens.
const REFETCH_OUTPUT: u64 = 60;

/// Logarithms of what does not change: every open block asks for them at every request.
const LG_3: Lg = 6_807_362_105;
const LG_10: Lg = 14_267_572_527;
const LG_100: Lg = 28_535_145_054;
const LG_200: Lg = 32_830_112_350;
const LG_1000: Lg = 42_802_717_581;

/// What a stub of this kind costs besides its identifiers.
pub(super) fn stub_base(kind: Kind) -> u32 {
    if kind == Kind::Call { CALL_STUB } else { RESULT_STUB }
}

/// Room for identifiers in a stub of a block that has `now` tokens, in 1/100 token.
pub(super) fn stub_room(now: u32) -> u64 {
    (100 * STUB_IDS).min(STUB_IDS_PERCENT.saturating_mul(u64::from(now)))
}

/// Room for lines in the block's stub, in tokens: if it is sent in full, and the newest source of something that the model has used.
pub fn stub_lines_room(block: &Block) -> Option<u32> {
    let is_source = block.kind == Kind::Result && block.used_live > 0;
    let share = STUB_LINES_PERCENT.saturating_mul(u64::from(block.now)) / 100;
    (is_source && block.form == Form::Full && !block.duplicate)
        .then(|| u32::try_from(share).unwrap_or(u32::MAX).min(STUB_LINES))
}

/// Identifiers whose lines may stand in the block's stub, the most telling first: used ones of which it is the newest source.
///
/// Score in tenths: as for names, less nothing where a newer call holds it.
pub fn stub_line_identifiers(ledger: &Ledger, block: BlockId) -> Vec<u32> {
    let is_source =
        |&id: &u32| ledger.identifiers.get(id).is_some_and(|it| it.source == block && it.uses > 0);
    worth_naming(ledger, block, 0).filter(is_source).collect()
}

/// What stubbing the block gains, in 1/100 token.
pub(super) fn gain(block: &Block, policy: &Policy) -> u64 {
    let now = u64::from(block.now).saturating_mul(100);
    let lines = if policy.lines { stub_lines_room(block) } else { None };
    match block.kind {
        Kind::Result | Kind::Call => now
            .saturating_sub(u64::from(stub_base(block.kind)).saturating_mul(100))
            .saturating_sub(stub_room(block.now).max(100 * u64::from(lines.unwrap_or(0)))),
        Kind::Text | Kind::Thinking | Kind::Image | Kind::Other => now,
    }
}

/// The block is still whole enough, large enough and free to be stubbed or thinned.
pub fn is_candidate(block: &Block) -> bool {
    block.mask.may_edit && !block.is_protected() && may_become_candidate(block)
}

/// The same, were it free: what is not, never will be; a mask may change.
pub(super) fn may_become_candidate(block: &Block) -> bool {
    block.form < Form::Stubbed
        && match block.kind {
            Kind::Result | Kind::Call => block.tokens > SMALLEST_EDIT,
            Kind::Thinking | Kind::Image => true,
            Kind::Text | Kind::Other => false,
        }
}

/// log2 of the chance that the block is needed at the next call.
///
/// The figures were fitted to recorded sessions: the chance that a result is the newest source of what the next message uses falls
/// from 25 % after one idle call to 0.1 % after a hundred, whatever its size. So need is measured from the last use and not from
/// the arrival, and large results go first.
///
/// result: 0.04 (1 + used)^0.65 (1 + live)^0.36 / idle^1.2, or 0.002 / idle^1.2 without live identifiers; a duplicate
/// 0.3 of it. call: 0.25 (1 + min(uses, 4)/4) / idle^1.2. image: 0.1 / idle.
pub(super) fn chance(block: &Block, call: u32) -> Lg {
    let idle = lg(u64::from(call.saturating_sub(block.last).max(1)));
    let decay = idle.saturating_mul(6) / 5;
    match block.kind {
        Kind::Result => {
            let base = if block.live == 0 {
                (1i64 << 32).saturating_sub(LG_1000)
            } else {
                let used =
                    lg(u64::from(block.used_live).saturating_add(1)).saturating_mul(65) / 100;
                let live = lg(u64::from(block.live).saturating_add(1)).saturating_mul(36) / 100;
                (2i64 << 32).saturating_sub(LG_100).saturating_add(used).saturating_add(live)
            };
            let duplicate = if block.duplicate { LG_3.saturating_sub(LG_10) } else { 0 };
            base.saturating_add(duplicate).saturating_sub(decay)
        }
        Kind::Image => 0i64.saturating_sub(LG_10).saturating_sub(idle),
        Kind::Call | Kind::Text | Kind::Thinking | Kind::Other => {
            let uses = lg(u64::from(block.uses.min(4)).saturating_add(4));
            uses.saturating_sub(4 << 32).saturating_sub(decay)
        }
    }
}

/// log2 of what fetching the block again would cost at a request of `context` tokens (halves counted), in 1/2000.
pub(super) fn refetch(block: &Block, prices: &Prices, context_halves: u64) -> Lg {
    let again = prices.write.saturating_mul(u64::from(block.tokens));
    let asking = prices.output.saturating_mul(REFETCH_OUTPUT);
    let reading = prices.read.saturating_mul(context_halves);
    lg(again.saturating_add(asking).saturating_mul(2).saturating_add(reading))
}

/// Keeping the block costs more than its loss would, or nothing speaks for it.
pub(super) fn is_stale(block: &Block, policy: &Policy, call: u32, context: u64) -> bool {
    // No later call refers to old reasoning, and of a duplicate a newer copy is still sent.
    if block.kind == Kind::Thinking || block.duplicate {
        return true;
    }
    let gain = gain(block, policy);
    // A stub would be no smaller.
    if gain == 0 {
        return false;
    }
    let loss = lg(policy.lambda).saturating_add(chance(block, call)).saturating_add(refetch(
        block,
        &policy.prices,
        context.saturating_mul(2),
    ));
    let rent = lg(policy.prices.read.saturating_mul(gain));
    // lambda is in 1e-4, the loss in 1/2000, the rent in 1e-5: 1e4 * 2000 / 1e5.
    loss < rent.saturating_add(LG_200)
}

/// Identifiers that stay in the block's stub, within `room` (1/100 token), and their tokens.
///
/// Score in tenths: 10 for each use (to 8), 4 in the first 200 characters, 2 for each block that holds it (to 5), less 5
/// when a newer source exists; above 2, and in no other stub.
pub(super) fn stub_identifiers(ledger: &Ledger, block: BlockId, room: u64) -> (Vec<u32>, u32) {
    let mut tokens = 0u32;
    let mut chosen = Vec::new();
    for id in worth_naming(ledger, block, 5) {
        // Each costs a token or more.
        if u64::from(tokens).saturating_add(1).saturating_mul(100) > room {
            break;
        }
        let Some(identifier) = ledger.identifiers.get(id) else { continue };
        let with = tokens.saturating_add(identifier.tokens.into());
        // A name in one stub is enough to find its text again.
        if identifier.stubbed || u64::from(with).saturating_mul(100) > room {
            continue;
        }
        tokens = with;
        chosen.push(id);
    }
    (chosen, tokens)
}

/// The block's identifiers that are worth naming, the best first, earlier ones first where equal. Those that a newer block holds
/// score `newer` less.
fn worth_naming(ledger: &Ledger, block: BlockId, newer: i64) -> impl Iterator<Item = u32> {
    let mut ranks = Vec::new();
    for Occurrence { id, in_head, .. } in
        ledger.ranks(block).iter().map(|rank| Occurrence::of_rank(*rank))
    {
        let Some(identifier) = ledger.identifiers.get(id) else { continue };
        let score = 10 * i64::from(identifier.uses.min(8))
            + if in_head { 4 } else { 0 }
            + 2 * i64::from(identifier.blocks.min(5))
            - if identifier.newest == block { 0 } else { newer };
        if score > 2 {
            ranks.push(ranked(u32::try_from(score).unwrap_or(0), !id));
        }
    }
    largest_first(ranks).map(|id| !id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_of_the_need_match_the_measured_table() {
        assert_eq!([LG_3, LG_10, LG_100, LG_200, LG_1000], [3, 10, 100, 200, 1000].map(lg));
    }
}
