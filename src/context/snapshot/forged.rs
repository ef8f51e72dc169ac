//! What a snapshot says of a history that its provider would refuse is not believed: whoever can write the store can forge it.

use std::ops::Range;

use super::super::compactions::Compactions;
use super::super::state::State;
use super::{Changed, UNKNOWN};

impl State {
    /// A request of the history as the snapshot has it was built: if a rule is broken that is not without the snapshot, every message is
    /// sent whole again.
    pub(super) fn disbelieve(
        &mut self,
        changed: &[Changed],
        repaired: &[u32],
        forgotten: &Range<u32>,
    ) {
        let breaks = self.violations().len();
        let start = self.pruner.start;
        // A host may forget half of a group.
        let is_between_groups =
            start == 0 || start == self.pruner.forgotten || self.ledger.may_cut(start);
        if breaks == 0 && is_between_groups {
            return;
        }
        let mut whole = self.clone();
        let may_return = |it: &&Changed| {
            !forgotten.contains(&it.block) && repaired.binary_search(&it.block).is_err()
        };
        for changed in changed.iter().filter(may_return) {
            whole.ledger.bring_back(changed.block);
            whole.lines.forget(changed.block);
            whole.why.remove(&changed.block);
            whole.pruner.reopen(&whole.ledger, changed.block);
        }
        let policy = whole.pruner.policy.clone();
        whole.pruner = crate::prune::Pruner::new(policy);
        whole.pruner.forgotten = self.pruner.forgotten;
        let Compactions { guard, limit, .. } = std::mem::take(&mut whole.compactions);
        whole.compactions = Compactions { guard, limit, ..Compactions::default() };
        (whole.lines.head, whole.lines.summary) = (String::new(), String::new());
        whole.unbound.clear();
        whole.told.clear();
        whole.fresh.clear();
        if is_between_groups && whole.violations().len() >= breaks {
            return;
        }
        whole.sent.items = vec![UNKNOWN];
        (whole.sent.settled, whole.sent.rebuild) = (false, true);
        *self = whole;
    }
}
