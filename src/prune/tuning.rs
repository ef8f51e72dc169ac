//! The one knob of the default policy, `retention`, and the constants that every setting of it shares.

use super::{Protect, Seed};
use crate::error::Result;

/// A setting of the default policy. Shares are in 1e-4.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// How much a needed block weighs against its rent, in 1e-4.
    pub lambda: u64,
    /// Rent on what only a fold could remove, in fold prices, at which a fold pays; in 1e-4.
    pub phi: u64,
    /// Share of the usable window that a fold keeps verbatim.
    /// On replayed sessions the default's quality is out of reach without it at windows from 32,000 to 128,000.
    pub hot: u64,
    /// A fold that drops fewer tokens goes without a summary.
    /// On replayed sessions a summary for every fold costs 2.9 % more, and 11 % at a window of 32,000.
    pub summary_minimum: u64,
    /// Share of the usable window at which capacity is reached.
    pub trigger: u64,
    /// Share of the trigger that capacity aims for.
    pub target: u64,
    /// Share of the usable window that it aims for instead.
    pub aim: Option<u64>,
    /// Share of the window above which a result is cut before it is first sent; 10,000 = never.
    pub ingest_cap: u64,
    /// A timed edit that gains fewer tokens waits.
    pub minimum_gain: u64,
    /// What may be changed while the request is below the trigger, if the host has a summarizer.
    pub early: Early,
    /// The same without one: nothing is lost then that a summary would have kept, only to save money.
    pub early_alone: Early,
    /// Lines of results that were used stay word for word, in stubs and in the head of a fold.
    pub lines: bool,
    /// What tokens cost.
    pub prices: Prices,
    /// What is never edited and never folded.
    pub protect: Protect,
    /// Another system's way instead of ours.
    pub seed: Option<Seed>,
}

/// What may be changed while the request is below the trigger; each allows what the one before it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Early {
    /// Nothing.
    Nothing,
    /// Blocks are stubbed, but nothing is folded.
    Edits,
    /// A fold is made while the cache is cold.
    ColdFolds,
    /// A fold is made also if the rent on what it removes has paid for it.
    Folds,
}

/// Prices relative to one uncached input token, in thousandths, and the lifetime of the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prices {
    /// A token read from the cache.
    pub read: u64,
    /// A token written to the cache.
    pub write: u64,
    /// An output token.
    pub output: u64,
    /// How long a cache entry lives after its last use.
    pub ttl_ms: u64,
}

impl Prices {
    /// Anthropic's, with the five-minute cache: 0.1, 1.25, 5.
    pub const ANTHROPIC: Self = Self { read: 100, write: 1250, output: 5000, ttl_ms: 300_000 };
}

/// The whole, where shares are in 1e-4.
pub const BASIS_POINTS: u64 = 10_000;

/// `retention` of the default preset, in thousandths.
pub(super) const BALANCED: i64 = 500;

struct Row {
    lambda: u64,
    phi: u64,
    hot: u64,
    summary: u64,
}

/// `retention` of the first row, in thousandths, and the distance between rows.
const FIRST: i64 = -600;
const STEP: i64 = 100;

/// lambda = 0.5 * 16^rho, phi = 3 * (25/3)^rho, hot = 0.05 * 4^rho (each in 1e-4), summary = 16000 * 2^-rho tokens.
///
/// A table, since powers of shares would need floats, and with them the core would not decide alike everywhere.
const ROWS: [Row; 20] = [
    Row { lambda: 947, phi: 8407, hot: 218, summary: 24_251 },
    Row { lambda: 1250, phi: 10_392, hot: 250, summary: 22_627 },
    Row { lambda: 1649, phi: 12_847, hot: 287, summary: 21_112 },
    Row { lambda: 2176, phi: 15_881, hot: 330, summary: 19_698 },
    Row { lambda: 2872, phi: 19_632, hot: 379, summary: 18_379 },
    Row { lambda: 3789, phi: 24_268, hot: 435, summary: 17_148 },
    Row { lambda: 5000, phi: 30_000, hot: 500, summary: 16_000 },
    Row { lambda: 6598, phi: 37_085, hot: 574, summary: 14_929 },
    Row { lambda: 8706, phi: 45_844, hot: 660, summary: 13_929 },
    Row { lambda: 11_487, phi: 56_672, hot: 758, summary: 12_996 },
    Row { lambda: 15_157, phi: 70_057, hot: 871, summary: 12_126 },
    Row { lambda: 20_000, phi: 86_603, hot: 1000, summary: 11_314 },
    Row { lambda: 26_390, phi: 107_056, hot: 1149, summary: 10_556 },
    Row { lambda: 34_822, phi: 132_341, hot: 1320, summary: 9849 },
    Row { lambda: 45_948, phi: 163_597, hot: 1516, summary: 9190 },
    Row { lambda: 60_629, phi: 202_236, hot: 1741, summary: 8574 },
    Row { lambda: 80_000, phi: 250_000, hot: 2000, summary: 8000 },
    Row { lambda: 105_561, phi: 309_045, hot: 2297, summary: 7464 },
    Row { lambda: 139_288, phi: 382_036, hot: 2639, summary: 6964 },
    Row { lambda: 183_792, phi: 472_265, hot: 3031, summary: 6498 },
];

