//! What the provider counted against what we estimated: a factor, learned from differences only, and an overhead.
//!
//! Sizes stay raw estimates for ever; what a provider counts is turned into them, and back for whoever reads a figure.

/// Two sums of differences between requests of one epoch; older ones count half once the sums are this large.
const LONG: u64 = 40_000;
/// A factor is not read from differences that are smaller together.
const SHORT: u64 = 400;
/// A figure that is so many times ours, or ours that many times it, is none of this request.
const ABSURD: u64 = 8;

/// What has been learned of a model's counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Calibration {
    pub last: Option<Counted>,
    /// How much requests grew: as the provider counted, and as we did.
    pub grown: (u64, u64),
}

/// A request as the provider counted it, and as we did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counted {
    pub epoch: u32,
    pub used: u64,
    pub estimate: u64,
}

impl Calibration {
    /// Takes up what the provider counted; a figure that cannot be of this request is ignored.
    pub(super) fn observe(&mut self, counted: Counted) {
        let Counted { epoch, used, estimate } = counted;
        if used.saturating_mul(ABSURD) < estimate || estimate.saturating_mul(ABSURD) < used {
            return;
        }
        if let Some(last) = self.last
            && last.epoch == epoch
            && last.used < used
            && last.estimate < estimate
        {
            if self.grown.1 > LONG {
                self.grown = (self.grown.0 / 2, self.grown.1 / 2);
            }
            self.grown.0 = self.grown.0.saturating_add(used.saturating_sub(last.used));
            self.grown.1 = self.grown.1.saturating_add(estimate.saturating_sub(last.estimate));
        }
        self.last = Some(counted);
    }

    /// The last figure is of a request of this epoch: what has come since is all that is estimated.
    pub(super) fn is_anchored(&self, epoch: u32) -> bool {
        self.last.is_some_and(|last| last.epoch == epoch)
    }

    /// An estimate as the provider would count it.
    pub(super) fn tokens(&self, estimate: u64) -> u64 {
        let Some(last) = self.last else { return estimate };
        let (used, of) = self.factor();
        let scaled = |tokens: u64| tokens.saturating_mul(used).checked_div(of).unwrap_or(tokens);
        let more = scaled(estimate.saturating_sub(last.estimate));
        last.used
            .saturating_add(more)
            .saturating_sub(scaled(last.estimate.saturating_sub(estimate)))
    }

    /// The estimate that the provider would count as so many tokens.
    pub(super) fn estimate(&self, tokens: u64) -> u64 {
        let Some(last) = self.last else { return tokens };
        let (used, of) = self.factor();
        let scaled = |tokens: u64| tokens.saturating_mul(of).checked_div(used).unwrap_or(tokens);
        let more = scaled(tokens.saturating_sub(last.used));
        last.estimate.saturating_add(more).saturating_sub(scaled(last.used.saturating_sub(tokens)))
    }

    /// Tokens of the provider's for tokens of ours, from a third to three; one for one until enough is known.
    fn factor(&self) -> (u64, u64) {
        let (used, estimate) = self.grown;
        if estimate < SHORT {
            return (1, 1);
        }
        (used.clamp(estimate / 3, estimate.saturating_mul(3)), estimate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(pairs: &[(u32, u64, u64)]) -> Calibration {
        let mut calibration = Calibration::default();
        for &(epoch, used, estimate) in pairs {
            calibration.observe(Counted { epoch, used, estimate });
        }
        calibration
    }

    #[test]
    fn two_figures_tell_overhead_and_factor() {
        let one = observed(&[(0, 15_000, 10_000)]);
        assert_eq!((one.tokens(11_000), one.estimate(16_000)), (16_000, 11_000));
        let two = observed(&[(0, 15_000, 10_000), (0, 16_200, 11_000)]);
        assert_eq!((two.tokens(12_000), two.estimate(17_400)), (17_400, 12_000));
        // After an edit the same holds of the smaller request.
        assert_eq!((two.tokens(6_000), two.estimate(10_200)), (10_200, 6_000));
    }

    #[test]
    fn a_factor_is_learned_within_an_epoch_only() {
        let across = observed(&[(0, 15_000, 10_000), (1, 30_000, 11_000)]);
        assert_eq!(across.tokens(12_000), 31_000);
        assert!(across.is_anchored(1) && !across.is_anchored(0));
    }

    #[test]
    fn absurd_figures_are_ignored() {
        let before = observed(&[(0, 15_000, 10_000)]);
        for used in [0, 1000, 100_000] {
            let mut after = before;
            after.observe(Counted { epoch: 0, used, estimate: 11_000 });
            assert_eq!(after, before, "{used}");
        }
        assert_eq!(Calibration::default().tokens(77), 77);
        assert_eq!(observed(&[(0, u64::MAX, u64::MAX)]).tokens(u64::MAX), u64::MAX);
    }
}
