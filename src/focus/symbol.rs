//! Names of code in a sentence: what stands in backticks, and what is written like a name.

/// Words that are written like names and are none: they open sentences, or everybody knows them.
const STOP_WORDS: &str = " Add After All Also Always And Any Apply Are Ask Avoid Before Both Build But Call Can Change Check Clean Close Code \
    Compare Continue Could Create Debug Delete Describe Did Do Does Each Edit English Ensure Every Explain Extract Feel File Find First Fix \
    For From Generate Get Give Go Got Handle Has Have Hello Help Here How If Implement Improve In Inspect Instead Into Is It Its Just Keep \
    Last Let Like List Look Make Maybe Merge Move My Need Never New Next No Not Note Now Of Ok Okay Old On Once One Only Open Or Our \
    Plan Please Print Put Read Refactor Remove Rename Replace Resume Review Rewrite Run Save See Send Set She Should Show Simplify Since \
    Some Sort Split Start Stop Sure Take Tell Test Tests Thank Thanks That The Then There These They This Those To Try Two Undo Update Use Using \
    Verify Wait Was We Were What When Where Which While Who Why Will With Without Would Write Yes You Your \
    Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August September October November \
    December API CI CLI CPU CSS CSV CHANGELOG FAQ FIXME GPU HTML HTTP HTTPS ID IDE JSON LICENSE LLM NOT OS PDF PR RAM README SDK SQL TODO UI URL \
    UTF UX WIP XML YAML ";

/// Symbols of a query, each once, in the order of their standing: those in backticks first.
pub(super) fn symbols_in(query: &str, most: usize) -> Vec<String> {
    let mut symbols: Vec<String> = Vec::new();
    let spans = query.split('`').enumerate().filter(|(at, _)| at % 2 == 1).map(|(_, span)| span);
    let quoted = spans.map(str::trim).map(bare).filter(|span| is_quoted_symbol(span));
    for name in quoted.chain(names_in(query)) {
        if symbols.len() >= most {
            break;
        }
        if !symbols.iter().any(|known| known == name) {
            symbols.push(name.to_owned());
        }
    }
    symbols
}

/// Without one `()` at its end.
fn bare(name: &str) -> &str {
    name.strip_suffix("()").unwrap_or(name)
}

/// A51, and names with underscores: what is in backticks and reads like a name of code. A file is no symbol.
fn is_quoted_symbol(name: &str) -> bool {
    if super::path::is_file_name(name) {
        return false;
    }
    let mut parts = 0usize;
    for part in name.split(['.', ':']).filter(|part| !part.is_empty() || !name.contains("::")) {
        parts = parts.saturating_add(1);
        if !is_identifier(part) {
            return false;
        }
    }
    match parts {
        1 => is_pascal(name) || is_camel(name) || name.trim_matches('_').contains('_'),
        2..=6 => true,
        _ => false,
    }
}

