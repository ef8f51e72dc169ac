//! Ownership in the core: `Session` stays small, and a type's methods stand in the folder of the type.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::floors::outside_tests;
use crate::shell::root;
use crate::stamp::files;

/// The central type of a session, and the methods and fields that it may have: what else concerns it is a function over it, or
/// belongs to one of its parts.
const CENTRAL: &str = "Session";
const MOST_METHODS: usize = 40;
const MOST_FIELDS: usize = 9;

/// The texts of the core's files by path, tests aside.
type Sources = BTreeMap<PathBuf, String>;

/// What is not where it belongs.
pub fn violations() -> Result<Vec<String>> {
    let sources = sources()?;
    let mut found = strays(&sources);
    found.extend(too_many("methods", methods(&sources).0, MOST_METHODS));
    found.extend(too_many("fields", fields(&sources), MOST_FIELDS));
    Ok(found)
}

/// Fields and methods of the central type, and the files that hold the methods.
pub fn figures() -> Result<String> {
    let sources = sources()?;
    let (methods, holders) = methods(&sources);
    let fields = fields(&sources);
    Ok(format!("{CENTRAL} has {fields} fields, and {methods} methods in {holders} files"))
}

fn sources() -> Result<Sources> {
    let src = root().join("src");
    let mut sources = Sources::new();
    for file in files(&src)? {
        let path = file.strip_prefix(&src)?.to_path_buf();
        let name = path.to_string_lossy();
        if !name.contains("tests") && name.ends_with(".rs") {
            sources.insert(path.clone(), fs::read_to_string(&file)?);
        }
    }
    Ok(sources)
}

fn methods(sources: &Sources) -> (usize, usize) {
    let counts = sources.values().map(|text| methods_in(text)).filter(|count| *count > 0);
    counts.fold((0, 0), |(sum, holders), count| (sum + count, holders + 1))
}

fn fields(sources: &Sources) -> usize {
    sources.values().map(|text| fields_in(text)).sum()
}

fn too_many(what: &str, count: usize, most: usize) -> Option<String> {
    (count > most).then(|| format!("{CENTRAL} has {count} {what}; at most {most} are allowed"))
}

/// Methods in another folder than their type's.
fn strays(sources: &Sources) -> Vec<String> {
    let mut rooms: BTreeMap<&str, Vec<PathBuf>> = BTreeMap::new();
    for (path, text) in sources {
        for name in types_in(text) {
            rooms.entry(name).or_default().push(room_of(path));
        }
    }
    let mut found = Vec::new();
    for (path, text) in sources {
        for name in impls_in(text) {
            let Some(rooms) = rooms.get(name) else { continue };
            let shown = path.display().to_string();
            let is_home =
                rooms.iter().any(|room| path.starts_with(room) || path.with_extension("") == *room);
            if !is_home {
                found.push(format!(
                    "src/{shown}: methods of {name}, which is defined in src/{}",
                    rooms[0].display()
                ));
            }
        }
    }
    found
}

/// The folder of a file; of one that stands at the top, the folder of its name.
fn room_of(path: &Path) -> PathBuf {
    let folder = path.parent().unwrap_or(Path::new(""));
    if folder.as_os_str().is_empty() { path.with_extension("") } else { folder.to_path_buf() }
}

/// Types that a formatted file defines, outside its tests.
fn types_in(text: &str) -> Vec<&str> {
    outside_tests(text).into_iter().filter_map(|(_, line)| type_in(line)).collect()
}

/// The type that a line begins to define, at the top of a file or in a macro's braces.
fn type_in(line: &str) -> Option<&str> {
    let item = line.trim_start();
    let item = item.strip_prefix("pub").map_or(item, |it| {
        it.strip_prefix('(').and_then(|it| it.split_once(')')).map_or(it, |(_, it)| it).trim_start()
    });
    let name = item.strip_prefix("struct ").or_else(|| item.strip_prefix("enum "))?;
    Some(identifier(name))
}

