//! A text cut to a number of characters: most of its head, some of its tail, a line between that says so.

use std::borrow::Cow;

use crate::text::{line_end_before, prefix, suffix, utf16_len};

/// With less of the text than this beside the marker, the marker would say more than what it stands in.
const LEAST_KEPT: usize = 40;

/// How a text is divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split<'m> {
    /// The head's share of what is kept, in thousandths of head and tail together.
    pub head: u32,
    /// The tail's.
    pub tail: u32,
    /// What stands between; `{original}` becomes the text's true length.
    pub marker: &'m str,
}

impl Default for Split<'_> {
    /// `AceClaw`'s 70 % head and 20 % tail. Its last tenth went to waste; here all but the marker is text.
    fn default() -> Self {
        let marker = "\n\n<!-- [TRUNCATED] Original: {original} chars -->\n\n";
        Self { head: 700, tail: 200, marker }
    }
}

/// A text of at most so many characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truncated<'t> {
    /// What is left, with the marker.
    pub text: Cow<'t, str>,
    /// UTF-16 code units of the whole text.
    pub original_chars: usize,
    /// Something was cut.
    pub truncated: bool,
}

/// Head and tail of `text` around a marker, in at most `max_chars` UTF-16 code units; the text itself if it fits.
///
/// The head ends at a line's end if one is near; the tail takes all the room that is left. It cuts between graphemes. Where
/// there is hardly room for the marker, the head alone is left. Takes time linear in the text.
///
/// ```
/// use plimsoll::prompt::{Split, truncate};
/// let text = "x".repeat(500);
/// let cut = truncate(&text, 100, &Split::default());
/// assert_eq!((cut.text.len(), cut.original_chars), (100, 500));
/// assert!(cut.text.contains("[TRUNCATED] Original: 500 chars"));
/// ```
pub fn truncate<'t>(text: &'t str, max_chars: usize, split: &Split<'_>) -> Truncated<'t> {
    let original_chars = utf16_len(text);
    if original_chars <= max_chars {
        return Truncated { text: Cow::Borrowed(text), original_chars, truncated: false };
    }
    let marker = split.marker.replace("{original}", &original_chars.to_string());
    let kept = max_chars.saturating_sub(utf16_len(&marker));
    let text = if kept < LEAST_KEPT {
        Cow::Borrowed(prefix(text, max_chars))
    } else {
        Cow::Owned(around(text, kept, split, &marker))
    };
    Truncated { text, original_chars, truncated: true }
}

fn around(text: &str, kept: usize, split: &Split<'_>, marker: &str) -> String {
    let (head, tail) = (u64::from(split.head), u64::from(split.tail));
    let all = head.saturating_add(tail).max(1);
    let share = (kept as u64).saturating_mul(head).checked_div(all).unwrap_or(0);
    let head = prefix(text, usize::try_from(share).unwrap_or(kept));
    // The tail takes what the head gives up for a whole line, so that no character of the budget is wasted.
    let end = line_end_before(text, head.len());
    let head = text.get(..end).unwrap_or(head);
    let tail =
        if split.tail == 0 { "" } else { suffix(text, kept.saturating_sub(utf16_len(head))) };
    [head, marker, tail].concat()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A10 has (original, max) and the length that came out; its tenth for the marker was mostly wasted (A11): here every
    /// character of the budget is used.
    /// Row A10.
    #[test]
    fn a_cut_text_uses_its_full_budget() {
        for (original, max, theirs) in [
            (10_000, 1_000, 982),
            (25_000, 20_000, 18_085),
            (40_000, 10_000, 9_084),
            (6_000, 5_000, 4_583),
            (500, 100, 100),
            (500, 90, 90),
        ] {
            let text = "x".repeat(original);
            let cut = truncate(&text, max, &Split::default());
            assert_eq!((cut.text.len(), cut.original_chars, cut.truncated), (max, original, true));
            assert!(cut.text.len() >= theirs);
            let marker = format!("\n\n<!-- [TRUNCATED] Original: {original} chars -->\n\n");
            let (head, tail) = cut.text.split_once(&marker).unwrap();
            let kept = max - marker.len();
            assert_eq!((head.len(), tail.len()), (kept * 7 / 9, kept - kept * 7 / 9));
        }
    }

    /// A8, A10 below 80: no marker; A11: a marker with a few characters around it says nothing.
    /// Row A8.
    #[test]
    fn a_budget_too_small_for_a_marker_keeps_the_head_alone() {
        let text = "x".repeat(500);
        for max in 0..=80 {
            let cut = truncate(&text, max, &Split::default());
            assert_eq!((cut.text.len(), cut.truncated), (max, true));
            assert!(!cut.text.contains("TRUNCATED"));
        }
        let dots = Split { marker: "...", ..Split::default() };
        assert!(!truncate(&text, 42, &dots).text.contains("..."));
        assert!(truncate(&text, 43, &dots).text.contains("x...x"), "40 characters beside it");
        let uncut = truncate("short", 5, &Split::default());
        assert_eq!((&*uncut.text, uncut.truncated), ("short", false));
    }

    #[test]
    fn the_head_ends_with_a_line_and_the_tail_has_what_that_leaves() {
        let line = |at: u32| format!("line {at} of a file\n");
        let text = (0..400).map(line).collect::<Vec<_>>().concat();
        let cut = truncate(&text, 1_000, &Split::default());
        assert_eq!(cut.text.len(), 1_000);
        let head = cut.text.split("\n\n<!--").next().unwrap();
        assert!(head.ends_with("of a file\n"), "{head}");
        assert!(cut.text.ends_with("line 399 of a file\n"));
    }

    /// Row A44.
    #[test]
    fn a_host_can_choose_shares_and_marker_of_a_cut() {
        let text = format!("{}{}", "h".repeat(50_000), "t".repeat(50_000));
        let split = Split { head: 400, tail: 600, marker: "[{original} in all]" };
        let cut = truncate(&text, 30_000, &split);
        assert_eq!(cut.text.len(), 30_000);
        assert!(cut.text.contains("[100000 in all]"));
        let head = cut.text.bytes().filter(|byte| *byte == b'h').count();
        assert_eq!(head, (30_000 - 15) * 4 / 10);
        let headonly = Split { head: 1000, tail: 0, marker: "..." };
        assert!(truncate(&text, 100, &headonly).text.ends_with("h..."));
    }

    proptest! {
        #[test]
        fn a_cut_text_is_within_its_budget_and_splits_no_character(
            text in "(\\PC|\n|👩‍👩‍👧|🇩🇪|é){0,400}", max in 0usize..600,
        ) {
            let cut = truncate(&text, max, &Split::default());
            prop_assert!(utf16_len(&cut.text) <= max);
            prop_assert_eq!(cut.truncated, utf16_len(&text) > max);
            let broken = char::REPLACEMENT_CHARACTER;
            prop_assert!(!cut.text.contains(broken) || text.contains(broken));
        }
    }
}
