//! Compaction as data: messages to remove and to keep, and the reason. It is decided like a request, then taken back.

use crate::context::compaction::aside::{Aside, put_back, set_aside};
use crate::context::compaction::checkpoint::checkpoint_state;
use crate::context::compaction::cool_down::blocked_reason;
use crate::context::compaction::folds::{
    LEAST_ROOM, base_of, digest_names, digest_names_of, dropped_tokens, fold_count, fold_planned,
    folded_of, kept_before, messages_of, messages_with_evidence, needs_summary, nothing_extracted,
    ranges, touched_blocks, unsummarized_blocks,
};
use crate::context::compaction::summary_chunks::summary_chunks;
use crate::context::report::floor::{Floor, smallest_request};
use crate::context::session::Session;
use crate::context::session::adopted::previous_summary;
use crate::context::session::decide::{decide, finish_history};
use crate::context::session::snapshot::restore::finish_restore;
use crate::error::Result;
use crate::extract::Extracted;
use crate::json::{Value, json, write};
use crate::model::{BlockId, Form, MessageId};
use crate::prune::{Change, Folds};
use crate::sort::sort_set;

/// A summary has about so many tokens.
const SUMMARY: u64 = 1500;
const WANTING: &str = "a summary of what went is still wanting";
/// So many identifiers a summary is asked to hold; the digest carries the others.
const NAMED: usize = 50;
/// So many messages with words of the user that stay are shown to a summarizer.
const ASKED: usize = 16;

/// Why a fold is carried out.
fn why(asked: bool, over: bool, nearly: bool) -> &'static str {
    match (asked, over, nearly) {
        (true, ..) => "it was asked for",
        (_, true, _) => "the request would not fit",
        (.., true) => "the window is nearly full",
        _ => "a fold pays",
    }
}

/// Outcome of a compaction that was decided and taken back.
struct Tried {
    outcome: &'static str,
    reason: String,
    /// Blocks that a fold removes.
    gone: Vec<BlockId>,
    /// Tokens of the request before and after, and above which something must go.
    before: u64,
    after: u64,
    line: u64,
    /// The request would not fit.
    over: bool,
    floor: Floor,
    /// A summary is all that is wanted: nothing more goes.
    alone: bool,
    /// The plan that is carried out has told of calls of a summarizer.
    promised: bool,
    cut: MessageId,
    kept: Vec<(MessageId, MessageId)>,
    names: Vec<String>,
    shortened: Vec<BlockId>,
}

/// What a compaction now would do, as JSON: a plan, and what is needed to carry it out. Nothing has moved.
///
/// # Errors
/// `StalePlan` or `InvalidArgument` for a plan that was `cut_from`.
pub fn plan_compaction(
    session: &mut Session,
    force: bool,
    cut_from: Option<&str>,
    now_ms: i64,
) -> Result<Value> {
    // A restored session keeps waiting afterwards, since its next history may go further.
    let waiting = session.restoration.waiting.is_some().then(|| session.clone());
    finish_restore(session);
    let planned = planned_compaction(session, force, cut_from, now_ms);
    if let Some(waiting) = waiting {
        *session = waiting;
    }
    let (plan, going, found) = planned?;
    session.compactions.going = going;
    session.compactions.found = found;
    Ok(plan)
}

