//! Commit of a planned compaction, if its messages are unchanged and it makes the request smaller.

use crate::context::compaction::aside::{put_back, set_aside};
use crate::context::compaction::ceiling::Ceiling;
use crate::context::compaction::compaction_history::{Record, record_id};
use crate::context::compaction::compaction_outcome::{reason_of_fold, record_compaction};
use crate::context::compaction::folds::{
    digest_names, dropped_tokens, fold_count, fold_planned, folded_of, kept_before, ranges,
    unsummarized_blocks,
};
use crate::context::compaction::guard::Failure;
use crate::context::request::keep_lines::{messages_of_lines, write_lines_of_head};
use crate::context::session::Session;
use crate::context::session::calibration::Counted;
use crate::context::session::decide::finish_history;
use crate::context::session::snapshot::restore::finish_restore;
use crate::error::Result;
use crate::extract::Extracted;
use crate::json::{self, Value, json};
use crate::model::MessageId;
use crate::prune::Setting;

/// Requests in a row that are made smaller after a provider has refused them (G45).
const MOST_REFUSALS: u32 = 2;

/// What came of a commit: whether it holds, tokens of the request before and after, and how its summarizer failed.
struct Committed {
    carried: bool,
    before: u64,
    after: u64,
    failure: Option<Failure>,
}

/// Carries a planned compaction out (JSON: base and gone of the plan, and what the summarizer came to). The next request
/// tells of it. What came of it, as JSON.
///
/// # Errors
/// `StalePlan`, `InvalidArgument`; then nothing has changed.
pub fn commit_plan(session: &mut Session, planned: &str, now_ms: i64) -> Result<Value> {
    // A restored session that carries nothing out keeps waiting.
    let waiting = session.restoration.waiting.is_some().then(|| session.clone());
    let owed = dropped_tokens(session, &unsummarized_blocks(session));
    finish_restore(session);
    let aside = set_aside(session);
    let committed =
        fold_and_record(session, planned, owed, now_ms, aside.decisions.pruner.fold_rent);
    let carried = committed.as_ref().is_ok_and(|it| it.carried);
    match waiting {
        _ if carried => {}
        Some(waiting) => *session = waiting,
        None => put_back(session, aside),
    }
    let Committed { before, after, failure, .. } = committed?;
    let sizes =
        (session.counts.calibration.tokens(before), session.counts.calibration.tokens(after));
    if carried {
        record_compaction(session, sizes.0, sizes.1);
    }
    let failure = match failure {
        // One compaction is one strike.
        Some(Failure::Ineffective) if carried => Some(Failure::Temporary),
        failure if carried => failure,
        Some(_) | None => Some(Failure::Ineffective),
    };
    if let Some(failure) = failure {
        record_failure(session, failure, now_ms);
    }
    Ok(committed_json(session, carried, sizes.0, sizes.1))
}

/// The texts have come that the head of a compaction waited for: what came of it, as JSON.
pub fn commit_lines(session: &mut Session) -> Value {
    write_lines_of_head(session);
    let after = session.sizes().0;
    if let Some(unreported) = &mut session.compactions.unreported {
        unreported.1 = after;
    }
    let after = session.counts.calibration.tokens(after);
    let mut before = 0;
    if let Some(last) = session.compactions.recent.last_mut() {
        last.tokens_after = after;
        before = last.tokens_before;
    }
    committed_json(session, true, before, after)
}

/// What came of a commit. `need`: messages whose texts its head waits for.
fn committed_json(session: &Session, carried: bool, before: u64, after: u64) -> Value {
    let last = session.compactions.last.as_ref();
    json!({
        "carried": carried,
        "need": messages_of_lines(session),
        "id": last.map_or("", |it| it.id.as_str()),
        "tokensBefore": before,
        "tokensAfter": after,
        "firstKept": session.decisions.pruner.start,
        "kept": kept_before(session, session.decisions.pruner.start),
        "head": session.decisions.placeholders.head,
        "identifiers": digest_names(session),
        "reason": reason_of_fold(session)
    })
}

