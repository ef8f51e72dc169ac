//! Repairs that a request needs because it ends where it does.

use crate::context::session::Session;
use crate::estimate::RESULT;
use crate::model::{BlockId, Fix, FixKind, Form, Made, MessageId};
use crate::sort::sort_by;

/// Takes up what the request needs because it ends here. What that changes of a block's tokens holds until there is
/// another message.
pub(in crate::context) fn set_end_repairs(session: &mut Session, mut ending: Vec<Fix>) {
    // Those of a message are looked for at each message.
    sort_by(&mut ending, |fix| (i64::from(fix.index), 0));
    session.transcript.ledger.clear_at_end();
    for (block, before) in std::mem::take(&mut session.decisions.left_at_end) {
        let still = session.transcript.ledger.block(block);
        if still.is_some_and(|it| it.now == 0 && it.form != Form::Gone) {
            session.transcript.ledger.set_form(block, Form::Full, before);
        }
    }
    session.decisions.absent_at_end =
        if ending.is_empty() { Vec::new() } else { absent_at_end(session, &ending) };
    session.decisions.end_fixes = ending;
}

/// Pieces that these repairs remove or move, in order. Also counts the tokens that the repairs add or remove.
#[inline(never)]
fn absent_at_end(session: &mut Session, ending: &[Fix]) -> Vec<(MessageId, u32)> {
    let mut leaving = Vec::new();
    let mut moving = Vec::new();
    for fix in ending {
        if let FixKind::Drop { piece } = fix.kind {
            leaving.push((fix.index, piece));
        } else if let FixKind::After(Made::Moved { message, piece, .. }) = fix.kind {
            moving.push((message, piece));
        } else if let FixKind::Text { piece, text: Some(text) } = &fix.kind {
            // A call that is answered in its own part.
            let more = session.options.estimator.tokens(text).saturating_add(RESULT);
            session.transcript.ledger.add_at_end(block_of(session, fix.index, *piece), more);
        }
    }
    let place = |it: &(MessageId, u32)| (i64::from(it.0), i64::from(it.1));
    sort_by(&mut moving, place);
    for at in &leaving {
        if moving.binary_search(at).is_err() {
            leave_at_end(session, block_of(session, at.0, at.1));
        }
    }
    leaving.append(&mut moving);
    sort_by(&mut leaving, place);
    leaving
}

fn block_of(session: &Session, message: MessageId, piece: u32) -> BlockId {
    session.transcript.ledger.blocks_of(message).start.plus(piece)
}

fn leave_at_end(session: &mut Session, at: BlockId) {
    let block = session.transcript.ledger.block(at).filter(|block| block.form != Form::Gone);
    if let Some(before) = block.map(|block| block.now) {
        session.transcript.ledger.set_form(at, Form::Full, 0);
        session.decisions.left_at_end.push((at, before));
    }
}
