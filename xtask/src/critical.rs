//! Proof of the critical modules: which of their lines the core's own tests run, and which mutants of them those tests find.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

use crate::shell::{cargo, command, output, root, show};

/// Where a mistake costs a user a refused request, lost history or a forged candidate.
const CRITICAL: [(&str, &str); 5] = [
    ("validity", "src/validity/"),
    ("policy", "src/prune/"),
    ("budget", "src/prompt/"),
    ("signatures", "src/candidate/"),
    ("commit", "src/context/compaction/"),
];

/// The tests of the core that are run with counters: those over every real session would take half an hour.
const COUNTED: [(&str, &[&str]); 2] =
    [("plimsoll-", &[]), ("native-", &["golden", "providers", "presets", "formats", "mended"])];

/// Lines of a module with code, and those that no test runs.
#[derive(Default)]
struct Lines {
    all: usize,
    missed: Vec<String>,
}

/// Runs the core's tests with counters in every line; prints each critical module's share of lines that were run. Those that
/// were not are listed in `build/logs/coverage.log`.
pub fn coverage() -> Result<()> {
    let folder = root().join("target/coverage");
    fs::create_dir_all(&folder)?;
    let profile = |name: &str| folder.join(name);
    let tests = ["test", "--lib", "--test", "native", "--target-dir", "target/coverage"];
    let mut build = cargo();
    build.args(tests).env("RUSTFLAGS", "-Cinstrument-coverage");
    // What runs while cargo builds has counters, too.
    build.env("LLVM_PROFILE_FILE", profile("build-%p.profraw"));
    let built = build.args(["--no-run", "--message-format=json"]);
    let programs: Vec<PathBuf> = output(built)?.lines().filter_map(executable).collect();
    ensure!(!programs.is_empty(), "cargo built no tests");
    for (number, program) in programs.iter().enumerate() {
        let counts = profile(&format!("{number}.profraw"));
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        let tests = COUNTED.iter().find(|(start, _)| name.starts_with(start));
        let (_, tests) = tests.with_context(|| format!("{name} is none of the tests"))?;
        output(command(program).args(*tests).env("LLVM_PROFILE_FILE", counts))?;
    }
    let merged = profile("all.profdata");
    let raw = (0..programs.len()).map(|number| profile(&format!("{number}.profraw")));
    output(llvm("llvm-profdata")?.args(["merge", "-sparse", "-o"]).arg(&merged).args(raw))?;
    let mut export = llvm("llvm-cov")?;
    export.args(["export", "-format=lcov", "-instr-profile"]).arg(&merged);
    for (number, program) in programs.iter().enumerate() {
        if number > 0 {
            export.arg("-object");
        }
        export.arg(program);
    }
    let found = lines_of(&output(&mut export)?, &tests_start);
    let mut missed = Vec::new();
    for (name, Lines { all, missed: lines }) in &found {
        let run = all.saturating_sub(lines.len());
        println!("{name:<12} {run:>6} of {all:>6} lines, {:.1} %", percent(run, *all));
        missed.extend(lines.iter().cloned());
    }
    let log = root().join("build/logs/coverage.log");
    fs::create_dir_all(log.parent().context("the log has no folder")?)?;
    fs::write(log, missed.join("\n"))?;
    println!("lines that no test runs: build/logs/coverage.log");
    Ok(())
}

/// Changes the critical modules in one place after the other, and runs the core's tests on each; prints the changes that no
/// test finds. A change whose tests do not end counts as not found. `words`: modules, or files of them; all by default. A run
/// goes on where the last one stopped; `again` before them tries what was not found, too, `alone` what does not compile together
/// with the others. Hours for all of them.
pub fn mutants(words: &[&str]) -> Result<()> {
    let version = command("cargo").args(["mutants", "--version"]).output();
    let is_there = version.is_ok_and(|out| out.status.success());
    ensure!(is_there, "cargo-mutants is absent: `cargo install cargo-mutants`");
    let (first, names) = match words {
        [first @ ("again" | "alone"), rest @ ..] => (Some(*first), rest),
        _ => (None, words),
    };
    let mut files = Vec::new();
    for name in names {
        let module = CRITICAL.iter().find(|(known, _)| known == name);
        let is_file = CRITICAL.iter().any(|(_, folder)| name.starts_with(folder));
        match module {
            Some((_, folder)) => files.push(format!("{folder}**")),
            None if is_file => files.push((*name).to_owned()),
            None => {
                let known = CRITICAL.map(|(name, _)| name).join(", ");
                bail!("unknown module {name}: there are {known}, and the files in them")
            }
        }
    }
    if files.is_empty() {
        files.extend(CRITICAL.map(|(_, folder)| format!("{folder}**")));
    }
    if first == Some("alone") {
        return one_by_one(&files);
    }
    let mut mutants = cargo();
    mutants.args([
        "run",
        "--release",
        "--quiet",
        "--locked",
        "--manifest-path",
        "mutants/Cargo.toml",
        "--",
    ]);
    show(mutants.args([".", MUTANTS]).args(first).args(files))
}

/// Where the mutants of the last run are.
const MUTANTS: &str = "build/mutants";

