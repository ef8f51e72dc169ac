//! Snapshots: what a session knows that its messages do not tell, and how it is taken up again.
//!
//! Measures, uses and live counts are a function of the transcript; forms, stubs, the head, rent and the clocks are history.
//! A session that was parked, and one whose host has branched off or changed an earlier message, measures its messages
//! again and takes its history from here, as far as the messages are the same.

pub(in crate::context) mod bytes;
pub(in crate::context) mod code;
pub(in crate::context) mod forged;
pub(in crate::context) mod forgotten;
pub(in crate::context) mod merge;
pub(in crate::context) mod truncate;
pub(in crate::context) mod waiting;

pub(in crate::context) use waiting::{Known, Waiting};

use crate::context::compaction::compaction_history::Compactions;
use crate::context::compaction::memory_flush::Flush;
use crate::context::request::bound_thinking::binds_reasoning;
use crate::context::request::placeholders::Want;
use crate::context::request::view::SentItem;
use crate::context::session::calibration::Calibration;
use crate::context::session::pins::Pins;
use crate::context::session::snapshot::forgotten::past_messages;
use crate::context::session::snapshot::forgotten::trace_message;
use crate::context::session::snapshot::waiting::wait_for;
use crate::context::session::{Session, Why, native};
use crate::context::transcript::masks::renew_protection;
use crate::estimate::Estimator;
use crate::format::Format;
use crate::model::{BlockId, Form, MessageId};
use crate::number::count;
use crate::prune::Head;
use forgotten::{Past, Trace};

/// So many of the last messages are known one by one; those before them as a whole.
const KNOWN_SINGLY: u32 = 512;

/// Stands for messages of a request that are not known: what is sent in their place is another.
const UNKNOWN: SentItem = SentItem { key: 0, source: MessageId::NONE, carried: 0 };

/// The history of a session, up to its last request.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a session, not a state")]
pub(in crate::context) struct Snapshot {
    /// Messages that the last request stood for.
    pub upto: MessageId,
    format: Format,
    /// A message has shown the format.
    certain: bool,
    /// Of all messages before those that have a mark.
    before: u64,
    /// It is of version 2: `before` is of whole fingerprints, and nothing tells what the messages were.
    is_old: bool,
    marks: Vec<u32>,
    /// What those are, and what came before them: for when they are forgotten.
    traces: Vec<Trace>,
    past: Past,
    epoch: u32,
    at_ms: Option<i64>,
    peak: u64,
    tokens: u64,
    last: u64,
    /// Fingerprint and tokens of what went out beside the messages.
    parts: Option<(u64, u64)>,
    fold_due: bool,
    /// The last request was a prefix: nothing of ours stood at its end.
    open: bool,
    /// First message that no fold has touched.
    start: MessageId,
    /// First message behind the head.
    head_from: MessageId,
    head: Option<Head>,
    /// When the first message was written that it stands for.
    head_at: Option<i64>,
    /// What the head says, and how many bytes of it are the summary.
    head_text: String,
    summary: usize,
    fold_rent: u64,
    charged: Option<u32>,
    changed: Vec<Changed>,
    /// Rent of blocks that are still whole.
    rents: Vec<(BlockId, u64)>,
    unbound: Vec<BlockId>,
    /// Reasoning was bound to what stood before it.
    bound: bool,
    calibration: Calibration,
    usable: u64,
    /// What the options allowed: under another window what was sent is decided anew.
    window: (u64, u64),
    breakpoints: Vec<u32>,
    pins: Pins,
    compactions: Compactions,
    flush: Flush,
    fold_wanted: bool,
    /// Identifiers in stubs, and in the summary.
    stubbed: Vec<u32>,
    summarized: Vec<u32>,
    /// Other options hold from now on: what was sent is decided anew; by another estimator also what lines cost.
    anew: bool,
    recount: bool,
    reshaped: bool,
    /// What the last request sent, where that is at hand.
    items: Option<Vec<SentItem>>,
}

/// A block that is not sent as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Changed {
    block: BlockId,
    now: u32,
    why: Why,
    form: Shape,
}

/// Its form, with what is needed to write it again.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Shape {
    /// Cut like this; stubbed where nothing more may become of it.
    Cut(Want, Form),
    /// With this line in its place.
    Stubbed(String),
    Gone,
}

