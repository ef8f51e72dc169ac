//! Masks: the changes that a block allows, by its kind and place.

use std::ops::Range;

use crate::context::options::Thinking;
use crate::context::session::Session;
use crate::model::{Kind, Mask, NONE, Piece, Role};

impl Session {
    /// The newest reasoning with all beside it, if any is sent.
    pub(in crate::context) fn held_turn(&self) -> Range<u32> {
        let held =
            self.repairs.mender.intact().filter(|_| self.options.thinking != Some(Thinking::None));
        held.unwrap_or(0..0)
    }

    /// Whether reasoning stays as it is, is another matter now.
    pub(in crate::context) fn hold_again(&mut self) {
        self.hold(self.transcript.user_request, self.held_turn());
    }

    /// The last request of the user, and the newest reasoning with all beside it, may not change; what they were before may.
    pub(in crate::context) fn hold(&mut self, request: u32, held: Range<u32>) {
        if request == self.transcript.user_request && held == self.transcript.protected {
            return;
        }
        let before = (
            std::mem::replace(&mut self.transcript.user_request, request),
            self.transcript.protected.clone(),
        );
        self.transcript.protected = held.clone();
        // Calls that were signed in the turn before are free now.
        let signed = self.dialect.provider.signs_calls() && before.0 != NONE;
        let turn = if signed { before.0..request } else { 0..0 };
        for message in before.1.chain(held).chain([before.0, request]).chain(turn) {
            self.renew_masks(message);
        }
    }

    /// Gives the blocks of a message the masks that hold now.
    pub(in crate::context) fn renew_masks(&mut self, message: u32) {
        let Some(outline) = self.transcript.outlines.get(message as usize) else { return };
        let fixed =
            message == self.transcript.user_request || self.transcript.protected.contains(&message);
        let blocks = self.transcript.ledger.blocks_of(message);
        let masks: Vec<Mask> = outline
            .pieces
            .iter()
            .zip(blocks.clone())
            .map(|(piece, at)| {
                let tied = self
                    .transcript
                    .ledger
                    .blocks
                    .get(at as usize)
                    .is_some_and(|it| it.group != NONE);
                let fixed = fixed || self.pins.hold(at);
                if fixed { Mask::FIXED } else { self.mask(message, outline.role, piece, tied) }
            })
            .collect();
        for (mask, at) in masks.into_iter().zip(blocks) {
            if let Some(block) = self.transcript.ledger.blocks.get_mut(at as usize) {
                block.mask = mask;
            }
        }
    }

    /// What may be done with a piece wherever it stands: the system's text stays, a person's stays verbatim or goes, and
    /// what carries provider data goes whole or not at all; but calls that were signed in an earlier turn are read no more.
    /// `tied`: it stays or goes with others.
    pub(in crate::context) fn mask(
        &self,
        message: u32,
        role: Role,
        piece: &Piece,
        tied: bool,
    ) -> Mask {
        if role == Role::System || piece.fixed {
            return Mask::FIXED;
        }
        let earlier = self.dialect.provider.signs_calls()
            && self.transcript.user_request != NONE
            && message < self.transcript.user_request;
        let verbatim = match piece.kind {
            Kind::Text => {
                role == Role::User || (piece.opaque && self.dialect.provider.signs_calls())
            }
            Kind::Call => piece.opaque && (!earlier || piece.is_provider_run()),
            Kind::Result => piece.opaque,
            Kind::Thinking => tied || (piece.opaque && self.dialect.provider.signs_calls()),
            Kind::Other => true,
            Kind::Image => false,
        };
        // Where it may leave, it leaves whole: what is signed is not cut.
        let atomic = piece.kind == Kind::Thinking && piece.opaque;
        Mask { may_edit: !verbatim, may_drop: true, atomic }
    }
}
