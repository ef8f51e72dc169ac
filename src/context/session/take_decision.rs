//! Carrying out a decision: its changes are remembered, and results go whose calls are gone.

use crate::context::session::Session;
use crate::model::{Block, BlockId, Form, Kind};
use crate::prune::{Change, Decision, Rule};

/// A result that comes when its call is gone already goes with it.
pub(in crate::context) fn follow_call(
    session: &mut Session,
    block: BlockId,
    call: Option<BlockId>,
) {
    let is_gone =
        |at: &BlockId| session.transcript.ledger.block(*at).is_some_and(|b| b.form == Form::Gone);
    if let Some(call) = call.filter(is_gone) {
        drop_with_call(session, block, call);
    }
}

#[inline(never)]
fn drop_with_call(session: &mut Session, block: BlockId, call: BlockId) {
    let before = session.transcript.ledger.block(block).map_or(0, |block| block.now);
    let rule = session.decisions.reasons.get(call).map_or(Rule::HardFit, |why| why.rule);
    session.transcript.ledger.set_form(block, Form::Gone, 0);
    session.note(Change { block, rule, before });
}

/// Results and approvals leave with their call if a cut has separated them from it.
#[inline(never)]
pub(in crate::context) fn drop_orphan_results(session: &mut Session) {
    for at in session.transcript.ledger.live().to_vec() {
        let Some(block) = session.transcript.ledger.block(at) else { continue };
        let call = match block.kind {
            Kind::Result => Some(block.pair),
            Kind::Other => gone_call_beside(session, block),
            Kind::Text | Kind::Thinking | Kind::Call | Kind::Image => None,
        };
        follow_call(session, at, call);
    }
}

/// A call of the same turn that is gone.
fn gone_call_beside(session: &Session, block: &Block) -> Option<BlockId> {
    if block.group.is_none() {
        return None;
    }
    let messages = block.group.first_message().to(block.message.next());
    let mut turn = messages.flat_map(|at| session.transcript.ledger.blocks_of(at));
    let is_it = |at: &BlockId| {
        session.transcript.ledger.block(*at).is_some_and(|it| {
            it.kind == Kind::Call && it.group == block.group && it.form == Form::Gone
        })
    };
    turn.find(is_it)
}

/// Remembers what a decision changed.
pub(in crate::context) fn take_decision(session: &mut Session, decision: Decision) {
    let visited = session.monitor.work.blocks_visited;
    session.monitor.work.blocks_visited = visited.saturating_add(decision.visited);
    for &change in &decision.changes {
        session.note(change);
    }
    if !decision.changes.is_empty() {
        drop_orphan_results(session);
    }
}
