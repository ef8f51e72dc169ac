//! A session that is restored with a later part of its history: the host no longer holds the oldest messages.
//!
//! Messages and blocks keep their numbers, since forms, pins and references name them: what is forgotten has its place, and
//! nothing is sent of it.

use std::rc::Rc;

use crate::context::request::placeholders::DIGEST;
use crate::context::session::Session;
use crate::context::session::marks::{mark, rolled};
use crate::context::session::snapshot::content::{Shape, Snapshot};
use crate::context::session::snapshot::past::{Past, Trace};
use crate::context::session::snapshot::waiting::Waiting;
use crate::context::session::why::Why;
use crate::ledger::Arrival;
use crate::model::{BlockId, Form, GroupId, Kind, Mask, Message, MessageId, Outline, Role};
use crate::number::count;
use crate::prune::Rule;

impl Snapshot {
    /// The first message that is not the system's is another.
    pub(super) fn opens_otherwise(&self, index: MessageId, fingerprint: u64) -> bool {
        let (opening, known) = self.past.opening;
        index == opening && opening < self.upto && mark(fingerprint) != known
    }

    /// What `before` is made of.
    pub(super) fn print(&self, fingerprint: u64) -> u64 {
        if self.is_old { fingerprint } else { mark(fingerprint).into() }
    }

    /// The first message that has a mark.
    pub(super) fn first(&self) -> MessageId {
        self.upto.minus(count(self.marks.len()))
    }
}

/// Number, marks, and the newest message of the model's, of the messages that the session waits for.
pub(in crate::context) fn awaited_marks(session: &Session) -> Option<(usize, Vec<u32>, usize)> {
    let Waiting { snapshot, .. } =
        session.restoration.waiting.as_ref().filter(|it| it.starts_late)?;
    let newest = snapshot.traces.iter().rposition(|it| it.speaks);
    let least = newest.unwrap_or_else(|| snapshot.marks.len().saturating_sub(1));
    Some((snapshot.first().index(), snapshot.marks.clone(), least))
}

/// The messages that came do not start as those that the session waits for: it waits for all of them again.
pub(super) fn wait_for_a_later_part(session: &mut Session) {
    let Some(Waiting { snapshot, earlier, .. }) = session.restoration.waiting.take() else {
        return;
    };
    session.reset();
    session.request.pins.clone_from(&snapshot.pins);
    session.request.pins.detach();
    session.restoration.waiting =
        Some(Waiting { starts_late: true, earlier, ..Waiting::new(snapshot) });
}

/// Whether the host may have forgotten how the history starts, which [`align`](crate::context::align) tells.
pub fn starts_late(session: &Session) -> bool {
    session.restoration.waiting.as_ref().is_some_and(|it| it.starts_late)
}

/// What `start` messages of the session are, as far as they are known singly: of a message at `index`.
pub(super) fn trace_message(session: &Session, index: MessageId) -> Option<Trace> {
    let message = session.transcript.ledger.message(index)?;
    let before = index.previous().and_then(|at| session.transcript.ledger.message(at));
    let is_model = |it: &Message| it.role == Role::Assistant;
    let continues = session.transcript.dialect.format.has_runs() && before.is_some_and(is_model);
    Some(Trace {
        role: message.role,
        is_request: message.turn > before.map_or(0, |it| it.turn),
        speaks: is_model(message) && !continues,
        blocks: count(session.transcript.ledger.blocks_of(index).len()),
    })
}

/// What came before the message at `first`.
pub(super) fn past_messages(session: &Session, first: MessageId) -> Past {
    let messages = &session.transcript.ledger.messages;
    let opening = messages.iter().position(|it| it.role != Role::System).unwrap_or_default();
    let before = first.previous().and_then(|at| messages.get(at.index()));
    let next = messages.get(first.index());
    let speaks =
        trace_message(session, first).is_none_or(|it| it.speaks || it.role != Role::Assistant);
    Past {
        blocks: session.transcript.ledger.blocks_of(first).start.get(),
        turns: before.map_or(0, |it| it.turn),
        calls: next.map_or(0, |it| it.call.saturating_add(u32::from(!speaks))),
        opening: (
            MessageId::at(opening),
            messages.get(opening).map_or(0, |it| mark(it.fingerprint)),
        ),
    }
}

