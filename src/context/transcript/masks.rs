//! Masks: the changes that a block allows, by its kind and place.

use crate::context::options::Thinking;
use crate::context::request::shorten::piece_of;
use crate::context::session::Session;
use crate::model::{BlockId, GroupId, Kind, Mask, MessageId, Piece, Place, Role, Span, setting};

/// The newest reasoning with all beside it, if any is sent.
pub(in crate::context) fn protected_turn(session: &Session) -> Span<MessageId> {
    let protected = session
        .repairs
        .repairer
        .intact()
        .filter(|_| session.options.thinking != Some(Thinking::None));
    protected.unwrap_or_default()
}

/// Whether reasoning stays as it is, is another matter now.
pub(in crate::context) fn renew_protection(session: &mut Session) {
    protect(session, session.transcript.user_request, protected_turn(session));
}

/// The last request of the user, and the newest reasoning with all beside it, may not change; what they were before may.
pub(in crate::context) fn protect(
    session: &mut Session,
    request: MessageId,
    protected: Span<MessageId>,
) {
    if request == session.transcript.user_request && protected == session.transcript.protected {
        return;
    }
    let before = (
        std::mem::replace(&mut session.transcript.user_request, request),
        session.transcript.protected,
    );
    session.transcript.protected = protected;
    // Calls that were signed in the turn before are free now.
    let signed = session.transcript.dialect.provider.signs_calls() && before.0.is_some();
    let turn = if signed { before.0.to(request) } else { Span::default() };
    for message in before.1.chain(protected).chain([before.0, request]).chain(turn) {
        renew_masks(session, message);
    }
}

/// Gives the blocks of a message the masks that hold now.
pub(in crate::context) fn renew_masks(session: &mut Session, message: MessageId) {
    let Some(outline) = session.transcript.outline(message) else { return };
    let fixed = message == session.transcript.user_request
        || session.transcript.protected.contains(message);
    let blocks = session.transcript.ledger.blocks_of(message);
    let masks: Vec<Mask> = outline
        .pieces
        .iter()
        .zip(blocks)
        .map(|(piece, at)| {
            let block = session.transcript.ledger.block(at);
            let (group, pair) =
                block.map_or((GroupId::NONE, BlockId::NONE), |it| (it.group, it.pair));
            let fixed = fixed || session.request.pins.hold(at);
            let mask = || mask_of(session, message, outline.role, piece, group.is_some(), pair);
            if fixed { Mask::FIXED } else { mask() }
        })
        .collect();
    for (mask, at) in masks.into_iter().zip(blocks) {
        if let Some(block) = session.transcript.ledger.blocks.get_mut(at.index()) {
            block.mask = mask;
        }
    }
}

/// What may be done with a piece wherever it stands: the system's text stays, a person's stays verbatim or goes, and
/// what carries provider data goes whole or not at all; but calls that were signed in an earlier turn are read no more.
/// `tied`: it stays or goes with others. `pair`: of a result its call.
///
/// What a program calls, and what it reads, stays as it is: a program that runs on would read something else, and one that is run again from
/// its start would take another way.
pub(in crate::context) fn mask_of(
    session: &Session,
    message: MessageId,
    role: Role,
    piece: &Piece,
    tied: bool,
    pair: BlockId,
) -> Mask {
    let passes = piece.place == Place::Message(setting::TURN);
    if (role == Role::System && !passes) || piece.fixed {
        return Mask::FIXED;
    }
    let earlier = session.transcript.dialect.provider.signs_calls()
        && session.transcript.user_request.is_some()
        && message < session.transcript.user_request;
    let verbatim = match piece.kind {
        Kind::Text => {
            role == Role::User
                || (piece.opaque && session.transcript.dialect.provider.signs_calls())
        }
        Kind::Call => {
            !piece.caller.is_empty() || piece.opaque && (!earlier || piece.is_provider_run())
        }
        Kind::Result => {
            let call = piece_of(session, pair);
            let reads = |piece: &Piece| !piece.caller.is_empty();
            piece.opaque || reads(piece) || call.is_some_and(reads)
        }
        Kind::Thinking => {
            tied || (piece.opaque && session.transcript.dialect.provider.signs_calls())
        }
        Kind::Other => true,
        Kind::Image => false,
    };
    // Where it may leave, it leaves whole: what is signed is not cut.
    let atomic = piece.kind == Kind::Thinking && piece.opaque;
    Mask { may_edit: !verbatim, may_drop: true, atomic }
}
