//! Room of what a fold carries across: hot set, digest and lines, less of them beside much that may not go.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "tokens and shares: u32 sums and small constants, far below u64"
)]

use super::{BASIS_POINTS, Pruner, Setting, now_of};
use crate::ledger::Ledger;
use crate::model::{Block, BlockId, GroupId};
use crate::number::isqrt;
use crate::sort::sort_set;

/// Share of the usable window for user texts before the cut, in 1e-4: what the user asked for must survive, although it costs a
/// little more than a summary of it.
/// On replayed sessions 0.96 of the user's instructions survive instead of 0.50.
pub(super) const USER_SHARE: u64 = 1000;
/// Tokens of output that a fold is expected to cost: its summary.
pub(super) const FOLD_OUTPUT: u64 = 1500;
/// Share of the usable window of the messages that a fold leaves at the end, in percent.
const TAIL_PERCENT: u64 = 5;
/// Tokens of a digest at a window of 128,000; it grows with the window's root.
/// On replayed sessions equal quality costs 4 to 9 % more without a digest, and is out of reach at a window of 32,000.
const DIGEST: u64 = 5000;
/// The same beside kept lines, and tokens of those.
const DIGEST_BESIDE_LINES: u64 = 4000;
const LINES: u64 = 3000;
const DIGEST_WINDOW: u64 = 128_000;
/// Share of the window that a fold frees below the trigger although the fixed part takes more than a third, in percent.
const FREED_PERCENT: u64 = 30;
/// The same although pins, protected tools and the like take much: less, since hot set and digest are worth more than fewer folds.
/// With 30, replays of Codex in a window of 32,000 cost a quarter less, but of the identifiers that were needed again a third was left.
const FREED_BESIDE_PROTECTED: u64 = 10;
const FIXED_TOO_LARGE: &str =
    "fixed part too large: beside system and tools a fold cannot free 30 % of the window";
const PROTECTED_TOO_LARGE: &str =
    "protected part too large: beside what may not go a fold cannot free 10 % of the window";

impl Pruner {
    /// Why a fold has not freed its share of the window, if it has not.
    pub(super) fn too_large(&self, ledger: &Ledger, setting: &Setting) -> Option<&'static str> {
        let context = self.context(ledger, setting);
        if self.policy.seed.is_some() {
            None
        } else if is_crowded(setting) && context > self.leaves(setting, FREED_PERCENT) {
            Some(FIXED_TOO_LARGE)
        } else {
            let is_over = context > self.leaves(setting, FREED_BESIDE_PROTECTED);
            (is_over && self.share_beside_protected(ledger, setting) == 0)
                .then_some(PROTECTED_TOO_LARGE)
        }
    }

    /// Tokens of a request at which a fold has freed this share of the window.
    fn leaves(&self, setting: &Setting, percent: u64) -> u64 {
        self.line(setting).saturating_sub(percent * setting.window / 100)
    }

    /// Share of their room that hot set and digest have, in 1e-4. It is smaller where the fixed part takes more than a third of the
    /// window, or protected messages take much: a fold then still frees its share of the window.
    pub(super) fn share(&self, ledger: &Ledger, setting: &Setting) -> u64 {
        if self.policy.seed.is_some() {
            return BASIS_POINTS;
        }
        let beside_fixed = if is_crowded(setting) {
            self.share_beside(setting, setting.fixed, FREED_PERCENT)
        } else {
            BASIS_POINTS
        };
        beside_fixed.min(self.share_beside_protected(ledger, setting))
    }

    fn share_beside_protected(&self, ledger: &Ledger, setting: &Setting) -> u64 {
        let protected = self.protected(ledger, setting);
        if protected == 0 {
            return BASIS_POINTS;
        }
        self.share_beside(setting, setting.fixed + protected, FREED_BESIDE_PROTECTED)
    }

    /// The same beside what `stays`, and beside tail, user texts and summary, if a fold frees so many percent of the window.
    fn share_beside(&self, setting: &Setting, stays: u64, percent: u64) -> u64 {
        let usable = setting.usable;
        let others = TAIL_PERCENT * usable / 100 + USER_SHARE * usable / BASIS_POINTS + FOLD_OUTPUT;
        let left = self.leaves(setting, percent).saturating_sub(stays.saturating_add(others));
        let wanted = self.policy.hot * usable / BASIS_POINTS
            + self.most_digest(setting)
            + self.most_lines(setting);
        (left * BASIS_POINTS / wanted.max(1)).min(BASIS_POINTS)
    }

    /// Tokens before a fold's tail that may not go, with their groups.
    fn protected(&self, ledger: &Ledger, setting: &Setting) -> u64 {
        let end = ledger.blocks_of(self.tail(ledger, fold_tail(setting))).start;
        let before = || ledger.live().iter().take_while(|&&at| at < end);
        let blocks = || before().filter_map(|&at| ledger.block(at));
        let staying = blocks().filter(|block| !block.may_go());
        let mut groups: Vec<GroupId> = staying.map(|block| block.group).collect();
        sort_set(&mut groups);
        let has_group =
            |block: &Block| block.group.is_some() && groups.binary_search(&block.group).is_ok();
        let kept = blocks().filter(|block| !block.may_go() || has_group(block));
        kept.map(|block| u64::from(block.now)).sum()
    }

    /// Tokens that a digest may have.
    pub(super) fn digest_room(&self, ledger: &Ledger, setting: &Setting) -> u64 {
        self.most_digest(setting) * self.share(ledger, setting) / BASIS_POINTS
    }

    /// The same beside a small fixed part.
    pub(super) fn most_digest(&self, setting: &Setting) -> u64 {
        let lines = self.policy.lines;
        grown(if lines { DIGEST_BESIDE_LINES } else { DIGEST }, setting.window)
    }

    /// Tokens that kept lines may have beside a small fixed part.
    fn most_lines(&self, setting: &Setting) -> u64 {
        if self.policy.lines { grown(LINES, setting.window) } else { 0 }
    }

    /// Tokens that lines may have in a head of so many tokens. Head and lines together are smaller than what they replace.
    pub(super) fn lines_room(
        &self,
        ledger: &Ledger,
        setting: &Setting,
        gone: &[BlockId],
        head: u32,
    ) -> u32 {
        let most = self.most_lines(setting) * self.share(ledger, setting) / BASIS_POINTS;
        let before = self.head.as_ref().map_or(0, |head| u64::from(head.tokens));
        let frees = (before + now_of(ledger, gone)).saturating_sub(u64::from(head) + 1);
        // Where nothing goes, a summary comes to what went before, with the lines that there are.
        let room = if gone.is_empty() { most } else { most.min(frees) };
        u32::try_from(room).unwrap_or(u32::MAX)
    }
}

/// The fixed part takes more than a third of the window.
fn is_crowded(setting: &Setting) -> bool {
    setting.fixed > setting.window / 3
}

/// Most tokens of the messages that a fold leaves at the end, in hundredths.
pub(super) fn fold_tail(setting: &Setting) -> u64 {
    (TAIL_PERCENT * setting.usable).min(2_000_000) // at most 20,000 tokens
}

/// Tokens at a window of 128,000, at this one.
fn grown(tokens: u64, window: u64) -> u64 {
    isqrt(tokens * tokens * window / DIGEST_WINDOW)
}
