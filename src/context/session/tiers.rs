//! Tiers of a history, as `AIClaw` loads it (I23): the newest turns whole, those before them with short bodies, of the older
//! ones the question and the last answer.

use litemap::LiteMap;

use crate::context::session::Session;
use crate::context::session::take_decision::take_decision;
use crate::context::session::tier_options::Tiers;
use crate::model::{Block, BlockId, Form, GroupId, Kind, MessageId, Role};
use crate::prune::{Change, Decision, Rule, Shorten, Writer as _};

/// Takes from each turn what its tier leaves out. What may not leave the request stays whole, and what it
/// goes with stays.
#[inline(never)]
pub(in crate::context) fn apply_tiers(session: &mut Session, tiers: Tiers) -> Decision {
    let newest = session.transcript.ledger.messages.last().map_or(0, |message| message.turn);
    let mut decision = Decision::default();
    let mut kept_groups: LiteMap<GroupId, ()> = LiteMap::new();
    for block in
        session.transcript.ledger.blocks.iter().filter(|it| !it.mask.may_drop && it.group.is_some())
    {
        kept_groups.insert(block.group, ());
    }
    // The model's last words in the turn that is looked at: the message, and whether what stood after this block stays.
    let (mut answered, mut answer, mut led_to) = (None, MessageId::NONE, false);
    for at in BlockId::FIRST.to(session.transcript.ledger.next_block()).rev() {
        let Some(block) = session.transcript.ledger.block(at) else { continue };
        let Some(message) = session.transcript.ledger.message(block.message) else {
            continue;
        };
        let age = newest.saturating_sub(message.turn);
        let is_free = block.mask.may_drop && block.form == Form::Full;
        if age < tiers.full || !is_free {
            continue;
        }
        let how = if age < tiers.full.saturating_add(tiers.light) {
            let is_read = block.kind == Kind::Result && !block.mask.may_edit;
            let is_fixed = block.mask.atomic || is_read || is_signed(session, at, block);
            tiers.lightens(block).filter(|_| !is_fixed)
        } else {
            let is_answer = block.kind == Kind::Text && message.role == Role::Assistant;
            let answers = is_answer
                && (answered != Some(message.turn) || (led_to && answer == block.message));
            if answers {
                (answered, answer) = (Some(message.turn), block.message);
            }
            let asked = message.role == Role::User && block.kind != Kind::Result;
            // Reasoning that its provider wants with what it led to stays with the answer.
            let tied = block.kind == Kind::Thinking && !block.mask.may_edit && led_to;
            let stays = asked || tied || kept_groups.contains_key(&block.group) || answers;
            led_to = stays && !asked;
            (!stays).then_some(Shorten::Gone)
        };
        let Some(how) = how else { continue };
        let (rule, before) = (Rule::Prune, block.now);
        decision.changes.push(Change { block: at, rule, before });
        if how == Shorten::Gone {
            session.transcript.ledger.set_form(at, Form::Gone, 0);
        } else {
            let now = session
                .decisions
                .placeholders
                .shorten(&session.transcript.ledger, at, how)
                .unwrap_or_else(|| before.saturating_sub(session.transcript.ledger.at_end(at)));
            session.transcript.ledger.set_form(at, Form::Capped, now);
        }
    }
    take_decision(session, decision.clone());
    decision
}

/// The block carries what its provider checks.
fn is_signed(session: &Session, at: BlockId, block: &Block) -> bool {
    let piece = at.since(session.transcript.ledger.blocks_of(block.message).start);
    let outline = session.transcript.outline(block.message);
    outline.and_then(|it| it.pieces.get(piece as usize)).is_none_or(|piece| piece.opaque)
}
