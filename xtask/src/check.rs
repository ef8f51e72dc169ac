//! Checks for every change: formatting, lints, floors, types, sizes, imports, the package's shape.

use std::fs;
use std::thread;
use std::time::Instant;

use anyhow::{Result, bail, ensure};

use crate::gates::{Size, judge};
use crate::shell::{cargo, command, npm_ci, output, root, tool};
use crate::wasm::WASMS;
use crate::{build, floors, knots, ownership, words};

/// A check passes with a note (often an empty one), or fails with all that there is to mend.
type Check = (&'static str, fn() -> Result<String>);

/// What needs no package.
const SOURCES: [Check; 6] = [
    ("format", || quiet(cargo().args(["fmt", "--all", "--", "--check"]))),
    ("biome", || quiet(tool("biome").args(["ci", "--error-on-warnings", "--colors=off"]))),
    ("floors", floors),
    ("words", words),
    // The profile that `cargo xtask` itself was built with: its dependencies are not compiled a second time.
    ("xtask", || {
        quiet(cargo().args(["test", "--quiet", "--profile", "dev", "--package", "xtask"]))
    }),
    ("generated types", || quiet(cargo().args(["test", "--quiet", "--lib", "types::"]))),
];

/// Compilations of the crate for this alone; `src/wasm` is compiled for Wasm only.
const LINTS: [Check; 3] = [
    ("lints", || clippy(&["--workspace", "--all-targets"])),
    ("lints, wasm", || clippy(&["--lib", "--target", "wasm32-unknown-unknown"])),
    ("docs", docs),
];

const BUILD: Check = ("build", || build::run().map(|()| String::new()));

const PACKAGE: [Check; 4] = [
    ("types", || quiet(tool("tsc").args(["--project", "js", "--noEmit"]))),
    ("contract", contract),
    ("publint", || quiet(tool("publint").args(["npm", "--strict"]))),
    ("attw", || {
        let options = ["--pack", "npm", "--profile", "node16", "--no-color", "--format", "ascii"];
        let wasms = WASMS.map(|wasm| format!("./{}.wasm", wasm.name));
        let not_code = wasms.iter().map(String::as_str).chain(["./inspector.html"]);
        quiet(tool("attw").args(options).arg("--exclude-entrypoints").args(not_code))
    }),
];

const SIZES: Check = ("wasm", weigh);

/// The sizes that docs/runtimes.md has for each feature.
const FEATURES: Check =
    ("features", || quiet(command("node").args(["xtask/node/features.mjs", "npm", "check"])));

/// Runs every check, also after one has failed: those of the sources beside those of the package. False: something is to be mended.
///
/// `short`: without those that take longest, which no test depends on.
pub fn run(short: bool) -> Result<bool> {
    npm_ci("js")?;
    let (mut sources, mut sizes) = (SOURCES.to_vec(), vec![SIZES]);
    if short {
        println!(
            "skipped: lints, warnings of rustdoc and the sizes of features: `cargo xtask check` has them, and `cargo xtask test --ci`"
        );
    } else {
        sources.extend(LINTS);
        sizes.push(FEATURES);
    }
    let failed = thread::scope(|scope| {
        let package = scope.spawn(|| {
            let built = run_all(&[BUILD]);
            let sizes = scope.spawn(|| run_all(&sizes));
            built + run_all(&PACKAGE) + sizes.join().unwrap_or(1)
        });
        run_all(&sources) + package.join().unwrap_or(1)
    });
    let all = sources.len() + 1 + PACKAGE.len() + sizes.len();
    println!("{} checks passed, {failed} failed", all - failed);
    Ok(failed == 0)
}

/// Runs these checks, and counts those that failed.
fn run_all(checks: &[Check]) -> usize {
    let mut failed = 0;
    for (name, check) in checks {
        let begun = Instant::now();
        let done = check();
        let seconds = begun.elapsed().as_secs_f32();
        match done {
            Ok(note) => println!("ok      {name:<16} {seconds:>5.1} s  {note}"),
            Err(error) => {
                println!("FAILED  {name:<16} {seconds:>5.1} s\n{error:#}");
                failed += 1;
            }
        }
    }
    failed
}

fn quiet(command: &mut std::process::Command) -> Result<String> {
    output(command).map(|_| String::new())
}

fn clippy(what: &[&str]) -> Result<String> {
    quiet(cargo().args(["clippy", "--quiet"]).args(what).args(["--", "--deny", "warnings"]))
}

fn docs() -> Result<String> {
    let options = ["doc", "--quiet", "--no-deps", "--package", "plimsoll"];
    quiet(cargo().args(options).env("RUSTDOCFLAGS", "--deny warnings"))
}

fn floors() -> Result<String> {
    let mut found = floors::violations()?;
    found.extend(ownership::violations()?);
    found.extend(knots::violations()?);
    ensure!(found.is_empty(), "{}", found.join("\n"));
    ownership::figures()
}

fn words() -> Result<String> {
    let found = words::violations()?;
    ensure!(found.is_empty(), "{}", found.join("\n"));
    Ok(String::new())
}

/// Our exported surface against the contract that users write against, where that is at hand.
fn contract() -> Result<String> {
    if !root().join("../shared/contract.d.ts").exists() {
        return Ok("skipped: ../shared is absent".into());
    }
    quiet(tool("tsc").args(["--project", "tests/types"]))
}

/// Sizes against their gates, and what the Wasm asks of JavaScript against the list.
fn weigh() -> Result<String> {
    let facts = output(command("node").args(["xtask/node/measure.mjs", "npm"]))?;
    let known = fs::read_to_string(root().join("xtask/wasm-imports.txt"))?;
    let (mut sizes, mut strange) = (Vec::new(), Vec::new());
    for fact in facts.lines() {
        match fact.split(' ').collect::<Vec<_>>().as_slice() {
            ["size", words @ ..] => sizes.push(Size::read(words)?),
            ["import", wasm, module, name] => {
                if *module != "glue" || !known.lines().any(|line| line == *name) {
                    strange
                        .push(format!("{wasm} imports {name} of {module}: xtask/wasm-imports.txt"));
                }
            }
            _ => bail!("unknown fact: {fact}"),
        }
    }
    let (lines, mut broken) = judge(&sizes);
    broken.append(&mut strange);
    let lines = format!("\n        {}", lines.join("\n        "));
    ensure!(broken.is_empty(), "{}{lines}", broken.join("\n"));
    Ok(lines)
}
