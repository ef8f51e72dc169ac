//! All results of a turn in one message (I19): where one is missing or late, those that stand in place go along into a
//! message of ours directly after the calls.

use std::rc::Rc;

use super::piece::{At, fix, in_parts};
use super::repairer::Repairer;
use super::run::{Placed, Run};
use crate::model::{Fix, FixKind, Made};
use crate::validity::call::Call;

impl Repairer {
    /// Whether the provider wants the results of a turn in one message, and the host's messages hold several.
    pub(super) fn is_together(&self) -> bool {
        self.provider.rules().together && !self.single
    }

    /// A result stands in place.
    pub(super) fn place(&mut self, at: At<'_>, call: &Call) {
        if !self.is_together() {
            return;
        }
        let misnamed = self.is_misnamed(at, call);
        let Some(run) = &mut self.run else { return };
        run.misnamed |= misnamed;
        run.placed.push(Placed {
            message: at.index,
            piece: at.number,
            place: at.piece.place,
            wire: Rc::clone(&call.wire),
            call: Rc::clone(&call.traits),
        });
    }

    /// A result that names another tool than its call, where names pair them and its host sends that name.
    pub(super) fn is_misnamed(&self, at: At<'_>, call: &Call) -> bool {
        let named = in_parts(at.piece) || !at.piece.name.is_empty();
        self.provider.rules().together && named && at.piece.name != call.traits.name
    }

    /// A turn's results must move into one message: not all are there, or one is not of the tool that was called.
    pub(super) fn must_gather(run: &Run) -> bool {
        run.waits() || run.misnamed
    }

    /// The results in place, as they move; none once all calls have theirs, or once they have moved.
    pub(super) fn gather(&self, run: &Run) -> Vec<Fix> {
        let rule = self.provider.rules().names.late;
        let message = "not all results of the turn stand in one message, directly after its calls";
        let mut fixes = Vec::new();
        for Placed { message: index, piece, place, wire, call } in &run.placed {
            let drop = FixKind::Drop { piece: *piece };
            fixes.push(fix(*index, Some(*place), drop, rule, message.into()));
            let (id, name) = (wire.to_string(), call.name.clone().into());
            let made = Made::Moved { id, name, message: *index, piece: *piece };
            let mut moved = fix(*index, Some(*place), FixKind::After(made), rule, message.into());
            moved.index = run.end;
            fixes.push(moved);
        }
        fixes
    }
}

/// The fixes with all results after one message as one.
pub(super) fn joined(fixes: Vec<Fix>) -> Vec<Fix> {
    let mut out: Vec<Fix> = Vec::with_capacity(fixes.len());
    for fix in fixes {
        let Fix {
            index,
            kind: FixKind::After(made @ (Made::Result { .. } | Made::Moved { .. })),
            violation,
        } = fix
        else {
            out.push(fix);
            continue;
        };
        let after = out.iter_mut().filter(|earlier| earlier.index == index);
        let mut lists = after.filter_map(|earlier| {
            if let FixKind::After(Made::Results(list)) = &mut earlier.kind {
                Some(list)
            } else {
                None
            }
        });
        if let Some(list) = lists.next() {
            list.push(made);
            continue;
        }
        let kind = FixKind::After(Made::Results(vec![made]));
        out.push(Fix { index, kind, violation });
    }
    out
}
