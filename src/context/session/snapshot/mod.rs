//! Snapshots: what a session knows that its messages do not tell, and how it is taken up again.
//!
//! Measures, uses and live counts are a function of the transcript; forms, stubs, the head, rent and the clocks are history.
//! A session that was parked, and one whose host has branched off or changed an earlier message, measures its messages
//! again and takes its history from here, as far as the messages are the same.

pub(in crate::context) mod bytes;
pub(in crate::context) mod code;
pub(in crate::context) mod content;
pub(in crate::context) mod forged;
pub(in crate::context) mod forgotten;
pub(in crate::context) mod measured;
pub(in crate::context) mod merge;
pub(in crate::context) mod past;
pub(in crate::context) mod restore;
pub(in crate::context) mod truncate;
pub(in crate::context) mod waiting;

pub(in crate::context) use waiting::{Match, Waiting};

use crate::context::request::bound_thinking::{binds_reasoning, rebind_reasoning};
use crate::context::request::builder::Builder;
use crate::context::request::placeholders::Want;
use crate::context::session::Session;
use crate::context::session::calibration::Calibration;
use crate::context::session::marks::{mark, rolled};
use crate::context::session::snapshot::content::{Changed, Shape, Snapshot, UNKNOWN};
use crate::context::session::snapshot::forgotten::{past_messages, trace_message};
use crate::context::session::snapshot::restore::wait_for;
use crate::context::session::why::Why;
use crate::context::transcript::dialect::native;
use crate::context::transcript::masks::renew_protection;
use crate::estimate::Estimator;
use crate::model::{BlockId, Form, MessageId};
use crate::prune::Head;

/// So many of the last messages are known one by one; those before them as a whole.
const KNOWN_SINGLY: u32 = 512;

/// What this session knows that its messages do not tell.
#[inline(never)]
fn capture(session: &Session) -> Snapshot {
    // What was folded since the last request may go beyond it.
    let unreported = session.compactions.unreported.is_some();
    let upto = session.request.last.upto.max(if unreported {
        session.decisions.pruner.start
    } else {
        MessageId::FIRST
    });
    let end = session.transcript.ledger.blocks_of(upto).start;
    let first = upto.minus(KNOWN_SINGLY);
    let marks =
        session.transcript.ledger.messages.iter().take(upto.index()).map(|it| mark(it.fingerprint));
    let changed = session.decisions.reasons.iter().filter(|(at, _)| *at < end);
    let flagged = |flag: fn(&crate::identifiers::Identifier) -> bool| {
        let all = session.transcript.ledger.identifiers.iter().filter(|(_, it)| flag(it));
        all.map(|(id, _)| id).collect()
    };
    let live = session.transcript.ledger.live().iter().filter(|&&at| at < end);
    let rents = live.filter_map(|&at| {
        let rent = session.transcript.ledger.block(at)?.rent;
        (rent > 0).then_some((at, rent))
    });
    let awaited = session.decisions.placeholders.awaited.as_ref();
    let unbound = session.decisions.unbound.keys().copied().filter(|&at| at < end).collect();
    Snapshot {
        upto,
        format: session.transcript.dialect.format,
        certain: session.transcript.dialect.certain,
        estimator: session.options.estimator.number(),
        before: marks.clone().take(first.index()).fold(0, rolled),
        is_old: false,
        marks: marks.skip(first.index()).collect(),
        traces: first.to(upto).filter_map(|at| trace_message(session, at)).collect(),
        past: past_messages(session, first),
        epoch: session.request.last.epoch,
        at_ms: session.request.last.at_ms,
        peak: session.request.last.peak,
        tokens: session.request.last.tokens,
        last: session.request.last.previous_tokens,
        parts: session.request.last.parts.map(|parts| (parts, session.request.last.extras_tokens)),
        fold_due: session.request.last.fold_due,
        open: session.request.last.open,
        start: session.decisions.pruner.start,
        head_from: session.decisions.pruner.head_from,
        head: session.decisions.pruner.head.clone().map(|head| Head {
            // Its lines have not come.
            tokens: head.tokens.saturating_sub(awaited.map_or(0, |it| it.room)),
            ..head
        }),
        head_at: session.decisions.pruner.head.as_ref().and_then(|_| {
            session.transcript.ledger.message(Builder::new(session).head_about())?.at_ms
        }),
        head_text: session.decisions.placeholders.head.clone(),
        summary: session.decisions.placeholders.summary.len(),
        fold_rent: session.decisions.pruner.fold_rent,
        charged: session.decisions.pruner.charged,
        changed: changed.filter_map(|(at, why)| changed_block(session, at, why)).collect(),
        rents: rents.collect(),
        unbound,
        bound: binds_reasoning(session) && !session.request.last.rebinds_reasoning,
        calibration: session.counts.calibration,
        usable: session.decisions.usable,
        window: (session.options.mode.window_tokens(), session.options.mode.usable_tokens()),
        breakpoints: session.request.last.breakpoints.clone(),
        pins: session.request.pins.clone(),
        compactions: session.compactions.clone(),
        fold_wanted: session.decisions.pruner.fold_wanted,
        stubbed: flagged(|it| it.stubbed),
        summarized: flagged(|it| it.summarized),
        anew: session.request.last.rebuild || session.decisions.pending.is_some(),
        asked: !session.request.last.settled
            && upto > MessageId::FIRST
            && upto == session.transcript.ledger.next_message(),
        recount: false,
        has_new_shape: session.request.last.has_new_shape,
        items: Some(session.request.last.items.clone()),
    }
}

