//! The model speaks: its messages make runs, and a run has calls.

use std::rc::Rc;

use super::CONTINUE;
use super::findings::Findings;
use super::open_calls::By;
use super::piece::{At, Fate, at, fix, is_nameless, key, plain, their_key};
use super::repairer::Repairer;
use super::run::{Reasoning, Room, Run};
use crate::hash_index::ByName;
use crate::model::{
    FixKind, GroupId, Kind, Made, MadePart, MessageId, Outline, Piece, Place, Role, Span,
    begins_with_result, last_speaker,
};
use crate::validity::call::Call;

impl Repairer {
    #[inline(never)]
    pub(super) fn assistant(&mut self, index: MessageId, outline: &Outline, seen: &mut Findings) {
        let mut fixes = std::mem::take(&mut seen.fixes);
        let has_within = outline.pieces.iter().any(|it| it.within);
        let mut open = ByName::default();
        let mut kept: Vec<At<'_>> = at(index, outline)
            .filter(|at| {
                let answers = at.piece.kind == Kind::Result && at.piece.within;
                if answers {
                    return self.awaits(*at, &mut open, &mut fixes);
                }
                // Calls are counted only for results inside the message: others are paired later.
                if has_within && at.piece.kind == Kind::Call {
                    self.awaits(*at, &mut open, &mut fixes);
                }
                if at.piece.is_approval() {
                    return self.asks(*at, outline, &mut fixes);
                }
                if at.piece.kind == Kind::Result {
                    let message =
                        "a result stands in an assistant message, not in one of the user's";
                    fixes.push(at.fix(at.drop(), "I2", message));
                    return false;
                }
                plain(*at, &mut fixes) == Fate::Kept
            })
            .collect();
        seen.fixes = fixes;
        let only_thinking = kept.iter().all(|at| at.piece.kind == Kind::Thinking);
        // A message that loses all but its reasoning does not go out, so neither does the reasoning.
        let loses = kept.len() < outline.pieces.len();
        if only_thinking && (loses || !self.runs()) {
            for at in kept {
                seen.fix(at, at.drop(), "I6", "reasoning is all that the message holds");
            }
            return;
        }
        self.steps(outline, &mut kept, seen);
        let (Some(&first), Some(end)) = (kept.first(), kept.last()) else { return };
        let end_step = end.piece.step;
        let speaker = last_speaker(kept.iter().rev().map(|at| at.piece), outline.role);
        let waits = self.run.as_ref().is_some_and(Run::waits);
        // Missing results will be put before it, and with them the roles alternate.
        if !waits {
            self.take_turn(index, Role::Assistant, false, seen);
        }
        let calls = kept.iter().any(|at| at.piece.kind == Kind::Call);
        self.called |= calls;
        seen.ties_reasoning = self.provider.ties_reasoning(self.called);
        self.sign(&kept);
        self.follow(index, &kept, seen);
        let run = self.run_for(index, first, seen);
        run.end = index;
        run.until = index;
        let solid = |at: &At<'_>| at.piece.kind != Kind::Thinking && !at.piece.is_provider_call();
        let is_solid = kept.iter().any(solid);
        // Its last step may go out as a message of its own.
        let last = kept.iter().rev().take_while(|at| at.piece.step == end_step);
        let ends_solid = last.into_iter().any(solid);
        run.has_solid |= is_solid;
        let (own, beside) = (GroupId::starting_at(run.start), run.beside);
        let mut trailing = std::mem::take(&mut run.trailing);
        // What a program of an earlier turn calls stays or goes with that program.
        let group = kept.iter().find_map(|at| self.program(at.piece)).unwrap_or(own);
        seen.groups.fill(group);
        let binds = self.provider.binds_reasoning();
        let mut intact = self.intact.as_ref().map(|it| it.start).filter(|start| *start == beside);
        let mut asks = Vec::new();
        for at in kept {
            if at.piece.kind == Kind::Thinking {
                // The newest turn with reasoning must be sent back as it was, with all that stands beside it (I10).
                if binds && self.provider.merges() {
                    intact = Some(beside);
                }
                // Where messages are not merged, each one ends by itself, and words after the reasoning may be in it.
                if self.provider.merges() || !ends_solid {
                    let (message, piece, place) = (index, at.number, at.piece.place);
                    trailing.push(Reasoning { message, piece, place, by_id: at.piece.by_id });
                }
                continue;
            }
            // What the provider keeps by its id asks for what follows by its id (I14).
            let message = "the item after the reasoning has lost the id by which it is known";
            let unasked = trailing.iter().filter(|it| it.by_id && !at.piece.by_id);
            seen.fixes.extend(unasked.map(|it| it.dropped("I14", message)));
            // A call that the provider runs may go again: what is before it is then at the end.
            let stays = at.piece.kind != Kind::Call || at.piece.is_host_call();
            trailing.retain(|it| !stays && (!it.by_id || at.piece.by_id));
            let refers = u32::from(at.piece.place == Place::Message("item_reference"));
            if let Some(run) = &mut self.run {
                run.references = run.references.saturating_add(refers);
            }
            match at.piece.kind {
                Kind::Call => self.call(at, group, seen),
                Kind::Result => self.within(at, seen),
                // One that stands before its call waits for it.
                Kind::Other if at.piece.is_approval() && !self.called(at) => asks.push(at),
                Kind::Other if at.piece.is_approval() => self.ask(at, seen),
                Kind::Text | Kind::Thinking | Kind::Image | Kind::Other => {}
            }
        }
        for at in asks {
            self.ask(at, seen);
        }
        if let Some(run) = &mut self.run {
            run.trailing = trailing;
        }
        // An answer without reasoning to what the user has said since is the newest turn now.
        let goes_on = |it: &Span<MessageId>| !is_solid || self.spoke < it.end;
        self.intact =
            intact.map(|start| start.to(index.next())).or_else(|| self.intact.filter(goes_on));
        self.end_assistant(index, speaker, seen);
    }

