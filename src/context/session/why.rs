//! Reasons why the forms of blocks changed, and when.

use crate::model::BlockId;
use crate::number::count;
use crate::prune::Rule;
use crate::shared_list::SharedList;

/// Why and when a block's form changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::context) struct Why {
    /// The rule.
    pub rule: Rule,
    /// The epoch it opened.
    pub epoch: u32,
    /// The call it was decided at.
    pub call: u32,
}

/// The reason for each block whose form changed. In a long session that is nearly every block, and copies share the reasons.
#[derive(Clone, Debug, Default)]
pub(in crate::context) struct Reasons {
    /// Of each block the place of its reason among them all, from 1; 0: it is sent as it was.
    by_block: SharedList<u32>,
    all: Vec<Why>,
}

impl Reasons {
    /// The reason for a block; none if it is sent as it was.
    pub(in crate::context) fn get(&self, block: BlockId) -> Option<Why> {
        let place = *self.by_block.get(block.index())?;
        self.all.get((place as usize).checked_sub(1)?).copied()
    }

    /// Remembers the reason for a block of the session.
    pub(in crate::context) fn insert(&mut self, block: BlockId, why: Why) {
        while self.by_block.len() <= block.index() {
            self.by_block.push(0);
        }
        // One decision changes many blocks, one after the other.
        if self.all.last() != Some(&why) {
            self.all.push(why);
        }
        if let Some(place) = self.by_block.get_mut(block.index()) {
            *place = count(self.all.len());
        }
    }

    /// Forgets the reason for a block, which is sent as it was again.
    pub(in crate::context) fn remove(&mut self, block: BlockId) -> Option<Why> {
        let why = self.get(block)?;
        self.by_block.get_mut(block.index()).into_iter().for_each(|place| *place = 0);
        Some(why)
    }

    /// Blocks with their reasons, in order.
    pub(in crate::context) fn iter(&self) -> impl Iterator<Item = (BlockId, Why)> {
        let all = BlockId::FIRST.to(BlockId::at(self.by_block.len()));
        all.filter_map(|block| Some((block, self.get(block)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_the_reason_that_was_remembered_last_until_it_is_forgotten() {
        let why = |call| Why { rule: Rule::Fold, epoch: 1, call };
        let at = BlockId::from;
        let mut reasons = Reasons::default();
        reasons.insert(at(70), why(1));
        reasons.insert(at(3), why(2));
        let copy = reasons.clone();
        reasons.insert(at(3), why(3));
        assert_eq!([reasons.get(at(3)), copy.get(at(3))], [Some(why(3)), Some(why(2))]);
        assert_eq!([reasons.get(at(4)), reasons.get(at(71))], [None; 2]);
        let all: Vec<_> = reasons.iter().map(|(block, why)| (block.get(), why.call)).collect();
        assert_eq!(all, [(3, 3), (70, 1)]);
        assert_eq!([reasons.remove(at(70)), reasons.remove(at(70))], [Some(why(1)), None]);
        assert_eq!(reasons.iter().count(), 1);
    }

    #[test]
    fn blocks_of_one_decision_share_its_reason() {
        let why = |block: u32| Why { rule: Rule::Fold, epoch: block / 500, call: 1 };
        let mut reasons = Reasons::default();
        for block in 0..1000 {
            reasons.insert(block.into(), why(block));
        }
        assert!((0..1000).all(|block| reasons.get(block.into()) == Some(why(block))));
        assert_eq!(reasons.all.len(), 2);
    }
}
