//! Refusal of a forged snapshot: a history that its provider would reject is not believed, since whoever can write the store can forge it.

use crate::context::compaction::compaction_history::Compactions;
use crate::context::request::build_request::violations_sent;
use crate::context::session::Session;
use crate::context::session::snapshot::content::{Changed, UNKNOWN};
use crate::model::{BlockId, MessageId, Span};

/// A request of the history as the snapshot has it was built, and breaks so many rules: where one is broken that is not without the
/// snapshot, every message is sent whole again.
pub(super) fn discard_forged(
    session: &mut Session,
    breaks: usize,
    changed: &[Changed],
    repaired: &[BlockId],
    forgotten: Span<BlockId>,
) {
    let start = session.decisions.pruner.start;
    // A host may forget half of a group.
    let is_between_groups = start == MessageId::FIRST
        || start == session.decisions.pruner.forgotten
        || session.transcript.ledger.may_cut(start);
    if breaks == 0 && is_between_groups {
        return;
    }
    let mut unchanged = session.clone();
    let may_return =
        |it: &&Changed| !forgotten.contains(it.block) && repaired.binary_search(&it.block).is_err();
    for changed in changed.iter().filter(may_return) {
        unchanged.transcript.ledger.bring_back(changed.block);
        unchanged.decisions.placeholders.forget(changed.block);
        unchanged.decisions.reasons.remove(changed.block);
        unchanged.decisions.pruner.reopen(&unchanged.transcript.ledger, changed.block);
    }
    let policy = unchanged.decisions.pruner.policy.clone();
    unchanged.decisions.pruner = crate::prune::Pruner::new(policy);
    unchanged.decisions.pruner.forgotten = session.decisions.pruner.forgotten;
    let Compactions { guard, flush, limit, .. } = std::mem::take(&mut unchanged.compactions);
    unchanged.compactions = Compactions { guard, flush, limit, ..Compactions::default() };
    (unchanged.decisions.placeholders.head, unchanged.decisions.placeholders.summary) =
        (String::new(), String::new());
    unchanged.decisions.unbound.clear();
    unchanged.request.last.reported_edits.clear();
    unchanged.decisions.unreported.clear();
    if is_between_groups && violations_sent(&unchanged).len() >= breaks {
        return;
    }
    unchanged.request.last.items = vec![UNKNOWN];
    (unchanged.request.last.settled, unchanged.request.last.rebuild) = (false, true);
    *session = unchanged;
}
