//! A result finds its call, or goes.

use super::NO_OUTPUT;
use super::findings::Findings;
use super::open_calls::By;
use super::piece::{At, Fate, in_parts, key, shown, unicode};
use super::repairer::Repairer;
use super::run::Run;
use crate::model::{FixKind, GroupId, Made, MessageId, Piece, Place};
use crate::validity::call::Call;

impl Repairer {
    pub(super) fn result(&mut self, at: At<'_>, seen: &mut Findings) -> Fate {
        let key = &*key(at.piece);
        let answering = self.run.as_ref().is_some_and(|run| run.answering);
        let Some(call) = self.take(at.piece, key) else {
            if answering && let Some(group) = self.refer() {
                seen.belongs(at, group, None);
                return Fate::Kept;
            }
            self.refuse(at, key, answering, seen);
            return Fate::Dropped;
        };
        seen.belongs(at, call.group, Some((call.message, call.piece)));
        if call.traits.pending {
            answer(at, &call, seen);
            return Fate::Kept;
        }
        if answering && call.anchor.is_none() {
            // Its host gathers the results of a turn, so only the name has to be put right.
            if self.single && self.is_misnamed(at, &call) {
                let message = "the result has the name of another tool than its call";
                self.again(at, Call { anchor: at.index, ..call }, message, seen);
                return Fate::Kept;
            }
            answer(at, &call, seen);
            self.place(at, &call);
            return Fate::Kept;
        }
        self.late(at, call, seen);
        Fate::Dropped
    }

    /// Drops a result that answers no open call.
    #[inline(never)]
    fn refuse(&mut self, at: At<'_>, key: &str, answering: bool, seen: &mut Findings) {
        let names = self.provider.rules().names;
        let key_shown = shown(key);
        let id = at.piece.id.trim();
        let other = |run: &mut Run| run.open.has(By::Wire(id));
        if answering && !id.is_empty() && self.run.as_mut().is_some_and(other) {
            let message = format!("the call \"{id}\" is of another kind than this result");
            seen.fix(at, at.drop(), "I15", &message);
            return;
        }
        let called = self.run.as_ref().is_some_and(|run| !run.keys.is_empty());
        let turn = self.is_together() && answering && called;
        if turn
            || self.ids.has(at.piece.id.trim())
            || self.run.as_ref().is_some_and(|run| run.keys.has(key))
        {
            let message =
                format!("the call \"{key_shown}\" is answered already, or its id was used again");
            seen.fix(at, at.drop(), names.again, &message);
        } else {
            let message = format!("no call before it has the id \"{key_shown}\"");
            seen.fix(at, at.drop(), names.orphan, &message);
        }
    }

    /// The open call that a result with this id answers; its `anchor` is set if it belongs to an earlier run.
    pub(super) fn take(&mut self, piece: &Piece, key: &str) -> Option<Call> {
        // Where one side has an id and the other none, the name tells.
        let named = in_parts(piece).then(|| {
            let name = &*piece.name;
            if piece.id.is_empty() { By::Name(name) } else { By::NameWithoutId(name) }
        });
        if let Some(run) = &mut self.run
            && (run.keys.has(key) || named.is_some_and(|name| run.open.has(name)))
        {
            // Two calls of one id: a result that is named goes to the tool of that name.
            let unnamed = !in_parts(piece) && piece.name.is_empty();
            let both = if unnamed { By::Key(key) } else { By::KeyAndName(key, &piece.name) };
            // A part that is call and result in one answers itself, whoever has the same id.
            let own = |call: &Call| match (call.traits.place, piece.place) {
                (Place::Tool(call), Place::Inner(result, _)) => call == result,
                _ => false,
            };
            // Only a result inside a part is looked for among all calls, from the last on: it stands after its own.
            let inside = matches!(piece.place, Place::Inner(..));
            let same = if inside { run.open.take_last(own) } else { None };
            let same = same.or_else(|| run.open.take(both));
            let same = same.or_else(|| run.open.take(By::Key(key)));
            let call = same.or_else(|| run.open.take(named?))?;
            return Some(Call {
                anchor: if run.answering { MessageId::NONE } else { run.end },
                ..call
            });
        }
        self.waiting.take(By::Key(key))
    }

    /// A result that comes after something else goes up to its call.
    #[inline(never)]
    fn late(&mut self, at: At<'_>, call: Call, seen: &mut Findings) {
        let message = format!(
            "the result of \"{}\" does not stand directly after its call",
            shown(&call.key)
        );
        if let Some(run) = self.run.as_ref().filter(|run| run.end == call.anchor) {
            // What stands in place goes along, once.
            seen.fixes.extend(self.gather(run));
        }
        if let Some(run) = self.run.as_mut().filter(|run| run.end == call.anchor) {
            run.placed.clear();
        }
        self.again(at, call, &message, seen);
    }

    /// A result goes out anew after the call's anchor, with the call's id and name. It is dropped and made again, since messages of the
    /// host's are never reordered.
    #[inline(never)]
    fn again(&self, at: At<'_>, call: Call, message: &str, seen: &mut Findings) {
        let rule = self.provider.rules().names.late;
        seen.fix(at, at.drop(), rule, message);
        let (id, name) = (call.wire.to_string(), call.traits.name.clone().into());
        let made = Made::Moved { id, name, message: at.index, piece: at.number };
        let mut fix = at.fix(FixKind::After(made), rule, message);
        fix.index = call.anchor;
        seen.fixes.push(fix);
    }

    /// A result may be that of a call after a reference, which we are not shown: the group of that reference.
    fn refer(&mut self) -> Option<GroupId> {
        let run = self.run.as_mut().filter(|run| run.references > 0)?;
        run.references = run.references.saturating_sub(1);
        Some(GroupId::starting_at(run.start))
    }
}

/// A result where it should be: with its call's id, with something in it.
pub(super) fn answer(at: At<'_>, call: &Call, seen: &mut Findings) {
    let piece = at.number;
    let optional = in_parts(at.piece) && (at.piece.id.is_empty() || call.wire.is_empty());
    if *at.piece.id != *call.wire && !optional {
        let message =
            format!("the id \"{}\" is not the one with which its call goes out", at.piece.id);
        let id = call.wire.to_string();
        seen.fix(at, FixKind::Rename { piece, id }, "I5", &message);
    }
    unicode(at, &mut seen.fixes);
    if at.piece.blank {
        // Dropped, it would leave its call without a result (I1).
        let kind = FixKind::Text { piece, text: Some(NO_OUTPUT.into()) };
        seen.fix(at, kind, "I6", "the result is empty");
    } else if at.piece.hollow != 0 {
        let kind = FixKind::Text { piece, text: None };
        seen.fix(at, kind, "I6", "nothing but white space is in a text of the result");
    }
}
