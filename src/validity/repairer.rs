//! The rules as messages arrive: what is wrong with a message, and what mends it.
//!
//! A message costs what it holds; nothing is looked at twice. What depends on how the request ends (a call that has no
//! result yet, an assistant message that is the last) is said by `finish` and may be different at the next request.

use super::Options;
use super::findings::Findings;
use super::ids::Ids;
use super::open_calls::{By, OpenCalls};
use super::piece::{at, fix, shown, unicode};
use super::provider::Provider;
use super::run::{Room, Run, Unsigned};
use crate::model::{Fix, FixKind, MessageId, NONE, Outline, Role, Span, setting};
use crate::validity::call::Call;

/// Mends a transcript message by message, and knows its groups.
///
/// A message with nothing in it that may be sent does not go out, and what follows is judged as if it had never been. A
/// result is paired with its call by occurrence: the first open call of the newest
/// message that made a call with its id.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a host, not a state")]
pub struct Repairer {
    pub(super) provider: Provider,
    pub(super) ids: Ids,
    /// The newest run of assistant messages; one message where the provider does not merge them.
    pub(super) run: Option<Run>,
    /// For the next run.
    pub(super) room: Room,
    /// Calls of earlier runs that have no result: a late one may still come.
    pub(super) waiting: OpenCalls,
    /// Calls whose id was used again by a later run: no result will be theirs.
    pub(super) lost: Vec<Call>,
    /// The first message that goes out and is not the system's.
    pub(super) first: Option<(MessageId, Role)>,
    /// Who speaks last, and in which message.
    pub(super) last: Option<Role>,
    pub(super) newest: MessageId,
    /// The same, the system aside: its messages go elsewhere on some wires.
    pub(super) speaker: Option<Role>,
    pub(super) intact: Option<Span<MessageId>>,
    /// The newest message in which the user writes after an answer: the turn before it is over.
    pub(super) spoke: MessageId,
    pub(super) unsigned: Unsigned,
    /// A message holds one result: the host puts those of a turn together by itself.
    pub(super) single: bool,
    /// A call that is not signed goes out with a sentinel.
    pub(super) signs: bool,
    /// Each assistant message is a turn of its own, whatever the provider makes of neighbours.
    pub(super) apart: bool,
    /// Results travel in the user's messages.
    pub(super) inline: bool,
    /// The system's messages are looked at where they stand.
    pub(super) as_placed: bool,
    /// The model has made calls since the user spoke.
    pub(super) called: bool,
    /// Calls that the provider runs are among those that wait.
    pub(super) provider_runs: bool,
    /// The newest message that its host leaves out by itself.
    pub(super) left_out: Option<MessageId>,
    /// More follows that is not shown: the request does not end here.
    pub(super) open: bool,
}

impl Repairer {
    /// Before the first message.
    pub fn new(provider: Provider) -> Self {
        Self {
            provider,
            ids: Ids::default(),
            run: None,
            room: Room::default(),
            waiting: OpenCalls::default(),
            lost: Vec::new(),
            first: None,
            last: None,
            newest: MessageId::FIRST,
            speaker: None,
            intact: None,
            spoke: MessageId::FIRST,
            unsigned: Unsigned::default(),
            single: false,
            signs: false,
            apart: false,
            inline: false,
            as_placed: false,
            called: false,
            provider_runs: false,
            left_out: None,
            open: false,
        }
    }

    /// The same, with what is known of the host and the request.
    #[must_use]
    pub fn with_options(self, options: Options) -> Self {
        let Options { thinking, apart, single, inline, as_placed, open, .. } = options;
        let signs = thinking && self.provider.signs_calls();
        let mut ids = self.ids;
        ids.as_written = inline;
        Self { ids, single, signs, apart, inline, as_placed, open, ..self }
    }

    /// Whether the host appends more after the messages, which is not shown; what it was before.
    pub fn set_open(&mut self, open: bool) -> bool {
        std::mem::replace(&mut self.open, open)
    }

    /// More follows that is not shown.
    pub fn is_prefix(&self) -> bool {
        self.open
    }

    /// The next message, at `index` of the history. Costs what the message holds.
    pub fn push(&mut self, index: MessageId, outline: &Outline) -> Findings {
        let mut seen = Findings::default();
        self.find(index, outline, &mut seen);
        seen
    }

    /// The same, found into what an earlier message has left: most messages take no room of their own.
    pub fn find(&mut self, index: MessageId, outline: &Outline, seen: &mut Findings) {
        seen.begin(outline.pieces.len());
        if outline.pieces.iter().any(|piece| piece.unsent) {
            self.left_out = Some(index);
            return;
        }
        if outline.pieces.is_empty() {
            let kind = FixKind::Drop { piece: NONE };
            seen.fixes.push(fix(
                index,
                None,
                kind,
                "I6",
                "nothing is in the message; it must not be sent".into(),
            ));
        } else if outline.is_silent() && (self.as_placed || self.in_turn()) {
            // The model's turn goes on after it.
            at(index, outline).for_each(|at| unicode(at, &mut seen.fixes));
            // The API takes what follows a compaction as it is.
            if outline.setting() == Some(setting::COMPACTION) {
                self.first.get_or_insert((index, Role::User));
            }
        } else if outline.role == Role::Assistant {
            self.assistant(index, outline, seen);
        } else {
            self.other(index, outline, seen);
        }
    }

