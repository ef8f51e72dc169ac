//! Lines of a text in which its identifiers stand.

use crate::text::{char_count_of, identifiers};

/// Characters of a line that is quoted in full, and of the piece that is quoted of a longer one.
const LINE: usize = 240;
const PIECE: usize = 160;

/// A line, or of a long line a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quote<'a> {
    /// Without its line end.
    pub text: &'a str,
    /// Something of the line stands before it, and after it.
    pub cut: (bool, bool),
}

/// Tells `found` every identifier of `text` that is `wanted`, as what that makes of it and repetitions too, with the line that it
/// stands in; of a line over 240 characters the piece of 160 that holds it. Takes time linear in the text.
///
/// # Example
///
/// ```
/// let text = "fn a_b() {\n    call_d();\n}";
/// let mut lines = Vec::new();
/// let mut wanted = |word: &str| (word == "call_d").then_some(7);
/// plimsoll::text::identifier_lines(text, &mut wanted, &mut |number, line| lines.push((number, line.text)));
/// assert_eq!(lines, [(7, "    call_d();")]);
/// ```
pub fn identifier_lines<'a>(
    text: &'a str,
    wanted: &mut dyn FnMut(&'a str) -> Option<u32>,
    found: &mut dyn FnMut(u32, Quote<'a>),
) {
    let (mut start, mut end, mut is_long) = (0, 0, false);
    // Characters of the line before this byte.
    let (mut before, mut counted) = (0usize, 0usize);
    identifiers(text, &mut |word, at| {
        if at >= end {
            let skipped = part(text, end, at);
            start =
                skipped.rfind('\n').map_or(end, |line| end.saturating_add(line).saturating_add(1));
            let rest = part(text, at, text.len());
            end = at.saturating_add(rest.find('\n').unwrap_or(rest.len()));
            is_long = chars(text, start, end) > LINE;
            (before, counted) = (0, start);
        }
        let Some(number) = wanted(word) else { return };
        if !is_long {
            return found(number, Quote { text: part(text, start, end), cut: (false, false) });
        }
        // A name may be reported after the path that holds it.
        before = before
            .saturating_add(chars(text, counted, at))
            .saturating_sub(chars(text, at, counted));
        counted = at;
        let length = word.chars().count();
        // Pieces lie side by side, so that neighbours share theirs; where one would part the word, it is moved after it.
        let back = (before % PIECE).min(PIECE.saturating_sub(length));
        let from = back_by(part(text, start, at), back);
        let from = start.saturating_add(from);
        let to = part(text, from, end).char_indices().nth(PIECE.max(length));
        let to = to.map_or(end, |(to, _)| from.saturating_add(to));
        found(number, Quote { text: part(text, from, to), cut: (from > start, to < end) });
    });
}

/// Where the last so many characters start.
fn back_by(text: &str, chars: usize) -> usize {
    let last = chars.checked_sub(1).and_then(|last| text.char_indices().nth_back(last));
    if chars == 0 { text.len() } else { last.map_or(0, |(at, _)| at) }
}

fn chars(text: &str, from: usize, to: usize) -> usize {
    char_count_of(part(text, from, to).as_bytes())
}

fn part(text: &str, from: usize, to: usize) -> &str {
    text.get(from..to).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of these words, in order.
    fn lines<'a>(text: &'a str, words: &[&'a str]) -> Vec<(&'a str, Quote<'a>)> {
        let mut all = Vec::new();
        let mut wanted = |word: &str| {
            words.iter().position(|it| *it == word).and_then(|at| u32::try_from(at).ok())
        };
        identifier_lines(text, &mut wanted, &mut |at, line| all.push((words[at as usize], line)));
        all
    }

    fn in_full(text: &str) -> Quote<'_> {
        Quote { text, cut: (false, false) }
    }

    #[test]
    fn each_word_comes_with_its_line() {
        let text = "\n  aa_1 = src/b.rs;\n\n\tcc_2 aa_1\r\nplain\ndd_3";
        let expected = [
            ("aa_1", in_full("  aa_1 = src/b.rs;")),
            ("src/b.rs", in_full("  aa_1 = src/b.rs;")),
            ("aa_1", in_full("\tcc_2 aa_1\r")),
            ("dd_3", in_full("dd_3")),
        ];
        assert_eq!(lines(text, &["aa_1", "src/b.rs", "dd_3"]), expected);
    }

    #[test]
    fn of_a_long_line_a_piece_of_160_characters_comes() {
        // 240 characters are no long line.
        let line = format!("{} word_1 {}", "é".repeat(99), "ü".repeat(133));
        assert_eq!(line.chars().count(), 240);
        assert_eq!(lines(&line, &["word_1"]), [("word_1", in_full(&line))]);
        // 241 are: word_1 is in the first 160, word_2 would be parted by their end, word_3 is in the second.
        let [one, two, three, four] = [99, 48, 60, 50].map(|count| ".".repeat(count));
        let line = format!("{one} word_1 {two} word_2 {three} word_3 {four}");
        let all = lines(&line, &["word_1", "word_2", "word_3"]);
        let pieces: Vec<(usize, (bool, bool))> =
            all.iter().map(|(_, it)| (it.text.chars().count(), it.cut)).collect();
        assert_eq!(
            pieces,
            [
                (160, (false, true)),
                (160, (true, true)),
                (line.chars().count() - 160, (true, false))
            ]
        );
        assert!(line.starts_with(all[0].1.text) && line.ends_with(all[2].1.text));
        assert!(all[1].1.text.ends_with(" word_2"), "{}", all[1].1.text);
    }

    #[test]
    fn a_word_that_is_longer_than_a_piece_comes_alone() {
        let word = format!("a_{}", "b1".repeat(95));
        let line = format!("{} {word} {}", "x ".repeat(90), "y ".repeat(90));
        let piece = Quote { text: &word, cut: (true, true) };
        assert_eq!(lines(&line, &[&word]), [(&*word, piece)]);
    }
}
