//! Identifiers of the messages as they stand in these: what a kept measure needs beside the ledger.

use crate::identifiers::room;
use crate::leb128;
use crate::model::Occurrence;
use crate::number::count;
use crate::shared_list::SharedList;

/// Those of a block, in few bytes: each rank as the step from the one before.
#[derive(Clone, Debug, Default)]
pub(in crate::context) struct Packed {
    count: u32,
    bytes: Vec<u8>,
}

impl Packed {
    /// Holds these ranks, which are in order, and nothing else.
    pub(in crate::context) fn set(&mut self, ranks: &[u32]) {
        self.count = count(ranks.len());
        self.bytes.clear();
        self.bytes.reserve_exact(ranks.len().saturating_mul(2));
        let mut last = 0;
        for &rank in ranks {
            leb128::write(&mut self.bytes, rank.saturating_sub(last).into());
            last = rank;
        }
    }

    /// Holds the next of these, whose ranks are written out.
    pub(in crate::context) fn take(
        &mut self,
        from: &mut Found<'_>,
        ranks: &mut Vec<u32>,
    ) -> Option<()> {
        self.count = from.count()?;
        let start = from.0;
        from.ranks(self.count, ranks)?;
        let (bytes, _) = start.split_at_checked(start.len().checked_sub(from.0.len())?)?;
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        Some(())
    }
}

/// Those of all messages, block by block, in few bytes.
#[derive(Clone, Debug, Default)]
pub(in crate::context) struct Occurrences {
    /// Of a block: their count and one more, 0 where none may be kept; then each, as [`Packed`] has it.
    bytes: Vec<u8>,
    /// Where each message starts.
    starts: SharedList<u32>,
    /// The first message of which some may not be kept.
    lacking: Option<usize>,
}

impl Occurrences {
    /// The next message; its blocks follow.
    pub(in crate::context) fn begin(&mut self) {
        self.starts.push(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX));
    }

    /// Those of its next block. None: its identifiers are to be found in its text.
    pub(in crate::context) fn push(&mut self, found: Option<&Packed>) {
        let Some(found) = found else {
            self.lack(self.starts.len().saturating_sub(1));
            return leb128::write(&mut self.bytes, 0);
        };
        let (len, capacity) = (self.bytes.len(), self.bytes.capacity());
        // With the longest count.
        let more = found.bytes.len().saturating_add(5);
        self.bytes.reserve_exact(room(len, capacity, more));
        leb128::write(&mut self.bytes, u64::from(found.count).saturating_add(1));
        self.bytes.extend_from_slice(&found.bytes);
    }

    /// A message is written otherwise now: what is kept of it has to be measured from its text.
    pub(in crate::context) fn forget(&mut self, message: usize) {
        self.starts.get_mut(message).into_iter().for_each(|start| *start = u32::MAX);
        self.lack(message);
    }

    fn lack(&mut self, message: usize) {
        self.lacking = Some(self.lacking.map_or(message, |first| first.min(message)));
    }

    /// Of so many of the first messages all are kept.
    pub(in crate::context) fn kept_until(&self) -> usize {
        self.lacking.unwrap_or(self.starts.len())
    }

    /// A message of which nothing is there: it has none that may be kept.
    pub(in crate::context) fn skip(&mut self) {
        self.begin();
        self.forget(self.starts.len().saturating_sub(1));
    }

    /// Those of a message, block by block.
    pub(in crate::context) fn of_message(&self, message: usize) -> Option<Found<'_>> {
        let start = *self.starts.get(message)?;
        self.bytes.get(start as usize..).map(Found)
    }

    /// Those of each block of a message. None: those of one block are to be found in its text.
    pub(in crate::context) fn of(
        &self,
        message: usize,
        blocks: usize,
    ) -> Option<Vec<Vec<Occurrence>>> {
        let mut from = self.of_message(message)?;
        let (mut all, mut ranks) = (Vec::with_capacity(blocks), Vec::new());
        for _ in 0..blocks {
            let count = from.count()?;
            from.ranks(count, &mut ranks)?;
            all.push(ranks.iter().map(|rank| Occurrence::of_rank(*rank)).collect());
        }
        Some(all)
    }
}

/// What follows in the list: blocks, each with its count and its ranks.
#[derive(Clone, Copy, Debug)]
pub(in crate::context) struct Found<'a>(&'a [u8]);

impl Found<'_> {
    /// How many identifiers the next block has. None: they are to be found in its text.
    fn count(&mut self) -> Option<u32> {
        let (number, rest) = leb128::read(self.0)?;
        self.0 = rest;
        number.checked_sub(1).and_then(|count| u32::try_from(count).ok())
    }

    /// So many ranks.
    fn ranks(&mut self, count: u32, ranks: &mut Vec<u32>) -> Option<()> {
        ranks.clear();
        let (mut rest, mut last) = (self.0, 0u32);
        for _ in 0..count {
            let (step, after) = leb128::read(rest)?;
            rest = after;
            last = last.saturating_add(u32::try_from(step).ok()?);
            ranks.push(last);
        }
        self.0 = rest;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_has_its_own_until_it_is_forgotten() {
        let at = |id, in_head, is_new| Occurrence { id, in_head, is_new };
        let first = vec![at(0, true, true), at(0, false, false), at(1, true, true)];
        let second = vec![at(7, true, false), at(u32::MAX >> 2, false, true)];
        let packed = |found: &[Occurrence]| {
            let mut packed = Packed::default();
            packed.set(&found.iter().map(|it| it.rank()).collect::<Vec<_>>());
            packed
        };
        let mut all = Occurrences::default();
        all.begin();
        all.push(Some(&packed(&first)));
        all.push(Some(&Packed::default()));
        all.begin();
        all.push(Some(&packed(&second)));
        all.begin();
        all.push(None);
        assert_eq!(all.of(0, 2), Some(vec![first, Vec::new()]));
        assert_eq!(all.of(1, 1), Some(vec![second]));
        assert_eq!(all.of(2, 1), None);
        assert_eq!(all.of(3, 1), None);
        all.forget(0);
        assert_eq!(all.of(0, 2), None);
        assert_eq!(all.of(1, 1).map(|it| it.len()), Some(1));
    }
}
