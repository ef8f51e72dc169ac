//! Where the next edit is to be expected if a session goes on as it went: the same rules, asked about calls that are still to come.

use super::need::{gain, is_candidate, is_stale, may_become_candidate};
use super::{Early, Pruner, Setting};
use crate::ledger::Ledger;
use crate::model::{Block, BlockId, Form};

/// Calls that are looked ahead, and blocks that are looked at: a forecast far away is the trigger.
const AHEAD: u32 = 256;
const BLOCKS: usize = 256;

/// An edit that is to be expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// Tokens of the request that it comes with.
    pub tokens: u64,
    /// Why it comes then.
    pub reason: &'static str,
}

const CHEAPER: &str = "editing then costs less than resending";
const FOLD_CHEAPER: &str = "folding then costs less than resending";
const TRIGGER: &str = "that is the trigger";

/// A block that the session has or is expected to get: where it starts, in tokens.
struct Expected {
    start: u64,
    block: Block,
}

impl Pruner {
    /// The next edit, if calls bring what they brought so far and the cache stays warm; none before the first call.
    pub fn forecast(
        &self,
        ledger: &Ledger,
        setting: &Setting,
        call: u32,
        summarizes: bool,
    ) -> Option<Forecast> {
        let line = Forecast { tokens: self.line(setting), reason: TRIGGER };
        let grown = ledger.arrived().checked_div(call.into())?;
        let policy = &self.policy;
        if policy.seed.is_some() || policy.early == Early::Nothing || grown == 0 {
            return Some(line);
        }
        let seen = brought(ledger);
        let oldest = seen.last().and_then(|block| ledger.message(block.message));
        let since = oldest.filter(|_| seen.len() == BLOCKS).map_or(0, |message| message.call);
        let calls = call.saturating_sub(since).max(1) as usize;
        let mut expected = self.editable(ledger);
        let (mut messages, mut context) = (ledger.total(), self.context(ledger, setting));
        let (mut fold_rent, mut due) = (self.fold_rent, 0usize);
        // The tail that `decide` spares: whole calls, and the last one whatever it brings.
        let limit = (setting.usable / 5).min(6_000);
        let tail = limit.saturating_sub(limit % grown).max(grown);
        let early = if summarizes { policy.early } else { policy.early_alone };
        let mut next = seen.iter().cycle();
        for now in (1..=AHEAD).map(|more| call.saturating_add(more)) {
            due = due.saturating_add(seen.len());
            while due >= calls {
                due = due.saturating_sub(calls);
                let Some(block) = next.next() else { break };
                let mut block = *block;
                (block.last, block.now, block.rent) = (now, block.tokens, 0);
                expected.push(Expected { start: messages, block });
            }
            messages = messages.saturating_add(grown);
            context = context.saturating_add(grown);
            if context > line.tokens {
                break;
            }
            let end = messages.saturating_sub(tail);
            if self.edit_pays(&mut expected, messages, end, now, context) {
                return Some(Forecast { tokens: context, reason: CHEAPER });
            }
            let rest = end;
            fold_rent = fold_rent.saturating_add(policy.prices.read.saturating_mul(rest));
            if early >= Early::Folds && self.fold_is_paid(setting, context, rest, fold_rent) {
                return Some(Forecast { tokens: context, reason: FOLD_CHEAPER });
            }
        }
        Some(line)
    }

    fn editable(&self, ledger: &Ledger) -> Vec<Expected> {
        let of = |&at: &BlockId| {
            let block = ledger.block(at).filter(|block| is_candidate(block))?;
            let start = ledger.total().saturating_sub(ledger.tokens_from(at));
            Some(Expected { start, block: *block })
        };
        let recent = self.open.len().saturating_sub(BLOCKS);
        self.open.iter().skip(recent).filter_map(of).collect()
    }

    /// As a timed edit decides: rent is charged, and the rent after some block pays for rewriting what follows it.
    fn edit_pays(
        &self,
        expected: &mut [Expected],
        messages: u64,
        end: u64,
        call: u32,
        context: u64,
    ) -> bool {
        let (mut rent, mut gained) = (0u64, 0u64);
        for Expected { start, block } in expected.iter_mut().rev() {
            if *start >= end || !is_stale(block, &self.policy, call, context) {
                continue;
            }
            let gain = gain(block, &self.policy);
            block.rent = block.rent.saturating_add(self.policy.prices.read.saturating_mul(gain));
            rent = rent.saturating_add(block.rent);
            gained = gained.saturating_add(gain);
            let after = messages.saturating_sub(*start).saturating_mul(100);
            if self.net(rent, gained, after, true).is_some_and(|net| net >= 0) {
                return true;
            }
        }
        false
    }
}

/// The newest that calls brought and that can be edited once it is old, as it arrived; the newest first.
fn brought(ledger: &Ledger) -> Vec<Block> {
    let in_full = |block: &Block| Block { form: Form::Full, ..*block };
    let all = ledger.blocks.iter().rev().map(in_full);
    all.filter(|block| block.mask.may_edit && may_become_candidate(block)).take(BLOCKS).collect()
}
