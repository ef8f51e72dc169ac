//! Outcome of compaction in one request, and the record of a fold.

use crate::context::compaction::compaction_history::{Compacted, Record, record_id};
use crate::context::compaction::folds::{
    digest_names_of, fold_count, folded_of, last_fold, messages_with_evidence, nothing_extracted,
    ranges, touched_blocks,
};
use crate::context::session::Session;
use crate::context::session::decisions::Decided;
use crate::json;
use crate::model::MessageId;
use crate::prune::{Change, Rule};

/// Ends the id of a fold that no summarizer was asked for.
const BY_ITSELF: &str = "-fold";

json::json_struct! {
    /// What room was made in a window that was full, or why none was.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Outcome {
        /// none, pruned, summarized, folded, truncated or discarded.
        pub status: &'static str,
        /// How, or why not.
        pub reason: &'static str,
        /// Tokens of the request as it would have been.
        pub tokens_before: u64,
        /// Tokens of the request.
        pub tokens_after: u64,
        /// Messages that tell what went, if nobody has read them yet.
        pub unread: Vec<MessageId>,
        /// Identifiers of what was shortened or dropped; none of a fold, which lists its own.
        pub identifiers: Vec<String>,
    }
}

/// The request's own fold, by digest and hot set: with a summarizer there was to be a summary, if what went is large.
#[inline(never)]
pub(in crate::context) fn fold_without_summarizer(session: &mut Session) {
    let folds = session.decisions.unreported.iter().filter(|it| it.rule == Rule::Fold);
    let dropped: u64 = folds.map(|it| u64::from(it.before)).sum();
    let large = dropped >= session.decisions.pruner.policy.summary_minimum;
    let degraded = session.options.summarizes && large;
    if degraded {
        session.compactions.wanting.extend(ranges(&folded_of(&session.decisions.unreported)));
    }
    let last = session.compactions.last.as_ref().map_or(0, |it| it.at_ms);
    let at_ms = session.request.last.at_ms.map_or(last, |at| at.max(last));
    session.compactions.last = Some(Record {
        id: format!("{}{BY_ITSELF}", record_id(at_ms, fold_count(session))),
        at_ms,
        degraded,
        ..Record::default()
    });
}

/// Why the last fold has no summary: without a summarizer, or because too little went for one. A summary that was wanted is
/// missed by the caller.
pub(in crate::context) fn reason_of_fold(session: &Session) -> &'static str {
    let degraded = session.compactions.last.as_ref().is_some_and(|it| it.degraded);
    if session.options.summarizes && !degraded {
        "fold by digest and hot set: less than `summary.minimumTokens` went"
    } else {
        "fold by digest and hot set"
    }
}

/// What room was made, by the deepest step that was taken; an edit that only pays makes none.
/// `after`: tokens after a compaction, which has read what went.
pub(in crate::context) fn compaction_outcome(
    session: &mut Session,
    decided: Decided,
    fresh: &[Change],
    after: Option<u64>,
) -> Option<Outcome> {
    let by = |rules: &[Rule]| fresh.iter().any(|change| rules.contains(&change.rule));
    let (status, how) = if decided.folded {
        let last = session.compactions.last.as_ref();
        let own = |it: &&Record| it.id.ends_with(BY_ITSELF) || it.degraded;
        match last.filter(|it| !own(it) && !session.decisions.placeholders.summary.is_empty()) {
            Some(_) => ("summarized", "fold by a summary"),
            None => ("folded", reason_of_fold(session)),
        }
    } else if by(&[Rule::Discard]) {
        ("discarded", "the oldest were dropped")
    } else if by(&[Rule::Truncate]) {
        ("truncated", "old bodies were cut")
    } else if by(&[Rule::Capacity, Rule::Prune, Rule::HardFit]) {
        ("pruned", "edits made room")
    } else {
        ("none", decided.refused?)
    };
    Some(outcome_of(session, decided, fresh, after, (status, how)))
}

#[inline(never)]
fn outcome_of(
    session: &mut Session,
    decided: Decided,
    fresh: &[Change],
    after: Option<u64>,
    (status, how): (&'static str, &'static str),
) -> Outcome {
    let (mut unread, mut identifiers) = (Vec::new(), Vec::new());
    if after.is_none() && status != "none" {
        let touched = touched_blocks(session, fresh);
        unread = messages_with_evidence(session, &touched);
        if !decided.folded {
            identifiers = digest_names_of(session, &touched);
        }
        session.compactions.found = nothing_extracted(session, decided.folded);
        session.compactions.going = touched;
    }
    let tokens_after = after.unwrap_or_else(|| {
        session.decisions.pruner.context(&session.transcript.ledger, &session.setting())
    });
    Outcome {
        status,
        reason: decided.refused.unwrap_or(how),
        tokens_before: session.counts.calibration.tokens(decided.before),
        tokens_after: session.counts.calibration.tokens(tokens_after),
        unread,
        identifiers,
    }
}

/// Compactions that are remembered.
const MOST: usize = 32;

/// Remembers the compaction that was just carried out, and how large the request was before and after it.
pub(in crate::context) fn record_compaction(
    session: &mut Session,
    tokens_before: u64,
    tokens_after: u64,
) {
    let fold = last_fold(session).without_texts();
    let recent = &mut session.compactions.recent;
    recent.push(Compacted { fold, tokens_before, tokens_after });
    let over = recent.len().saturating_sub(MOST);
    recent.drain(..over);
}

/// The compactions of the session, as far as they are remembered; none where its history has become another.
pub fn list_compactions(session: &Session) -> Vec<Compacted> {
    let Some(last) = &session.compactions.last else { return Vec::new() };
    let mut all = session.compactions.recent.clone();
    let fold = last_fold(session);
    match all.last_mut().filter(|it| it.fold.id == last.id) {
        Some(it) => it.fold = fold,
        // A session that was woken knows only what its last one came to.
        None => all.push(Compacted { fold, tokens_before: 0, tokens_after: 0 }),
    }
    all
}
