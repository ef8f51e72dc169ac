//! Pinning: which messages, blocks and texts are kept whatever else goes.

use crate::context::request::pins::{Blocks, Pins};
use crate::context::session::Session;
use crate::context::session::agent::words_of;
use crate::context::session::arrival::recount_repaired;
use crate::context::session::marks::mark;
use crate::context::session::read_message::read_message;
use crate::context::transcript::masks::renew_masks;
use crate::error::{Error, Result};
use crate::hash;
use crate::model::{Block, BlockId, Form, GroupId, Kind, MessageId, Span};
use crate::prune::Rule;
use crate::text::{prefix, redact};

/// UTF-16 code units that are kept of a pinned message: a fact, not a file.
const KEPT: usize = 2_000;

/// Keeps a message (JSON) verbatim; while the history does not hold it, its text goes out in front. The number of the pin.
///
/// # Errors
/// `InvalidArgument` if there is no such message, `MalformedMessage`.
pub fn pin_message(session: &mut Session, message: MessageId, bytes: &[u8]) -> Result<u32> {
    if message >= session.transcript.ledger.next_message() {
        return Err(Error::argument("index", "a message of the history", message));
    }
    let draft = read_message(session, message, bytes)?;
    // Reasoning is the model's own: it is not said again by another.
    let text = words_of(&draft, |part| part.piece.kind != Kind::Thinking);
    let blocks = session.transcript.ledger.blocks_of(message);
    Ok(pin_blocks(session, message, blocks, &text))
}

/// Keeps the piece of a message (JSON) verbatim that holds a text. None: there is none.
///
/// # Errors
/// `InvalidArgument` if there is no such message, `MalformedMessage`.
pub fn pin_matches(
    session: &mut Session,
    message: MessageId,
    bytes: &[u8],
    text: &str,
) -> Result<Option<u32>> {
    let draft = read_message(session, message, bytes)?;
    let found = draft.parts.iter().position(|part| part.text.contains(text));
    let Some(piece) = found.and_then(|at| u32::try_from(at).ok()) else { return Ok(None) };
    let at = session.transcript.ledger.blocks_of(message).start.plus(piece);
    Ok(Some(pin_blocks(session, message, at.to(at.next()), text)))
}

fn pin_blocks(session: &mut Session, message: MessageId, blocks: Span<BlockId>, text: &str) -> u32 {
    let known = session.transcript.ledger.message(message);
    let mark = known.map_or(0, |it| mark(it.fingerprint));
    let (from, to) = (blocks.start, blocks.end);
    let of = (u64::from(from) << 32) ^ u64::from(to) ^ (u64::from(mark) << 16);
    let id = session.request.pins.id_of(hash::mix(of));
    let first = session.transcript.ledger.blocks_of(message).start;
    let text = if session.options.redacts { redact(text) } else { text.into() };
    let text = prefix(&text, KEPT).into();
    session.request.pins.blocks.push(Blocks {
        id,
        first,
        from,
        to,
        mark,
        text,
        is_sent: false,
        is_here: true,
    });
    renew_masks(session, message);
    id
}

/// Keeps a text that stands in no message: it goes out in front of the messages from the next epoch on.
pub fn pin_text(session: &mut Session, text: &str) -> u32 {
    session.request.pins.add_text(text)
}

/// Lets a pin go; false if there is none of that number. A text of its own stays until the next epoch opens.
pub fn unpin(session: &mut Session, id: u32) -> bool {
    let before = (session.request.pins.blocks.len(), session.request.pins.texts.len());
    let mut pins = session.request.pins.clone();
    pins.blocks.retain(|pin| pin.id != id);
    pins.texts.retain(|pin| pin.id != id);
    let fewer = pins.sent().count() < session.request.pins.sent().count();
    set_pins(session, pins, fewer);
    before != (session.request.pins.blocks.len(), session.request.pins.texts.len())
}

/// Other pins hold from now on. `fewer`: a text that was sent is none of them any more.
pub(in crate::context) fn set_pins(session: &mut Session, pins: Pins, fewer: bool) {
    let before = std::mem::replace(&mut session.request.pins, pins);
    session.request.last.rebuild |= fewer;
    session.request.last.settled &= !fewer;
    if let Some(waiting) = session.restoration.waiting.as_mut().filter(|_| fewer) {
        waiting.build_anew();
    }
    attach_pins(session);
    let starts: Vec<BlockId> =
        before.blocks.iter().chain(&session.request.pins.blocks).map(|pin| pin.from).collect();
    for at in starts {
        if let Some(message) = session.transcript.ledger.block(at).map(|block| block.message) {
            renew_masks(session, message);
        }
    }
}

/// Finds the messages of pins that were made elsewhere.
pub(in crate::context) fn attach_pins(session: &mut Session) {
    let Session { request, transcript, restoration, decisions, .. } = session;
    let pins = &mut request.pins;
    let ledger = &transcript.ledger;
    if pins.blocks.iter().all(|pin| pin.is_here) {
        return;
    }
    for (index, message) in MessageId::FIRST.on().zip(&ledger.messages) {
        let blocks = ledger.blocks_of(index);
        if index >= decisions.pruner.forgotten || ledger.is_live(blocks) {
            pins.attach_arrived(blocks, mark(message.fingerprint), restoration.waiting.is_some());
        }
    }
}

