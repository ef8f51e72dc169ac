//! Cuts: the head and the tail of a text that is too long, with a line between that says so.

use std::borrow::Cow;

use super::graphemes::{ceil_grapheme, floor_grapheme};

/// Length in UTF-16 code units, as `String.length` counts.
///
/// # Example
///
/// ```
/// assert_eq!(plimsoll::text::utf16_len("né😀"), 4);
/// ```
pub fn utf16_len(text: &str) -> usize {
    utf16_len_of(text.as_bytes())
}

/// The same of the bytes of a text in UTF-8.
pub fn utf16_len_of(bytes: &[u8]) -> usize {
    if bytes.is_ascii() {
        return bytes.len();
    }
    // One for each character, one more for each of four bytes.
    let long = bytes.iter().filter(|&&byte| byte >= 0xf0).count();
    char_count_of(bytes).saturating_add(long)
}

/// Characters (code points) of the bytes of a text in UTF-8.
pub fn char_count_of(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte & 0xc0 != 0x80).count()
}

/// The longest head of `text` of at most `chars` UTF-16 code units that ends between graphemes.
pub fn prefix(text: &str, chars: usize) -> &str {
    let mut left = chars;
    let end = text.char_indices().find_map(|(at, c)| {
        let fits = left >= c.len_utf16();
        left = left.saturating_sub(c.len_utf16());
        (!fits).then_some(at)
    });
    end.map_or(text, |end| part(text, 0, floor_grapheme(text, end)))
}

/// The longest tail of `text` of at most `chars` UTF-16 code units that starts between graphemes.
pub fn suffix(text: &str, chars: usize) -> &str {
    let mut left = chars;
    let start = text.char_indices().rev().find_map(|(at, c)| {
        let fits = left >= c.len_utf16();
        left = left.saturating_sub(c.len_utf16());
        (!fits).then_some(at.saturating_add(c.len_utf8()))
    });
    start.map_or(text, |start| part(text, ceil_grapheme(text, start), text.len()))
}

/// How a text is cut.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// Percent of what is kept that is taken from the head; the rest is taken from the tail.
    pub head: u8,
    /// What is counted, for the marker: `tokens`, `chars`.
    pub unit: &'static str,
}

impl Cut {
    /// Three quarters head, one quarter tail, counted in tokens.
    pub const TOKENS: Self = Self { head: 75, unit: "tokens" };
}

/// Head and tail of `text` around a line `[... 12,345 tokens cut ...]`, so that `measure` of the whole is at most
/// `budget`; `text` itself if it fits as it is.
///
/// It cuts at a line's end if one is near, else between graphemes. A budget that is too small for the marker gives a
/// shorter one or nothing. `measure` need not be monotone (estimates are not, quite): what is returned has been measured.
///
/// Measures the text about three times, more often only if it is hardly too long for its budget.
///
/// # Example
///
/// ```
/// use plimsoll::text::{Cut, head_tail};
/// let words = |text: &str| u32::try_from(text.split_whitespace().count()).unwrap_or(u32::MAX);
/// let text: String = (0..100).map(|n| format!("line {n} of a log\n")).collect();
///
/// let cut = head_tail(&text, 60, Cut::TOKENS, words);
/// assert!(words(&cut) <= 60);
/// assert!(cut.starts_with("line 0 of a log\n") && cut.ends_with("line 99 of a log\n"));
/// assert!(cut.contains("of a log\n[... 445 tokens cut ...]\nline 98 of"));
/// ```
pub fn head_tail(text: &str, budget: u32, cut: Cut, measure: impl Fn(&str) -> u32) -> Cow<'_, str> {
    let total = measure(text);
    if total <= budget {
        return Cow::Borrowed(text);
    }
    let around = |keep| {
        around(text, keep, cut, |head, tail| {
            total.saturating_sub(measure(head)).saturating_sub(measure(tail)).max(1)
        })
    };
    let (mut least, mut most) = (1, text.len());
    let mut best = None;
    while least <= most {
        let keep = least.midpoint(most);
        let kept = around(keep);
        if measure(&kept) <= budget {
            best = Some(kept);
            least = keep.saturating_add(1);
        } else {
            most = keep.saturating_sub(1);
        }
    }
    let marker = || around(0);
    let shorter = || ["[...]", "\u{2026}"].map(String::from);
    best.or_else(|| std::iter::once_with(marker).chain(shorter()).find(|m| measure(m) <= budget))
        .map_or(Cow::Borrowed(""), Cow::Owned)
}

