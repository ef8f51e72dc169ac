//! Identifiers of the messages as they stand in these: what a kept measure needs beside the ledger.

use crate::identifiers::room;
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

/// Those of all messages, block by block, in few bytes.
#[derive(Clone, Debug, Default)]
pub(in crate::context) struct Occurrences {
    /// Of a block: their count and one more, 0 where none may be kept; then each, its number as the step from the one before.
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
    pub(in crate::context) fn push(&mut self, found: Option<&[Occurrence]>) {
        let Some(found) = found else { return self.number(0) };
        let (len, capacity) = (self.bytes.len(), self.bytes.capacity());
        self.bytes.reserve_exact(room(len, capacity, found.len().saturating_mul(2)));
        self.number(u64::try_from(found.len()).unwrap_or(u64::MAX).saturating_add(1));
        let mut last = 0i64;
        for it in found {
            let id = i64::from(it.id);
            let step = id.saturating_sub(last);
            // The sign goes to the lowest bit: a small step is a small number.
            let zigzag = ((step << 1) ^ (step >> 63)).cast_unsigned();
            self.number((zigzag << 2) | (u64::from(it.in_head) << 1) | u64::from(it.is_new));
            last = id;
        }
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
        let mut all = Vec::with_capacity(blocks);
        for _ in 0..blocks {
            let count = next(&mut rest)?.checked_sub(1)?;
            let mut found = Vec::new();
            let mut last = 0i64;
            for _ in 0..count {
                let number = next(&mut rest)?;
                let zigzag = number >> 2;
                let step = (zigzag >> 1).cast_signed() ^ (zigzag & 1).cast_signed().wrapping_neg();
                last = last.saturating_add(step);
                let (in_head, is_new) = (number & 2 != 0, number & 1 != 0);
                found.push(Occurrence { id: u32::try_from(last).ok()?, in_head, is_new });
            }
            all.push(found);
        }
        Some(all)
    }

    fn number(&mut self, mut number: u64) {
        loop {
            let [low, ..] = number.to_le_bytes();
            number >>= 7;
            if number == 0 {
                return self.bytes.push(low & 0x7f);
            }
            self.bytes.push(low | 0x80);
        }
    }
}

fn next(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_has_its_own_until_it_is_forgotten() {
        let at = |id, in_head, is_new| Occurrence { id, in_head, is_new };
        let first = vec![at(0, true, true), at(1, true, true), at(0, false, false)];
        let second = vec![at(u32::MAX, false, true), at(7, true, false)];
        let mut all = Occurrences::default();
        all.begin();
        all.push(Some(&first));
        all.push(Some(&[]));
        all.begin();
        all.push(Some(&second));
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
