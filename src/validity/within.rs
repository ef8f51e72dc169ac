//! What stands in the model's own messages beside its calls: results of a provider's tools or of an SDK that keeps both
//! in one part, and requests for approval with their responses.

use super::mender::{Mender, Seen};
use super::piece::{At, Fate, answer};
use super::run::{Approval, Call};
use crate::model::{Fix, FixKind, Kind, Outline};

impl Mender {
    /// Whether a result in a message of the model's answers an open call, one before it in this message or an earlier
    /// one; else it goes.
    pub(super) fn awaits(&self, it: At<'_>, outline: &Outline, fixes: &mut Vec<Fix>) -> bool {
        let key = it.piece.id.trim();
        let open = |call: &Call| &*call.key == key;
        // The newest piece with this id is its call as a rule, and stands right before it.
        let before = outline.pieces.get(..usize::try_from(it.number).unwrap_or_default());
        let mut before = before.unwrap_or_default().iter().rev();
        let here = before.find(|piece| {
            matches!(piece.kind, Kind::Call | Kind::Result) && piece.id.trim() == key
        });
        let here = here.is_some_and(|piece| piece.kind == Kind::Call);
        let earlier = self.run.as_ref().is_some_and(|run| run.open.iter().any(open))
            || self.waiting.get(key).is_some_and(|calls| !calls.is_empty());
        if !here && !earlier {
            let message =
                format!("no call before it has the id \"{key}\", or it is answered already");
            fixes.push(it.fix(it.drop(), "I2", &message));
            return false;
        }
        true
    }

    /// Such a result, with its call: it stays where it is.
    pub(super) fn within(&mut self, at: At<'_>, seen: &mut Seen) {
        let Some(call) = self.take(at.piece, at.piece.id.trim()) else {
            let message = format!("the call \"{}\" is answered already", at.piece.id.trim());
            seen.fix(at, at.drop(), "I1", &message);
            return;
        };
        seen.belongs(at, call.group, (call.message, call.piece));
        answer(at, &call, seen);
    }

    /// A request for approval stands with the call that it asks for.
    pub(super) fn ask(&mut self, at: At<'_>, seen: &mut Seen) {
        let key = at.piece.id.trim();
        let Some(run) = self.run.as_mut().filter(|run| run.keys.contains_key(key)) else {
            let message =
                format!("approval is asked for \"{key}\", which no call before it has as its id");
            seen.fix(at, at.drop(), "I4", &message);
            return;
        };
        // The call that is answered already went out with the id it had, or this one follows it.
        let Some(call) = run.open.iter().rev().find(|call| &*call.key == key) else { return };
        if *call.wire != *at.piece.id {
            let kind = FixKind::Rename { piece: at.number, id: call.wire.clone().into() };
            seen.fix(at, kind, "I5", "the id is not the one with which its call goes out");
        }
        run.approvals
            .push(Approval { id: at.piece.name.clone(), call: (call.message, call.piece) });
    }

    /// A response of approval stands directly behind the turn that asked: there the SDK acts on it.
    pub(super) fn decide(&mut self, at: At<'_>, seen: &mut Seen) -> Fate {
        let run = self.run.as_mut().filter(|run| run.answering);
        let asked = run.and_then(|run| {
            let asked = run.approvals.iter().find(|asked| asked.id == at.piece.name)?.call;
            if let Some(call) = run.open.iter_mut().find(|call| (call.message, call.piece) == asked)
            {
                call.decided = true;
            }
            Some((run.start, asked))
        });
        let Some((group, call)) = asked else {
            let message =
                format!("approval \"{}\" is not asked for by the turn before it", at.piece.name);
            seen.fix(at, at.drop(), "I4", &message);
            return Fate::Dropped;
        };
        seen.belongs(at, group, call);
        Fate::Kept
    }
}
