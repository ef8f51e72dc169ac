//! Plain words: names that say what a thing is, and file heads that start with a noun.

use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::shell::root;
use crate::stamp::files;

/// Words that are no part of a name: they fit anything, so they describe nothing.
const WORDS: [&str; 11] =
    ["told", "tell", "tells", "given", "said", "says", "held", "stands", "meets", "heard", "whole"];

/// A head that begins so is a riddle and no definition.
const RIDDLES: [&str; 3] = ["What", "How", "Which"];

/// Names that hosts use: they stay as they were published.
const PUBLISHED: [&str; 2] = ["wholeFromTotalChars", "whole_from_total_chars"];

const FOLDERS: [&str; 7] = ["src", "js", "xtask", "tests", "benches", "examples", "fit"];

/// Written by tools, or quoted by recorded sessions word for word: nobody can choose their names.
const FIXED: [&str; 3] = ["js/glue/", "js/generated.ts", "examples/node-gateway/harbour/"];
/// What others wrote, and what a build made.
const FOREIGN: [&str; 3] = ["/node_modules/", "/dist/", "/target/"];

/// Every name and every file head that says nothing, with its place.
pub fn violations() -> Result<Vec<String>> {
    let root = root();
    let mut found = Vec::new();
    for folder in FOLDERS {
        for file in files(&root.join(folder))? {
            let path = file.strip_prefix(&root)?.to_string_lossy().replace('\\', "/");
            let is_fixed = FIXED.iter().any(|start| path.starts_with(start));
            let is_foreign = FOREIGN.iter().any(|folder| path.contains(folder));
            if !is_code(&file) || is_fixed || is_foreign {
                continue;
            }
            let text = fs::read_to_string(&file)?;
            found.extend(
                names(&text, path.ends_with(".rs"))
                    .into_iter()
                    .map(|(line, name)| format!("{path}:{line}: `{name}` does not say what it is")),
            );
            if is_riddle(&text) {
                found.push(format!("{path}: the head must start with the noun that it defines"));
            }
        }
    }
    Ok(found)
}

fn is_code(file: &Path) -> bool {
    file.extension().is_some_and(|end| end == "rs" || end == "ts" || end == "mjs" || end == "js")
}

/// A comment in the first two lines begins with a question word.
fn is_riddle(text: &str) -> bool {
    text.lines().take(2).any(|line| {
        let line = line.trim_start();
        let comment = ["//!", "//", "/**", "*"].iter().find_map(|mark| line.strip_prefix(mark));
        let first = comment.and_then(|comment| comment.split_whitespace().next());
        first.is_some_and(|word| RIDDLES.contains(&word))
    })
}

/// Identifiers with one of the words in them, and their lines.
fn names(text: &str, is_rust: bool) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in (1..).zip(code(text, is_rust).lines()) {
        let identifiers = line.split(|char: char| !char.is_alphanumeric() && char != '_');
        for name in identifiers.filter(|name| !PUBLISHED.contains(name)) {
            if parts(name).iter().any(|part| WORDS.contains(&part.as_str())) {
                found.push((number, name.to_string()));
            }
        }
    }
    found
}

/// The words that a name is made of, in small letters.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut was_small = false;
    for char in name.chars() {
        if char == '_' || (char.is_uppercase() && was_small) {
            parts.push(String::new());
        }
        was_small = char.is_lowercase() || char.is_numeric();
        if let Some(last) = parts.last_mut().filter(|_| char != '_') {
            last.extend(char.to_lowercase());
        }
    }
    parts
}

/// The text with its comments and strings blanked out; lines stay where they are.
fn code(text: &str, is_rust: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let mut len = skipped(rest, is_rust);
        if len == 0 && !is_rust && is_pattern_next(&out) {
            len = pattern(rest);
        }
        if len == 0 {
            out.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let (gone, later) = rest.split_at(len);
        out.push(' ');
        out.extend(gone.matches('\n'));
        rest = later;
    }
    out
}

/// A slash here begins a pattern of JavaScript, and divides nothing: no value is before it.
fn is_pattern_next(before: &str) -> bool {
    before.trim_end().ends_with(['(', ',', '=', ':', '[', '!', '&', '|', '?', '{', '}', ';', '>'])
}

