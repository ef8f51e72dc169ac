//! What became of each mutant, written down as it comes: a run that is stopped goes on where it was.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::list::Mutant;

/// What the tests made of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// A test failed.
    Found,
    /// Tests ran, and none of them failed.
    Missed,
    /// No test reaches it.
    Unreached,
    /// A test did not end, and no other failed.
    Endless,
    /// It does not compile.
    Broken,
    /// It only compiles without the others.
    Alone,
}

const NAMES: [(Outcome, &str); 6] = [
    (Outcome::Found, "found"),
    (Outcome::Missed, "missed"),
    (Outcome::Unreached, "unreached"),
    (Outcome::Endless, "endless"),
    (Outcome::Broken, "broken"),
    (Outcome::Alone, "alone"),
];

impl Outcome {
    fn name(self) -> &'static str {
        NAMES.iter().find(|(outcome, _)| *outcome == self).map_or("", |(_, name)| name)
    }
}

/// Outcomes by the number of the mutant.
pub(crate) struct Outcomes {
    path: PathBuf,
    /// The name of each mutant, behind a hash of its file: an outcome holds as long as the file stays as it is.
    names: Vec<String>,
    known: BTreeMap<usize, Outcome>,
}

impl Outcomes {
    /// Those that a file has of these mutants; of several of one mutant the last.
    pub(crate) fn read(path: PathBuf, root: &Path, mutants: &[Mutant]) -> Result<Self> {
        let mut texts = BTreeMap::new();
        for Mutant { file, .. } in mutants {
            if !texts.contains_key(file) {
                let mut hasher = DefaultHasher::new();
                fs::read(root.join(file))?.hash(&mut hasher);
                texts.insert(file, hasher.finish());
            }
        }
        let names: Vec<String> =
            mutants.iter().map(|it| format!("{:016x} {}", texts[&it.file], it.name)).collect();
        let numbers: BTreeMap<&str, usize> =
            names.iter().enumerate().map(|(number, name)| (name.as_str(), number)).collect();
        let mut known = BTreeMap::new();
        for line in fs::read_to_string(&path).unwrap_or_default().lines() {
            let Some((outcome, name)) = line.split_once(' ') else { continue };
            let outcome = NAMES.iter().find(|(_, name)| *name == outcome);
            if let (Some((outcome, _)), Some(number)) = (outcome, numbers.get(name)) {
                known.insert(*number, *outcome);
            }
        }
        Ok(Self { path, names, known })
    }

    pub(crate) fn of(&self, mutant: usize) -> Option<Outcome> {
        self.known.get(&mutant).copied()
    }

    /// Writes an outcome down that is new.
    pub(crate) fn add(&mut self, mutant: usize, outcome: Outcome) -> Result<()> {
        if self.known.insert(mutant, outcome) == Some(outcome) {
            return Ok(());
        }
        let file = fs::OpenOptions::new().create(true).append(true).open(&self.path);
        writeln!(file?, "{} {}", outcome.name(), self.names[mutant]).context("outcomes")
    }

    /// Prints the mutants that were not found, and how many have each outcome.
    pub(crate) fn show(&self) {
        for (mutant, outcome) in &self.known {
            if !matches!(outcome, Outcome::Found | Outcome::Broken) {
                let (_, name) = self.names[*mutant].split_once(' ').unwrap_or_default();
                println!("{} {name}", outcome.name());
            }
        }
        let count = |outcome| self.known.values().filter(|it| **it == outcome).count();
        let counts = NAMES.map(|(outcome, name)| format!("{} {name}", count(outcome)));
        println!("{} mutants: {}", self.names.len(), counts.join(", "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list::Genre;

    #[test]
    fn outcomes_are_read_again_until_the_file_changes() {
        let folder = std::env::temp_dir().join(format!("mutants-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a.rs"), "one").unwrap();
        let mutant = |name: &str| Mutant {
            name: name.into(),
            file: "a.rs".into(),
            genre: Genre::FnValue,
            range: 0..1,
            replacement: String::new(),
        };
        let mutants = [mutant("a.rs:1:1: first"), mutant("a.rs:2:1: second")];
        let read = || Outcomes::read(folder.join("outcomes.txt"), &folder, &mutants).unwrap();
        let mut known = read();
        assert_eq!(known.of(0), None);
        known.add(0, Outcome::Missed).unwrap();
        known.add(0, Outcome::Found).unwrap();
        known.add(1, Outcome::Alone).unwrap();
        assert_eq!((read().of(0), read().of(1)), (Some(Outcome::Found), Some(Outcome::Alone)));
        fs::write(folder.join("a.rs"), "two").unwrap();
        assert_eq!((read().of(0), read().of(1)), (None, None));
        fs::remove_dir_all(folder).unwrap();
    }
}
