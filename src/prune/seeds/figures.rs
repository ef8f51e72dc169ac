//! The five systems, a row each: their figures, and which of the shared steps they take.

use super::{Marker, Seed, Strategy, Stub, Trigger};
use crate::error::{Error, Result};
use crate::prune::{Policy, Protect, WHOLE};

/// What the rows share: nothing is done.
const NOTHING: Seed = Seed {
    name: "",
    trigger: Trigger::Share(WHOLE),
    stub: Stub::None,
    stub_chars: 200,
    above: 1,
    thinking: false,
    leaves: 0,
    repeated: 0,
    images: false,
    tail_most: 0,
    tail_least: 0,
    yields: false,
    first_once: false,
    middle: 1,
    parts: 0,
    strategy: Strategy::Summarize,
};

/// A65-A91. What stands before the last five turns: reasoning goes, results over 400 characters keep 200.
const ACECLAW: Seed = Seed {
    name: "aceclaw",
    trigger: Trigger::Share(8500),
    stub: Stub::Head(Marker::Pruned),
    above: 2,
    thinking: true,
    ..NOTHING
};

/// I1-I32. Between the first message and the last twenty: results keep 200 characters, then all of it is folded.
const AICLAW: Seed = Seed {
    name: "aiclaw",
    trigger: Trigger::Share(5000),
    stub: Stub::Head(Marker::Truncated),
    middle: 5,
    ..NOTHING
};

/// G13-G26. What stands before the last 20,000 tokens is folded; to discard, the older half goes.
const OPENCLAW: Seed = Seed {
    name: "openclaw",
    trigger: Trigger::Reserve(16_384),
    tail_most: 5000,
    parts: 2,
    ..NOTHING
};

/// B1-B18. Five first and fifteen last messages stay.
const CONTEXT_BUDGET: Seed =
    Seed { name: "context-budget", trigger: Trigger::Share(8500), ..NOTHING };

/// H6-H20. A line for each result, leaves of arguments cut, older images and repetitions gone; then a fold.
const HERMES: Seed = Seed {
    name: "hermes",
    trigger: Trigger::Hermes,
    stub: Stub::Line,
    leaves: 500,
    repeated: 200,
    images: true,
    tail_least: 3000,
    yields: true,
    first_once: true,
    middle: 4,
    ..NOTHING
};

impl Policy {
    /// The names of all presets, for an error.
    const NAMES: &str =
        "one of balanced, economy, retention, aceclaw, aiclaw, openclaw, context-budget, hermes";

    /// Another system's way, with its figures. `balanced` says what a fold keeps.
    ///
    /// # Errors
    /// `InvalidArgument` for any other name.
    pub(in crate::prune) fn of_seed(name: &str) -> Result<Self> {
        let protect = Protect::default();
        let (seed, target, minimum_gain, protect) = match name {
            "aceclaw" => (ACECLAW, 6000, 0, Protect { turns: 5, by_role: true, ..protect }),
            "aiclaw" => (AICLAW, 4000, 0, Protect { first: 1, last: 20, ..protect }),
            "openclaw" => (OPENCLAW, 5000, 0, Protect { tokens: 20_000, ..protect }),
            "context-budget" => {
                (CONTEXT_BUDGET, 6000, 0, Protect { first: 5, last: 15, ..protect })
            }
            "hermes" => (HERMES, 4000, 4096, Protect { first: 3, last: 8, ..protect }),
            _ => {
                return Err(Error::argument("preset", Self::NAMES, format_args!("\"{name}\"")));
            }
        };
        let ours = Self::retaining(600)?;
        Ok(Self { seed: Some(seed), target, minimum_gain, protect, ingest_cap: WHOLE, ..ours })
    }
}