    /// Neighbours of the assistant's are one turn: the provider merges them, or we do.
    pub(super) fn runs(&self) -> bool {
        self.provider.merges() && (self.inline || !self.provider.takes_turns())
    }

    /// A call of the newest turn waits for its result.
    pub fn is_open(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.answering && !run.open.is_empty())
    }

    /// Reasoning or a call of the newest turn waits for what it leads to.
    fn in_turn(&self) -> bool {
        let waits =
            |run: &Run| run.growing && !run.trailing.is_empty() || run.answering && run.waits();
        self.run.as_ref().is_some_and(waits)
    }

    /// The newest message of the model's waits for a tool that the provider runs: it goes out last, for the model to go on.
    pub fn is_paused(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.growing && run.is_paused())
    }

    /// The messages whose pieces must all stay as they are: the newest of the model's turns with reasoning (I10), until
    /// the user has spoken and the model has answered without any. Anthropic refuses a request in which a neighbour of
    /// that reasoning is missing, too.
    pub fn intact(&self) -> Option<Span<MessageId>> {
        self.intact
    }

    /// Another message follows the run: it is final. Reasoning must not be its end.
    pub(super) fn finish_run(&mut self, seen: &mut Findings) {
        let rule = self.provider.rules().names.trailing;
        let Some(run) = self.run.as_mut().filter(|run| run.growing) else { return };
        run.growing = false;
        seen.fixes.extend(run.cut_trailing(rule));
        if !run.has_solid {
            // The run does not go out: what was newest before it is the newest again, and must stay as it is (I10).
            self.intact = run.before.1;
            self.last = run.before.0;
            if self.first.is_some_and(|(first, _)| first >= run.start) {
                self.first = None;
            }
            self.run = None;
        }
    }

    /// A new run begins: what is still open waits for a late result.
    #[inline(never)]
    pub(super) fn close(&mut self, seen: &mut Findings) {
        let Some(mut run) = self.run.take() else { return };
        if Self::must_gather(&run) {
            seen.fixes.extend(self.gather(&run));
        }
        for key in run.keys.iter() {
            // Some providers number the calls of each turn from zero (I5): from here on a result with this id answers
            // the new call.
            while let Some(call) = self.waiting.take(By::Key(key)) {
                if call.goes_without_result() {
                    seen.fixes.push(self.unanswered(&call));
                } else {
                    self.lost.push(call);
                }
            }
        }
        if !run.open.is_empty() {
            for mut call in std::mem::take(&mut run.open).into_calls() {
                call.anchor = run.end;
                self.provider_runs |= call.is_provider_run();
                self.waiting.push(call);
            }
        }
        self.room = run.into_room();
    }

    /// Calls that the provider runs and that have no result: once the user has spoken, none comes, and they go.
    pub(super) fn give_up(&mut self, seen: &mut Findings) {
        if self.provider_runs || self.run.as_ref().is_some_and(Run::is_paused) {
            self.drop_unanswered(seen);
        }
    }

    #[inline(never)]
    fn drop_unanswered(&mut self, seen: &mut Findings) {
        if let Some(run) = self.run.as_mut().filter(|run| run.is_paused()) {
            let lost = run.open.retain(|call| !call.goes_without_result());
            seen.fixes.extend(lost.iter().map(|call| self.unanswered(call)));
        }
        if std::mem::take(&mut self.provider_runs) {
            let fixes = self.lost_waiting();
            seen.fixes.extend(fixes);
            self.waiting.retain(|call| !call.goes_without_result());
        }
    }

    /// What removes those of earlier turns.
    #[inline(never)]
    pub(super) fn lost_waiting(&self) -> Vec<Fix> {
        let lost = self.waiting.iter().filter(|call| call.goes_without_result());
        lost.map(|call| self.unanswered(call)).collect()
    }

    fn unanswered(&self, call: &Call) -> Fix {
        let message = format!("the provider's own call \"{}\" has no result", shown(&call.key));
        let rule = self.provider.rules().names.open;
        fix(
            call.message,
            Some(call.traits.place),
            FixKind::Drop { piece: call.piece },
            rule,
            message,
        )
    }

    /// A message is passed over that was right when it was sent.
    pub fn pass(&mut self, index: MessageId, role: Role) {
        self.called |= role == Role::Assistant;
        self.record_speaker(index, role);
    }

    pub(super) fn record_speaker(&mut self, index: MessageId, role: Role) {
        self.last = Some(role);
        self.newest = index;
        if role != Role::System {
            self.speaker = Some(role);
        }
        if role != Role::System && self.first.is_none() {
            self.first = Some((index, role));
        }
    }
}
