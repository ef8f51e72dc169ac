//! Reasons why the forms of blocks changed, and when.

use crate::model::BlockId;
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
    by_block: SharedList<Option<Why>>,
}

impl Reasons {
    /// The reason for a block; none if it is sent as it was.
    pub(in crate::context) fn get(&self, block: BlockId) -> Option<Why> {
        self.by_block.get(block.index()).copied().flatten()
    }

    /// Remembers the reason for a block of the session.
    pub(in crate::context) fn insert(&mut self, block: BlockId, why: Why) {
        while self.by_block.len() <= block.index() {
            self.by_block.push(None);
        }
        if let Some(known) = self.by_block.get_mut(block.index()) {
            *known = Some(why);
        }
    }

    /// Forgets the reason for a block, which is sent as it was again.
    pub(in crate::context) fn remove(&mut self, block: BlockId) -> Option<Why> {
        self.get(block)?;
        self.by_block.get_mut(block.index())?.take()
    }

    /// Blocks with their reasons, in order.
    pub(in crate::context) fn iter(&self) -> impl Iterator<Item = (BlockId, Why)> {
        let all = (0u32..).map(BlockId::from).zip(&self.by_block);
        all.filter_map(|(block, why)| Some((block, (*why)?)))
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
}