/// Folds what a plan lets go; records it only if the request is smaller. `owed`: tokens that went without a summary.
fn fold_and_record(
    session: &mut Session,
    planned: &str,
    owed: u64,
    now_ms: i64,
    rent: u64,
) -> Result<Committed> {
    finish_history(session);
    let (before, _) = session.sizes();
    let seen = session.decisions.unreported.len();
    let mut members = fold_planned(session, planned)?;
    let (after, line) = session.sizes();
    let degraded = members.flag("degraded").unwrap_or(false);
    let summarized = members.str("summary").is_some() && !degraded;
    // A summary stands for what went without one too, and may come for that alone.
    let owed = if summarized { owed } else { 0 };
    let stood = before.saturating_add(owed);
    let gone = folded_of(session.decisions.unreported.get(seen..).unwrap_or_default());
    let alone = gone.is_empty();
    // History is replaced only by something smaller (F6).
    let carried = after < before || (alone && after < stood && after <= line);
    let failure = members.text("failure").and_then(|name| Failure::parse(&name));
    let committed = Committed { carried, before: stood, after, failure };
    if !carried {
        return Ok(committed);
    }
    let at_ms = session.compactions.last.as_ref().map_or(now_ms, |it| it.at_ms.max(now_ms));
    let id = record_id(at_ms, fold_count(session));
    let lost = texts(members.items("lost").unwrap_or_default());
    let found = extracted(members.raw("extracted").unwrap_or("{}"));
    session.compactions.last = Some(Record { id, at_ms, degraded, lost, found });
    session.compactions.unreported = Some((stood, after));
    if degraded {
        session.compactions.wanting.extend(ranges(&gone));
    } else if summarized {
        (session.compactions.wanting, session.compactions.tries) = (Vec::new(), 0);
    }
    if alone {
        session.decisions.pruner.fold_rent = rent;
    }
    // What came meanwhile is none of what it left.
    let planned = members.integer("messages").and_then(|it| u32::try_from(it).ok());
    let from =
        session.transcript.ledger.blocks_of(planned.map_or(MessageId::NONE, MessageId::from)).start;
    let sent = session.transcript.ledger.live();
    let since = sent.get(sent.partition_point(|&at| at < from)..).unwrap_or_default();
    let left = after.saturating_sub(dropped_tokens(session, since));
    let epoch = session.request.last.epoch.saturating_add(1);
    session.compactions.guard.done(epoch, left, degraded);
    session.decisions.pruner.fold_wanted = false;
    (session.request.last.settled, session.request.last.rebuild) = (false, true);
    Ok(committed)
}

/// A compaction came to nothing (JSON: `{ failure }`).
pub fn compaction_failed(session: &mut Session, kind: &str, now_ms: i64) {
    if let Some(failure) = Failure::parse(kind) {
        record_failure(session, failure, now_ms);
    }
}

fn record_failure(session: &mut Session, failure: Failure, now_ms: i64) {
    session.compactions.guard.fail(failure, now_ms);
    session.compactions.tries = session.compactions.tries.saturating_add(1);
}

/// A provider has refused the last request as too large. `limit`, `counted`: what the provider takes, and what it counted of
/// this request, if the host knows. None: it was refused twice in a row, or nothing is decided.
pub fn record_refusal(
    session: &mut Session,
    limit: Option<u64>,
    counted: Option<u64>,
) -> Option<u32> {
    let (times, call) = session.compactions.refusals;
    // An answer of the model since then means that a request was accepted.
    let times = if call == session.transcript.call { times } else { 0 };
    if !session.options.mode.is_managed() || times >= MOST_REFUSALS {
        return None;
    }
    let times = times.saturating_add(1);
    session.compactions.refusals = (times, session.transcript.call);
    // A request that was not ours is as large as the messages that are known, else as large as may be. Even after one over the
    // window the new bound is below the window.
    let usable = session.decisions.usable;
    let known =
        || Some(session.sizes().0).filter(|_| session.transcript.ledger.message_count() > 0);
    let sent = Some(session.request.last.tokens).filter(|&tokens| tokens > 0).or_else(known);
    let refused = sent.unwrap_or(usable).min(usable);
    let limit = limit.map(|limit| match counted {
        Some(counted) => refused.saturating_mul(limit).checked_div(counted).unwrap_or(0),
        None => session.counts.calibration.estimate(limit),
    });
    let before = session.compactions.limit;
    session.compactions.limit = Some(Ceiling::refuse(before, refused, limit));
    session.decide_again();
    Some(times)
}

/// What a provider counted tells of the last compaction, and that it took the request.
pub(in crate::context) fn record_usage(session: &mut Session, counted: Counted) {
    // The figure was rejected as none of this request (F26), so it says nothing of the compaction either.
    if session.counts.calibration.last != Some(counted) {
        return;
    }
    if let Some(mut ceiling) = session.compactions.limit {
        ceiling.accept(counted.estimate, session.lines(ceiling.tokens).0);
        session.compactions.limit = Some(ceiling);
    }
    let (usable, cap) = (session.options.mode.usable_tokens(), session.options.cap);
    let setting = Setting { usable, cap, ..session.setting() };
    let fits = counted.used <= session.decisions.pruner.line(&setting);
    session.compactions.guard.read(counted.epoch, fits);
    session.compactions.refusals = (0, 0);
}

fn texts(items: Vec<&json::RawValue>) -> Vec<String> {
    items.into_iter().filter_map(|it| json::string(it).ok().map(Into::into)).collect()
}

/// What `extracted` told, as it comes back.
fn extracted(json: &json::RawValue) -> Extracted {
    let members = json::members(json).unwrap_or_default();
    let list = |name: &str| {
        let found = members.iter().find(|(known, _)| known == name);
        texts(found.and_then(|(_, it)| json::items(it).ok()).unwrap_or_default())
    };
    Extracted {
        modified_files: list("modifiedFiles"),
        read_files: list("readFiles"),
        commands: list("commands"),
        errors: list("errors"),
        ..Extracted::default()
    }
}