/// The plan, the blocks that it lets go or shortens, and where what they hold is collected.
fn planned_compaction(
    session: &mut Session,
    force: bool,
    cut_from: Option<&str>,
    now_ms: i64,
) -> Result<(Value, Vec<BlockId>, Extracted)> {
    let aside = set_aside(session);
    let tried = try_compaction(session, force, cut_from, now_ms, &aside);
    put_back(session, aside);
    let tried = tried?;
    let Tried { outcome, before, after, line, over, cut, alone, .. } = tried;
    let (wanting, folds) = (unsummarized_blocks(session), outcome == "summarize");
    let frees =
        if alone { dropped_tokens(session, &wanting) } else { before.saturating_sub(after) };
    let room = room_for_summary(session, frees, line, after);
    // What went without a summary is summarized with what goes now, or by itself.
    let mut going = wanting;
    going.extend(&tried.gone);
    going.retain(|_| folds);
    sort_set(&mut going);
    let mut go = messages_of(session, &going);
    let split = if folds { split_turn(session, cut) } else { None };
    let (chunks, calls) = summary_chunks(session, &go, &going, split);
    let dropped = dropped_tokens(session, &going);
    let wanted = folds
        && !going.is_empty()
        && session.options.summarizes
        && (force || alone || tried.promised || dropped >= policy(session).summary_minimum);
    let after = after.saturating_add(if wanted { room.min(SUMMARY) } else { 0 });
    if wanted {
        go.extend(asked(session, &going, cut));
        sort_set(&mut go);
    }
    let plan = json!({
        "base": base_of(session, cut),
        "outcome": outcome,
        "reason": tried.reason,
        "firstKept": cut,
        "kept": tried.kept,
        "chunks": chunks,
        "calls": if wanted { calls } else { 0 },
        "tokensBefore": session.counts.calibration.tokens(before),
        "tokensAfterEstimate": session.counts.calibration.tokens(after),
        "gone": if folds { ranges(&tried.gone) } else { Vec::new() },
        "floor": (outcome == "overflow").then_some(tried.floor)
    });
    let all = json!({
        "plan": plan,
        "messages": session.transcript.ledger.message_count(),
        "go": if folds { go } else { messages_with_evidence(session, &tried.shortened) },
        "droppedTokens": dropped,
        "room": room,
        "summaryWanted": wanted,
        "degrades": !alone && (force || over || cut_from.is_some()),
        "splitTurn": split,
        "previousSummary": previous_summary(session, &going),
        "checkpoints": checkpoint_state(session),
        "folds": fold_count(session).unwrap_or(0),
        "waits": over,
        "pins": session.request.pins.sent().collect::<Vec<&str>>(),
        "identifiers": tried.names,
        "blocked": blocked_reason(session, now_ms)
    });
    let found = nothing_extracted(session, outcome != "prune");
    going.extend(tried.shortened);
    Ok((all, going, found))
}

/// Decides on the session itself; the caller puts back what was set `aside`.
fn try_compaction(
    session: &mut Session,
    force: bool,
    cut_from: Option<&str>,
    now_ms: i64,
    aside: &Aside,
) -> Result<Tried> {
    let known = &aside.decisions.pruner;
    let (start, wanting, is_wanting) =
        (known.start, unsummarized_blocks(session), needs_summary(session));
    let folds_before = known.head.as_ref().map(|it| it.folds);
    finish_history(session);
    // A plan shows the fold, also where a request would defer it.
    session.options.folds = Folds::Carried;
    // Whatever stands in it afterwards is the plan; `put_back` restores what stood there before.
    session.decisions.unreported.clear();
    let (before, line) = session.sizes();
    let over = before > session.decisions.usable;
    let mut refused = None;
    let mut promised = false;
    if let Some(cut_from) = cut_from {
        let mut members = fold_planned(session, cut_from)?;
        promised = members.integer("calls").is_some_and(|calls| calls > 0);
    } else {
        session.decisions.pruner.fold_wanted |= force;
        refused = decide(session, now_ms).refused;
    }
    let changes = &session.decisions.unreported;
    let (gone, unchanged) = (gone_with_fold(session, changes), changes.is_empty());
    // A plan may hold nothing that goes: carried out, it would only write the head anew.
    let nothing = gone.is_empty() && wanting.is_empty();
    let folded = fold_count(session) != folds_before && !nothing;
    let (after, _) = session.sizes();
    let floor = smallest_request(session, session.counts.calibration.tokens(after));
    let nothing_left = !folded && unchanged && before > line && refused.is_none();
    let (outcome, reason) = if !session.options.mode.is_managed() {
        ("none", "the window is not known".into())
    } else if session.options.noop {
        ("none", "`noop` is set: nothing is changed".into())
    } else if after > session.decisions.usable || nothing_left {
        ("overflow", format!("nothing that may go is left: {}", write(&floor)))
    } else if folded {
        let asked = cut_from.is_some() || force;
        ("summarize", why(asked, over, before > line).into())
    } else if unchanged {
        let reason = if force { "nothing that may go is old enough" } else { "nothing is due" };
        ("none", refused.unwrap_or(reason).into())
    } else {
        ("prune", "shortening is enough".into())
    };
    let alone = gone.is_empty()
        && !wanting.is_empty()
        && (cut_from.is_some() || outcome == "none" && (force || is_wanting));
    let (outcome, reason) = if alone { ("summarize", WANTING.into()) } else { (outcome, reason) };
    let folds = outcome == "summarize";
    let start = if alone { start } else { session.decisions.pruner.start };
    let cut = if folds { start } else { session.transcript.ledger.next_message() };
    let shortened = if outcome == "prune" {
        touched_blocks(session, &session.decisions.unreported)
    } else {
        Vec::new()
    };
    let kept = if folds { kept_before(session, cut) } else { Vec::new() };
    let names = digest_to_write(session, folds, &shortened);
    Ok(Tried {
        outcome,
        reason,
        gone,
        before,
        after,
        line,
        over,
        floor,
        alone,
        promised,
        cut,
        kept,
        names,
        shortened,
    })
}

