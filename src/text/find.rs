//! One text in another: linear whatever the texts, in a tenth of the library's code.

/// Odd, with its bits well spread.
const BASE: u32 = 0x9E37_79B1;

/// Where `what` stands first in `text` from `from` on, which is at the start of a character.
///
/// # Example
/// ```
/// use plimsoll::text::find;
/// assert_eq!(find("a comma, a dot", ", a", 0), Some(7));
/// assert_eq!(find("aaa", "a", 3), None);
/// ```
pub fn find(text: &str, what: &str, from: usize) -> Option<usize> {
    let (text, what) = (text.as_bytes(), what.as_bytes());
    let hash = |bytes: &[u8]| bytes.iter().fold(0, |hash, byte| roll(hash, *byte));
    let lost = what.iter().fold(1, |lost: u32, _| lost.wrapping_mul(BASE));
    let wanted = hash(what);
    let mut at = from;
    let mut end = from.checked_add(what.len())?;
    let mut seen = hash(text.get(at..end)?);
    loop {
        if seen == wanted && text.get(at..end) == Some(what) {
            return Some(at);
        }
        let first = u32::from(*text.get(at)?);
        seen = roll(seen, *text.get(end)?).wrapping_sub(first.wrapping_mul(lost));
        at = at.saturating_add(1);
        end = end.saturating_add(1);
    }
}

/// Whether `what` stands in `text`.
pub fn has(text: &str, what: &str) -> bool {
    find(text, what, 0).is_some()
}

/// Where `what` stands in `text`, one behind the other.
pub fn places<'t>(text: &'t str, what: &'t str) -> impl Iterator<Item = usize> + 't {
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = find(text, what, from)?;
        from = at.saturating_add(what.len().max(1));
        Some(at)
    })
}

/// The text with `with` wherever `what` stood.
pub fn replaced(text: &str, what: &str, with: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for at in places(text, what) {
        out.push_str(text.get(done..at).unwrap_or_default());
        out.push_str(with);
        done = at.saturating_add(what.len());
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

fn roll(hash: u32, byte: u8) -> u32 {
    hash.wrapping_mul(BASE).wrapping_add(u32::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_what_the_library_finds(text in "[abé]{0,40}", what in "[abé]{1,4}", with in "[aé]{0,2}") {
            prop_assert_eq!(find(&text, &what, 0), text.find(&what));
            prop_assert_eq!(has(&text, &what), text.contains(&what));
            let places: Vec<usize> = places(&text, &what).collect();
            let expected: Vec<usize> = text.match_indices(&what).map(|(at, _)| at).collect();
            prop_assert_eq!(places, expected);
            prop_assert_eq!(replaced(&text, &what, &with), text.replace(&what, &with));
        }
    }

    #[test]
    fn nothing_is_found_after_the_end() {
        assert_eq!(find("ab", "b", 2), None);
        assert_eq!(find("ab", "b", 9), None);
        assert_eq!(find("ab", "abc", 0), None);
    }
}
