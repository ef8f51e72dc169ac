//! Results and approvals inside the model's own messages: results of a provider's tools or of an SDK that keeps both
//! in one part, and requests for approval with their responses.

use super::findings::Findings;
use super::open_calls::By;
use super::piece::{At, Fate, fix, key, shown, their_key};
use super::repairer::Repairer;
use super::results::answer;
use super::run::{Approval, Run};
use crate::hash_index::ByName;
use crate::model::{Fix, FixKind, GroupId, Kind, Outline, Piece, Place};

impl Repairer {
    /// Follows the calls and results of a message of the model's: a result that answers none that is open then goes.
    /// `open` counts, by id, what is open at this place; a second scope says which ids this message has called.
    #[inline(never)]
    pub(super) fn awaits(
        &self,
        it: At<'_>,
        open: &mut ByName<'static>,
        fixes: &mut Vec<Fix>,
    ) -> bool {
        let key = key(it.piece);
        let run = self.run.as_ref().filter(|run| run.keys.has(&key));
        let before = open.get(0, &key).unwrap_or_else(|| match run {
            Some(run) => run.open.count(&key),
            None => self.waiting.count(&key),
        });
        if it.piece.kind == Kind::Call {
            // A new turn that uses an id again takes it over.
            let more = open.has(1, &key) || run.is_some() && self.continues();
            open.insert(
                0,
                String::from(key.clone()),
                if more { before.saturating_add(1) } else { 1 },
            );
            open.insert(1, String::from(key), 0);
            return true;
        }
        if before == 0 {
            let message = format!(
                "no call before it has the id \"{}\", or it is answered already",
                shown(&key)
            );
            fixes.push(it.fix(it.drop(), "I2", &message));
            return false;
        }
        open.insert(0, String::from(key), before.saturating_sub(1));
        true
    }

    /// A step goes out as a message of its own. Where it would be one of reasoning alone, or one that may not stand before
    /// the next step's, the two go out as one.
    #[inline(never)]
    pub(super) fn steps(&self, outline: &Outline, kept: &mut Vec<At<'_>>, seen: &mut Findings) {
        let rules = self.provider.rules();
        let (mut start, mut calls, mut thinks) = (0usize, false, true);
        let mut step = kept.first().map_or((0, 0), |it| it.piece.step);
        let mut steps = outline.pieces.iter().map(|piece| piece.step).peekable();
        // Where steps start that go out as one with those before them, some if one of them calls.
        let mut joins: Vec<u32> = Vec::new();
        for (number, it) in kept.iter().enumerate() {
            let mut rule = None;
            if it.piece.step != step {
                // The results of a step that calls follow it, so the next step may be a message of its own.
                let alone = thinks && !self.runs();
                rule =
                    (!calls && (alone || rules.bridges)).then_some(if alone { "I6" } else { "I9" });
                // Steps of which nothing is left, too.
                while let Some(next) = steps.next_if(|next| *next <= it.piece.step) {
                    if next > step && (rule.is_some() || !calls && rules.together) {
                        joins.extend(next.0..next.1);
                        step = next;
                    }
                }
                step = it.piece.step;
                if rule.is_none() {
                    (start, calls, thinks) = (number, false, true);
                }
            }
            calls |= matches!(it.piece.place, Place::Tool(_));
            // A call that the provider runs may turn out to have no result, and go.
            thinks &= it.piece.kind == Kind::Thinking || it.piece.is_provider_call();
            if calls || rule.is_some() {
                for part in joins.drain(..) {
                    let message = "two steps would go out as two messages that the provider does not take; they must be one";
                    let (place, rule) = (Some(Place::Part(part)), rule.unwrap_or("I18"));
                    seen.fixes.push(fix(it.index, place, FixKind::Turn, rule, message.into()));
                }
            }
        }
        let is_thinking = |at: &At<'_>| at.piece.kind == Kind::Thinking;
        if !self.runs() && kept.iter().skip(start).all(is_thinking) {
            for at in kept.drain(start..) {
                seen.fix(at, at.drop(), "I6", "reasoning is all that the last step holds");
            }
        }
    }

    /// Such a result, with its call: it stays where it is.
    #[inline(never)]
    pub(super) fn within(&mut self, at: At<'_>, seen: &mut Findings) {
        let Some(call) = self.take(at.piece, &key(at.piece)) else {
            let message = format!("the call \"{}\" is answered already", at.piece.id.trim());
            seen.fix(at, at.drop(), "I1", &message);
            return;
        };
        seen.belongs(at, call.group, Some((call.message, call.piece)));
        answer(at, &call, seen);
    }

    /// Whether a request for approval stands with the call that it asks for; else it goes.
    #[inline(never)]
    pub(super) fn asks(&self, it: At<'_>, outline: &Outline, fixes: &mut Vec<Fix>) -> bool {
        let key = it.piece.id.trim();
        let is_it = |piece: &Piece| piece.kind == Kind::Call && piece.id.trim() == key;
        let earlier = self.run.as_ref().filter(|_| self.continues());
        let is_placed =
            outline.pieces.iter().any(is_it) || earlier.is_some_and(|run| wire(run, key).is_some());
        if !is_placed {
            let message = format!("approval is asked for \"{key}\", which is no call's id");
            fixes.push(it.fix(it.drop(), "I4", &message));
        }
        is_placed
    }

    /// Whether the run has a call with the piece's id.
    pub(super) fn called(&self, at: At<'_>) -> bool {
        self.run.as_ref().is_some_and(|run| wire(run, at.piece.id.trim()).is_some())
    }

    /// A request for approval: a response may follow, and it goes out with its call's id.
    #[inline(never)]
    pub(super) fn ask(&mut self, at: At<'_>, seen: &mut Findings) {
        let key = at.piece.id.trim();
        let Some(run) = &mut self.run else { return };
        let Some(wire) = wire(run, key).map(Box::<str>::from) else { return };
        if *wire != *at.piece.id {
            let kind = FixKind::Rename { piece: at.number, id: wire.clone().into() };
            seen.fix(at, kind, "I5", "the id is not the one with which its call goes out");
        }
        let open = if wire.is_empty() {
            run.open.iter_mut().rev().find(|call| call.wire.is_empty())
        } else {
            run.open.get_mut(By::Wire(&wire))
        };
        let call = open.map(|call| {
            call.asked = true;
            (call.message, call.piece)
        });
        run.approvals.push(Approval { id: at.piece.name.clone(), call });
    }

    /// A response of approval stands directly after the turn that asked: there the SDK acts on it.
    #[inline(never)]
    pub(super) fn decide(&mut self, at: At<'_>, seen: &mut Findings) -> Fate {
        let run = self.run.as_mut().filter(|run| run.answering);
        let asked = run.and_then(|run| {
            let asked = run.approvals.iter().find(|asked| asked.id == at.piece.name)?.call;
            if let Some(call) =
                run.open.iter_mut().find(|call| asked == Some((call.message, call.piece)))
            {
                call.decided = Some(at.index);
            }
            Some((run.start, asked))
        });
        let Some((group, call)) = asked else {
            let message =
                format!("approval \"{}\" is not asked for by the turn before it", at.piece.name);
            seen.fix(at, at.drop(), "I4", &message);
            return Fate::Dropped;
        };
        seen.belongs(at, GroupId::starting_at(group), call);
        Fate::Kept
    }
}

/// The id with which the newest call of a run with this one goes out, whoever runs its tool.
fn wire<'r>(run: &'r Run, id: &str) -> Option<&'r str> {
    run.keys.wire(id).or_else(|| run.keys.wire(&their_key(id)))
}
