//! From a fresh clone to a look at a real session, in one command.

use anyhow::{Result, bail};

use crate::build;
use crate::shell::{command, has, npm_ci, root, show};

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
    println!("2/3 build: the core to Wasm, the package to npm/ (a minute or two the first time)");
    npm_ci("js")?;
    build::run()?;
    println!("3/3 the package, on a session recorded by examples/node-gateway");
    let root = root();
    if !root.join("npm/dist/cli/main.js").exists() || !root.join(SESSION).exists() {
        println!("This build has no command line yet. What there is already:");
        return show(command("node").args(["--input-type=module", "--eval", ESTIMATE]));
    }
    for verb in ["inspect", "replay"] {
        println!("\n$ npx plimsoll {verb} {SESSION}\n");
        show(command("node").args(["npm/dist/cli.js", verb, SESSION]))?;
    }
    Ok(())
}

const ESTIMATE: &str = r#"
import { estimateTokens } from "./npm/dist/index.js";
import { readFileSync } from "node:fs";
const text = readFileSync("src/error.rs", "utf8");
console.log(`src/error.rs: ${text.length} chars, about ${estimateTokens(text)} tokens`);
"#;