impl Policy {
    /// The names of the presets: ours, then the other systems'.
    pub const PRESETS: [&str; 10] = [
        "balanced",
        "economy",
        "retention",
        "capacity",
        "aceclaw",
        "aiclaw",
        "openclaw",
        "goclaw",
        "context-budget",
        "hermes",
    ];

    /// How many of them are ours.
    pub(crate) const OURS: usize = 4;

    /// The names of the other systems' alone.
    #[cfg(test)]
    pub(crate) fn seeds() -> impl Iterator<Item = &'static str> {
        let is_seed = |name: &&str| Self::preset(name).is_ok_and(|policy| policy.seed.is_some());
        Self::PRESETS.into_iter().filter(is_seed)
    }

    /// The presets `economy` (retention 0), `balanced` (0.5, the default), `retention` (1) and `capacity` (`balanced`, but
    /// nothing is changed below the trigger), or another system's way.
    ///
    /// # Errors
    /// `InvalidArgument` for any other name.
    pub fn preset(name: &str) -> Result<Self> {
        let ours = match name {
            "economy" => Self::retaining(0),
            "balanced" => Self::retaining(BALANCED),
            "retention" => Self::retaining(1000),
            "capacity" => Self::retaining(BALANCED).map(Self::at_capacity),
            _ => None,
        };
        ours.map_or_else(|| Self::of_seed(name), Ok)
    }

    /// The policy for `retention` in thousandths, from -600 (cheapest) to 1300 (keeps most); linear between the rows. None
    /// outside that range.
    pub fn retaining(thousandths: i64) -> Option<Self> {
        let from = thousandths.saturating_sub(FIRST);
        let row = usize::try_from(from.div_euclid(STEP)).ok()?;
        let rest = from.rem_euclid(STEP).unsigned_abs();
        let low = ROWS.get(row)?;
        let high = if rest == 0 { low } else { ROWS.get(row.saturating_add(1))? };
        let between = |from: u64, to: u64| {
            let weighted = from
                .saturating_mul(STEP.unsigned_abs().saturating_sub(rest))
                .saturating_add(to.saturating_mul(rest));
            weighted.saturating_add(STEP.unsigned_abs() / 2) / STEP.unsigned_abs()
        };
        Some(Self {
            lambda: between(low.lambda, high.lambda),
            phi: between(low.phi, high.phi),
            hot: between(low.hot, high.hot),
            summary_minimum: between(low.summary, high.summary),
            // The rest is a margin for estimates that are too low. At 0.85 the default's quality is out of reach at a
            // window of 64,000.
            trigger: 9500,
            // On replayed sessions, at equal quality, 0.35 costs 3.2 % more and 0.75 costs 0.8 % more.
            target: 5500,
            aim: None,
            // On replayed sessions equal quality costs 20 % more without it at a window of 32,000, 6 % at 64,000, and
            // no more above.
            ingest_cap: 1200,
            minimum_gain: 0,
            early: Early::Folds,
            early_alone: match thousandths {
                ..=0 => Early::Folds,
                1..=999 => Early::ColdFolds,
                1000.. => Early::Edits,
            },
            lines: false,
            prices: Prices::ANTHROPIC,
            protect: Protect::default(),
            seed: None,
        })
    }

    /// The same choice, but nothing is changed below the trigger.
    fn at_capacity(self) -> Self {
        Self {
            ingest_cap: BASIS_POINTS,
            early: Early::Nothing,
            early_alone: Early::Nothing,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_rows_of_the_table() {
        let balanced = Policy::preset("balanced").unwrap();
        let row = (balanced.lambda, balanced.phi, balanced.hot, balanced.summary_minimum);
        assert_eq!(row, (20_000, 86_603, 1000, 11_314));
        assert!(Policy::preset("cheap").is_err());
    }

    #[test]
    fn figures_are_linear_between_the_rows() {
        let [low, middle, high] = [0, 50, 100].map(|rho| Policy::retaining(rho).unwrap().hot);
        assert_eq!((low, middle, high), (500, 537, 574));
    }

    #[test]
    fn figures_beyond_the_table_are_those_of_its_end() {
        assert!(Policy::retaining(-600).is_some() && Policy::retaining(1300).is_some());
        assert!(Policy::retaining(-601).is_none() && Policy::retaining(1301).is_none());
    }
}
