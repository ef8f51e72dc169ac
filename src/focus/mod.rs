//! Focus of a request: its words in short, the files and symbols that it names, and its intent.

mod language;
mod parse;
mod path;
mod symbol;

use crate::text::{prefix, utf16_len};

pub use language::{LANGUAGES, Signal};
pub use path::{files_in, relative};
pub use symbol::contains_word;

/// Files that a focus shows, and those that rules and candidates go by (A55).
const MOST_FILES: usize = 6;
const MOST_INFERRED: usize = 12;
/// Symbols that a focus keeps.
const MOST_SYMBOLS: usize = 8;
/// UTF-16 code units of a summary, and of what is left of a longer one before its dots.
const SUMMARY: usize = 160;
const SHORTENED: usize = 157;
/// Messages before the query that are searched for files.
const RECENT: usize = 6;

/// What a request is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Focus {
    /// The query in at most 160 characters.
    pub summary: String,
    /// Files, at most six: relative to the project where they stand in it, with `/`.
    pub files: Vec<String>,
    /// The same files and further ones, at most twelve. Empty if the host made the focus without them.
    pub inferred: Vec<String>,
    /// Symbols, at most eight, without `()`.
    pub symbols: Vec<String>,
    /// What is asked for, each once.
    pub signals: Vec<Signal>,
}

impl Focus {
    /// The focus of a query, of the last messages before it (newest last), of the project's root, in these languages.
    ///
    /// ```
    /// use plimsoll::focus::{Focus, LANGUAGES};
    /// let focus = Focus::of("Fix `parse_line()` in src/parser.rs, please", &[], None, &LANGUAGES);
    /// assert_eq!(focus.files, ["src/parser.rs"]);
    /// assert_eq!(focus.symbols, ["parse_line"]);
    /// assert_eq!(focus.signals[0].name(), "code change requested");
    /// ```
    pub fn of(query: &str, recent: &[&str], root: Option<&str>, languages: &[&str]) -> Self {
        let mut inferred: Vec<String> = Vec::new();
        let last = recent.get(recent.len().saturating_sub(RECENT)..).unwrap_or(recent);
        let texts = std::iter::once(query).chain(last.iter().rev().copied());
        for file in texts.flat_map(files_in) {
            let file = relative(&file, root);
            if !inferred.contains(&file) {
                inferred.push(file);
            }
            if inferred.len() >= MOST_INFERRED {
                break;
            }
        }
        Self {
            summary: summary(query),
            files: inferred.iter().take(MOST_FILES).cloned().collect(),
            inferred,
            symbols: symbol::symbols_in(query, MOST_SYMBOLS),
            signals: language::signals_in(query, languages),
        }
    }

    /// The files that rules and candidates go by.
    pub fn paths(&self) -> &[String] {
        if self.inferred.is_empty() { &self.files } else { &self.inferred }
    }

    /// Whether that is asked for.
    pub fn asks(&self, signal: Signal) -> bool {
        self.signals.contains(&signal)
    }

    /// Nothing is known of the request.
    pub fn is_empty(&self) -> bool {
        self.summary.is_empty() && self.files.is_empty() && self.symbols.is_empty()
    }
}

/// A48: white space collapsed, at most 160 characters.
fn summary(query: &str) -> String {
    let mut words = String::new();
    for word in query.split_whitespace() {
        // More than this is not shown: a long query is not copied.
        if words.len() > 4 * SUMMARY {
            break;
        }
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(prefix(word, 2 * SUMMARY));
    }
    if utf16_len(&words) <= SUMMARY {
        return words;
    }
    format!("{}...", prefix(&words, SHORTENED).trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn focus(query: &str) -> Focus {
        Focus::of(query, &[], None, &LANGUAGES)
    }

    /// Row A48.
    #[test]
    fn the_summary_is_short_and_on_one_line() {
        assert_eq!(focus("  fix\n\tthe   parser ").summary, "fix the parser");
        let (fits, long) = ("x".repeat(160), "x".repeat(161));
        assert_eq!(focus(&fits).summary, fits);
        assert_eq!(focus(&long).summary, format!("{}...", "x".repeat(157)));
        let spaced = format!("{} {}", "x".repeat(156), "y".repeat(20));
        assert_eq!(focus(&spaced).summary, format!("{}...", "x".repeat(156)));
        let emoji = focus(&"👩‍👩‍👧".repeat(50)).summary;
        assert!(emoji.ends_with("👩‍👩‍👧...") && utf16_len(&emoji) <= SUMMARY);
    }

    /// Row A55.
    #[test]
    fn files_come_from_the_query_first_and_then_from_the_newest_messages() {
        let recent: Vec<String> = (0..8).map(|at| format!("see src/f{at}.rs")).collect();
        let recent: Vec<&str> = recent.iter().map(String::as_str).collect();
        let focus = Focus::of("look at a.rs and a.rs", &recent, None, &LANGUAGES);
        assert_eq!(
            focus.files,
            ["a.rs", "src/f7.rs", "src/f6.rs", "src/f5.rs", "src/f4.rs", "src/f3.rs"]
        );
        assert_eq!(focus.inferred.len(), 7, "of the last six messages");
        let many = (0..20).map(|at| format!("b{at}.rs")).collect::<Vec<_>>().join(" ");
        let focus = Focus::of(&many, &[], None, &LANGUAGES);
        assert_eq!((focus.files.len(), focus.inferred.len()), (6, 12));
        assert_eq!(focus.paths(), focus.inferred);
        let shown = Focus { inferred: Vec::new(), ..focus };
        assert_eq!(shown.paths(), shown.files);
    }

    #[test]
    fn an_empty_query_has_no_focus() {
        assert_eq!(focus(" "), Focus::default());
        assert!(Focus::default().is_empty());
    }
}