fn changed_block(session: &Session, at: BlockId, why: Why) -> Option<Changed> {
    let block = session.transcript.ledger.block(at)?;
    let placeholders = &session.decisions.placeholders;
    let text = || placeholders.text.get(&at).map_or_else(String::new, |text| String::from(&**text));
    let mut now = block.now;
    let form = match block.form {
        Form::Full => return None,
        Form::Capped | Form::Stubbed => match placeholders.cut_of(at) {
            // Its lines have not come: its names are what it says.
            Some(Want::Lines(_)) => {
                now = placeholders.cost(block, at, &text());
                Shape::Stubbed(text())
            }
            Some(cut) => Shape::Cut(cut, block.form),
            None => Shape::Stubbed(text()),
        },
        Form::Gone => Shape::Gone,
    };
    // What it costs because of how the request ends is counted anew with the next one.
    let now = now.saturating_sub(session.transcript.ledger.at_end(at));
    Some(Changed { block: at, now, why, form })
}

/// The session as bytes: its history, never the text of a message.
pub fn snapshot_bytes(session: &Session) -> Vec<u8> {
    snapshot_of(session).to_bytes()
}

/// As it is now, also while it waits: what no message is needed for goes on meanwhile.
pub(in crate::context) fn snapshot_of(session: &Session) -> Snapshot {
    let Some(Waiting { snapshot, .. }) = &session.restoration.waiting else {
        return capture(session);
    };
    let mut snapshot = snapshot.clone();
    snapshot.pins.clone_from(&session.request.pins);
    snapshot.calibration = session.counts.calibration;
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
pub(in crate::context) fn session_from(
    options: crate::context::Options,
    mut snapshot: Snapshot,
) -> Session {
    let same = [0, options.estimator.number()];
    if !same.contains(&snapshot.estimator) {
        // What it counted, and what was learned of that, is of other tokens.
        (snapshot.recount, snapshot.asked) = (true, true);
        (snapshot.calibration, snapshot.usable) =
            (Calibration::default(), options.mode.usable_tokens());
        (snapshot.tokens, snapshot.last, snapshot.compactions.limit) = (0, 0, None);
    }
    let mut state = Session::new(options, snapshot.format);
    state.transcript.dialect.certain |= snapshot.certain;
    state.request.last.epoch = snapshot.epoch;
    state.request.last.peak = snapshot.peak;
    (state.request.last.tokens, state.request.last.previous_tokens) =
        (snapshot.tokens, snapshot.last);
    state.counts.calibration = snapshot.calibration;
    state.compactions.guard.clone_from(&snapshot.compactions.guard);
    state.compactions.limit = snapshot.compactions.limit;
    state.decisions.usable = snapshot.usable;
    // Whatever was sent, the host's side does not hold it: should the history be another, all of it has changed.
    state.request.last.items = match &snapshot.items {
        Some(items) => items.clone(),
        None if snapshot.upto == MessageId::FIRST => Vec::new(),
        None => vec![UNKNOWN],
    };
    (state.request.last.resend_all, state.request.last.rebuild) = (true, true);
    wait_for(&mut state, snapshot, Vec::new());
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
    let earlier = earlier_marks(session, &snapshot);
    session.reset();
    if snapshot.upto > MessageId::FIRST {
        wait_for(session, snapshot, earlier);
    }
}

/// Marks of the messages that the snapshot knows only as one hash: those of a session in this process are all at hand.
pub(super) fn earlier_marks(session: &Session, snapshot: &Snapshot) -> Vec<u32> {
    if let Some(waiting) = &session.restoration.waiting {
        return waiting.earlier.clone();
    }
    let earlier = session.transcript.ledger.messages.iter().take(snapshot.first().index());
    earlier.map(|it| mark(it.fingerprint)).collect()
}

/// What changes with the model. True: another provider or estimator counts and judges, and all messages must come again.
/// `recounts`: the host counts by another function than before, which the options do not show.
pub fn set_options(
    session: &mut Session,
    mut options: crate::context::Options,
    recounts: bool,
) -> bool {
    let scaled = [options.estimator, session.options.estimator];
    let same = !recounts && scaled.iter().all(|it| matches!(it, Estimator::Scaled(_)));
    let recount = recounts || (!same && options.estimator != session.options.estimator);
    let provider = options.provider.unwrap_or_else(|| native(session.transcript.dialect.format));
    let bound = binds_reasoning(session);
    session.decide_again();
    session.restoration.measured = None;
    // Another model may take what the last one refused.
    session.compactions.limit = None;
    session.monitor.rearm();
    session.decisions.pruner.policy = options.policy.clone();
    session.decisions.placeholders.keeps_lines = options.policy.lines;
    if recount || provider != session.transcript.dialect.provider {
        let snapshot = snapshot_of(session);
        let earlier = earlier_marks(session, &snapshot);
        session.counts.calibration = Calibration::default();
        (session.decisions.usable, session.options) = (options.mode.usable_tokens(), options);
        session.transcript.dialect.provider = provider;
        session.reset();
        let (calibration, usable) = (session.counts.calibration, session.decisions.usable);
        let recount = recount || snapshot.recount;
        let anew = snapshot.items.is_some();
        let asked = true;
        let snapshot = Snapshot { calibration, usable, anew, asked, recount, ..snapshot };
        wait_for(session, snapshot, earlier);
        return true;
    }
    if same {
        options.estimator = session.options.estimator;
    }
    session.options = options;
    session.decisions.usable = session.estimated(session.options.mode.usable_tokens());
    rebind_reasoning(session, bound);
    renew_protection(session);
    false
}
