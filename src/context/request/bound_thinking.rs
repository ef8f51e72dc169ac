//! Bound thinking: newer models of Anthropic refuse reasoning once an earlier message has changed. Other models accept it after
//! a change, or take none.

use crate::context::options::Thinking;
use crate::context::request::last_request::Entry;
use crate::context::session::Session;
use crate::context::transcript::masks::mask_of;
use crate::format::Format;
use crate::model::{BlockId, Form, Kind};
use crate::prune::{Change, Rule};
use crate::validity::Provider;

/// After a change reasoning is void.
pub(in crate::context) fn binds_reasoning(session: &Session) -> bool {
    let thinking = session.options.thinking;
    let binds = |thinking| matches!(thinking, Thinking::Bound | Thinking::Drop);
    thinking.map_or_else(|| session.transcript.dialect.provider.binds_reasoning(), binds)
}

/// Reasoning after a change is bound to what is gone: it goes too, but for the newest, which only a hint saves.
/// True if something went.
#[inline(never)]
pub(in crate::context) fn drop_unbound_reasoning(
    session: &mut Session,
    entries: &[Entry],
    changed_at: usize,
) -> bool {
    if !binds_reasoning(session) {
        return false;
    }
    let mut after = Vec::new();
    for entry in entries.iter().skip(changed_at) {
        for message in entry.item.hosts() {
            after.extend(session.transcript.ledger.blocks_of(message));
        }
    }
    drop_reasoning(session, &after, Rule::BoundThinking)
}

/// All reasoning goes where the model takes none; and where it is bound from now on, but what stands before it has
/// changed already. True if something went.
pub(in crate::context) fn keep_reasoning(session: &mut Session) -> bool {
    let rebinds_reasoning = std::mem::take(&mut session.request.last.rebinds_reasoning);
    let rule = match session.options.thinking {
        Some(Thinking::None) => Rule::NoThinking,
        _ if rebinds_reasoning => Rule::BoundThinking,
        Some(Thinking::Drop) => {
            // What another option left to a hint.
            let unbound: Vec<BlockId> = session.decisions.unbound.keys().copied().collect();
            return drop_reasoning(session, &unbound, Rule::BoundThinking);
        }
        _ => return false,
    };
    let live = session.transcript.ledger.live().to_vec();
    drop_reasoning(session, &live, rule)
}

/// True if something went. What may not go, though it is void, is known to be so.
fn drop_reasoning(session: &mut Session, blocks: &[BlockId], rule: Rule) -> bool {
    let mut went = false;
    for &at in blocks {
        let Some(block) = session.transcript.ledger.block(at) else { continue };
        if block.kind != Kind::Thinking || block.form == Form::Gone {
            continue;
        }
        let before = block.now;
        if block.mask.may_edit || goes_too(session, at) {
            session.transcript.ledger.set_form(at, Form::Gone, 0);
            session.note(Change { block: at, rule, before });
            went = true;
        } else if rule == Rule::BoundThinking {
            // It may not go, like the newest (I10): `drop_hint` tells the provider to ignore it.
            session.decisions.unbound.insert(at, ());
        }
    }
    went
}

/// What is void goes where no hint is to save it, also the newest and what is pinned; only what stays with its calls stays.
fn goes_too(session: &Session, at: BlockId) -> bool {
    let Some(block) = session.transcript.ledger.block(at).filter(|_| drops_unbound(session)) else {
        return false;
    };
    let message = block.message;
    let first = session.transcript.ledger.blocks_of(message).start;
    let piece = at.since(first) as usize;
    let outline = session.transcript.outline(message);
    let found = outline.and_then(|it| Some((it.role, it.pieces.get(piece)?)));
    let tied = block.group.is_some();
    found.is_some_and(|(role, piece)| {
        mask_of(session, message, role, piece, tied, BlockId::NONE).may_edit
    })
}

fn drops_unbound(session: &Session) -> bool {
    session.options.thinking == Some(Thinking::Drop)
}

/// What the provider must be told so that it drops reasoning that an edit has unbound, instead of refusing the request:
/// members of what the host of this format sends as body and headers, as JSON.
pub(in crate::context) fn drop_hint(session: &Session) -> Option<&'static str> {
    if !needs_drop_hint(session) || drops_unbound(session) {
        return None;
    }
    match (session.transcript.dialect.provider, session.transcript.dialect.format) {
        // The SDK adds the header itself.
        (Provider::Anthropic, Format::AiSdk) => Some(
            r#"{"body":{"providerOptions":{"anthropic":{"thinking":{"blockBinding":{"prefixMismatchBehavior":"drop_block"}}}}}}"#,
        ),
        (Provider::Anthropic, _) => Some(
            r#"{"body":{"thinking":{"block_binding":{"prefix_mismatch_behavior":"drop_block"}}},"headers":{"anthropic-beta":"thinking-binding-controls-2026-08-01"}}"#,
        ),
        // InvokeModel takes the body of Messages, with the betas in it.
        (Provider::Bedrock, Format::Anthropic) => Some(
            r#"{"body":{"thinking":{"block_binding":{"prefix_mismatch_behavior":"drop_block"}},"anthropic_beta":["thinking-binding-controls-2026-08-01"]}}"#,
        ),
        (Provider::Bedrock, Format::AiSdk) => Some(
            r#"{"body":{"providerOptions":{"bedrock":{"additionalModelRequestFields":{"thinking":{"block_binding":{"prefix_mismatch_behavior":"drop_block"}},"anthropic_beta":["thinking-binding-controls-2026-08-01"]}}}}}"#,
        ),
        // Converse hands these on to the model; there is no header of its own.
        (Provider::Bedrock, _) => Some(
            r#"{"body":{"additionalModelRequestFields":{"thinking":{"block_binding":{"prefix_mismatch_behavior":"drop_block"}},"anthropic_beta":["thinking-binding-controls-2026-08-01"]}}}"#,
        ),
        _ => None,
    }
}

/// Reasoning is sent that is bound to what is gone: the provider must be told to drop it.
pub(in crate::context) fn needs_drop_hint(session: &Session) -> bool {
    let lives =
        |at: &BlockId| session.transcript.ledger.block(*at).is_some_and(|b| b.form != Form::Gone);
    binds_reasoning(session) && session.decisions.unbound.keys().any(lives)
}

/// Reasoning may be bound that was not before: what stands before it counts as changed if an epoch was ever opened.
pub(in crate::context) fn rebind_reasoning(session: &mut Session, bound: bool) {
    session.request.last.rebinds_reasoning |=
        !bound && binds_reasoning(session) && session.request.last.epoch > 0;
}
