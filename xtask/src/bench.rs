//! Speed against other packages: `benches/peers`, with versions of its own.

use anyhow::Result;

use crate::build;
use crate::shell::{command, npm_ci, show};

/// Builds, installs the peers, measures, and prints ratios.
pub fn run() -> Result<()> {
    build::run()?;
    npm_ci("benches/peers")?;
    show(command("node").args(["--expose-gc", "benches/peers/bench.mjs"]))
}