    /// Results that stand in it go out after it: what the model says next is another turn of its.
    fn end_assistant(&mut self, index: MessageId, speaker: Role, seen: &mut Findings) {
        self.record_speaker(index, speaker);
        if speaker != Role::Assistant {
            self.finish_run(seen);
        }
    }

    /// Whether another assistant message continues the newest run.
    pub(super) fn continues(&self) -> bool {
        self.runs() && !self.apart && self.run.as_ref().is_some_and(|run| run.growing)
    }

    /// The run that an assistant message continues or opens.
    #[inline(never)]
    fn run_for(&mut self, index: MessageId, first: At<'_>, seen: &mut Findings) -> &mut Run {
        let continues = self.continues();
        let beside = self.run.as_ref().filter(|run| run.growing).map(|run| run.beside);
        if !continues {
            let rule = self.provider.rules().names.trailing;
            let ends = self.run.as_ref().filter(|run| run.growing && !self.runs());
            seen.fixes.extend(ends.into_iter().flat_map(|run| run.cut_trailing(rule)));
            self.close(seen);
        }
        seen.may_cut = !continues;
        let before = (self.last, self.intact);
        let room = &mut self.room;
        self.run.get_or_insert_with(|| {
            let Room { open, keys, placed } = std::mem::take(room);
            Run {
                start: index,
                beside: beside.unwrap_or(index),
                end: index,
                until: index,
                growing: true,
                answering: true,
                open,
                keys,
                approvals: Vec::new(),
                trailing: Vec::new(),
                placed,
                misnamed: false,
                references: 0,
                has_solid: false,
                head: (first.piece.kind, first.piece.place),
                before,
            }
        })
    }

    #[inline(never)]
    fn call(&mut self, at: At<'_>, group: GroupId, seen: &mut Findings) {
        let At { index, number, piece } = at;
        let key = key(piece);
        let wire = if is_nameless(piece) {
            Rc::default()
        } else {
            self.ids.assign(piece.id.trim(), self.provider)
        };
        if *wire != *piece.id {
            let message =
                format!("the id \"{}\" is empty, not legal, or used by an earlier call", piece.id);
            let kind = FixKind::Rename { piece: number, id: wire.to_string() };
            seen.fix(at, kind, "I5", &message);
        }
        let Some(run) = &mut self.run else { return };
        let key = if *wire == *key { Rc::clone(&wire) } else { key.into() };
        run.keys.insert(Rc::clone(&key), Rc::clone(&wire));
        run.open.push(Call {
            message: index,
            piece: number,
            traits: Rc::clone(&piece.traits),
            wire,
            key,
            group,
            anchor: index,
            asked: false,
            made_calls: false,
            decided: piece.decided.then_some(index),
        });
        self.program(piece);
    }

    /// The group of the running program that made a call. The program stays as long as its calls do.
    fn program(&mut self, call: &Piece) -> Option<GroupId> {
        if call.caller.is_empty() {
            return None;
        }
        let key = their_key(call.caller.trim());
        let open = self.run.as_mut().and_then(|run| run.open.get_mut(By::Key(&key)));
        let program = open.or_else(|| self.waiting.get_mut(By::Key(&key)))?;
        program.made_calls = true;
        Some(program.group)
    }

    /// A turn with calls stands directly after the user or results (I18): between it and what the model said before, a
    /// line of the user's.
    #[inline(never)]
    fn follow(&self, index: MessageId, kept: &[At<'_>], seen: &mut Findings) {
        let calls = kept.iter().find(|at| at.piece.is_host_call());
        // Results go between it and a turn that waits for them.
        let waits = self.run.as_ref().is_none_or(Run::waits);
        // A line of the user's would part a call of the provider's from its result.
        let waits = waits || begins_with_result(kept.iter().map(|at| at.piece));
        if let Some(call) = calls.filter(|_| self.provider.rules().together && !waits)
            && self.speaker == Some(Role::Assistant)
        {
            let message = "a turn with calls must come directly after the user or after results";
            let line = Made::User(vec![MadePart::Text(CONTINUE.into())]);
            let place = Some(call.piece.place);
            seen.fixes.push(fix(index, place, FixKind::Before(line), "I18", message.into()));
        }
    }
}
