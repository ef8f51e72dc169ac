//! Refusal of a forged snapshot: a history that its provider would reject is not believed, since whoever can write the store can forge it.

use crate::context::request::response::violations_sent;
use std::ops::Range;

use super::{Changed, UNKNOWN};
use crate::context::compaction::compaction_history::Compactions;
use crate::context::session::Session;

/// A request of the history as the snapshot has it was built: if a rule is broken that is not without the snapshot, every message is
/// sent whole again.
pub(super) fn discard_forged(
    session: &mut Session,
    changed: &[Changed],
    repaired: &[u32],
    forgotten: &Range<u32>,
) {
    let breaks = violations_sent(session).len();
    let start = session.decisions.pruner.start;
    // A host may forget half of a group.
    let is_between_groups = start == 0
        || start == session.decisions.pruner.forgotten
        || session.transcript.ledger.may_cut(start);
    if breaks == 0 && is_between_groups {
        return;
    }
    let mut whole = session.clone();
    let may_return = |it: &&Changed| {
        !forgotten.contains(&it.block) && repaired.binary_search(&it.block).is_err()
    };
    for changed in changed.iter().filter(may_return) {
        whole.transcript.ledger.bring_back(changed.block);
        whole.decisions.placeholders.forget(changed.block);
        whole.decisions.reasons.remove(&changed.block);
        whole.decisions.pruner.reopen(&whole.transcript.ledger, changed.block);
    }
    let policy = whole.decisions.pruner.policy.clone();
    whole.decisions.pruner = crate::prune::Pruner::new(policy);
    whole.decisions.pruner.forgotten = session.decisions.pruner.forgotten;
    let Compactions { guard, limit, .. } = std::mem::take(&mut whole.compactions);
    whole.compactions = Compactions { guard, limit, ..Compactions::default() };
    (whole.decisions.placeholders.head, whole.decisions.placeholders.summary) =
        (String::new(), String::new());
    whole.decisions.unbound.clear();
    whole.last_request.reported_edits.clear();
    whole.decisions.unreported.clear();
    if is_between_groups && violations_sent(&whole).len() >= breaks {
        return;
    }
    whole.last_request.items = vec![UNKNOWN];
    (whole.last_request.settled, whole.last_request.rebuild) = (false, true);
    *session = whole;
}
