//! Restoring: a snapshot's decisions are taken up as the messages come that they are about.

use crate::context::compaction::checkpoint::drop_later_checkpoint;
use crate::context::compaction::compaction_history::Compactions;
use crate::context::request::bound_thinking::{keep_reasoning, rebind_reasoning};
use crate::context::request::build_request::{check_outgoing, rebuild_last_view, violations_sent};
use crate::context::request::builder::Builder;
use crate::context::request::last_request::Entry;
use crate::context::request::placeholders::{SUMMARY, Want};
use crate::context::request::shorten::{about_block, record_call};
use crate::context::session::Session;
use crate::context::session::marks::{mark, rolled_by};
use crate::context::session::snapshot::content::{Changed, Shape, Snapshot, UNKNOWN};
use crate::context::session::snapshot::forged::discard_forged;
use crate::context::session::snapshot::forgotten::wait_for_a_later_part;
use crate::context::session::snapshot::measured::keep_measured;
use crate::context::session::snapshot::waiting::{Match, Waiting};
use crate::estimate::MESSAGE;
use crate::model::{BlockId, Draft, Form, Kind, MessageId, Outline, Span};
use crate::number::count;
use crate::prune::{Change, Head, Rule};

/// The session waits for the messages that the snapshot was made of. `earlier`: marks of those that it knows only as one hash.
pub(super) fn wait_for(session: &mut Session, snapshot: Snapshot, earlier: Vec<u32>) {
    session.request.pins.clone_from(&snapshot.pins);
    session.request.pins.detach();
    session.restoration.waiting = Some(Waiting { earlier, ..Waiting::new(snapshot) });
}

/// Whether the next message is the one that the snapshot was made of; if not, takes up what came before it.
pub(in crate::context) fn match_message(
    session: &mut Session,
    index: MessageId,
    fingerprint: u64,
) -> Match {
    if session.restoration.waiting.is_some() {
        match_known(session, index, fingerprint)
    } else {
        Match::Ends
    }
}

#[inline(never)]
fn match_known(session: &mut Session, index: MessageId, fingerprint: u64) -> Match {
    let Some(waiting) = &mut session.restoration.waiting else { return Match::Ends };
    let snapshot = &waiting.snapshot;
    if waiting.may_start_late && snapshot.opens_otherwise(index, fingerprint) {
        wait_for_a_later_part(session);
        return Match::Different;
    }
    if index == snapshot.first() && waiting.rolling != snapshot.before {
        session.restoration.waiting = None;
        session.reset();
        return Match::Different;
    }
    if is_known(waiting, index, fingerprint) {
        waiting.rolling = rolled_by(waiting.rolling, snapshot.print(fingerprint));
        return Match::Same;
    }
    finish_restore(session);
    Match::Ends
}

fn is_known(waiting: &Waiting, index: MessageId, fingerprint: u64) -> bool {
    let first = waiting.snapshot.first();
    let is_singly = index >= first;
    let known = if is_singly {
        waiting.snapshot.marks.get(index.since(first) as usize)
    } else {
        waiting.earlier.get(index.index())
    };
    let is_same = known.map_or(!is_singly, |known| *known == mark(fingerprint));
    is_same && index < waiting.ends
}

/// With this message the wait ends: what was known is taken up before its identifiers get numbers.
pub(in crate::context) fn ends_wait(session: &Session, fingerprint: u64) -> bool {
    let index = session.transcript.ledger.next_message();
    let waiting = session.restoration.waiting.as_ref();
    waiting.is_some_and(|it| !is_known(it, index, fingerprint))
}

/// What the session waits for may cut this message again, or quote its calls: neither goes without its text.
pub(in crate::context) fn needs_text(session: &Session, outline: &Outline) -> bool {
    let Some(waiting) = &session.restoration.waiting else { return false };
    let first = session.transcript.ledger.next_block();
    let end = first.plus(count(outline.pieces.len()));
    let next_cut = waiting.cuts.blocks.partition_point(|at| *at < first);
    let has_calls = outline.pieces.iter().any(|piece| piece.kind == Kind::Call);
    waiting.cuts.blocks.get(next_cut).is_some_and(|at| *at < end)
        || (has_calls && waiting.cuts.quote_calls)
}

