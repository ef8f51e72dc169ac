//! Identifiers of the messages as they stand in these: what a kept measure needs beside the ledger.

use crate::identifiers::room;
use crate::leb128;
use crate::number::count;
use crate::shared_list::SharedList;

/// An identifier in a block's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::context) struct Occurrence {
    /// Its number.
    pub id: u32,
    /// It stands in the block's head.
    pub in_head: bool,
    /// It had no number before: whether it is a secret was looked at here.
    pub is_new: bool,
}

impl Occurrence {
    /// By number, the head's first, new ones first.
    pub(in crate::context) fn rank(self) -> u64 {
        (u64::from(self.id) << 2) | (u64::from(!self.in_head) << 1) | u64::from(!self.is_new)
    }

    pub(in crate::context) fn of_rank(rank: u64) -> Self {
        let id = u32::try_from(rank >> 2).unwrap_or(u32::MAX);
        Self { id, in_head: rank & 2 == 0, is_new: rank & 1 == 0 }
    }
}

/// Those of a block, in few bytes: each rank as the step from the one before.
#[derive(Clone, Debug, Default)]
pub(in crate::context) struct Packed {
    count: u32,
    bytes: Vec<u8>,
}

impl Packed {
    /// Holds these ranks, which are in order, and nothing else.
    pub(in crate::context) fn set(&mut self, ranks: &[u64]) {
        self.count = count(ranks.len());
        self.bytes.clear();
        self.bytes.reserve_exact(ranks.len().saturating_mul(2));
        let mut last = 0;
        for &rank in ranks {
            leb128::write(&mut self.bytes, rank.saturating_sub(last));
            last = rank;
        }
    }
}

/// Those of all messages, block by block, in few bytes.
#[derive(Clone, Debug, Default)]
pub(in crate::context) struct Occurrences {
    /// Of a block: their count and one more, 0 where none may be kept; then each, as [`Packed`] has it.
    bytes: Vec<u8>,
    /// Where each message starts.
    starts: SharedList<u32>,
}

impl Occurrences {
    /// The next message; its blocks follow.
    pub(in crate::context) fn begin(&mut self) {
        self.starts.push(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX));
    }

    /// Those of its next block. None: its identifiers are to be found in its text.
    pub(in crate::context) fn push(&mut self, found: Option<&Packed>) {
        let Some(found) = found else { return leb128::write(&mut self.bytes, 0) };
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
    }

    /// Those of each block of a message. None: those of one block are to be found in its text.
    pub(in crate::context) fn of(
        &self,
        message: usize,
        blocks: usize,
    ) -> Option<Vec<Vec<Occurrence>>> {
        let start = *self.starts.get(message)?;
        let mut rest = self.bytes.get(start as usize..)?;
        let mut next = || {
            let (number, after) = leb128::read(rest)?;
            rest = after;
            Some(number)
        };
        let mut all = Vec::with_capacity(blocks);
        for _ in 0..blocks {
            let count = next()?.checked_sub(1)?;
            let mut found = Vec::new();
            let mut last = 0u64;
            for _ in 0..count {
                last = last.saturating_add(next()?);
                found.push(Occurrence::of_rank(last));
            }
            all.push(found);
        }
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_has_its_own_until_it_is_forgotten() {
        let at = |id, in_head, is_new| Occurrence { id, in_head, is_new };
        let first = vec![at(0, true, true), at(0, false, false), at(1, true, true)];
        let second = vec![at(7, true, false), at(u32::MAX, false, true)];
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