/// The blocks that a fold removes, and those before its cut that edits removed just before it: without the fold's other blocks nothing
/// would be left to stand beside them.
fn gone_with_fold(session: &Session, changes: &[Change]) -> Vec<BlockId> {
    let mut gone = folded_of(changes);
    if gone.is_empty() {
        return gone;
    }
    let (ledger, cut) = (&session.transcript.ledger, session.decisions.pruner.start);
    let went = |at: &BlockId| {
        ledger.block(*at).is_some_and(|it| it.form == Form::Gone && it.message < cut)
    };
    gone.extend(changes.iter().map(|it| it.block).filter(went));
    sort_set(&mut gone);
    gone
}

/// Tokens for a summary: it is smaller than what it stands for, and leaves to what comes next half of what there is below the line.
fn room_for_summary(session: &Session, frees: u64, line: u64, after: u64) -> u64 {
    let summary: u64 = session
        .decisions
        .placeholders
        .estimator
        .tokens(&session.decisions.placeholders.summary)
        .into();
    let left = line.saturating_add(summary).saturating_sub(after) / 2;
    frees.saturating_add(summary).min(left.max(LEAST_ROOM))
}

/// The identifiers that a summary is asked to keep; without a fold, those of what is shortened.
fn digest_to_write(session: &Session, folds: bool, shortened: &[BlockId]) -> Vec<String> {
    if !folds {
        return digest_names_of(session, shortened);
    }
    digest_names(session).into_iter().take(NAMED).map(Into::into).collect()
}

/// The turn that a cut takes apart.
fn split_turn(session: &Session, cut: MessageId) -> Option<u32> {
    session.transcript.turn_of(cut).filter(|_| !session.transcript.ledger.starts_turn(cut))
}

/// Messages with words of the user that stay beside what goes: before the cut the first, which says what all is about, and the newest;
/// and the last of all.
fn asked(session: &Session, going: &[BlockId], cut: MessageId) -> Vec<MessageId> {
    let stays = |at: &BlockId| {
        session.transcript.ledger.block(*at).is_some_and(|it| it.user)
            && going.binary_search(at).is_err()
    };
    let users: Vec<BlockId> =
        session.transcript.ledger.live().iter().copied().filter(stays).collect();
    let mut asked = messages_of(session, &users);
    let last = asked.last().copied();
    asked.truncate(asked.partition_point(|&at| at < cut));
    if let Some(over) = asked.len().checked_sub(ASKED) {
        asked.drain(1..over.saturating_add(1));
    }
    asked.extend(last);
    asked
}

fn policy(session: &Session) -> &crate::prune::Policy {
    &session.decisions.pruner.policy
}
