//! Gemini's signatures (I20): in the current turn the first call of each step is signed.

use super::piece::{At, fix};
use super::repairer::Repairer;
use crate::model::{Fix, FixKind, Kind, Outline, Role, Violation};

const MESSAGE: &str = "the first call of a step in the current turn has no thought signature: pass back the one that came \
    with it; where it is lost, the documented sentinel is the last resort, at a cost in quality";

impl Repairer {
    /// The model speaks.
    #[inline(never)]
    pub(super) fn sign(&mut self, kept: &[At<'_>]) {
        // Parallel calls carry one signature, on the first: the others are unsigned as the model sent them.
        let first = kept.iter().find(|at| at.piece.is_host_call());
        if let Some(at) = first.filter(|at| self.provider.signs_calls() && !at.piece.opaque) {
            self.unsigned.0.push((at.index, at.number, at.piece.place));
        }
    }

    /// A person speaks: a new turn begins.
    pub(super) fn begin_turn(&mut self, outline: &Outline) {
        let speaks = |kind| matches!(kind, Kind::Text | Kind::Image);
        if outline.role == Role::User && outline.pieces.iter().any(|piece| speaks(piece.kind)) {
            self.unsigned.0.clear();
        }
    }

    /// What signs them.
    pub(super) fn signatures(&self) -> impl Iterator<Item = Fix> {
        self.unsigned.0.iter().map(|(index, piece, place)| {
            fix(*index, Some(*place), FixKind::Sign { piece: *piece }, "I20", MESSAGE.into())
        })
    }

    /// The rules they break.
    pub(super) fn missing_signatures(&self) -> impl Iterator<Item = Violation> {
        self.signatures().map(|fix| fix.violation)
    }
}
