//! Which changes of the critical modules no test finds. All mutants that cargo-mutants lists are compiled into one copy of the
//! project, and chosen by a number while its tests run: cargo-mutants compiles the project once for each of them.

mod compile;
mod list;
mod rewrite;
mod run;
mod sites;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use anyhow::{Result, ensure};

use crate::compile::Mutated;
use crate::run::Outcome;

/// `plimsoll-mutants ROOT FOLDER [again] PATTERN...`: the project, a folder for its copy, and the files as cargo-mutants takes them.
/// `again`: only what was not found in the run before.
fn main() -> Result<()> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    ensure!(words.len() >= 2, "usage: plimsoll-mutants ROOT FOLDER [again] PATTERN...");
    let patterns = words.split_off(2);
    let root = PathBuf::from(&words[0]).canonicalize()?;
    fs::create_dir_all(&words[1])?;
    let folder = PathBuf::from(&words[1]).canonicalize()?;
    let log = folder.join("not-found.txt");
    let (again, patterns) = match patterns.split_first() {
        Some((word, rest)) if word == "again" => (Some(fs::read_to_string(&log)?), rest),
        _ => (None, &patterns[..]),
    };
    let mutants = list::list(&root, patterns)?;
    let mut copy = Mutated::new(&root, folder.clone(), &mutants)?;
    let (mut places, programs) = copy.build()?;
    if let Some(before) = again {
        let names: BTreeSet<&str> =
            before.lines().filter_map(|line| line.split_once(' ')).map(|(_, name)| name).collect();
        places.retain(|place| names.contains(mutants[place.mutant].name.as_str()));
    }
    let tests = run::tests(&folder, &programs)?;
    println!("{} mutants, {} tests", places.len(), tests.len());
    let outcomes = run::run(&folder, &tests, &places)?;
    let mut lines = String::new();
    let mut add = |kind: &str, mutant: usize| {
        writeln!(lines, "{kind} {}", mutants[mutant].name).expect("a string");
    };
    let mut counts = BTreeMap::<Outcome, usize>::new();
    for (mutant, outcome) in outcomes {
        *counts.entry(outcome).or_default() += 1;
        if outcome != Outcome::Found {
            add(outcome.name(), mutant);
        }
    }
    copy.alone.iter().for_each(|mutant| add("alone", *mutant));
    print!("{lines}");
    fs::write(log, lines)?;
    for (outcome, count) in counts {
        print!("{count} {}, ", outcome.name());
    }
    println!("{} do not compile, {} compile only alone", copy.broken.len(), copy.alone.len());
    Ok(())
}