/// Writes again what is capped of a message that the snapshot was made of; the rest follows when all have come.
pub(in crate::context) fn cap_again(
    session: &mut Session,
    draft: &Draft<'_>,
    first_block: BlockId,
) {
    if session.restoration.waiting.is_some() {
        cap_known(session, draft, first_block);
    }
}

#[inline(never)]
fn cap_known(session: &mut Session, draft: &Draft<'_>, first_block: BlockId) {
    let Some(waiting) = &session.restoration.waiting else { return };
    let (changed, quotes) = (&waiting.snapshot.changed, waiting.cuts.quote_calls);
    let mut cuts = Vec::new();
    for (at, part) in first_block.on().zip(&draft.parts) {
        let found = changed.binary_search_by_key(&at, |changed| changed.block).ok();
        let form = found.and_then(|at| changed.get(at)).map(|it| &it.form);
        let want = if let Some(Shape::Cut(want, _)) = form { Some(*want) } else { None };
        cuts.push((at, part, want));
    }
    for (at, part, want) in cuts {
        if quotes && part.piece.kind == Kind::Call {
            record_call(session, at, part);
        }
        if let Some(want) = want {
            let about = about_block(session, at);
            session.decisions.placeholders.wanted.insert(at, want);
            let overhead = session.transcript.ledger.block(at).map_or(0, |it| it.overhead);
            session.decisions.placeholders.supply(at, overhead, part, &about);
        }
    }
}

/// Goes on where the snapshot was made, with the messages that have come: all of them, or those before a branch. Returns the
/// messages of the last request if the next one is the same.
pub(in crate::context) fn finish_restore(session: &mut Session) -> Option<Vec<Entry>> {
    keep_measured(session);
    session.decisions.placeholders.calls.clear();
    let waiting = session.restoration.waiting.take()?;
    restore_waiting(session, waiting).filter(|_| session.request.last.settled)
}

/// Out of line: most requests wait for nothing.
#[inline(never)]
fn restore_waiting(session: &mut Session, waiting: Waiting) -> Option<Vec<Entry>> {
    let Waiting { snapshot, forgotten, .. } = waiting;
    let messages = session.transcript.ledger.next_message();
    // Nothing that would have to be said of a session without messages.
    if messages == MessageId::FIRST {
        session.request.last.rebuild = true;
        // What was asked for before the first request holds of whatever messages come.
        if snapshot.upto == MessageId::FIRST {
            session.decisions.pruner.fold_wanted = snapshot.fold_wanted;
        }
        return None;
    }
    // Only repairs have been made yet.
    let repaired: Vec<BlockId> = session.decisions.reasons.iter().map(|(at, _)| at).collect();
    let is_missing = restore_forms(session, &snapshot, forgotten);
    let (ours, calls) = (&mut session.decisions.pruner, session.transcript.call);
    ours.lost = is_missing;
    ours.fold_rent = snapshot.fold_rent;
    ours.charged = snapshot.charged.map(|charged| charged.min(calls));
    session.request.last.epoch = snapshot.epoch;
    session.request.last.at_ms = snapshot.at_ms;
    session.compactions.flush = snapshot.compactions.flush;
    session.request.last.parts = snapshot.parts.map(|(fingerprint, _)| fingerprint);
    session.request.last.fold_due = snapshot.fold_due;
    let is_complete = messages == snapshot.upto;
    let unreported = session.compactions.unreported.is_some();
    // What was sent ended as it did then, whatever is asked for now.
    let open = session.repairs.repairer.set_open(snapshot.open);
    let entries = rebuild_last_view(session, is_complete);
    session.repairs.repairer.set_open(open);
    rebind_reasoning(session, snapshot.bound);
    let goes = keep_reasoning(session);
    session.request.last.breakpoints = snapshot.breakpoints;
    let sent = count(session.request.last.items.len());
    session.request.last.breakpoints.retain(|at| *at < sent);
    session.request.last.peak = snapshot.peak;
    // Counted by another estimator, the last request has the size that was just counted.
    let previous = if snapshot.recount { 0 } else { snapshot.last };
    session.request.last.previous_tokens = previous;
    if !snapshot.recount {
        session.request.last.tokens = snapshot.tokens;
    }
    // Another estimator cuts a text elsewhere than where it was cut as it was sent.
    let is_cap = |it: &Changed| matches!(it.form, Shape::Cut(Want::Cap(_), _));
    let recuts = snapshot.recount && snapshot.changed.iter().any(is_cap);
    let mut is_other = std::mem::take(&mut session.request.last.renamed) && is_complete;
    if let Some(items) = snapshot.items {
        let sent = std::mem::replace(&mut session.request.last.items, items);
        let mut pairs = sent.iter().zip(&session.request.last.items);
        is_other &= pairs.any(|(now, then)| (now.key, now.ids) != (then.key, then.ids));
    } else if unreported || is_missing || snapshot.start > messages || recuts {
        // A fold that does not hold began the last request.
        session.request.last.items = vec![UNKNOWN];
    } else if !is_complete {
        // What stood after these is not known: the request is not what it was from there on.
        session.request.last.items.push(UNKNOWN);
    }
    session.request.last.rebuild =
        !is_complete || snapshot.anew || unreported || is_missing || is_other;
    let beside = (session.request.extras.fingerprint, session.request.extras.total());
    let same_window = snapshot.window
        == (session.options.mode.window_tokens(), session.options.mode.usable_tokens());
    session.request.last.settled = is_complete
        && same_window
        && snapshot.open == open
        && !goes
        && !snapshot.anew
        && !snapshot.asked
        && !unreported
        && !is_missing
        && !is_other
        && snapshot.parts == Some(beside);
    // Nothing is built anew only because the host's side does not hold it.
    session.request.last.rebuild &= !session.request.last.settled;
    if snapshot.has_new_shape {
        restore_reports(session, &snapshot.changed);
    }
    // What was in this process needs no proof.
    if session.request.last.resend_all {
        // What was sent last is what goes out next.
        let is_unchanged = is_complete && !goes && snapshot.open == open;
        let violations =
            if is_unchanged { check_outgoing(session, &entries) } else { violations_sent(session) };
        discard_forged(session, violations.len(), &snapshot.changed, &repaired, forgotten);
    }
    Some(entries)
}