/// Goes on with the hash of messages by one more of them.
pub(in crate::context) fn rolled(rolling: u64, mark: u32) -> u64 {
    rolled_by(rolling, mark.into())
}

fn rolled_by(rolling: u64, print: u64) -> u64 {
    crate::hash::mix(rolling ^ print)
}

/// The lower half tells one message from another at the same place.
pub(in crate::context) fn mark(fingerprint: u64) -> u32 {
    let [a, b, c, d, ..] = fingerprint.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// What this session knows that its messages do not tell.
#[inline(never)]
fn capture(session: &Session) -> Snapshot {
    // What was folded since the last request may go beyond it.
    let unreported = session.compactions.unreported.is_some();
    let upto = session.last_request.upto.max(if unreported {
        session.decisions.pruner.start
    } else {
        MessageId::FIRST
    });
    let end = session.transcript.ledger.blocks_of(upto).start;
    let first = upto.minus(KNOWN_SINGLY);
    let marks =
        session.transcript.ledger.messages.iter().take(upto.index()).map(|it| mark(it.fingerprint));
    let changed = session.decisions.reasons.iter().filter(|(at, _)| **at < end);
    let flagged = |flag: fn(&crate::identifiers::Identifier) -> bool| {
        let all = session.transcript.ledger.identifiers.iter().filter(|(_, it)| flag(it));
        all.map(|(id, _)| id).collect()
    };
    let live = session.transcript.ledger.live().iter().filter(|&&at| at < end);
    let rents = live.filter_map(|&at| {
        let rent = session.transcript.ledger.block(at)?.rent;
        (rent > 0).then_some((at, rent))
    });
    let unbound = session.decisions.unbound.keys().copied().filter(|&at| at < end).collect();
    Snapshot {
        upto,
        format: session.dialect.format,
        certain: session.dialect.certain,
        before: marks.clone().take(first.index()).fold(0, rolled),
        is_old: false,
        marks: marks.skip(first.index()).collect(),
        traces: first.to(upto).filter_map(|at| trace_message(session, at)).collect(),
        past: past_messages(session, first),
        epoch: session.last_request.epoch,
        at_ms: session.last_request.at_ms,
        peak: session.last_request.peak,
        tokens: session.last_request.tokens,
        last: session.last_request.last,
        parts: session.last_request.parts.map(|parts| (parts, session.last_request.beside)),
        fold_due: session.last_request.fold_due,
        open: session.last_request.open,
        start: session.decisions.pruner.start,
        head_from: session.decisions.pruner.head_from,
        head: session.decisions.pruner.head.clone(),
        head_at: session
            .decisions
            .pruner
            .head
            .as_ref()
            .and_then(|_| session.transcript.ledger.message(session.builder().head_about())?.at_ms),
        head_text: session.decisions.placeholders.head.clone(),
        summary: session.decisions.placeholders.summary.len(),
        fold_rent: session.decisions.pruner.fold_rent,
        charged: session.decisions.pruner.charged,
        changed: changed.filter_map(|(&at, why)| changed_block(session, at, *why)).collect(),
        rents: rents.collect(),
        unbound,
        bound: binds_reasoning(session) && !session.last_request.rebind,
        calibration: session.calibration,
        usable: session.decisions.usable,
        window: (session.options.mode.window_tokens(), session.options.mode.usable_tokens()),
        breakpoints: session.last_request.breakpoints.clone(),
        pins: session.pins.clone(),
        compactions: session.compactions.clone(),
        flush: session.flush,
        fold_wanted: session.decisions.pruner.fold_wanted,
        stubbed: flagged(|it| it.stubbed),
        summarized: flagged(|it| it.summarized),
        // A call failed half way: what was sent last went beyond these messages.
        anew: (session.last_request.rebuild && !session.last_request.unheld)
            || session.pending.is_some(),
        recount: false,
        reshaped: session.last_request.reshaped,
        items: Some(session.last_request.items.clone()),
    }
}

fn changed_block(session: &Session, at: BlockId, why: Why) -> Option<Changed> {
    let block = session.transcript.ledger.block(at)?;
    let form = match block.form {
        Form::Full => return None,
        Form::Capped | Form::Stubbed => match session.decisions.placeholders.cut_of(at) {
            Some(cut) => Shape::Cut(cut, block.form),
            None => Shape::Stubbed(
                session.decisions.placeholders.text.get(&at).cloned().unwrap_or_default(),
            ),
        },
        Form::Gone => Shape::Gone,
    };
    Some(Changed { block: at, now: block.now, why, form })
}

/// The session as bytes: its history, never the text of a message.
pub fn snapshot_bytes(session: &Session) -> Vec<u8> {
    snapshot_of(session).to_bytes()
}

/// As it is now, also while it waits: what no message is needed for goes on meanwhile.
fn snapshot_of(session: &Session) -> Snapshot {
    let Some(Waiting { snapshot, .. }) = &session.restoration.waiting else {
        return capture(session);
    };
    let mut snapshot = snapshot.clone();
    snapshot.pins.clone_from(&session.pins);
    snapshot.calibration = session.calibration;
    snapshot.compactions.guard.clone_from(&session.compactions.guard);
    snapshot.compactions.limit = session.compactions.limit;
    snapshot
}

/// A session without messages that goes on where the snapshot was made, once its messages have come.
///
/// # Errors
/// `CorruptState` for bytes that are no snapshot, or have changed.
pub(in crate::context) fn restore_session(
    options: crate::context::Options,
    bytes: &[u8],
) -> crate::error::Result<Session> {
    Ok(session_from(options, Snapshot::from_bytes(bytes)?))
}

#[inline(never)]
fn session_from(options: crate::context::Options, snapshot: Snapshot) -> Session {
    let mut state = Session::new(options, snapshot.format);
    state.dialect.certain |= snapshot.certain;
    state.last_request.epoch = snapshot.epoch;
    state.last_request.peak = snapshot.peak;
    state.calibration = snapshot.calibration;
    state.compactions.guard.clone_from(&snapshot.compactions.guard);
    state.compactions.limit = snapshot.compactions.limit;
    state.decisions.usable = snapshot.usable;
    // Whatever was sent, the host's side does not hold it: should the history be another, all of it has changed.
    state.last_request.items = vec![UNKNOWN];
    (state.last_request.unheld, state.last_request.rebuild) = (true, true);
    wait_for(&mut state, snapshot);
    if let Some(waiting) = &mut state.restoration.waiting {
        waiting.may_start_late = !waiting.snapshot.is_old;
    }
    state
}

/// As `restore`, with the options of this session.
///
/// # Errors
/// `CorruptState`; then nothing has changed.
pub fn restore_from(session: &mut Session, bytes: &[u8]) -> crate::error::Result<()> {
    *session = restore_session(session.options.clone(), bytes)?;
    Ok(())
}

/// The host's history is another, from some message on: it is handed over again, and what stays the same stays known.
pub(in crate::context) fn resync(session: &mut Session) {
    let snapshot = snapshot_of(session);
    session.reset();
    if snapshot.upto > MessageId::FIRST {
        wait_for(session, snapshot);
    }
}

/// What changes with the model. True: another provider or estimator counts and judges, and all messages must come again.
pub fn set_options(session: &mut Session, mut options: crate::context::Options) -> bool {
    let scaled = [options.estimator, session.options.estimator];
    let same = scaled.iter().all(|it| matches!(it, Estimator::Scaled(_)));
    let recount = !same && options.estimator != session.options.estimator;
    let provider = options.provider.unwrap_or_else(|| native(session.dialect.format));
    let bound = binds_reasoning(session);
    session.last_request.settled = false;
    session.restoration.measured = None;
    session.decisions.pruner.policy = options.policy.clone();
    if recount || provider != session.dialect.provider {
        let snapshot = snapshot_of(session);
        session.calibration = Calibration::default();
        (session.decisions.usable, session.options) = (options.mode.usable_tokens(), options);
        session.dialect.provider = provider;
        session.reset();
        let (calibration, usable) = (session.calibration, session.decisions.usable);
        wait_for(session, Snapshot { calibration, usable, anew: true, recount, ..snapshot });
        return true;
    }
    if same {
        options.estimator = session.options.estimator;
    }
    session.options = options;
    session.compactions.limit = None;
    session.monitor.rearm();
    session.decisions.usable = session.estimated(session.options.mode.usable_tokens());
    rebind_reasoning(session, bound);
    renew_protection(session);
    false
}

/// Reasoning may be bound that was not before: what stands before it counts as changed if an epoch was ever opened.
fn rebind_reasoning(session: &mut Session, bound: bool) {
    session.last_request.rebind |=
        !bound && binds_reasoning(session) && session.last_request.epoch > 0;
}
