//! Knots in the core: files that import one another in a circle, so that none of them can be read before the others.
//!
//! A function of a module needs an import where it is called, and a method one of its type: so calls count with the imports.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::Result;

use crate::floors::outside_tests;
use crate::shell::root;
use crate::stamp::files;

/// The files of the core by module path, `""` for `lib.rs`, each with the module paths that it imports.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Every knot of the core, with its files.
pub fn violations() -> Result<Vec<String>> {
    let knots = knots(&graph_of(&sources()?));
    let named = |knot: &Vec<String>| {
        format!("{} files import one another: {}", knot.len(), knot.join(", "))
    };
    Ok(knots.iter().map(named).collect())
}

/// The text of every file of the core by its module path.
fn sources() -> Result<BTreeMap<String, String>> {
    let src = root().join("src");
    let mut sources = BTreeMap::new();
    for file in files(&src)?.iter().filter(|file| file.extension().is_some_and(|end| end == "rs")) {
        let path = file.strip_prefix(&src)?.with_extension("");
        let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if parts.iter().any(|part| part == "tests" || part.ends_with("_tests")) {
            continue;
        }
        let module = parts.join("::");
        let module = module.trim_end_matches("mod").trim_end_matches("::").to_string();
        let module = if module == "lib" { String::new() } else { module };
        sources.insert(module, fs::read_to_string(file)?);
    }
    Ok(sources)
}

fn graph_of(sources: &BTreeMap<String, String>) -> Graph {
    let of = |(module, text): (&String, &String)| {
        let mut used = BTreeSet::new();
        for path in paths(text) {
            let found = resolve(&path, module, sources);
            used.extend(found.filter(|it| it != module));
        }
        (module.clone(), used)
    };
    sources.iter().map(of).collect()
}

/// Every path in a file that begins with `crate`, `super` or `self`: those of imports, each name of a group by itself, and those that
/// stand in the code.
fn paths(text: &str) -> Vec<String> {
    let lines = outside_tests(text).into_iter();
    let code: String = lines
        .map(|(_, line)| line.split("//").next().unwrap_or_default().to_string() + "\n")
        .collect();
    let mut found = Vec::new();
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back().unwrap_or(' ');
            if !(before.is_alphanumeric() || before == '_' || before == ':') {
                tree(&code[at..], "", &mut found);
            }
        }
    }
    found
}

/// The paths of one tree of an import, which may have groups.
fn tree<'t>(text: &'t str, prefix: &str, found: &mut Vec<String>) -> &'t str {
    let end = text.find(|it: char| !(it.is_alphanumeric() || it == '_' || it == ':'));
    let (path, mut rest) = text.split_at(end.unwrap_or(text.len()));
    let path = format!("{prefix}{path}");
    if !path.ends_with("::") || !rest.starts_with('{') {
        found.push(path.trim_end_matches(':').to_string());
        return rest;
    }
    while let Some(next) = rest.strip_prefix(['{', ',']) {
        let next = next.trim_start();
        if next.starts_with('}') {
            rest = next;
            break;
        }
        rest = tree(next, &path, found);
        // The other name of `a as b`.
        rest = rest.trim_start_matches(|it: char| !matches!(it, ',' | '}'));
    }
    rest.strip_prefix('}').unwrap_or(rest)
}

/// The file that a path leads to: of its longest beginning that is a module.
fn resolve(path: &str, module: &str, sources: &BTreeMap<String, String>) -> Option<String> {
    let mut full: Vec<&str> = Vec::new();
    let own: Vec<&str> = module.split("::").filter(|it| !it.is_empty()).collect();
    for (at, part) in path.split("::").enumerate() {
        match (part, at) {
            ("crate", 0) => full.clear(),
            ("self", 0) => full.clone_from(&own),
            ("super", 0) => full = own[..own.len().saturating_sub(1)].to_vec(),
            ("super", _) => drop(full.pop()),
            (part, _) => full.push(part),
        }
    }
    (0..=full.len()).rev().map(|end| full[..end].join("::")).find(|it| sources.contains_key(it))
}

/// The circles of a graph: files each of which is reached from each other, of two or more. The root, which names every module, aside.
fn knots(graph: &Graph) -> Vec<Vec<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        graph.keys().map(|module| (module, reached_from(module, graph))).collect();
    let mut knots: Vec<Vec<String>> = Vec::new();
    for module in graph.keys().filter(|it| !it.is_empty()) {
        if knots.iter().any(|knot| knot.contains(module)) {
            continue;
        }
        let is_in = |other: &&&String| reached[**other].contains(module) && !other.is_empty();
        let knot: Vec<String> =
            reached[module].iter().filter(is_in).map(|it| (*it).clone()).collect();
        if knot.len() > 1 {
            knots.push(knot);
        }
    }
    knots
}

fn reached_from<'g>(module: &'g String, graph: &'g Graph) -> BTreeSet<&'g String> {
    let mut reached = BTreeSet::new();
    let mut next = vec![module];
    while let Some(at) = next.pop() {
        for used in graph.get(at).into_iter().flatten().filter(|it| !it.is_empty()) {
            if reached.insert(used) {
                next.push(used);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knots_of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let sources = files.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect();
        knots(&graph_of(&sources))
    }

    #[test]
    fn a_circle_through_groups_and_parents_is_found() {
        let found = knots_of(&[
            ("", "mod a; mod b;"),
            ("a", "use crate::{b::{Other, inner::{Thing as It, more}}, c};"),
            ("b", ""),
            ("b::inner", "use super::super::c::f;\nfn f() { crate::a::call() }"),
            ("c", "use self::d::x;"),
        ]);
        assert_eq!(found, [["a", "b::inner"]]);
    }

    #[test]
    fn what_only_tests_and_comments_import_makes_no_circle() {
        let tests = "// crate::a\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n";
        assert_eq!(knots_of(&[("a", "use crate::b;"), ("b", tests)]), [] as [Vec<String>; 0]);
    }
}