/// The messages before this one are forgotten: those that have not come keep their places.
pub(in crate::context) fn add_forgotten(session: &mut Session, before: MessageId) {
    if before <= session.transcript.ledger.next_message() {
        return;
    }
    let known = session.restoration.waiting.take().filter(|it| before >= it.snapshot.first());
    let Some(mut waiting) = known else {
        // Nothing says how many blocks they had, by which all else is named.
        let nothing = Trace { role: Role::User, is_request: false, speaks: false, blocks: 0 };
        for index in session.transcript.ledger.next_message().to(before) {
            add_trace(session, index, nothing, 0);
        }
        return;
    };
    let snapshot = &waiting.snapshot;
    let first = snapshot.first();
    let start = session.transcript.ledger.next_block();
    keep_names(session, &snapshot.head_text);
    for index in session.transcript.ledger.next_message().to(before.min(snapshot.upto)) {
        let at = index.since(first) as usize;
        let trace = snapshot.traces.get(at).copied().filter(|_| index >= first);
        let known = snapshot.marks.get(at).copied().filter(|_| index >= first);
        let mut trace = trace.unwrap_or(Trace {
            role: Role::User,
            is_request: false,
            speaks: false,
            blocks: 0,
        });
        if index.next() == first {
            let Past { blocks, turns, calls, .. } = snapshot.past;
            trace.blocks = blocks.saturating_sub(session.transcript.ledger.block_count());
            (session.transcript.turn, session.transcript.call) = (turns, calls);
        }
        add_trace(session, index, trace, known.unwrap_or(0));
    }
    let end = session.transcript.ledger.next_block();
    for block in start.to(end) {
        let (epoch, call) = (snapshot.epoch, session.transcript.call);
        let known = snapshot.changed.binary_search_by_key(&block, |it| it.block).ok();
        let known = known.and_then(|at| snapshot.changed.get(at));
        let why = known.filter(|it| it.form == Shape::Gone).map(|it| it.why);
        session
            .decisions
            .reasons
            .insert(block, why.unwrap_or(Why { rule: Rule::Fold, epoch, call }));
    }
    waiting.forgotten = start.to(end);
    let singly = snapshot.marks.iter().take(before.since(first) as usize);
    waiting.rolling = singly.fold(snapshot.before, |rolling, &mark| rolled(rolling, mark));
    session.restoration.waiting = Some(waiting);
}

/// The place of a message of which nothing is there any more.
fn add_trace(session: &mut Session, index: MessageId, trace: Trace, mark: u32) {
    let Trace { role, is_request, speaks, blocks } = trace;
    session.transcript.turn = session.transcript.turn.saturating_add(u32::from(is_request));
    let continues = role == Role::Assistant && !speaks;
    session.transcript.ledger.begin(Message {
        fingerprint: mark.into(),
        written: 0,
        role,
        first_block: BlockId::FIRST,
        call: session.transcript.call.saturating_sub(u32::from(continues)),
        turn: session.transcript.turn,
        bytes: 0,
        at_ms: None,
        may_cut: true,
    });
    session.transcript.call = session.transcript.call.saturating_add(u32::from(speaks));
    for _ in 0..blocks {
        let gone = Arrival {
            kind: Kind::Other,
            tokens: 0,
            chars: 0,
            ids: &[],
            pair: BlockId::NONE,
            tool: "",
            group: GroupId::NONE,
            call_key: None,
            key: 0,
            overhead: 0,
            bytes: 0,
            failed: false,
            mask: Mask::FIXED,
            named: false,
        };
        let block = session.transcript.ledger.append(&gone, session.transcript.call);
        session.transcript.ledger.set_form(block, Form::Gone, 0);
    }
    session.transcript.outlines.push(Rc::new(Outline { role, pieces: Vec::new() }));
    session.transcript.occurrences.skip();
    session.repairs.repairer.pass(index, role);
}

/// Names of the last digest, whose messages may be forgotten: the next one may list them again.
fn keep_names(session: &mut Session, head_text: &str) {
    let Some((_, names)) = head_text.rsplit_once(DIGEST) else { return };
    let estimator = session.options.estimator;
    for name in names.trim_end_matches(']').split_whitespace() {
        let cost = |name: &str| estimator.tokens(name).saturating_add(1);
        let id = session.transcript.ledger.identifiers.intern(name, cost);
        if let Some(it) = session.transcript.ledger.identifiers.get_mut(id) {
            it.blocks = it.blocks.max(1);
        }
    }
}
