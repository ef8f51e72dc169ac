//! Call ids of known messages: the host may rename the calls of a message that says the same.
//!
//! A message is known by its content, whatever the ids of its calls, so that such a host keeps its session. What goes out by
//! these ids is renewed: results that move, results of ours, and ids that the provider refuses.

use std::rc::Rc;

use crate::context::request::cache_markers::renew_places;
use crate::context::session::Session;
use crate::context::session::read_message::read_message;
use crate::context::session::repairs::Repairs;
use crate::context::session::snapshot::truncate::hand_over_again;
use crate::error::Result;
use crate::model::{BlockId, Draft, Fix, FixKind, Kind, Made, MessageId};
use crate::validity::Findings;

/// The host has another object now for a message, or has changed its markers in place: where its parts stand, which of them
/// are marked, and the ids of its calls may be other than before. The ids count from `renew_repairs` on.
///
/// # Errors
/// `InvalidArgument`, `MalformedMessage`.
pub fn reread(session: &mut Session, index: MessageId, bytes: &[u8]) -> Result<()> {
    let draft = read_message(session, index, bytes)?;
    session.transcript.occurrences.forget(index.index());
    session.request.last.settled &= !renew_places(session, index, &draft);
    renew_ids(session, index, &draft);
    Ok(())
}

/// Takes over the call ids of a message that the host has passed as another object. One that goes out as it did is no new id: a
/// host that stores our request has it.
fn renew_ids(session: &mut Session, index: MessageId, draft: &Draft<'_>) {
    let fixes = session.repairs.fixes.get(&index).map_or(&[][..], Vec::as_slice);
    let Some(known) = session.transcript.outlines.get_mut(index.index()) else { return };
    let is_sent = |number: u32, new: &str| {
        let is_it = |kind: &FixKind| matches!(kind, FixKind::Rename { piece, id } if *piece == number && id == new);
        fixes.iter().any(|fix| is_it(&fix.kind))
    };
    let parts = || draft.parts.iter().map(|part| &part.piece);
    let mut pairs = (0u32..).zip(known.pieces.iter().zip(parts()));
    let is_other = pairs.any(|(at, (old, new))| old.id != new.id && !is_sent(at, &new.id));
    if !is_other || known.pieces.len() != draft.parts.len() {
        return;
    }
    for (piece, new) in Rc::make_mut(known).pieces.iter_mut().zip(parts()) {
        piece.id.clone_from(&new.id);
    }
    session.repairs.has_new_ids = true;
}

/// Repairs the messages by the ids that their calls have now; no message is read. True: a result now answers another call, so
/// that all messages must come again.
pub fn renew_repairs(session: &mut Session) -> bool {
    if !session.repairs.has_new_ids {
        return false;
    }
    // It knows the old ids.
    session.restoration.measured = None;
    let mut new = Repairs::new(session.transcript.dialect, &session.options);
    new.repairer.set_open(session.repairs.repairer.is_prefix());
    let mut found = Findings::default();
    // The first message of which more than the ids is other now.
    let mut parted = MessageId::NONE;
    for (index, outline) in MessageId::FIRST.on().zip(session.transcript.outlines.iter()) {
        // Only the role is known of a message that was forgotten before a restart.
        if session.transcript.ledger.message(index).is_none_or(|it| it.bytes == 0) {
            new.repairer.pass(index, outline.role);
            continue;
        }
        new.find(index, outline, &mut found);
        let blocks = session.transcript.ledger.blocks_of(index);
        for ((pair, piece), at) in found.pairs.iter().zip(&outline.pieces).zip(blocks) {
            let call = pair.map_or(BlockId::NONE, |(message, piece)| {
                session.transcript.ledger.blocks_of(message).start.plus(piece)
            });
            let known = session.transcript.ledger.block(at).map(|block| block.pair);
            if piece.kind == Kind::Result && known != Some(call) {
                parted = parted.min(pair.map_or(index, |(message, _)| message.min(index)));
            }
        }
        new.displace(&found.fixes);
        for fix in std::mem::take(&mut found.fixes) {
            new.fixes.entry(fix.index).or_default().push(fix);
        }
    }
    let all = |repairs: &Repairs| -> Vec<(MessageId, FixKind)> {
        repairs.fixes.values().flatten().filter_map(without_id).collect()
    };
    let (was, is) = (all(&session.repairs), all(&new));
    let alike = was.iter().zip(&is).take_while(|(was, is)| was == is).count();
    for (index, _) in was.get(alike).into_iter().chain(is.get(alike)) {
        parted = parted.min(*index);
    }
    if parted != MessageId::NONE {
        session.request.last.renamed = true;
        hand_over_again(session, parted);
        return true;
    }
    session.request.last.rebuild = true;
    session.request.last.settled = false;
    session.repairs = new;
    false
}

/// The last message up to `at` such that no result from it on answers a call before it.
pub fn unpaired_before(session: &Session, at: MessageId) -> MessageId {
    let ledger = &session.transcript.ledger;
    let mut first = at;
    for number in MessageId::FIRST.to(ledger.next_message()).rev() {
        if number < first {
            break;
        }
        for block in ledger.blocks_of(number).filter_map(|it| ledger.block(it)) {
            let call = Some(block.pair).filter(|_| block.kind == Kind::Result);
            if let Some(call) = call.and_then(|call| ledger.block(call)) {
                first = first.min(call.message);
            }
        }
    }
    first
}

/// Messages of which calls or results go out under another id than the host's own: a host that stores our request passes them
/// back with that one.
pub fn renamed_messages(session: &Session) -> Vec<u32> {
    let is_renamed =
        |fixes: &[Fix]| fixes.iter().any(|fix| matches!(fix.kind, FixKind::Rename { .. }));
    let all = session.repairs.fixes.iter().filter(|(_, fixes)| is_renamed(fixes));
    all.map(|(index, _)| index.get()).collect()
}

/// What a fix does, whatever the id with which it does it; none for a new id alone.
fn without_id(fix: &Fix) -> Option<(MessageId, FixKind)> {
    let kind = match &fix.kind {
        FixKind::Rename { .. } => return None,
        FixKind::After(made) => FixKind::After(unnamed(made.clone())),
        kind @ (FixKind::Drop { .. }
        | FixKind::Text { .. }
        | FixKind::Unicode { .. }
        | FixKind::Arguments { .. }
        | FixKind::Sign { .. }
        | FixKind::Unmark { .. }
        | FixKind::AsUser
        | FixKind::Turn
        | FixKind::Before(_)) => kind.clone(),
    };
    Some((fix.index, kind))
}

fn unnamed(mut made: Made) -> Made {
    match &mut made {
        Made::Result { id, .. } | Made::Moved { id, .. } => id.clear(),
        Made::Results(results) => {
            let all = std::mem::take(results);
            results.extend(all.into_iter().map(unnamed));
        }
        Made::User(_) => {}
    }
    made
}