/// Types that a formatted file has methods of, outside its tests; those of traits aside.
fn impls_in(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (_, line) in outside_tests(text) {
        let Some(rest) = line.strip_prefix("impl").filter(|_| !line.contains(" for ")) else {
            continue;
        };
        let rest = if rest.starts_with('<') {
            rest.split_once("> ").map_or("", |(_, it)| it)
        } else {
            rest
        };
        found.push(identifier(rest.trim_start()));
    }
    found
}

fn identifier(text: &str) -> &str {
    let end = text.find(|it: char| !(it.is_alphanumeric() || it == '_'));
    &text[..end.unwrap_or(text.len())]
}

/// Methods of the central type in one formatted file, outside its tests.
fn methods_in(text: &str) -> usize {
    let (mut inside, mut count) = (false, 0);
    for (_, line) in outside_tests(text) {
        if let Some(of) = line.strip_prefix("impl ") {
            inside = of.trim_end_matches(" {") == CENTRAL;
        }
        inside &= line != "}";
        let starts = line.strip_prefix("    ").is_some_and(|it| !it.starts_with([' ', '/']));
        count += usize::from(inside && starts && line.contains(" fn "));
    }
    count
}

/// Fields of the central type in one formatted file, outside its tests.
fn fields_in(text: &str) -> usize {
    let start = format!("struct {CENTRAL} {{");
    let lines = outside_tests(text).into_iter().map(|(_, line)| line);
    let own = lines.skip_while(|line| !line.ends_with(&start)).skip(1);
    let own = own.take_while(|line| *line != "}").map(str::trim_start);
    own.filter(|line| line.contains(": ") && !line.starts_with(['/', '#'])).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_of_the_central_type_count_and_no_others() {
        let text = "impl Session {\n    pub(super) fn a(&self) {\n        fn inner() {}\n    }\n    fn b() {}\n}\n\
                    impl Other {\n    fn c() {}\n}\nimpl Write for Session {\n    fn d() {}\n}\n\
                    #[cfg(test)]\nmod tests {\n    impl Session {\n        fn e() {}\n    }\n}\n";
        assert_eq!(methods_in(text), 2);
    }

    #[test]
    fn fields_of_the_central_type_count_and_no_others() {
        let text = "struct Other {\n    a: u8,\n}\npub struct Session {\n    /// Of it: one.\n    pub a: u8,\n    \
                    pub(in crate::context) b: u8,\n}\n\nstruct Next {\n    c: u8,\n}\n";
        assert_eq!(fields_in(text), 2);
        assert_eq!(fields_in("struct Other {\n    a: u8,\n}\n"), 0);
    }

    #[test]
    fn forty_one_methods_are_too_many() {
        let too_many = |methods| too_many("methods", methods, MOST_METHODS);
        assert_eq!(too_many(40), None);
        assert_eq!(too_many(41).unwrap(), "Session has 41 methods; at most 40 are allowed");
    }

    #[test]
    fn methods_in_another_folder_than_their_type_are_found() {
        let files = [
            (
                "context/session/mod.rs",
                "pub(in crate::context) struct Session {\n}\nstruct Own<T>(T);\n",
            ),
            ("context/session/step.rs", "impl Session {\n}\nimpl<T: Copy> Own<T> {\n}\n"),
            ("context/report.rs", "impl Session {\n}\nimpl Write for Session {\n}\n"),
            ("ledger.rs", "pub struct Ledger {\n}\n"),
            ("ledger/sums.rs", "impl Ledger {\n}\n"),
            ("prune/fold.rs", "impl Ledger {\n}\n"),
        ];
        let sources = files.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect();
        let ledger = "src/prune/fold.rs: methods of Ledger, which is defined in src/ledger";
        let session =
            "src/context/report.rs: methods of Session, which is defined in src/context/session";
        assert_eq!(strays(&sources), [session, ledger]);
    }
}
