//! The user, the system or a tool speaks, and who may speak after whom.

use super::findings::Findings;
use super::piece::{Fate, at, fix, plain};
use super::provider::Between;
use super::repairer::Repairer;
use crate::model::{FixKind, Kind, MessageId, Outline, Role};

impl Repairer {
    /// A message of the user, the system or a tool: results first, then whatever else.
    #[inline(never)]
    pub(super) fn other(&mut self, index: MessageId, outline: &Outline, seen: &mut Findings) {
        let opens = self.run.as_ref().is_some_and(|run| !run.open.is_empty());
        let holds =
            outline.pieces.iter().any(|piece| piece.kind == Kind::Result || piece.is_approval());
        let (mut kept, mut answers, mut speaks) = (false, false, false);
        let together = self.is_together();
        for at in at(index, outline) {
            let fate = match at.piece.kind {
                Kind::Result => self.result(at, seen),
                Kind::Call => {
                    seen.fix(
                        at,
                        at.drop(),
                        "I1",
                        "a call stands in a message that is not the assistant's",
                    );
                    Fate::Dropped
                }
                Kind::Other if at.piece.is_approval() => self.decide(at, seen),
                Kind::Text | Kind::Thinking | Kind::Image | Kind::Other => {
                    plain(at, &mut seen.fixes)
                }
            };
            if fate == Fate::Dropped {
                continue;
            }
            kept = true;
            answers |= at.piece.kind == Kind::Result;
            speaks |= at.piece.kind != Kind::Result && !at.piece.is_approval();
            if at.piece.kind != Kind::Result
                && !together
                && !at.piece.is_approval()
                && let Some(run) = &mut self.run
            {
                run.answering = false;
            }
        }
        if !kept {
            return;
        }
        self.begin_turn(outline);
        if let Some(run) = &mut self.run {
            run.until = index;
            // Where one message holds all results of a turn, the next message is too late (I19).
            run.answering &= !together;
        }
        let rules = self.provider.rules();
        // A host that writes the provider's own messages has no adapter to take the system prompt out of them.
        let apart = self.inline && rules.system_apart;
        let leads = outline.role == Role::System && self.first.is_none() && !apart;
        seen.may_cut = !opens && !holds && !leads;
        if speaks {
            self.give_up(seen);
        }
        self.finish_run(seen);
        if speaks && !answers && outline.role == Role::User && self.last == Some(Role::Assistant) {
            self.spoke = index;
        }
        let mut role = outline.role;
        // Nobody looks for a result in what the system says.
        let knows_one = rules.system_first && !leads || answers;
        if role == Role::System && self.as_placed && knows_one && !outline.is_between() {
            let message = if apart {
                "a message has the role \"system\", which this provider does not know: pass its text as `system`; here it \
                    goes out as the user's"
            } else {
                "the system speaks in the middle of the messages; this provider knows one system prompt, before them: \
                    it goes out as the user's"
            };
            seen.fixes.push(fix(index, None, FixKind::AsUser, "I31", message.into()));
            role = Role::User;
        }
        if answers {
            let speaker = self.provider.speaker_of_results(self.inline, role);
            self.take_turn(index, speaker, true, seen);
            self.record_speaker(index, speaker);
            if speaks && speaker == Role::Tool && role == Role::User {
                self.take_turn(index, role, false, seen);
            } else {
                role = speaker;
            }
        } else {
            self.take_turn(index, role, false, seen);
        }
        self.called &= answers || role != Role::User;
        if outline.is_between() {
            self.first.get_or_insert((index, Role::System));
        }
        self.record_speaker(index, role);
    }

    /// Says if the provider does not take a message of this role after the last one.
    pub(super) fn take_turn(
        &self,
        index: MessageId,
        speaker: Role,
        answers: bool,
        seen: &mut Findings,
    ) {
        let (rule, message) = match self.provider.between(self.last, speaker) {
            Between::Nothing => return,
            Between::Assistant => (
                "I9",
                "the user speaks directly after a tool; a message of the assistant's must stand between",
            ),
            Between::OneMessage if answers => {
                ("I21", "the results of a turn stand in several messages; they must all be in one")
            }
            Between::OneMessage => {
                ("I9", "two messages of one role follow each other; roles must alternate")
            }
        };
        seen.fixes.push(fix(index, None, FixKind::Turn, rule, message.into()));
    }
}
