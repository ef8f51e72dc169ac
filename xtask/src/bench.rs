//! Speed against other packages: `benches/peers`, with versions of its own; and how times grow, `benches/growth.mjs`.

use anyhow::Result;

use crate::build;
use crate::shell::{command, npm_ci, show};

/// Builds, installs the peers, measures, and prints ratios.
pub fn run() -> Result<()> {
    build::run()?;
    npm_ci("benches/peers")?;
    show(command("node").args(["--expose-gc", "benches/peers/bench.mjs"]))
}

/// Builds, and prints how the time of each entry grows as its input doubles.
pub fn growth(words: &[&str]) -> Result<()> {
    build::run()?;
    show(command("node").arg("benches/growth.mjs").args(words))
}
