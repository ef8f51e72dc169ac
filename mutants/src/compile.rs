//! Compiles a copy of the project that has all mutants at once, without those that do not compile.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use crate::list::Mutant;
use crate::rewrite::{CHOICE, Culprit, culprit, rewrite};
use crate::sites::{Site, sites};

/// A copy of the project with all mutants.
pub(crate) struct Mutated {
    folder: PathBuf,
    /// By file: its text as it was, and its sites.
    files: BTreeMap<String, (String, Vec<Site>)>,
    /// Mutants that only compile without the others.
    pub(crate) alone: BTreeSet<usize>,
    /// Mutants that do not compile.
    pub(crate) broken: BTreeSet<usize>,
}

/// A mutant and the site at which it is chosen, by their numbers.
pub(crate) struct Place {
    pub(crate) mutant: usize,
    pub(crate) site: usize,
}

impl Mutated {
    /// Copies what git knows of `root`, and finds the place of each mutant.
    pub(crate) fn new(root: &Path, folder: PathBuf, mutants: &[Mutant]) -> Result<Self> {
        let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output()?;
        ensure!(listed.status.success(), "git ls-files failed");
        for name in String::from_utf8(listed.stdout)?.split_terminator('\0') {
            let (from, to) = (root.join(name), folder.join(name));
            let Ok(bytes) = fs::read(from) else { continue };
            // What has not changed keeps its time, so that cargo does not compile it again.
            if fs::read(&to).is_ok_and(|old| old == bytes) {
                continue;
            }
            fs::create_dir_all(to.parent().context("a file without a folder")?)?;
            fs::write(to, bytes)?;
        }
        let mut by_file = BTreeMap::<&str, Vec<(usize, &Mutant)>>::new();
        for (number, mutant) in mutants.iter().enumerate() {
            by_file.entry(&mutant.file).or_default().push((number, mutant));
        }
        let (mut files, mut alone, mut broken) =
            (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        for (file, mutants) in by_file {
            let text = fs::read_to_string(root.join(file))?;
            let found = sites(&text, &mutants).with_context(|| file.to_owned())?;
            alone.extend(found.alone);
            broken.extend(found.broken);
            files.insert(file.to_owned(), (text, found.sites));
        }
        Ok(Self { folder, files, alone, broken })
    }

    /// The site of each mutant that compiles, and the programs of the tests.
    pub(crate) fn build(&mut self) -> Result<(Vec<Place>, Vec<PathBuf>)> {
        loop {
            self.write()?;
            let messages = self.cargo(&["check", "--lib"])?;
            if messages.iter().all(|it| it.level() != Some("error")) {
                break;
            }
            self.leave_out(&messages)?;
        }
        let built = self.cargo(&["test", "--no-run", "--lib", "--test", "native"])?;
        let programs: Vec<PathBuf> =
            built.into_iter().filter_map(|it| it.executable).map(PathBuf::from).collect();
        ensure!(!programs.is_empty(), "the tests do not compile");
        let mut places = Vec::new();
        for (number, site) in self.files.values().flat_map(|(_, sites)| sites).enumerate() {
            places.extend(
                site.mutants.iter().map(|(mutant, _)| Place { mutant: *mutant, site: number }),
            );
        }
        places.sort_unstable_by_key(|place| place.mutant);
        Ok((places, programs))
    }

    fn write(&self) -> Result<()> {
        let mut first = 0;
        let library = "src/lib.rs";
        for (file, (text, sites)) in &self.files {
            ensure!(file != library, "{library} has no mutants of its own");
            write_changed(&self.folder.join(file), &rewrite(text, sites, first))?;
            first += sites.len();
        }
        let path = self.folder.join(library);
        let text = fs::read_to_string(&path)?;
        let text = text.split("\n/// Chooses among the mutants.").next().unwrap_or_default();
        let choice = CHOICE.replace("SITES", &first.max(1).to_string());
        write_changed(&path, &format!("{text}{choice}"))
    }

    fn cargo(&self, words: &[&str]) -> Result<Vec<Message>> {
        let out = Command::new("cargo")
            .args(words)
            .args(["--package", "plimsoll", "--message-format=json", "--quiet"])
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", self.folder.join("target"))
            .env("RUSTFLAGS", "--cap-lints=allow")
            .stderr(Stdio::inherit())
            .output()?;
        let lines = String::from_utf8(out.stdout)?;
        Ok(lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }

    /// Leaves out what the compiler refuses.
    fn leave_out(&mut self, messages: &[Message]) -> Result<()> {
        let mut found = Vec::new();
        for message in messages.iter().filter(|it| it.level() == Some("error")) {
            let Some(it) = &message.message else { continue };
            let culprits = it.spans.iter().filter(|it| it.is_primary).filter_map(|span| {
                let text = fs::read_to_string(self.folder.join(&span.file_name)).ok()?;
                culprit(&text, span.byte_start)
            });
            let before = found.len();
            found.extend(culprits);
            let is_summary = it.spans.is_empty();
            if found.len() == before && !is_summary {
                bail!("{}", it.rendered.as_deref().unwrap_or("an error without a text"));
            }
        }
        ensure!(!found.is_empty(), "the copy does not compile");
        let mut number = 0;
        for (_, sites) in self.files.values_mut() {
            for site in sites.iter_mut() {
                if found.contains(&Culprit::Site(number)) {
                    self.alone.extend(site.mutants.drain(..).map(|(mutant, _)| mutant));
                }
                let broken = site
                    .mutants
                    .extract_if(.., |(mutant, _)| found.contains(&Culprit::Mutant(*mutant)));
                self.broken.extend(broken.map(|(mutant, _)| mutant));
                number += 1;
            }
            sites.retain(|site| !site.mutants.is_empty());
        }
        Ok(())
    }
}

fn write_changed(path: &Path, text: &str) -> Result<()> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    fs::write(path, text).with_context(|| path.display().to_string())
}

/// A line of what cargo prints.
#[derive(Deserialize)]
struct Message {
    message: Option<Diagnostic>,
    executable: Option<String>,
}

impl Message {
    fn level(&self) -> Option<&str> {
        self.message.as_ref().map(|it| it.level.as_str())
    }
}

#[derive(Deserialize)]
struct Diagnostic {
    level: String,
    spans: Vec<Span>,
    rendered: Option<String>,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    byte_start: usize,
    is_primary: bool,
}
