//! The window as a bar, and the letters by which its parts are known.

use super::read::Object;
use super::screen::{Screen, Style, columns};

/// What a bucket belongs to: by its name, or by the beginning of it.
const LETTERS: [(&str, &str); 18] = [
    ("system", "S"),
    ("core", "S"),
    ("rules", "S"),
    ("candidates", "S"),
    ("skills", "S"),
    ("learned", "S"),
    ("memory", "S"),
    ("tools", "D"),
    ("head", "H"),
    ("user", "U"),
    ("assistant", "A"),
    ("thinking", "T"),
    ("call", "C"),
    ("result", "R"),
    ("image", "I"),
    ("unseen", "O"),
    ("pins", "O"),
    ("made", "O"),
];

/// The letter of a bucket.
pub(super) fn letter(bucket: &str) -> &'static str {
    let name = bucket.split(' ').next().unwrap_or_default();
    LETTERS.iter().find(|(known, _)| *known == name).map_or("O", |(_, letter)| letter)
}

/// Used, free and reserve side by side, as wide as the screen; what is there has a column.
pub(super) fn bar(screen: &mut Screen, report: &Object<'_>) {
    let window = report.object("window");
    let total = report.number("contextWindowTokens");
    if total <= 0 {
        return;
    }
    let mut parts: Vec<(&str, i64)> = Vec::new();
    for bucket in report.objects("buckets") {
        let (letter, tokens) = (letter(&bucket.words("bucket")), bucket.number("tokens").max(0));
        match parts.iter_mut().find(|(known, _)| *known == letter) {
            Some((_, sum)) => *sum = sum.saturating_add(tokens),
            None => parts.push((letter, tokens)),
        }
    }
    let order = |letter: &str| LETTERS.iter().position(|(_, known)| *known == letter).unwrap_or(99);
    parts.sort_by_key(|(letter, _)| order(letter));
    parts.push((screen.sign("·", "."), window.number("free").max(0)));
    parts.push((screen.sign("╱", "/"), window.number("reserve").max(0)));
    let room = screen.look.width.saturating_sub(2);
    let shares = shares(&parts, room);
    let mut line = String::from("[");
    for ((letter, _), share) in parts.iter().zip(shares) {
        let style = if columns(letter) == letter.len() && *letter != "." && *letter != "/" {
            Style::Plain
        } else {
            Style::Faint
        };
        line.push_str(&screen.paint(style, &letter.repeat(share)));
    }
    line.push(']');
    screen.line(&line);
}

/// Whole columns in proportion, none for nothing, one at least for something, together all of them.
fn shares(parts: &[(&str, i64)], room: usize) -> Vec<usize> {
    let total = parts.iter().fold(0i64, |sum, (_, size)| sum.saturating_add(*size));
    let columns = i64::try_from(room).unwrap_or(0);
    let share = |size: i64| {
        let exact = size.saturating_mul(columns).checked_div(total).unwrap_or(0);
        usize::try_from(exact.max(i64::from(size > 0))).unwrap_or(0)
    };
    let mut shares: Vec<usize> = parts.iter().map(|(_, size)| share(*size)).collect();
    loop {
        let sum: usize = shares.iter().sum();
        let Some(widest) = shares.iter_mut().max().filter(|it| **it > 0) else { return shares };
        match sum.cmp(&room) {
            std::cmp::Ordering::Less => *widest = widest.saturating_add(1),
            std::cmp::Ordering::Greater => *widest = widest.saturating_sub(1),
            std::cmp::Ordering::Equal => return shares,
        }
    }
}