/// The mutants of these files that the last run left out, by cargo-mutants.
fn one_by_one(files: &[String]) -> Result<()> {
    let outcomes = root().join(MUTANTS).join("outcomes.txt");
    let outcomes = fs::read_to_string(outcomes).context("run `cargo xtask mutants` first")?;
    let mut mutants = command("cargo");
    // For building and testing alike: nothing but the core's own tests is compiled.
    mutants.args(["mutants", "--package", "plimsoll", "--output", "build", "--cargo-arg=--lib"]);
    let alone = outcomes.lines().filter_map(|line| line.strip_prefix("alone "));
    let mut of_files = BTreeSet::new();
    for (_, name) in alone.filter_map(|line| line.split_once(' ')) {
        let (file, _) = name.split_once(':').context("a mutant without a file")?;
        if files.iter().any(|known| file.starts_with(known.trim_end_matches("**"))) {
            of_files.insert(file);
            mutants.arg("--re").arg(literal(name));
        }
    }
    ensure!(!of_files.is_empty(), "no mutant of these files compiles only alone");
    // Deleted fields are tried whatever the expressions say, so those of other files are left out.
    for file in of_files {
        mutants.args(["--file", file]);
    }
    show(&mut mutants)
}

/// A regular expression that only this text matches. With a backslash `<` and `>` would be the bounds of a word.
fn literal(text: &str) -> String {
    let mut out = String::from("^");
    for character in text.chars() {
        if character.is_ascii_punctuation() && !matches!(character, '<' | '>') {
            out.push('\\');
        }
        out.push(character);
    }
    out.push('$');
    out
}

/// The program that a line of cargo's JSON names.
fn executable(line: &str) -> Option<PathBuf> {
    let (_, rest) = line.split_once("\"executable\":\"")?;
    Some(rest.split_once('"')?.0.into())
}

/// A program of the toolchain's LLVM.
fn llvm(name: &str) -> Result<std::process::Command> {
    let sysroot = output(command("rustc").args(["--print", "sysroot"]))?;
    let version = output(command("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.context("`rustc -vV` names no host")?;
    let program = PathBuf::from(sysroot.trim()).join("lib/rustlib").join(host).join("bin");
    let program = program.join(name);
    ensure!(program.exists(), "{name} is absent: `rustup component add llvm-tools`");
    Ok(command(program))
}

/// The line of a file on which its own tests start.
fn tests_start(path: &str) -> Option<usize> {
    let text = fs::read_to_string(path).ok()?;
    let tests = text.lines().position(|line| line == "#[cfg(test)]")?;
    text.lines().nth(tests + 1)?.starts_with("mod tests {").then_some(tests)
}

/// Of each critical module, from a report in lcov's format; tests are not counted: files of their own, and those after
/// the line that `tests_start` finds.
fn lines_of(
    report: &str,
    tests_start: &dyn Fn(&str) -> Option<usize>,
) -> BTreeMap<&'static str, Lines> {
    let mut found = BTreeMap::<&str, Lines>::new();
    let mut now: Option<(&'static str, &str)> = None;
    let mut end = None;
    for line in report.lines() {
        if let Some(path) = line.strip_prefix("SF:") {
            let is_test = path.contains("/tests/") || path.ends_with("tests.rs");
            let module = CRITICAL.iter().find(|(_, folder)| path.contains(folder));
            now = module.filter(|_| !is_test).map(|(name, _)| (*name, path));
            end = now.and_then(|(_, path)| tests_start(path));
        }
        let Some(((name, path), counted)) = now.zip(line.strip_prefix("DA:")) else { continue };
        let Some((number, count)) = counted.split_once(',') else { continue };
        if end.is_some_and(|end| number.parse().is_ok_and(|number: usize| number > end)) {
            continue;
        }
        let lines = found.entry(name).or_default();
        lines.all += 1;
        if count.starts_with('0') {
            let (_, path) = path.split_once("src/").unwrap_or(("", path));
            lines.missed.push(format!("src/{path}:{number}"));
        }
    }
    found
}

#[expect(clippy::cast_precision_loss, reason = "lines are few")]
fn percent(part: usize, all: usize) -> f64 {
    100.0 * part as f64 / all.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_by_critical_module_without_those_of_tests() {
        let report = "SF:/a/src/prune/fold.rs\nDA:1,4\nDA:2,0\nend_of_record\n\
            SF:/a/src/prune/tests/digest.rs\nDA:1,0\nend_of_record\n\
            SF:/a/src/text/lines.rs\nDA:1,0\nend_of_record\n\
            SF:/a/src/validity/run.rs\nDA:7,1\nDA:9,0\nend_of_record\n";
        let end = |path: &str| path.ends_with("run.rs").then_some(8);
        let found = lines_of(report, &end);
        let figures = found.iter().map(|(name, lines)| (*name, lines.all, lines.missed.clone()));
        let missed = vec!["src/prune/fold.rs:2".to_owned()];
        assert_eq!(
            figures.collect::<Vec<_>>(),
            [("policy", 2, missed), ("validity", 1, Vec::new())]
        );
    }

    #[test]
    fn a_name_is_a_regular_expression_of_its_own() {
        let name = "a.rs:1 replace f -> u64 with *";
        assert_eq!(literal(name), "^a\\.rs\\:1 replace f \\-> u64 with \\*$");
    }

    #[test]
    fn the_program_is_found_in_a_line_of_cargo() {
        let line = r#"{"reason":"compiler-artifact","executable":"/a/native-1","fresh":false}"#;
        assert_eq!(executable(line), Some("/a/native-1".into()));
        assert_eq!(executable(r#"{"executable":null}"#), None);
    }
}
