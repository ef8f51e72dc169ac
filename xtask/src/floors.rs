//! The floors of the core: a module imports only from floors below its own, and beside it only what is shared.

use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::shell::root;
use crate::stamp::files;

/// From the ground up; `*` marks what its own floor may import too.
const FLOORS: [&[&str]; 7] = [
    &[
        "bytes*",
        "text",
        "number",
        "hash*",
        "json*",
        "hash_index",
        "leb128",
        "shared_list",
        "compressed_texts",
        "sort",
        "error",
    ],
    &["model*", "estimate", "window*", "argument"],
    &["ledger*", "identifiers*", "extract*", "focus*", "validity", "format", "session_files"],
    &["prune", "compact", "prompt", "candidate"],
    &["context"],
    &["inspect"],
    &["wasm", "types"],
];

/// Names that only the top floor knows: law 1 of the design.
const SEAM_WORDS: [&str; 3] = ["wasm_bindgen", "js_sys", "JsValue"];

/// Every import of the core that goes up or sideways, and every JavaScript type outside the seam.
pub fn violations() -> Result<Vec<String>> {
    let src = root().join("src");
    let mut found = Vec::new();
    for file in files(&src)?.iter().filter(|file| file.extension().is_some_and(|end| end == "rs")) {
        let text = fs::read_to_string(file)?;
        found.extend(violations_in(file.strip_prefix(&src)?, &text));
    }
    Ok(found)
}

/// What one file breaks; `path` is relative to `src/`.
fn violations_in(path: &Path, text: &str) -> Vec<String> {
    let module = module_of(path);
    if module == "lib" {
        return Vec::new();
    }
    let shown = path.display();
    let Some((floor, _)) = place(&module) else {
        return vec![format!(
            "src/{shown}: {module} stands on no floor: give it one in xtask/src/floors.rs"
        )];
    };
    let mut found = Vec::new();
    for (number, line) in code(text) {
        for used in imports(&line) {
            let allowed = used == module
                || place(&used).is_none_or(|(at, shared)| at < floor || (at == floor && shared));
            if !allowed {
                found
                    .push(format!("src/{shown}:{number}: {module} (floor {floor}) imports {used}"));
            }
        }
        if module != "wasm" && SEAM_WORDS.iter().any(|word| line.contains(word)) {
            found.push(format!("src/{shown}:{number}: a JavaScript type outside src/wasm"));
        }
    }
    found
}

/// The module of the core that a file belongs to.
fn module_of(path: &Path) -> String {
    let first = path.components().next().map(|part| part.as_os_str().to_string_lossy());
    first.unwrap_or_default().trim_end_matches(".rs").to_string()
}

/// A module's floor, and whether its neighbours may import it.
fn place(module: &str) -> Option<(usize, bool)> {
    FLOORS.iter().enumerate().find_map(|(floor, names)| {
        let name = names.iter().find(|name| name.trim_end_matches('*') == module)?;
        Some((floor, name.ends_with('*')))
    })
}

/// The lines that count, numbered from 1, each import on one line: no comments, no modules of tests.
fn code(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut open = false;
    for (number, line) in outside_tests(text) {
        let line = line.split("//").next().unwrap_or_default();
        match lines.last_mut() {
            Some((_, import)) if open => import.push_str(line),
            _ => lines.push((number, line.to_string())),
        }
        let (_, last) = lines.last().expect("one was pushed");
        open = last.contains("use crate::{") && !last.contains(';');
    }
    lines
}

/// The lines outside modules of tests. In a formatted file such a module ends with the first brace that stands as far in as it.
pub fn outside_tests(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut lines = (1..).zip(text.lines());
    while let Some((number, line)) = lines.next() {
        if line.trim_start() != "#[cfg(test)]" {
            found.push((number, line));
            continue;
        }
        let item = lines.find(|(_, line)| !line.trim_start().starts_with("#["));
        let Some((number, item)) = item else { break };
        if !item.split(' ').any(|word| word == "mod") {
            found.push((number, item));
        } else if item.ends_with('{') {
            let end = line.replace("#[cfg(test)]", "}");
            lines.find(|(_, line)| *line == end);
        }
    }
    found
}

/// The modules named after `crate::` in a line, also in a group.
fn imports(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    for rest in line.split("crate::").skip(1) {
        let Some(group) = rest.strip_prefix('{') else {
            found.push(identifier(rest));
            continue;
        };
        let mut depth = 0_usize;
        let mut begins = true;
        for (at, char) in group.char_indices() {
            match char {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => begins = true,
                char if begins && depth == 0 && !char.is_whitespace() => {
                    found.push(identifier(&group[at..]));
                    begins = false;
                }
                _ => {}
            }
        }
    }
    found
}

fn identifier(text: &str) -> String {
    text.chars().take_while(|char| char.is_alphanumeric() || *char == '_').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, text: &str, expected: &[&str]) {
        assert_eq!(violations_in(Path::new(path), text), expected);
    }

    #[test]
    fn lower_floors_and_shared_neighbours_may_be_imported() {
        check(
            "prune/need.rs",
            "use crate::ledger::Ledger;\nuse crate::{error::Result, model::{Block, Kind}};",
            &[],
        );
        check("session_files/pi.rs", "use crate::identifiers::Store;", &[]);
        check("context/mod.rs", "use crate::context::step;", &[]);
    }

    #[test]
    fn an_import_from_above_is_found() {
        check(
            "model/block.rs",
            "use crate::prune::Plan;",
            &["src/model/block.rs:1: model (floor 1) imports prune"],
        );
        check(
            "estimate.rs",
            "fn f() {\n    crate::context::step();\n}",
            &["src/estimate.rs:2: estimate (floor 1) imports context"],
        );
    }

    #[test]
    fn an_import_from_beside_is_found_also_in_a_group() {
        check(
            "format/pi.rs",
            "use crate::{\n    error::Result,\n    model::{Block, Kind},\n    validity::Rule,\n};",
            &["src/format/pi.rs:1: format (floor 2) imports validity"],
        );
    }

    #[test]
    fn comments_and_tests_do_not_count() {
        check(
            "text/scan.rs",
            "/// See [`crate::context`].\n#[cfg(test)]\nmod tests {\n use crate::format;\n}",
            &[],
        );
    }

    #[test]
    fn code_after_and_between_tests_counts() {
        let text = "#[cfg(test)]\nmod tests;\nuse crate::format;\n\
                    #[cfg(test)]\n#[expect(dead_code)]\npub(crate) mod more {\n    fn f() {}\n    use crate::wasm;\n}\n\
                    mod inner {\n    #[cfg(test)]\n    mod tests {\n        use crate::wasm;\n    }\n    use crate::prune;\n}\n\
                    #[cfg(test)]\nuse crate::context;";
        let import =
            |line, floor| format!("src/text/scan.rs:{line}: text (floor 0) imports {floor}");
        let found = violations_in(Path::new("text/scan.rs"), text);
        assert_eq!(found, [import(3, "format"), import(15, "prune"), import(18, "context")]);
    }

    #[test]
    fn a_module_without_a_floor_is_found() {
        let found = violations_in(Path::new("cellar.rs"), "");
        assert!(found[0].contains("cellar stands on no floor"), "{found:?}");
    }

    #[test]
    fn javascript_outside_the_seam_is_found() {
        check(
            "number.rs",
            "use wasm_bindgen::JsValue;",
            &["src/number.rs:1: a JavaScript type outside src/wasm"],
        );
        check("wasm/mod.rs", "use wasm_bindgen::JsValue;", &[]);
    }
}