/// What the host has forgotten and is not sent cannot be brought back, and neither can a result without its call: the text of such
/// a pin goes out in front.
pub(in crate::context) fn detach_forgotten(session: &mut Session) {
    let Session { request, transcript, decisions, .. } = session;
    let ledger = &transcript.ledger;
    let end = ledger.blocks_of(decisions.pruner.forgotten).start;
    let is_lost =
        |at: BlockId| at < end && ledger.block(at).is_some_and(|block| block.form == Form::Gone);
    for pin in &mut request.pins.blocks {
        let mut blocks = pin.from.to(pin.to);
        if !ledger.is_live(blocks) {
            let call = |at| ledger.block(at).map_or(BlockId::NONE, |block| block.pair);
            pin.is_here &= !blocks.any(|at| is_lost(at) || is_lost(call(at)));
        }
    }
}

/// An epoch opens: what was pinned too late comes back, with what it stays or goes with. True if something did.
#[inline(never)]
pub(in crate::context) fn bring_back_pins(session: &mut Session) -> bool {
    detach_forgotten(session);
    let mut back = false;
    for text in &mut session.request.pins.texts {
        back |= !std::mem::replace(&mut text.is_sent, true);
    }
    for pin in &mut session.request.pins.blocks {
        let is_sent = !pin.is_here && !pin.text.trim().is_empty();
        back |= std::mem::replace(&mut pin.is_sent, is_sent) != is_sent;
    }
    for at in lost_pins(session) {
        bring_back(session, at);
        back = true;
    }
    session.request.last.rebuild |= back;
    back
}

/// A block is sent again as it was.
#[inline(never)]
fn bring_back(session: &mut Session, at: BlockId) {
    let message =
        session.transcript.ledger.block(at).map_or(MessageId::NONE, |block| block.message);
    if session.transcript.ledger.bring_back(at) {
        session.decisions.returned.push(at);
    }
    let first = session.transcript.ledger.blocks_of(message).start;
    let mut fixes = session.repairs.fixes.get(&message).cloned().unwrap_or_default();
    fixes.retain(|fix| first.plus(fix.kind.piece()) == at);
    for fix in &fixes {
        recount_repaired(session, fix);
    }
    session.decisions.pruner.reopen(&session.transcript.ledger, at);
    session.decisions.placeholders.forget(at);
    if session.decisions.reasons.remove(at).is_some_and(|why| why.rule.takes()) {
        let tokens = session.transcript.ledger.block(at).map_or(0, |it| it.tokens);
        session.decisions.pruner.taken =
            session.decisions.pruner.taken.saturating_sub(tokens.into());
    }
    session.request.last.reported_edits.remove(&message);
    let bytes = session.transcript.ledger.message(message).map_or(0, |it| it.bytes);
    session.transcript.bytes = session.transcript.bytes.saturating_add(bytes.into());
}

/// Messages that come back when the next epoch opens. Nothing was sent of them, so the host may have changed them unseen.
pub fn returning_messages(session: &Session) -> Vec<u32> {
    let message =
        |at: BlockId| session.transcript.ledger.block(at).map(|block| block.message.get());
    let mut messages: Vec<u32> = lost_pins(session).into_iter().filter_map(message).collect();
    messages.dedup();
    messages
}

/// Pinned blocks that are not sent as they were, and the gone ones of their groups.
fn lost_pins(session: &Session) -> Vec<BlockId> {
    if session.request.pins.blocks.is_empty() { Vec::new() } else { lost_blocks(session) }
}

#[inline(never)]
fn lost_blocks(session: &Session) -> Vec<BlockId> {
    let ours = |at: BlockId| {
        let rule = session.decisions.reasons.get(at).map(|why| why.rule);
        // What its provider would refuse stays away.
        let barred = matches!(
            rule,
            Some(Rule::Repair | Rule::Limit | Rule::BoundThinking | Rule::NoThinking)
        );
        let block = session.transcript.ledger.block(at).filter(|_| !barred);
        block.filter(|it| it.message >= session.decisions.pruner.forgotten || it.form != Form::Gone)
    };
    let is_lost = |at: &BlockId| ours(*at).is_some_and(|block| block.form != Form::Full);
    let mut lost: Vec<BlockId> =
        session.request.pins.here().flat_map(|pin| pin.from.to(pin.to)).filter(is_lost).collect();
    let groups: Vec<GroupId> = lost
        .iter()
        .filter_map(|&at| session.transcript.ledger.block(at))
        .map(|block| block.group)
        .filter(|group| group.is_some())
        .collect();
    if let Some(first) = groups.iter().min() {
        let first = session.transcript.ledger.blocks_of(first.first_message()).start;
        let is_partner = |block: &Block| block.form == Form::Gone && groups.contains(&block.group);
        let partners = first
            .to(session.transcript.ledger.next_block())
            .filter(|&at| ours(at).is_some_and(is_partner));
        lost.extend(partners);
        crate::sort::sort_set(&mut lost);
    }
    lost
}

/// What is pinned: texts, and `#` for blocks.
#[cfg(test)]
pub(in crate::context) fn list_pins(session: &Session) -> Vec<String> {
    let texts = session.request.pins.texts.iter().map(|pin| pin.text.clone());
    texts.chain(session.request.pins.blocks.iter().map(|pin| format!("#{}", pin.from))).collect()
}

/// Whether a text goes out in front.
#[cfg(test)]
pub(in crate::context) fn fronts(session: &Session, text: &str) -> bool {
    session.request.pins.sent().any(|sent| sent == text)
}