fn is_identifier(part: &str) -> bool {
    part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && part.bytes().all(is_word)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// An upper-case letter and at least two more of a name.
fn is_pascal(name: &str) -> bool {
    name.len() >= 3 && name.starts_with(|c: char| c.is_ascii_uppercase()) && is_identifier(name)
}

/// Lower-case letters, then an upper-case one.
fn is_camel(name: &str) -> bool {
    let rest = name.trim_start_matches(|c: char| c.is_ascii_lowercase());
    rest.len() < name.len()
        && rest.starts_with(|c: char| c.is_ascii_uppercase())
        && is_identifier(name)
}

/// Names outside backticks: `FooBar`, `fooBar`, `Foo2`, `Foo.bar`, `call()`; a word that is only capitalised, if it opens no
/// sentence and is no common one.
fn names_in(query: &str) -> impl Iterator<Item = &str> {
    let mut opens = true;
    let mut in_ticks = false;
    query.split_inclusive(|c: char| c.is_whitespace() || "`'\"(),;<>[]{}".contains(c)).filter_map(
        move |token| {
            let quoted = in_ticks;
            in_ticks ^= token.ends_with('`');
            let calls = token.ends_with('(');
            let word = token.trim_matches(|c: char| {
                !(c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii() && c.is_alphabetic())
            });
            if word.is_empty() {
                opens |= token.contains('\n') || token.trim_end().ends_with(['.', '!', '?', ':']);
                return None;
            }
            let first = std::mem::replace(
                &mut opens,
                token.trim_end().ends_with(['.', '!', '?', ':']) || token.ends_with('\n'),
            );
            (!quoted && is_name(word, calls, first)).then_some(word)
        },
    )
}

fn is_name(word: &str, calls: bool, first: bool) -> bool {
    if word.contains('.') {
        let telling = word.split('.').any(|part| is_camel(part) || is_pascal(part)) || calls;
        return telling && is_quoted_symbol(word);
    }
    if is_camel(word) || is_telling_pascal(word) {
        return true;
    }
    if calls && is_identifier(word) && word.len() >= 3 && !is_common(word) {
        return true;
    }
    is_pascal(word) && !first && !is_common(word)
}

/// Capitalised, and with a second sign of a name: another capital after a small letter, a digit, an underscore.
fn is_telling_pascal(word: &str) -> bool {
    let inner = word.get(1..).unwrap_or_default();
    let hump = inner
        .bytes()
        .zip(inner.bytes().skip(1))
        .any(|(a, b)| a.is_ascii_lowercase() && b.is_ascii_uppercase());
    is_pascal(word) && (hump || inner.bytes().any(|byte| byte == b'_' || byte.is_ascii_digit()))
}

fn is_common(word: &str) -> bool {
    STOP_WORDS.split_whitespace().any(|stop| stop == word)
}

/// Whether `text` has `word` between characters that belong to no name. Case counts.
pub fn contains_word(text: &str, word: &str) -> bool {
    let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    !word.is_empty()
        && text.match_indices(word).any(|(at, _)| {
            let (before, after) = (
                text.get(..at).unwrap_or_default(),
                text.get(at.saturating_add(word.len())..).unwrap_or_default(),
            );
            !joins(before.chars().next_back()) && !joins(after.chars().next())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, expected: &[&str]) {
        assert_eq!(symbols_in(query, 8), expected, "{query}");
    }

    /// A51: what `AceClaw` takes in backticks and what it refuses. `foo_bar` is taken here: it is a name in most languages;
    /// `App.java` is a file here, not a symbol (A56 counts it as both).
    /// Row A51.
    #[test]
    fn names_in_backticks_are_symbols() {
        for name in ["FOO", "Foo", "fooBar", "a.b", "foo_bar", "std::mem::replace", "Foo.bar.baz"] {
            check(&format!("look at `{name}`"), &[name]);
        }
        for none in ["foo", "Ab", "src/A.ts", "a.b.c.d.e.f.g", "Foo.", "App.java", "", " ", "x y"] {
            check(&format!("look at `{none}`"), &[]);
        }
    }

    /// A49: the brackets of a call are no part of its name, so the two spellings are one.
    /// Row A49.
    #[test]
    fn brackets_are_dropped_and_a_name_comes_once() {
        check("call `parseLine()` and then parseLine() or parseLine", &["parseLine"]);
        check("use `B_b` and Zed_9 and `aB`", &["B_b", "aB", "Zed_9"]);
    }

    /// A50: the scan over the words; A52: a word that is only capitalised is mostly a word.
    /// Rows A50, A52.
    #[test]
    fn words_written_like_names_are_symbols_outside_backticks() {
        check("rename FooBar to fooBaz, v2 of Parser2", &["FooBar", "fooBaz", "Parser2"]);
        check("Fix the README. Please Update it. Hello World", &["World"]);
        check("why does the Ledger lose blocks?", &["Ledger"]);
        check("Ledger loses blocks. Parser too", &[]);
        check(
            "it calls context.request() and Foo.bar, e.g. 3.5 or a.b",
            &["context.request", "Foo.bar"],
        );
        check("run build_all() again", &["build_all"]);
        check("iPhone, É, Straße, Ωmega", &["iPhone"]);
    }

    #[test]
    fn at_most_eight_symbols_are_taken() {
        let name = |at: u32| format!("`nameA{at}` ");
        let query = (0..20).map(name).collect::<Vec<_>>().concat();
        assert_eq!(symbols_in(&query, 8).len(), 8);
    }

    #[test]
    fn a_word_is_found_between_signs_and_spaces() {
        for (text, word, found) in [
            ("class Foo {", "Foo", true),
            ("FooBar Foo", "Foo", true),
            ("FooBar aFoo _Foo Foo_", "Foo", false),
            ("foo", "Foo", false),
            ("a.b.c", "a.b", true),
            ("", "", false),
        ] {
            assert_eq!(contains_word(text, word), found, "{text} {word}");
        }
    }
}
