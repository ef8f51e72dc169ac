//! The mutants of files, as `cargo mutants --list` has them.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// A change of one place that a test should find.
#[derive(Debug)]
pub(crate) struct Mutant {
    /// File, line, column, and the change in words.
    pub(crate) name: String,
    /// Path from the root.
    pub(crate) file: String,
    pub(crate) genre: Genre,
    /// Bytes of the file that are replaced.
    pub(crate) range: Range<usize>,
    pub(crate) replacement: String,
}

/// What is changed, as cargo-mutants names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(crate) enum Genre {
    /// All statements of a function.
    FnValue,
    /// An operator between two operands.
    BinaryOperator,
    /// An operator before an operand, which is deleted.
    UnaryOperator,
    /// The condition of an arm.
    MatchArmGuard,
    /// An arm, which is deleted.
    MatchArm,
    /// A member of a struct expression, which is deleted.
    StructField,
}

#[derive(Deserialize)]
struct Listed {
    name: String,
    file: String,
    genre: Genre,
    span: Span,
    replacement: String,
}

#[derive(Deserialize)]
struct Span {
    start: Place,
    end: Place,
}

#[derive(Clone, Copy, Deserialize)]
struct Place {
    line: usize,
    column: usize,
}

/// The mutants of the files that match these patterns.
pub(crate) fn list(root: &Path, patterns: &[String]) -> Result<Vec<Mutant>> {
    let mut command = Command::new("cargo");
    command.args(["mutants", "--list", "--json", "--package", "plimsoll"]).current_dir(root);
    for pattern in patterns {
        command.args(["--file", pattern]);
    }
    let out = command.output().context("cargo mutants")?;
    ensure!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let listed: Vec<Listed> = serde_json::from_slice(&out.stdout)?;
    let mut texts = BTreeMap::new();
    for it in &listed {
        if !texts.contains_key(&it.file) {
            texts.insert(it.file.clone(), fs::read_to_string(root.join(&it.file))?);
        }
    }
    let mutants = listed.into_iter().map(|it| {
        let text = &texts[&it.file];
        let range = offset(text, it.span.start)..offset(text, it.span.end);
        Mutant { name: it.name, file: it.file, genre: it.genre, range, replacement: it.replacement }
    });
    Ok(mutants.collect())
}

/// The byte at a line and a column, both from 1; columns count characters.
fn offset(text: &str, place: Place) -> usize {
    let lines = text.split_inclusive('\n');
    let before: usize = lines.take(place.line - 1).map(str::len).sum();
    let line = &text[before..];
    let column = line.char_indices().nth(place.column - 1).map_or(line.len(), |(at, _)| at);
    before + column
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_counts_characters_and_is_found_in_bytes() {
        let text = "a\n\u{e9}+b\n";
        assert_eq!(offset(text, Place { line: 2, column: 2 }), 4);
        assert_eq!(offset(text, Place { line: 2, column: 4 }), 6);
        assert_eq!(offset(text, Place { line: 3, column: 1 }), 7);
    }
}
