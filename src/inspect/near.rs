//! Keys that are close to one that there is not.

use crate::sort::{down, sort_by};

/// Keys that are told.
const MOST_SUGGESTIONS: usize = 3;
/// Bytes of a key that are compared.
const COMPARED: usize = 100;

/// The three of these that have most in common with `key`, in order: the nearest first.
///
/// # Example
/// ```
/// let keys = ["memory:soul", "rules:testing", "base", "rules:test-conventions"];
/// assert_eq!(plimsoll::inspect::nearest(&keys, "rules:tst")[..2], ["rules:testing", "rules:test-conventions"]);
/// ```
pub fn nearest<'k>(keys: &[&'k str], key: &str) -> Vec<&'k str> {
    let mut ranked: Vec<(&'k str, u64)> =
        keys.iter().map(|known| (*known, in_common(known, key))).collect();
    sort_by(&mut ranked, |(known, common)| {
        (down(*common), down(known.len() as u64).saturating_neg())
    });
    ranked.into_iter().take(MOST_SUGGESTIONS).map(|(known, _)| known).collect()
}

/// Bytes of the longest text that both hold in order, with gaps.
fn in_common(one: &str, other: &str) -> u64 {
    let lower = |text: &str| -> Vec<u8> {
        text.bytes().take(COMPARED).map(|byte| byte.to_ascii_lowercase()).collect()
    };
    let (one, other) = (lower(one), lower(other));
    let mut row = vec![0u64; other.len()];
    for byte in one {
        // Of the row before: what stands left of this column.
        let (mut diagonal, mut left) = (0u64, 0);
        for (at, known) in row.iter_mut().zip(&other) {
            let above = *at;
            let both = if byte == *known { diagonal.saturating_add(1) } else { 0 };
            *at = both.max(above).max(left);
            (diagonal, left) = (above, *at);
        }
    }
    row.last().copied().unwrap_or(0)
}
