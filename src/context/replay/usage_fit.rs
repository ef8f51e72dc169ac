//! Fit of a recorded session's estimates to its provider's counts: one factor, and one overhead for each stretch between compactions.
//!
//! The factor is the tokenizer's, the overhead what is sent and not in the file: system prompt and tools. Both are medians, so that a
//! few counts that are of other requests do not move them. The slopes are those of Theil and Sen, between calls half a stretch apart.

use crate::number::count;
use crate::sort::sort_by;

/// A factor of 1.
pub(super) const ONE: u64 = 10_000;
/// A factor is read between requests that differ by so many estimated tokens: smaller differences are mostly noise.
const ENOUGH: u64 = 500;
/// A difference that is more than so many times ours, or less than that part of it, is not one of tokenizers.
const STEEP: u64 = 3;

/// A call that the provider has counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    /// Compactions before it.
    pub stretch: u32,
    pub estimate: u64,
    pub usage: u64,
}

/// What was fitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fit {
    /// Tokens of the provider for 10,000 of ours.
    pub factor: u64,
    /// By stretch; `None`: no call of it was counted.
    overheads: Vec<Option<i64>>,
    /// Errors of the fitted counts, in 1e-4 of the provider's: their median and their 90th percentile.
    pub error_p50: u64,
    pub error_p90: u64,
    /// Calls that were counted.
    pub calls: u32,
}

/// Fits the points, which are in order of their calls; nothing of none.
pub(super) fn fit(points: &[Point]) -> Option<Fit> {
    if points.is_empty() {
        return None;
    }
    let stretches = || points.chunk_by(|one, next| one.stretch == next.stretch);
    let mut slopes: Vec<i64> = stretches().flat_map(slopes_of).collect();
    let factor = at_percent(&mut slopes, 50).map_or(ONE, i64::unsigned_abs);
    let mut overheads = Vec::new();
    for stretch in stretches() {
        let Some(first) = stretch.first() else { continue };
        overheads.resize(first.stretch as usize, None);
        let over = |point: &Point| {
            signed(point.usage).saturating_sub(signed(scaled(point.estimate, factor)))
        };
        let mut all: Vec<i64> = stretch.iter().map(over).collect();
        overheads.push(at_percent(&mut all, 50));
    }
    let mut fit = Fit { factor, overheads, error_p50: 0, error_p90: 0, calls: count(points.len()) };
    let error = |point: &Point| {
        let off = fit.tokens(point.estimate, point.stretch).abs_diff(point.usage);
        signed(off.saturating_mul(ONE).checked_div(point.usage).unwrap_or(0))
    };
    let mut errors: Vec<i64> = points.iter().map(error).collect();
    fit.error_p50 = at_percent(&mut errors, 50).map_or(0, i64::unsigned_abs);
    fit.error_p90 = at_percent(&mut errors, 90).map_or(0, i64::unsigned_abs);
    Some(fit)
}

impl Fit {
    /// An estimate as the provider would count it.
    pub(super) fn tokens(&self, estimate: u64, stretch: u32) -> u64 {
        let content = signed(scaled(estimate, self.factor));
        u64::try_from(content.saturating_add(self.overhead(stretch))).unwrap_or(0)
    }

    /// What the provider counts beside what is in the file; of a stretch that was not counted, that of the nearest before it.
    pub(super) fn overhead(&self, stretch: u32) -> i64 {
        let upto = self.overheads.len().min((stretch as usize).saturating_add(1));
        let before = self.overheads.get(..upto).unwrap_or_default().iter().rev().flatten();
        before.chain(self.overheads.iter().flatten()).next().copied().unwrap_or(0)
    }
}

/// Slopes between the calls of one stretch that are half of it apart, and between neighbours of a short one.
fn slopes_of(stretch: &[Point]) -> impl Iterator<Item = i64> {
    let apart = (stretch.len() / 2).max(1);
    let pairs = stretch.iter().zip(stretch.get(apart..).unwrap_or_default());
    pairs.filter_map(|(one, other)| {
        let ours = other.estimate.checked_sub(one.estimate).filter(|ours| *ours >= ENOUGH)?;
        let theirs = other.usage.saturating_sub(one.usage);
        let theirs = theirs.clamp(ours / STEEP, ours.saturating_mul(STEEP));
        theirs.saturating_mul(ONE).checked_div(ours).map(signed)
    })
}

/// So many tokens of ours by a factor, rounded.
pub(super) fn scaled(tokens: u64, factor: u64) -> u64 {
    tokens.saturating_mul(factor).saturating_add(ONE / 2) / ONE
}

/// The value below which so many percent of them are; nothing of none.
pub(super) fn at_percent(values: &mut [i64], percent: usize) -> Option<i64> {
    sort_by(values, |value| (*value, 0));
    let at = values.len().saturating_sub(1).saturating_mul(percent) / 100;
    values.get(at).copied()
}

fn signed(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(all: &[(u32, u64, u64)]) -> Vec<Point> {
        let point =
            |&(stretch, estimate, usage): &(u32, u64, u64)| Point { stretch, estimate, usage };
        all.iter().map(point).collect()
    }

    #[test]
    fn factor_and_overhead_are_found_and_a_wrong_count_moves_neither() {
        let mut all: Vec<(u32, u64, u64)> =
            (1..40).map(|n| (0, n * 1_000, 20_000 + n * 1_300)).collect();
        all[20].2 = 900_000;
        let fit = fit(&points(&all)).expect("there are points");
        assert_eq!((fit.factor, fit.overhead(0), fit.calls), (13_000, 20_000, 39));
        assert_eq!((fit.tokens(10_000, 0), fit.error_p50, fit.error_p90), (33_000, 0, 0));
    }

    #[test]
    fn each_stretch_has_an_overhead_and_one_that_was_not_counted_has_that_before_it() {
        let all = [(0, 1_000, 11_000), (0, 3_000, 13_000), (2, 1_000, 31_000), (2, 2_000, 32_000)];
        let fit = fit(&points(&all)).expect("there are points");
        let overheads: Vec<i64> = (0..4).map(|stretch| fit.overhead(stretch)).collect();
        assert_eq!((fit.factor, overheads), (ONE, vec![10_000, 10_000, 30_000, 30_000]));
    }

    #[test]
    fn one_count_gives_an_overhead_alone_and_none_gives_nothing() {
        let one = fit(&points(&[(0, 10_000, 9_000)])).expect("there is a point");
        assert_eq!((one.factor, one.tokens(12_000, 0), one.tokens(500, 0)), (ONE, 11_000, 0));
        assert_eq!(fit(&[]), None);
        let wild = fit(&points(&[(0, 1, u64::MAX), (0, u64::MAX, 1)])).expect("there are points");
        assert!(wild.tokens(u64::MAX, 9) > 0);
    }
}
