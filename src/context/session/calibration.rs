//! Calibration: the provider's counts against our estimates, as a factor (learned from differences only) and an overhead.
//!
//! Sizes stay raw estimates for ever; what a provider counts is turned into them, and back for whoever reads a figure.

/// Two sums of differences between requests of one epoch; older ones count half once the sums are this large.
const LONG: u64 = 40_000;
/// A factor is read from differences of so many tokens; what is missing of them counts one for one. Small ones mislead:
/// they hold what is not shown to us (reasoning, reminders) as often as text.
const ENOUGH: u64 = 8_000;
/// A difference that is more than so many times ours, or less than that part of it, is not one of tokenizers.
const STEEP: u64 = 3;
/// Ours that many times a figure: it is none of this request. So is a figure that many times ours, if the window does not
/// hold it; one that the window holds may count a system prompt and tools that we are not shown.
const ABSURD: u64 = 8;

/// What has been learned of a model's counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::context) struct Calibration {
    pub last: Option<Counted>,
    /// How much requests grew: as the provider counted, and as we did.
    pub grown: (u64, u64),
}

/// A request as the provider counted it, and as we did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::context) struct Counted {
    pub epoch: u32,
    pub used: u64,
    pub estimate: u64,
}

impl Calibration {
    /// Takes up what the provider counted. False: the figure cannot be of this request, and is ignored. `window`: 0 is unknown.
    pub(in crate::context) fn observe(&mut self, counted: Counted, window: u64) -> bool {
        let Counted { epoch, used, estimate } = counted;
        let most = estimate.saturating_mul(ABSURD).max(window);
        // Of a request that was not measured nothing can be learned.
        if estimate == 0 || used.saturating_mul(ABSURD) < estimate || most < used {
            return false;
        }
        if let Some(last) = self.last
            && last.epoch == epoch
            && last.used < used
            && last.estimate < estimate
        {
            if self.grown.1 > LONG {
                self.grown = (self.grown.0 / 2, self.grown.1 / 2);
            }
            let ours = estimate.saturating_sub(last.estimate);
            let theirs = used.saturating_sub(last.used);
            let theirs = theirs.clamp(ours / STEEP, ours.saturating_mul(STEEP));
            self.grown.0 = self.grown.0.saturating_add(theirs);
            self.grown.1 = self.grown.1.saturating_add(ours);
        }
        self.last = Some(counted);
        true
    }

    /// The last figure is of a request of this epoch: what has come since is all that is estimated.
    pub(in crate::context) fn is_anchored(&self, epoch: u32) -> bool {
        self.last.is_some_and(|last| last.epoch == epoch)
    }

    /// An estimate as the provider would count it.
    pub(in crate::context) fn tokens(&self, estimate: u64) -> u64 {
        let Some(last) = self.last else { return estimate };
        let (used, of) = self.factor();
        let scaled = |tokens: u64| tokens.saturating_mul(used).checked_div(of).unwrap_or(tokens);
        let more = scaled(estimate.saturating_sub(last.estimate));
        last.used
            .saturating_add(more)
            .saturating_sub(scaled(last.estimate.saturating_sub(estimate)))
    }

    /// The estimate that the provider would count as so many tokens.
    pub(in crate::context) fn estimate(&self, tokens: u64) -> u64 {
        let Some(last) = self.last else { return tokens };
        let (used, of) = self.factor();
        let scaled = |tokens: u64| tokens.saturating_mul(of).checked_div(used).unwrap_or(tokens);
        let more = scaled(tokens.saturating_sub(last.used));
        last.estimate.saturating_add(more).saturating_sub(scaled(last.used.saturating_sub(tokens)))
    }

    /// What the provider counts besides our estimate (a system prompt and tools that we are not shown), as an estimate.
    pub(in crate::context) fn hidden(&self) -> u64 {
        let Some(last) = self.last else { return 0 };
        let (used, of) = self.factor();
        let all = last.used.saturating_mul(of).checked_div(used).unwrap_or(last.used);
        all.saturating_sub(last.estimate)
    }

