//! Chunks for a summarizer: equal shares of tokens, none larger than its window.
//!
//! The figures are `OpenClaw`'s: chunks of 0.4 of the window, down to 0.15 where messages are large on average; a fifth more is
//! reckoned, since estimates err; a message of half a window is noted and left out.

use std::ops::Range;

/// Estimates are taken for a fifth more than they say.
const MARGIN_PERMILLE: u64 = 1200;
/// A chunk's share of the window: where messages are small, where they are large, and what parts the two.
const BASE_PERMILLE: u64 = 400;
const LEAST_PERMILLE: u64 = 150;
const LARGE_PERMILLE: u64 = 100;
/// Fewer messages are not divided for the sake of a share: each part costs a call, and the parts one more to merge them.
pub(super) const LEAST_MESSAGES: usize = 4;

/// The share of the window that a chunk may have, in thousandths (F090).
pub(super) fn share_permille(tokens: &[u32], window: u32) -> u64 {
    let count = u64::try_from(tokens.len()).unwrap_or(u64::MAX);
    let sum: u64 = tokens.iter().copied().map(u64::from).sum();
    let mean = sum.saturating_mul(MARGIN_PERMILLE).checked_div(count).unwrap_or(0);
    let share = mean.checked_div(u64::from(window)).unwrap_or(0);
    if share <= LARGE_PERMILLE {
        return BASE_PERMILLE;
    }
    let most = BASE_PERMILLE.saturating_sub(LEAST_PERMILLE);
    BASE_PERMILLE.saturating_sub(share.saturating_mul(2).min(most))
}

/// A message that is noted and left out: with the margin it takes more than half of the window (F091).
pub(super) fn is_oversized(tokens: u32, window: u32) -> bool {
    window > 0
        && u64::from(tokens).saturating_mul(MARGIN_PERMILLE) > u64::from(window).saturating_mul(500)
}

/// So many tokens, less the margin.
pub(super) fn with_margin(tokens: u32) -> u32 {
    u32::try_from(u64::from(tokens).saturating_mul(1000) / MARGIN_PERMILLE).unwrap_or(u32::MAX)
}

/// So many parts of about the same tokens; the last takes the rest.
pub(super) fn by_share(tokens: &[u32], parts: u32) -> Vec<Range<usize>> {
    let parts = usize::try_from(parts.max(1)).unwrap_or(usize::MAX).min(tokens.len());
    let total: u64 = tokens.iter().copied().map(u64::from).sum();
    let target = total.checked_div(u64::try_from(parts).unwrap_or(u64::MAX)).unwrap_or(0);
    cut(tokens, |made, sum, next| {
        made.saturating_add(1) < parts && sum.saturating_add(next) > target
    })
}

/// Parts of at most so many tokens; a message of more is a part of its own.
pub(super) fn by_most(tokens: &[u32], most: u32) -> Vec<Range<usize>> {
    cut(tokens, |_, sum, next| sum.saturating_add(next) > u64::from(most))
}

/// Parts that end where `full` says so, of the parts before, the tokens of this one and of the next message.
fn cut(tokens: &[u32], full: impl Fn(usize, u64, u64) -> bool) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    let (mut from, mut sum) = (0, 0);
    for (at, &next) in tokens.iter().enumerate() {
        if at > from && full(parts.len(), sum, next.into()) {
            parts.push(from..at);
            (from, sum) = (at, 0);
        }
        sum = sum.saturating_add(next.into());
    }
    if from < tokens.len() {
        parts.push(from..tokens.len());
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// G15: 0.40, less where the mean message with its margin is over a tenth of the window, at least 0.15.
    /// Row F090.
    #[test]
    fn the_share_adapts_to_the_mean_message() {
        for (tokens, window, permille) in [
            (vec![], 1_000, 400),
            (vec![50; 8], 1_000, 400),
            (vec![83; 8], 1_000, 400),
            (vec![85; 8], 1_000, 196),
            (vec![100; 8], 1_000, 160),
            (vec![200; 8], 1_000, 150),
            (vec![900], 1_000, 150),
            (vec![5], 0, 400),
        ] {
            assert_eq!(share_permille(&tokens, window), permille, "{tokens:?} of {window}");
        }
    }

    /// Row F090.
    #[test]
    fn shares_are_about_equal_and_the_last_takes_the_rest() {
        assert_eq!(by_share(&[10, 10, 10, 10], 2), [0..2, 2..4]);
        assert_eq!(by_share(&[30, 10, 10, 10], 2), [0..1, 1..4]);
        assert_eq!(by_share(&[1, 1, 50], 9), [0..2, 2..3]);
        assert_eq!(by_share(&[10, 10], 1).len(), 1);
        assert_eq!(by_share(&[], 3), []);
    }

    /// Row F090.
    #[test]
    fn no_part_is_larger_than_allowed_unless_it_is_one_message() {
        assert_eq!(by_most(&[5, 5, 5, 20, 1], 10), [0..2, 2..3, 3..4, 4..5]);
    }

    /// G16: times 1.2 over half the window.
    /// Row F091.
    #[test]
    fn a_message_that_with_its_margin_is_over_half_the_window_is_oversized() {
        assert!(!is_oversized(416, 1_000));
        assert!(is_oversized(417, 1_000));
        assert!(!is_oversized(417, 0), "nothing divides by an unknown window");
    }

    proptest! {
        #[test]
        fn parts_are_complete_and_in_order(tokens in prop::collection::vec(0_u32..90, 0..40), most in 0_u32..120, parts in 0_u32..9) {
            for cut in [by_most(&tokens, most), by_share(&tokens, parts)] {
                let all: Vec<usize> = cut.iter().cloned().flatten().collect();
                prop_assert_eq!(all, (0..tokens.len()).collect::<Vec<_>>());
            }
            for part in by_most(&tokens, most) {
                let sum: u32 = tokens[part.clone()].iter().sum();
                prop_assert!(sum <= most || part.len() == 1);
            }
        }
    }
}
