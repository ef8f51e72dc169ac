//! Which changes of the critical modules no test finds. All mutants that cargo-mutants lists are compiled into one copy of the
//! project, and chosen by a number while its tests run: cargo-mutants compiles the project once for each of them.

mod compile;
mod list;
mod outcomes;
mod rewrite;
mod run;
mod sites;

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

use anyhow::{Result, ensure};

use crate::compile::Mutated;
use crate::outcomes::{Outcome, Outcomes};

/// `plimsoll-mutants ROOT FOLDER [again] PATTERN...`: the project, a folder for its copy, and the files as cargo-mutants takes them.
/// What was tried before is not tried again as long as its file stays as it is; with `again`, what was not found is.
fn main() -> Result<()> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    ensure!(words.len() >= 2, "usage: plimsoll-mutants ROOT FOLDER [again] PATTERN...");
    let patterns = words.split_off(2);
    let root = PathBuf::from(&words[0]).canonicalize()?;
    fs::create_dir_all(&words[1])?;
    let folder = PathBuf::from(&words[1]).canonicalize()?;
    let (again, patterns) = match patterns.split_first() {
        Some((word, rest)) if word == "again" => (true, rest),
        _ => (false, &patterns[..]),
    };
    let mutants = list::list(&root, patterns)?;
    let mut known = Outcomes::read(folder.join("outcomes.txt"), &root, &mutants)?;
    let mut copy = Mutated::new(&root, folder.clone(), &mutants)?;
    let (mut places, programs) = copy.build()?;
    for mutant in &copy.alone {
        known.add(*mutant, Outcome::Alone)?;
    }
    for mutant in &copy.broken {
        known.add(*mutant, Outcome::Broken)?;
    }
    places.retain(|place| match known.of(place.mutant) {
        None => true,
        Some(outcome) => again && outcome != Outcome::Found,
    });
    if !places.is_empty() {
        let tests = run::tests(&folder, &programs)?;
        println!("{} mutants to try, {} tests", places.len(), tests.len());
        run::run(&folder, &tests, &places, &Mutex::new(&mut known))?;
    }
    known.show();
    Ok(())
}