    /// What has come since the provider counted; all of it, if it has not.
    pub(in crate::context) fn since(&self, estimate: u64) -> u64 {
        estimate.saturating_sub(self.last.map_or(0, |last| last.estimate))
    }

    /// Tokens of the provider's for tokens of ours, from a third to three.
    fn factor(&self) -> (u64, u64) {
        let (used, estimate) = self.grown;
        let missing = ENOUGH.saturating_sub(estimate);
        (used.saturating_add(missing), estimate.saturating_add(missing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: u64 = 100_000;

    fn observed(pairs: &[(u32, u64, u64)]) -> Calibration {
        let mut calibration = Calibration::default();
        for &(epoch, used, estimate) in pairs {
            calibration.observe(Counted { epoch, used, estimate }, WINDOW);
        }
        calibration
    }

    #[test]
    fn two_figures_give_overhead_and_factor() {
        let one = observed(&[(0, 15_000, 10_000)]);
        assert_eq!((one.tokens(11_000), one.estimate(16_000)), (16_000, 11_000));
        let two = observed(&[(0, 15_000, 10_000), (0, 27_000, 20_000)]);
        assert_eq!((two.tokens(21_000), two.estimate(28_200)), (28_200, 21_000));
        // After an edit the same holds of the smaller request.
        assert_eq!((two.tokens(6_000), two.estimate(10_200)), (10_200, 6_000));
    }

    #[test]
    fn a_small_difference_counts_little_for_the_factor() {
        let small = observed(&[(0, 15_000, 10_000), (0, 16_000, 10_500)]);
        // Twice as much of 500, one for one of the other 7,500.
        assert_eq!(small.tokens(26_500), 16_000 + 16_000 * 17 / 16);
    }

    #[test]
    fn a_difference_is_taken_for_no_more_than_three_times_ours() {
        let jump = observed(&[(0, 15_000, 10_000), (0, 65_000, 18_000)]);
        assert_eq!((jump.tokens(18_000), jump.tokens(19_000)), (65_000, 68_000));
        let none = observed(&[(0, 15_000, 10_000), (0, 15_001, 19_000)]);
        assert_eq!((none.tokens(19_000), none.tokens(22_000)), (15_001, 16_001));
    }

    #[test]
    fn a_factor_is_learned_within_an_epoch_only() {
        let across = observed(&[(0, 15_000, 10_000), (1, 30_000, 11_000)]);
        assert_eq!(across.tokens(12_000), 31_000);
        assert!(across.is_anchored(1) && !across.is_anchored(0));
    }

    #[test]
    fn calibration_ignores_absurd_usage() {
        let before = observed(&[(0, 15_000, 10_000)]);
        for used in [0, 1000, 100_001] {
            let mut after = before;
            after.observe(Counted { epoch: 0, used, estimate: 11_000 }, WINDOW);
            assert_eq!(after, before, "{used}");
        }
        assert_eq!(Calibration::default().tokens(77), 77);
        assert_eq!(observed(&[(0, u64::MAX, u64::MAX)]).tokens(u64::MAX), u64::MAX);
    }

    #[test]
    fn a_system_prompt_that_is_not_shown_is_overhead() {
        // Claude Code's first request: its prompt and tools stand in no session file.
        let hidden = observed(&[(0, 43_588, 1_235)]);
        assert_eq!((hidden.tokens(1_335), hidden.estimate(WINDOW)), (43_688, 57_647));
        assert_eq!((hidden.hidden(), hidden.since(1_335)), (42_353, 100));
        // Without a window nothing tells it from a session's sum.
        let mut unknown = Calibration::default();
        unknown.observe(Counted { epoch: 0, used: 43_588, estimate: 1_235 }, 0);
        assert_eq!(unknown, Calibration::default());
    }
}
