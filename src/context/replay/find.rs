//! Search in the messages of a session.

use super::recording::Recording;
use crate::json;
use crate::model::MessageId;
use crate::text::utf16_len;

json::json_struct! {
    /// A message that has the text.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Found {
        /// Its index in the history.
        pub index: u32,
        /// Start of each hit in the text of the message, in UTF-16 code units.
        pub at: Vec<u32>,
        /// The line of the first hit, as far as it is near.
        pub excerpt: String,
    }
}

/// Bytes of the line that an excerpt shows before and after its hit.
const AROUND: usize = 80;

impl Recording {
    /// The messages that say `text`, with at most `limit` hits altogether. Case is that of single letters: `ß` is not `SS`.
    pub fn find(&self, text: &str, ignore_case: bool, limit: usize) -> Vec<Found> {
        let fold = |text: &str| if ignore_case { folded(text) } else { text.to_owned() };
        let needle = fold(text);
        let mut found = Vec::new();
        let mut left = if needle.is_empty() { 0 } else { limit };
        for index in MessageId::FIRST.to(self.end()) {
            if left == 0 {
                break;
            }
            let own = self.text(index);
            let folded = ignore_case.then(|| fold(&own));
            let searched = folded.as_deref().unwrap_or(&own);
            let hits: Vec<usize> =
                searched.match_indices(&*needle).map(|(at, _)| at).take(left).collect();
            let Some(&first) = hits.first() else { continue };
            left = left.saturating_sub(hits.len());
            // Folded letters have as many units as their own, so that places are the same in both texts.
            let mut units = 0usize;
            let mut done = 0;
            let mut at = Vec::with_capacity(hits.len());
            for hit in hits {
                units =
                    units.saturating_add(utf16_len(searched.get(done..hit).unwrap_or_default()));
                done = hit;
                at.push(crate::number::count(units));
            }
            found.push(Found {
                index: index.get(),
                at,
                excerpt: excerpt(searched, &own, first, needle.len()),
            });
        }
        found
    }
}

/// Every letter as a small one, if that has as many UTF-16 code units.
fn folded(text: &str) -> String {
    let small = |letter: char| {
        let mut small = letter.to_lowercase();
        match (small.next(), small.next()) {
            (Some(one), None) if one.len_utf16() == letter.len_utf16() => one,
            _ => letter,
        }
    };
    text.chars().map(small).collect()
}

/// The line around a hit; of a long one a part.
fn excerpt(searched: &str, own: &str, hit: usize, length: usize) -> String {
    let end = hit.saturating_add(length);
    let before = searched.get(..hit).unwrap_or_default();
    let after = searched.get(end..).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |at| at.saturating_add(1));
    let start = searched.ceil_char_boundary(start.max(hit.saturating_sub(AROUND)));
    let more = after.find('\n').unwrap_or(after.len()).min(AROUND);
    let stop = searched.floor_char_boundary(end.saturating_add(more));
    // Counted in letters: the same letters of the text itself, whose bytes may be others.
    let skipped = searched.get(..start).unwrap_or_default().chars().count();
    let shown = searched.get(start..stop).unwrap_or_default().chars().count();
    own.chars().skip(skipped).take(shown).collect()
}