/// Where something stands is another place now: every message is handed over, and every edit told, once more.
fn restore_reports(session: &mut Session, changed: &[Changed]) {
    session.request.last.items = vec![UNKNOWN];
    (session.request.last.settled, session.request.last.rebuild, session.request.last.resend_all) =
        (false, true, true);
    session.request.last.has_new_shape = false;
    session.request.last.reported_edits.clear();
    for Changed { block, why, .. } in changed {
        if let Some(it) = session.transcript.ledger.block(*block) {
            session.decisions.unreported.push(Change {
                block: *block,
                rule: why.rule,
                before: it.tokens,
            });
        }
    }
}

/// What was sent of the blocks, as far as the messages have come; a fold holds only if all that it touched has, and what
/// was dropped for the sake of messages that have not come is there again.
/// True: something was sent of a message that the host has forgotten.
fn restore_forms(session: &mut Session, snapshot: &Snapshot, forgotten: Span<BlockId>) -> bool {
    let end = session.transcript.ledger.next_block();
    let mut missing = forgotten.len();
    let folds_hold = snapshot.start <= session.transcript.ledger.next_message();
    let mut gone = Vec::new();
    for changed in snapshot.changed.iter().take_while(|changed| changed.block < end) {
        let Changed { block, now, why, form } = changed;
        if forgotten.contains(*block) {
            missing = missing.saturating_sub(usize::from(*form == Shape::Gone));
            continue;
        }
        let dropped = matches!(
            (why.rule, form),
            (Rule::HardFit | Rule::Discard, Shape::Gone) if why.call > session.transcript.call
        );
        // What messages that have not come made a repair of, needs none now.
        let mended =
            why.rule == Rule::Repair && session.transcript.ledger.next_message() < snapshot.upto;
        // A result whose call is no longer in the history stays away, and for that reason, however it was sent before.
        let is_repaired =
            session.decisions.reasons.get(*block).is_some_and(|why| why.rule == Rule::Repair);
        let orphaned = is_repaired && why.rule != Rule::Repair;
        if dropped || mended || orphaned || (why.rule == Rule::Fold && !folds_hold) {
            continue;
        }
        let form = match form {
            Shape::Cut(_, form) => *form,
            Shape::Stubbed(line) => {
                session.decisions.placeholders.put(*block, line);
                Form::Stubbed
            }
            Shape::Gone => Form::Gone,
        };
        if why.rule.takes() {
            let tokens = session.transcript.ledger.block(*block).map_or(0, |it| it.tokens);
            session.decisions.pruner.taken =
                session.decisions.pruner.taken.saturating_add(tokens.into());
        }
        session.decisions.reasons.insert(*block, *why);
        if form == Form::Gone {
            gone.push(*block);
            continue;
        }
        let now = if snapshot.recount { recounted(session, *block) } else { *now };
        session.transcript.ledger.set_form(*block, form, now);
    }
    // All at once: each by itself would move what is after it.
    session.transcript.ledger.drop_all(&gone);
    if folds_hold {
        session.decisions.pruner.start = snapshot.start;
        session.decisions.pruner.head_from = snapshot.head_from;
        session.decisions.pruner.head.clone_from(&snapshot.head);
        // As it was sent, also where the host's history does not say it any more.
        let about = Builder::new(session).head_about();
        if let Some(message) = session.transcript.ledger.messages.get_mut(about.index()) {
            message.at_ms = snapshot.head_at.or(message.at_ms);
        }
        session.decisions.placeholders.head.clone_from(&snapshot.head_text);
        let summary =
            snapshot.head_text.get(SUMMARY.len()..).and_then(|it| it.get(..snapshot.summary));
        session.decisions.placeholders.summary = summary.unwrap_or_default().into();
        let Compactions { guard, limit, .. } = std::mem::take(&mut session.compactions);
        session.compactions = Compactions { guard, limit, ..snapshot.compactions.clone() };
        drop_later_checkpoint(session);
    }
    if folds_hold
        && snapshot.recount
        && let Some(head) = &snapshot.head
    {
        let tokens = session.options.estimator.tokens(&snapshot.head_text).saturating_add(MESSAGE);
        session.decisions.pruner.head = Some(Head { tokens, ..head.clone() });
    }
    for &(at, rent) in &snapshot.rents {
        if let Some(block) = session.transcript.ledger.blocks.get_mut(at.index()) {
            block.rent = rent;
        }
    }
    // Numbers of identifiers are those of their first appearance, which may be forgotten.
    let none_is_forgotten = forgotten.is_empty();
    for &id in snapshot.stubbed.iter().filter(|_| none_is_forgotten) {
        if let Some(identifier) = session.transcript.ledger.identifiers.get_mut(id) {
            identifier.stubbed = true;
        }
    }
    for &id in snapshot.summarized.iter().filter(|_| none_is_forgotten) {
        if let Some(identifier) = session.transcript.ledger.identifiers.get_mut(id) {
            identifier.summarized = folds_hold;
        }
    }
    // Not extended, which would bring a sort of its own.
    for at in snapshot.unbound.iter().filter(|&&at| at < end) {
        session.decisions.unbound.insert(*at, ());
    }
    if !none_is_forgotten {
        let summary = std::mem::take(&mut session.decisions.placeholders.summary);
        session.transcript.ledger.identifiers.note_summary(&summary);
        session.decisions.placeholders.summary = summary;
        session.decisions.pruner.start =
            session.decisions.pruner.start.max(session.decisions.pruner.forgotten);
    }
    session.decisions.unreported.clear();
    session.decisions.pruner.fold_wanted = snapshot.fold_wanted;
    missing > 0
}

/// What a changed block costs by the estimator of now.
fn recounted(session: &Session, block: BlockId) -> u32 {
    let Some(it) = session.transcript.ledger.block(block) else { return 0 };
    let line = session.decisions.placeholders.text.get(&block);
    line.map_or(it.tokens, |line| session.decisions.placeholders.cost(it, block, line))
}

/// Where the requests of a session that waits start, and what its head says.
#[cfg(test)]
pub(in crate::context) fn waiting_cut(session: &Session) -> (MessageId, String) {
    let waiting = session.restoration.waiting.as_ref();
    waiting.map(|it| (it.snapshot.start, it.snapshot.head_text.clone())).unwrap_or_default()
}
