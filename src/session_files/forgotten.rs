//! Messages that compactions left where they were: those whose ids they do not remove, or those that they list.

use super::file::CompactionRecord;
use super::lines::Line;
use super::path::at;
use super::raw::{RawValue, unsigned};
use crate::hash_index::ByName;
use crate::number::count;

/// How many messages are looked at for all compactions of a file together, so that a file of compactions alone is read in time. One
/// after that removes all before it.
const MOST_LOOKS: usize = 10_000_000;

/// Messages that no compaction has removed.
#[derive(Default)]
pub(super) struct View<'a> {
    /// Their indexes, and the ids of their records, or what else they are known by.
    left: Vec<(u32, &'a RawValue)>,
    /// Messages taken in so far, and how many were looked at.
    seen: usize,
    looks: usize,
}

impl<'a> View<'a> {
    /// Takes in the messages since the last compaction, by the numbers of their lines. `id`: where in these they have their ids.
    pub(super) fn extend(&mut self, numbers: &[u32], lines: &[Line<'a>], id: &str) {
        for (index, number) in numbers.iter().enumerate().skip(self.seen) {
            let line = lines.get(lines.partition_point(|line| line.number < *number));
            let id = line.and_then(|line| at(&line.fields, id)).unwrap_or("");
            self.push(count(index), id);
        }
        self.seen = numbers.len();
    }

    /// How many there are.
    pub(super) const fn len(&self) -> usize {
        self.left.len()
    }

    /// Takes in a message.
    pub(super) fn push(&mut self, index: u32, id: &'a RawValue) {
        self.left.push((index, id));
    }

    /// Removes the messages of these records, and those whose ids are numbers from the first to the last of a range.
    pub(super) fn forget(
        &mut self,
        ids: &[&RawValue],
        range: Option<(u64, u64)>,
        record: &mut CompactionRecord,
    ) {
        self.looks = self.looks.saturating_add(self.left.len());
        if self.looks > MOST_LOOKS {
            return;
        }
        let mut gone = ByName::default();
        for id in ids {
            gone.insert(0, *id, 0);
        }
        let in_range =
            |(first, last), id| unsigned(id).is_some_and(|id| (first..=last).contains(&id));
        self.left
            .retain(|(_, id)| !gone.has(0, id) && !range.is_some_and(|range| in_range(range, id)));
        self.note(record);
    }

    /// Leaves the messages with these ids; of several with one id the newest. Returns which of the ids no message has.
    pub(super) fn keep<'l>(
        &mut self,
        ids: &[&'l RawValue],
        record: &mut CompactionRecord,
    ) -> Vec<&'l RawValue> {
        let mut missing = ByName::default();
        for id in ids {
            let known = missing.get(0, id).unwrap_or(0);
            missing.insert(0, *id, known.saturating_add(1));
        }
        let mut kept = Vec::new();
        for (index, id) in std::mem::take(&mut self.left).into_iter().rev() {
            if let Some(more) = missing.get(0, id).and_then(|count| count.checked_sub(1)) {
                missing.insert(0, id, more);
                kept.push((index, id));
            }
        }
        kept.reverse();
        self.left = kept;
        self.note(record);
        ids.iter().copied().filter(|id| missing.get(0, id) != Some(0)).collect()
    }

    /// Writes down what is left.
    fn note(&self, record: &mut CompactionRecord) {
        for &(index, _) in &self.left {
            let after = index.saturating_add(1);
            match record.kept.last_mut() {
                Some([_, end]) if *end == index => *end = after,
                _ => record.kept.push([index, after]),
            }
        }
        if let Some([from, _]) = record.kept.pop_if(|[_, end]| *end == record.at) {
            record.first_kept_index = from;
        }
    }
}
