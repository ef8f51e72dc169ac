//! Counter of tokens while messages are measured: the estimator, or the host's own counts.

use std::slice::Iter;

use crate::estimate::{Estimator, image_tokens};

/// Counts texts one after the other, in the order in which `texts` names them.
pub(in crate::context) struct Counter<'g> {
    /// For what the host was not asked about.
    pub(in crate::context) estimator: Estimator,
    /// Of an image, and of a page of a document.
    pub(in crate::context) image_tokens: u32,
    counts: Iter<'g, u32>,
    /// What the host's counter made of texts, and the default profile of the same.
    pub(in crate::context) learned: Learned,
}

/// Two counts of the same texts: how the host's counter compares with the default profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::context) struct Learned {
    host: u64,
    ours: u64,
}

impl Learned {
    /// Takes up another pair of sums.
    pub(in crate::context) fn add(&mut self, other: Self) {
        self.host = self.host.saturating_add(other.host);
        self.ours = self.ours.saturating_add(other.ours);
    }

    /// What stands for the host's counter where it cannot be asked: our own lines.
    pub(in crate::context) fn estimator(self) -> Estimator {
        let permille = self.host.saturating_mul(1000).div_ceil(self.ours.max(1));
        let known = self.ours > 0;
        Estimator::Scaled(if known { u32::try_from(permille).unwrap_or(u32::MAX) } else { 1000 })
    }
}

impl<'g> Counter<'g> {
    /// Counts by the estimator, but for the texts that come with a number of the host's.
    pub(in crate::context) fn new(estimator: Estimator, counts: &'g [u32]) -> Self {
        let image_tokens = image_tokens();
        Self { estimator, image_tokens, counts: counts.iter(), learned: Learned::default() }
    }

    /// Tokens of the next text.
    pub(in crate::context) fn tokens(&mut self, text: &str) -> u32 {
        if text.is_empty() {
            return 0;
        }
        let Some(&host) = self.counts.next() else { return self.estimator.tokens(text) };
        let ours = Estimator::default().tokens(text);
        self.learned.add(Learned { host: u64::from(host), ours: u64::from(ours) });
        host
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_the_host_are_used_and_scale_the_cost_of_our_own_lines() {
        let counts = [30, 7];
        let mut counter = Counter::new(Estimator::default(), &counts);
        let words = "one two three four five six seven eight nine ten";
        assert_eq!([words, "", "ls"].map(|text| counter.tokens(text)), [30, 0, 7]);
        let ours = Estimator::default().tokens(words) + Estimator::default().tokens("ls");
        assert_eq!(counter.learned, Learned { host: 37, ours: u64::from(ours) });
        assert_eq!(counter.learned.estimator(), Estimator::Scaled((37_000u32).div_ceil(ours)));
        assert_eq!(counter.tokens("beyond"), Estimator::default().tokens("beyond"));
        assert_eq!(Learned::default().estimator(), Estimator::Scaled(1000));
    }
}
