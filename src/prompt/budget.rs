//! Character budget of a system prompt.

use crate::error::{Error, Result};

/// Characters (UTF-16 code units) of a section, and of the whole prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Of a section that is not protected.
    pub per_tier: usize,
    /// Of the prompt.
    pub total: usize,
}

const MOST_TOTAL: u64 = 150_000;
const MOST_TIER: u64 = 20_000;
/// The document's floor (D8); `AceClaw`'s code has 4,000 for the total.
const LEAST: u64 = 1_000;

impl Default for Budget {
    fn default() -> Self {
        Self::of(MOST_TIER, MOST_TOTAL)
    }
}

impl Budget {
    fn of(per_tier: u64, total: u64) -> Self {
        let size = |chars| usize::try_from(chars).unwrap_or(usize::MAX);
        Self { per_tier: size(per_tier), total: size(total) }
    }

    /// A quarter of the usable window at four characters a token; a section at most a quarter of that (A2).
    ///
    /// ```
    /// use plimsoll::prompt::Budget;
    /// assert_eq!(Budget::for_window(32_768, 4_096), Budget { per_tier: 7_168, total: 28_672 });
    /// ```
    pub fn for_window(context_tokens: u64, output_tokens: u64) -> Self {
        let usable = context_tokens.saturating_sub(output_tokens);
        let total = (usable / 4).saturating_mul(4).clamp(LEAST, MOST_TOTAL);
        Self::of((total / 4).clamp(LEAST, MOST_TIER), total)
    }

    /// The same, if both are more than nothing.
    ///
    /// # Errors
    /// `InvalidArgument`.
    pub fn checked(self) -> Result<Self> {
        for (name, chars) in [("maxPerTierChars", self.per_tier), ("maxTotalChars", self.total)] {
            if chars == 0 {
                return Err(Error::argument(&format!("budget.{name}"), "a positive number", chars));
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A3, word for word but for the fifth and seventh: the total's floor is the document's 1,000, not the code's 4,000 (A4).
    /// Row A3.
    #[test]
    fn the_budget_follows_from_the_window() {
        for (window, output, per_tier, total) in [
            (200_000, 16_384, 20_000, 150_000),
            (128_000, 8_192, 20_000, 119_808),
            (131_072, 8_192, 20_000, 122_880),
            (32_768, 4_096, 7_168, 28_672),
            (16_384, 4_096, 3_072, 12_288),
            (8_192, 4_096, 1_024, 4_096),
            (4_096, 8_192, 1_000, 1_000),
            (100_003, 0, 20_000, 100_000),
            (1_000_000, 64_000, 20_000, 150_000),
        ] {
            assert_eq!(Budget::for_window(window, output), Budget { per_tier, total });
        }
    }

    /// Row A1.
    #[test]
    fn a_budget_of_zero_is_refused() {
        assert_eq!(Budget::default().checked(), Ok(Budget { per_tier: 20_000, total: 150_000 }));
        let error = Budget { per_tier: 0, total: 1 }.checked().unwrap_err().to_string();
        assert_eq!(error, "budget.maxPerTierChars: expected a positive number, got 0");
        assert!(Budget { per_tier: 1, total: 0 }.checked().is_err());
    }
}