/// Bytes of a pattern of JavaScript at the start; 0 if there is none that ends on its line.
fn pattern(text: &str) -> usize {
    let (mut escaped, mut in_class) = (false, false);
    if !text.starts_with('/') {
        return 0;
    }
    for (at, char) in text.char_indices().skip(1) {
        match char {
            '\n' => return 0,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '/' if !in_class => return at + 1,
            _ => {}
        }
    }
    0
}

/// Bytes of the comment or the string at the start; 0 if there is neither.
fn skipped(text: &str, is_rust: bool) -> usize {
    let to = |end: &str, from: usize| {
        text.get(from..)
            .and_then(|rest| rest.find(end))
            .map_or(text.len(), |at| from + at + end.len())
    };
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return to("*/", 2);
    }
    if is_rust && let Some(raw) = text.strip_prefix('r') {
        let marks = raw.len() - raw.trim_start_matches('#').len();
        if raw[marks..].starts_with('"') {
            return to(&format!("\"{}", "#".repeat(marks)), marks + 2);
        }
    }
    match text.chars().next() {
        Some('\'') if is_rust => character(text),
        Some(mark @ ('"' | '\'' | '`')) if !is_rust || mark == '"' => string(text, mark, is_rust),
        _ => 0,
    }
}

/// A character of Rust, or nothing where the mark begins a lifetime.
fn character(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    let Some((_, first)) = chars.next() else { return 0 };
    if first == '\\' {
        return text[2..]
            .find('\'')
            .map_or(0, |at| at + 3 + usize::from(text.starts_with("'\\''")));
    }
    chars.next().filter(|(_, char)| *char == '\'').map_or(0, |(at, _)| at + 1)
}

/// A string; one of JavaScript that does not end on its line is part of a pattern, and none.
fn string(text: &str, mark: char, is_rust: bool) -> usize {
    let mut escaped = false;
    for (at, char) in text.char_indices().skip(1) {
        match char {
            '\n' if !is_rust && mark != '`' => return 0,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            char if char == mark => return at + 1,
            _ => {}
        }
    }
    if is_rust || mark == '`' { text.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        names(text, true).into_iter().map(|(line, name)| format!("{line} {name}")).collect()
    }

    #[test]
    fn a_name_with_such_a_word_is_found_on_its_line() {
        assert_eq!(found("struct Told {\n    is_held: bool,\n}"), ["1 Told", "2 is_held"]);
        assert_eq!(found("let wholeText = MOST_SAID;"), ["1 wholeText", "1 MOST_SAID"]);
    }

    #[test]
    fn words_in_comments_and_strings_are_prose() {
        assert_eq!(found("// what is told\n/* given\n */ let a = \"told \\\" said\";"), [""; 0]);
        assert_eq!(found("let a = r#\"told \" held\"#; let told = 'a';"), ["1 told"]);
        assert_eq!(
            found("fn a<'a>(quote: char) { quote == '\"'; quote == '\\''; said(\"x\") }"),
            ["1 said"]
        );
    }

    #[test]
    fn other_names_and_published_ones_are_harmless() {
        assert_eq!(
            found("let (telling, wholesale, held2, unheld) = whole_from_total_chars;"),
            [""; 0]
        );
    }

    #[test]
    fn strings_of_javascript_are_prose_and_its_names_are_not() {
        let text = "const said = `told ${1}\n`; const b = 'held'; const c = /[\"]/; let given;";
        let found = names(text, false);
        assert_eq!(found, [(1, "said".to_string()), (2, "given".to_string())]);
    }

    #[test]
    fn patterns_of_javascript_are_prose_and_a_division_is_not() {
        let found = |text| names(text, false).into_iter().map(|(_, name)| name).collect::<Vec<_>>();
        assert_eq!(found("match(x, /whole [a/b] it is told/); held"), ["held"]);
        assert_eq!(found("const a = b / told / c;"), ["told"]);
    }

    #[test]
    fn the_code_has_neither() {
        assert_eq!(violations().unwrap(), [""; 0]);
    }

    #[test]
    fn heads_that_ask_are_found() {
        for head in ["//! What it is.", "/**\n * How it goes.", "/** Which ones. */"] {
            assert!(is_riddle(head), "{head}");
        }
        for head in ["//! Whatever comes.", "/** Rules. What else? */", "let a;\nlet b;\n// What"] {
            assert!(!is_riddle(head), "{head}");
        }
    }
}