/// `text` with at most `keep` bytes of it left; `gone` counts what a head and a tail leave out.
fn around(text: &str, keep: usize, cut: Cut, gone: impl Fn(&str, &str) -> u32) -> String {
    let head_bytes = share(keep, cut.head);
    let tail_bytes = keep.saturating_sub(head_bytes);
    let from = text.len().saturating_sub(tail_bytes);
    let end = line_end_before(text, floor_grapheme(text, head_bytes.min(from)));
    let start = line_start_after(text, ceil_grapheme(text, from));
    let (head, tail) = (part(text, 0, end), part(text, start, text.len()));
    let count = grouped(gone(head, tail));
    let before = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
    let after = if tail.is_empty() { "" } else { "\n" };
    format!("{head}{before}[... {count} {} cut ...]{after}{tail}", cut.unit)
}

/// A line's end near before `at`, else `at`.
pub fn line_end_before(text: &str, at: usize) -> usize {
    let near = text.floor_char_boundary(at.saturating_sub(reach(at)));
    let line = part(text, near, at).rfind('\n');
    line.map_or(at, |line| near.saturating_add(line).saturating_add(1))
}

/// A line's start near after `at`, else `at`.
fn line_start_after(text: &str, at: usize) -> usize {
    if at == 0 || part(text, 0, at).ends_with('\n') {
        return at;
    }
    let near = text.ceil_char_boundary(at.saturating_add(reach(text.len().saturating_sub(at))));
    let line = part(text, at, near).find('\n');
    line.map_or(at, |line| at.saturating_add(line).saturating_add(1))
}

/// What a head or tail of so many bytes may lose for a whole line: an eighth, or a short line of a short one.
fn reach(bytes: usize) -> usize {
    (bytes / 8).max(60.min(bytes / 2))
}

fn part(text: &str, start: usize, end: usize) -> &str {
    text.get(start..end).unwrap_or_default()
}

fn share(bytes: usize, percent: u8) -> usize {
    let percent = usize::from(percent.min(100));
    (bytes / 100)
        .saturating_mul(percent)
        .saturating_add((bytes % 100).saturating_mul(percent) / 100)
}

/// `12345` as `12,345`.
fn grouped(number: u32) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(13);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && digits.len().abs_diff(index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes(text: &str) -> u32 {
        u32::try_from(text.len()).unwrap()
    }

    #[test]
    fn a_text_that_fits_is_returned_uncut() {
        assert!(matches!(head_tail("short", 5, Cut::TOKENS, bytes), Cow::Borrowed("short")));
        assert_eq!(head_tail("", 0, Cut::TOKENS, bytes), "");
    }

    #[test]
    fn a_tiny_budget_gets_a_tiny_marker() {
        let text = "x".repeat(12_345);
        assert_eq!(head_tail(&text, 27, Cut::TOKENS, bytes), "[... 12,345 tokens cut ...]");
        assert_eq!(head_tail(&text, 26, Cut::TOKENS, bytes), "[...]");
        assert_eq!(head_tail(&text, 4, Cut::TOKENS, bytes), "\u{2026}");
        assert_eq!(head_tail(&text, 2, Cut::TOKENS, bytes), "");
    }

    #[test]
    fn a_cut_text_uses_nearly_all_of_its_budget() {
        let text = "a line of some words\n".repeat(2_000);
        let cut = head_tail(&text, 4_000, Cut::TOKENS, bytes);
        assert!((3_400..=4_000).contains(&cut.len()), "{}", cut.len());
        assert!(cut.contains("words\n[... 38,"), "{cut}");
    }

    #[test]
    fn lengths_are_utf16_units_and_no_character_is_split() {
        assert_eq!(utf16_len("a\u{e9}\u{4e2d}\u{1f600}"), 5);
        assert_eq!(prefix("ab\u{1f600}c", 3), "ab");
        assert_eq!(prefix("ab\u{1f600}c", 4), "ab\u{1f600}");
        assert_eq!(prefix("abe\u{301}", 3), "ab");
        assert_eq!(prefix("abc", 9), "abc");
    }

    proptest! {
        #[test]
        fn a_cut_text_has_the_head_and_the_tail_of_the_text(
            text in "([a-z \n\u{300}\u{1f600}\u{200d}\u{1f1e6}\u{4e2d}]|[a-z ]{5}){0,400}",
            budget in 0_u32..900,
            head in 0_u8..=100,
        ) {
            let cut = head_tail(&text, budget, Cut { head, unit: "tokens" }, bytes);
            prop_assert!(bytes(&cut) <= budget);
            if let Some((before, after)) = cut.split_once("[... ") {
                let (_, after) = after.split_once(" tokens cut ...]").unwrap();
                prop_assert!(text.starts_with(before) || text.starts_with(before.trim_end_matches('\n')));
                prop_assert!(text.ends_with(after) || text.ends_with(after.trim_start_matches('\n')));
                let head = if text.starts_with(before) { before } else { before.trim_end_matches('\n') };
                prop_assert_eq!(floor_grapheme(&text, head.len()), head.len());
            } else {
                let short = ["[...]", "\u{2026}", "", text.as_str()];
                prop_assert!(short.contains(&cut.as_ref()));
            }
        }
    }
}
