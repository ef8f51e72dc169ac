//! Outcome of compaction in one request, and the record of a fold.

use crate::context::compaction::commit::digest_names;
use crate::context::compaction::compaction_history::{Record, record_id};
use crate::context::compaction::plan::fold_count;
use crate::context::compaction::plan::kept_before;
use crate::context::compaction::plan::nothing_extracted;
use crate::context::compaction::plan::{folded_of, ranges};
use crate::context::session::{Decided, Session};
use crate::extract::Extracted;
use crate::json;
use crate::model::{BlockId, Kind, MessageId};
use crate::prune::{Change, Rule};
use crate::sort::sort_set;

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
        /// Identifiers of what was shortened or dropped; a fold has those of its digest.
        pub identifiers: Vec<String>,
    }
}

json::json_struct! {
    /// A fold: what stands before `first_kept` is replaced by a head, except `kept`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Folded {
        /// Sorts as the compactions came.
        pub id: String,
        /// When it was carried out.
        pub at: i64,
        /// First message that is kept as it is.
        pub first_kept: MessageId,
        /// Messages before it of which something stays, as [from, to).
        pub kept: Vec<(MessageId, MessageId)>,
        /// What stands for the rest.
        pub head: String,
        /// The summary in it; empty: it has none.
        pub summary: String,
        /// The identifiers of its digest.
        pub identifiers: Vec<String>,
        /// What is known of files, commands and errors.
        pub extracted: Extracted,
        /// What the summary was to hold and does not.
        pub lost: Vec<String>,
        /// There was to be a summary by the host's summarizer, and there is none.
        pub degraded: bool,
    }
}

/// The blocks of these changes, and the calls whose results are among them: a cut result no longer tells of its file.
pub(in crate::context) fn touched_blocks(session: &Session, changes: &[Change]) -> Vec<BlockId> {
    let mut touched: Vec<BlockId> = Vec::new();
    for change in changes.iter().filter(|it| it.rule != Rule::Repair) {
        let pair =
            session.transcript.ledger.block(change.block).map_or(BlockId::NONE, |it| it.pair);
        touched.extend([change.block, pair]);
    }
    sort_set(&mut touched);
    touched
}

/// The messages of calls and errors among these blocks: nothing else tells of files, commands and errors.
pub(in crate::context) fn messages_with_evidence(
    session: &Session,
    blocks: &[BlockId],
) -> Vec<MessageId> {
    let message_of = |at: &BlockId| {
        let block = session.transcript.ledger.block(*at)?;
        (block.kind == Kind::Call || block.failed).then_some(block.message)
    };
    let mut messages: Vec<MessageId> = blocks.iter().filter_map(message_of).collect();
    messages.dedup();
    messages
}

/// The identifiers of these blocks that a digest would list.
pub(in crate::context) fn digest_names_of(session: &Session, blocks: &[BlockId]) -> Vec<String> {
    let mut ids: Vec<u32> =
        blocks.iter().flat_map(|&at| session.transcript.ledger.ids(at)).copied().collect();
    sort_set(&mut ids);
    let digest = session.decisions.pruner.digest(
        &session.transcript.ledger,
        &session.setting(),
        session.transcript.call,
    );
    let named = digest.into_iter().filter(|id| ids.binary_search(id).is_ok());
    named.map(|id| session.transcript.ledger.identifiers.text(id).into()).collect()
}

/// What a fold that has just been carried out came to.
pub(in crate::context) fn last_fold(session: &Session) -> Folded {
    let last = session.compactions.last.clone().unwrap_or_default();
    Folded {
        id: last.id,
        at: last.at_ms,
        first_kept: session.decisions.pruner.start,
        kept: kept_before(session, session.decisions.pruner.start),
        head: session.decisions.placeholders.head.clone(),
        summary: session.decisions.placeholders.summary.clone(),
        identifiers: digest_names(session).into_iter().map(Into::into).collect(),
        extracted: last.found,
        lost: last.lost,
        degraded: last.degraded,
    }
}

/// The request's own fold, by digest and hot set: with a summarizer there was to be a summary, if what went is large.
pub(in crate::context) fn fold_without_summarizer(session: &mut Session) {
    let folds = session.decisions.unreported.iter().filter(|it| it.rule == Rule::Fold);
    let dropped: u64 = folds.map(|it| u64::from(it.before)).sum();
    let large = dropped >= session.decisions.pruner.policy.summary_minimum;
    let degraded = session.options.summarizes && large;
    if degraded {
        session.compactions.wanting.extend(ranges(&folded_of(&session.decisions.unreported)));
    }
    let last = session.compactions.last.as_ref().map_or(0, |it| it.at_ms);
    let at_ms = session.last_request.at_ms.map_or(last, |at| at.max(last));
    session.compactions.last = Some(Record {
        id: format!("{}{BY_ITSELF}", record_id(at_ms, fold_count(session))),
        at_ms,
        degraded,
        ..Record::default()
    });
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
            None => ("folded", "fold by digest and hot set"),
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
    Some(Outcome {
        status,
        reason: decided.refused.unwrap_or(how),
        tokens_before: session.calibration.tokens(decided.before),
        tokens_after: session.calibration.tokens(tokens_after),
        unread,
        identifiers,
    })
}
