//! The other systems, a row each: their figures, which of the shared steps they take, and how they summarize.

use super::{Marker, Seed, Strategy, Stub, Trigger};
use crate::error::{Error, Result, listed};
use crate::prune::tuning::BALANCED;
use crate::prune::{BASIS_POINTS, Policy, Protect};

/// What the rows share: nothing is done.
const NOTHING: Seed = Seed {
    name: "",
    trigger: Trigger::Share(BASIS_POINTS),
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
    spares: false,
    parts: 0,
    strategy: Strategy::Summarize,
    most_messages: u32::MAX,
    keeps: 0,
    summary: "{}",
    note: false,
};

/// A65-A91. What stands before the last five turns: reasoning goes, results over 400 characters keep 200.
const ACECLAW: Seed = Seed {
    name: "aceclaw",
    trigger: Trigger::Share(8500),
    stub: Stub::Head(Marker::Pruned),
    above: 2,
    thinking: true,
    summary: r#"{"template":"aceclaw"}"#,
    ..NOTHING
};

/// I1-I32. Between the first message and the last twenty: results keep 200 characters, then all of it is folded.
const AICLAW: Seed = Seed {
    name: "aiclaw",
    trigger: Trigger::Share(5000),
    stub: Stub::Head(Marker::Truncated),
    middle: 5,
    spares: true,
    summary: r#"{"template":"aiclaw"}"#,
    note: true,
    ..NOTHING
};

/// G13-G26. What stands before the last 20,000 tokens is folded; to discard, the older half goes.
const OPENCLAW: Seed = Seed {
    name: "openclaw",
    trigger: Trigger::Reserve(16_384),
    tail_most: 5000,
    parts: 2,
    summary: r#"{"template":"openclaw"}"#,
    ..NOTHING
};

/// G28-G37. The older half is folded, of more than 500 messages or where less than 4,000 tokens are left; the last 20 stay.
const GOCLAW: Seed = Seed {
    name: "goclaw",
    trigger: Trigger::Reserve(4000),
    most_messages: 500,
    keeps: 5000,
    summary: r#"{"template":"goclaw","checkpoints":true}"#,
    ..NOTHING
};

/// B1-B18. Five first and fifteen last messages stay.
const CONTEXT_BUDGET: Seed = Seed {
    name: "context-budget",
    trigger: Trigger::Share(8500),
    summary: r#"{"template":"context-budget"}"#,
    ..NOTHING
};

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
    summary: r#"{"template":"hermes"}"#,
    ..NOTHING
};

/// A preset: its steps, what it aims for, the least that it edits for, and what it protects.
struct Row {
    seed: Seed,
    target: u64,
    minimum_gain: u64,
    first: u32,
    last: u32,
    turns: u32,
    tokens: u64,
}

const PLAIN: Row =
    Row { seed: NOTHING, target: 0, minimum_gain: 0, first: 0, last: 0, turns: 0, tokens: 0 };

static ROWS: [Row; 6] = [
    Row { seed: ACECLAW, target: 6000, turns: 5, ..PLAIN },
    Row { seed: AICLAW, target: 4000, first: 1, last: 20, ..PLAIN },
    Row { seed: OPENCLAW, target: 5000, tokens: 20_000, ..PLAIN },
    Row { seed: GOCLAW, target: 5000, last: 20, ..PLAIN },
    Row { seed: CONTEXT_BUDGET, target: 6000, first: 5, last: 15, ..PLAIN },
    Row { seed: HERMES, target: 4000, minimum_gain: 4096, first: 3, last: 8, ..PLAIN },
];

impl Policy {
    /// Another system's way, with its figures. `balanced` says what a fold keeps.
    ///
    /// # Errors
    /// `InvalidArgument` for any other name.
    #[inline(never)]
    pub(in crate::prune) fn of_seed(name: &str) -> Result<Self> {
        let row = ROWS.iter().find(|row| row.seed.name == name);
        let (Some(row), Some(mut policy)) = (row, Self::retaining(BALANCED)) else {
            let names = listed(&Self::PRESETS, "");
            return Err(Error::argument(
                "preset",
                &format!("one of {names}"),
                format_args!("\"{name}\""),
            ));
        };
        let Row { seed, target, minimum_gain, first, last, turns, tokens } = row;
        policy.protect = Protect {
            first: *first,
            last: *last,
            turns: *turns,
            // A75: AceClaw counts every message of the user's role.
            by_role: *turns > 0,
            tokens: *tokens,
            tools: Vec::new(),
        };
        (policy.target, policy.minimum_gain) = (*target, *minimum_gain);
        policy.ingest_cap = BASIS_POINTS;
        // None of these systems has a least size for what is summarized.
        policy.summary_minimum = 0;
        policy.seed = Some(seed.clone());
        Ok(policy)
    }
}
