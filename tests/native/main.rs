//! The core on real sessions, against references and against an independent simulator.
//!
//! One binary: it is linked once, and its slow tests run side by side.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    reason = "a test reads files, counts, prints what it skips and may fail"
)]

#[path = "../support/carry.rs"]
mod carry;
#[path = "../../fuzz/src/case.rs"]
mod case;
#[path = "../support/halves.rs"]
mod halves;
#[path = "../support/messages.rs"]
mod messages;
#[path = "../support/sample.rs"]
mod sample;
#[path = "../support/mod.rs"]
mod support;
#[path = "../../fuzz/src/targets.rs"]
#[expect(unreachable_pub, reason = "the fuzz targets call them from another crate")]
mod targets;

mod estimate;
mod formats;
mod golden;
mod kept_inputs;
mod mended;
mod oracle;
mod presets;
mod providers;
mod sessions;
