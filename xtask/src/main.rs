//! Builds, shows, tests, checks and measures the project: `cargo xtask build | demo | test | check | bench | fit | fuzz | release`.

mod bench;
mod build;
mod check;
mod critical;
mod demo;
mod fit;
mod floors;
mod fuzz;
mod gates;
mod inline;
mod knots;
mod ownership;
mod release;
mod sbom;
mod shell;
mod slowest;
mod stamp;
mod test;
mod wasm;
mod words;

use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask build [--quick] [WASM...]           the npm package, in npm/; or the Wasm files named, in build/
                                                --quick: in seconds, large and slow
cargo xtask demo                                sets up, builds, and shows the package on a recorded session
cargo xtask test [--ci | --long] [--hosts] [--quick] [SUITE...]
                                                every suite, or those named; --ci and --long: on more inputs
cargo xtask check                               formatting, lints, floors, types, imports, sizes, package shape
cargo xtask bench [--publish]                   speed against other packages; --publish: into docs/benchmarks.md, too
cargo xtask bench estimate [--publish]          how far estimates are off real tokenizers
cargo xtask bench growth [WORD]                 how times grow as inputs double; WORD: of entries with it in their name
cargo xtask bench agents [OPTION...]            tasks that scripted agents, or a real model, play under ours and other packages
cargo xtask fit [--write]                       token tables, rebuilt from pinned packages, and their errors; --write: in place
cargo xtask fuzz [SECONDS|keep] [TARGET...]     mutated inputs for the parsers and for what must always hold (needs nightly)
cargo xtask coverage                            lines of the critical modules that the core's tests run
cargo xtask mutants [again|alone] [MODULE...]   changes of the critical modules that no test finds (needs cargo-mutants; minutes to hours)
cargo xtask release --dry-run                   what can be tried before a version is published, and what is done by hand";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["build", words @ ..] => {
            let (flags, names): (Vec<&str>, Vec<&str>) =
                words.iter().partition(|word| word.starts_with("--"));
            if let Some(flag) = flags.iter().find(|flag| **flag != "--quick") {
                eprintln!("unknown option {flag}: there is --quick\n\n{USAGE}");
                return ExitCode::from(2);
            }
            if !flags.is_empty() {
                wasm::use_quick();
            }
            if names.is_empty() { build::run() } else { wasm::build_named(&names) }.map(|()| true)
        }
        ["demo"] => demo::run().map(|()| true),
        ["test", options @ ..] => test::run(options),
        ["check"] => check::run(false),
        ["check", "--short"] => check::run(true),
        ["bench"] => bench::run(&[]).map(|()| true),
        ["bench", "--publish"] => bench::run(&["--publish"]).map(|()| true),
        ["bench", "growth", words @ ..] => bench::growth(words).map(|()| true),
        ["bench", "estimate", words @ ..] => bench::estimate(words).map(|()| true),
        ["bench", "agents", words @ ..] => bench::agents(words).map(|()| true),
        ["fit", words @ ..] => fit::run(words).map(|()| true),
        ["fuzz", words @ ..] => fuzz::run(words),
        ["coverage"] => critical::coverage().map(|()| true),
        ["mutants", names @ ..] => critical::mutants(names).map(|()| true),
        ["release", "--dry-run"] => release::dry_run(),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
