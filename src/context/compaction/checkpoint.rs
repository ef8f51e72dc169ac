//! Checkpoints: summaries that are made ahead, between compactions, and what the job engine keeps of them.

use crate::context::compaction::folds::{
    base_of, dropped_tokens, fold_count, messages_of, unsummarized_blocks,
};
use crate::context::session::Session;
use crate::context::session::adopted::previous_summary;
use crate::context::session::snapshot::waiting::Waiting;
use crate::json::{self, Value, json};
use crate::model::{BlockId, Form, MessageId};
use crate::sort::sort_set;

/// What a checkpoint now would be made of, as JSON: figures, and from message `from` on those that it would tell of. Their blocks
/// are what `flat` takes up next.
pub fn plan_checkpoint(session: &mut Session, from: MessageId) -> Value {
    let mut going = session.transcript.ledger.live().to_vec();
    going.extend(unsummarized_blocks(session));
    sort_set(&mut going);
    let message = |at: &BlockId| {
        session.transcript.ledger.block(*at).map_or(MessageId::FIRST, |it| it.message)
    };
    going.retain(|at| {
        message(at) >= from
            || session.transcript.ledger.block(*at).is_some_and(|it| it.form == Form::Gone)
    });
    let go = messages_of(session, &going);
    let dropped = dropped_tokens(session, &going);
    let previous = previous_summary(session, &going);
    session.compactions.going = going;
    json!({
        "base": base_of(session, session.transcript.ledger.next_message()),
        "messages": session.transcript.ledger.message_count(),
        "turns": session.transcript.ledger.messages.last().map_or(0, |it| it.turn),
        "folds": fold_count(session).unwrap_or(0),
        "tokens": session.sizes().0,
        "usable": session.decisions.usable,
        "checkpoints": checkpoint_state(session),
        "go": go,
        "droppedTokens": dropped,
        "previousSummary": previous,
        "pins": session.request.pins.sent().collect::<Vec<&str>>()
    })
}

/// What the job engine keeps of checkpoints, if there is one.
pub(in crate::context) fn checkpoint_state(session: &Session) -> Option<Value> {
    // A session that waits for its messages has those of its snapshot.
    let waiting = session.restoration.waiting.as_ref();
    let kept = waiting.map_or(&*session.compactions.checkpoints, Waiting::checkpoints);
    let kept = if kept.is_empty() { earlier_checkpoint(session)? } else { kept.into() };
    Some(Value::raw(kept))
}

/// What is kept of a checkpoint that the host has from an earlier process: it holds for a whole history that has not folded.
fn earlier_checkpoint(session: &Session) -> Option<String> {
    let earlier = session.options.checkpoint.as_ref()?;
    let is_complete = session.decisions.pruner.head.is_none()
        && session.decisions.pruner.forgotten == MessageId::FIRST;
    let last = earlier.messages.checked_sub(1)?;
    let turn = session.transcript.turn_of(last.into()).filter(|_| is_complete)?;
    Some(earlier.state(turn, session.decisions.usable))
}

/// Forgets a checkpoint that tells of messages that the history does not have any more.
pub(in crate::context) fn drop_later_checkpoint(session: &mut Session) {
    let member = |json: &str, name: &str| {
        let members = json::members(json).unwrap_or_default();
        members.into_iter().find(|(known, _)| known == name).map(|(_, it)| it.to_owned())
    };
    let last = member(&session.compactions.checkpoints, "checkpoint");
    let count = last.and_then(|it| member(&it, "messageCountAtCheckpoint")?.parse::<u32>().ok());
    if count.is_some_and(|count| count > session.transcript.ledger.message_count()) {
        session.compactions.checkpoints.clear();
    }
}

/// Keeps what the job engine knows of checkpoints, as long as the history is the one with this base.
/// False: it is another by now.
pub fn set_checkpoints(session: &mut Session, base: &str, kept: &str) -> bool {
    let cut = base.split('.').next().and_then(|cut| cut.parse().ok()).unwrap_or_default();
    let same = base_of(session, cut) == base;
    if same {
        session.compactions.checkpoints = kept.into();
    }
    same
}
