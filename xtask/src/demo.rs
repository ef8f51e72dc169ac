//! From a fresh clone to a look at a real session, in one command.

use anyhow::{Result, bail};

use crate::build;
use crate::shell::{command, has, show};

const SESSION: &str = "examples/sessions/harbour-audit.pi.jsonl";

/// Sets up what is missing, builds, and runs the package's CLI on a recorded session.
pub fn run() -> Result<()> {
    if !has("node") || !has("npm") {
        bail!("the demo needs Node 20 or newer, with npm");
    }
    if has("rustup") {
        println!("1/3 toolchain: rustup brings what rust-toolchain.toml names, if it is missing");
        // Without what cargo has set for us: rustup then follows the file, with its target.
        show(command("rustup").args(["toolchain", "install"]).env_remove("RUSTUP_TOOLCHAIN"))?;
    }
    println!(
        "2/3 build: the core to Wasm files, as many at a time as there are cores; the package for Node to npm/"
    );
    println!(
        "  the first time this takes about 4 minutes of processor time: 2 or more on two cores"
    );
    build::for_node()?;
    println!("3/3 the package, on a session recorded by examples/node-gateway");
    for words in [vec!["inspect", SESSION], vec!["replay", SESSION, "--window", "64k"]] {
        println!("\n$ plimsoll {}\n", words.join(" "));
        show(command("node").arg("npm/dist/cli.js").args(words))?;
    }
    Ok(())
}
