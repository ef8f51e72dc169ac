//! Folds: the messages that are folded, what they held, and the fold of a plan.

use crate::context::compaction::compaction_history::{Compactions, Folded};
use crate::context::request::keep_lines::{messages_of_lines, write_lines_of_head};
use crate::context::session::Session;
use crate::context::session::marks::{mark, rolled};
use crate::context::session::take_decision::take_decision;
use crate::error::{Error, ErrorInfo, Result};
use crate::extract::Extracted;
use crate::hash;
use crate::json::{self, Members, Shape, Type, optional, required};
use crate::model::{Block, BlockId, Form, GroupId, Id, Kind, MessageId};
use crate::prune::{Change, Decision, Rule};
use crate::sort::sort_set;

const PLANNED: Shape = Shape {
    what: "a plan",
    members: &[
        required("base", Type::Text),
        required("gone", Type::Items),
        optional("summary", Type::Text),
        optional("degraded", Type::Flag),
        optional("failure", Type::Text),
        optional("extracted", Type::Raw),
        optional("lost", Type::Items),
        optional("messages", Type::Integer),
        optional("calls", Type::Integer),
    ],
    closed: false,
};

/// The identifiers that the head lists.
pub(in crate::context) fn digest_names(session: &Session) -> Vec<&str> {
    let head = session.decisions.pruner.head.as_ref();
    let digest = head.map_or(&[][..], |head| &head.digest);
    digest.iter().map(|&id| session.transcript.ledger.identifiers.text(id)).collect()
}

/// Folds what a plan lets go, with its summary if it has one. What was pinned since stays, and all that it stays with.
/// The other members of the plan.
///
/// # Errors
/// `StalePlan`, `InvalidArgument`.
pub(in crate::context) fn fold_planned<'a>(
    session: &mut Session,
    planned: &'a str,
) -> Result<Members<'a>> {
    let refused = |error: json::Error| Error::argument("plan", "a CompactionPlan", error.got());
    let mut members = PLANNED.read(planned).map_err(refused)?;
    let cut = cut_of_base(session, &members.text("base").unwrap_or_default())?;
    let end = session.transcript.ledger.blocks_of(cut).start;
    let mut gone = Vec::new();
    for range in members.items("gone").unwrap_or_default() {
        let ends: Vec<BlockId> =
            json::items(range).map_err(refused)?.iter().filter_map(|it| it.parse().ok()).collect();
        if let [from, to] = *ends.as_slice() {
            gone.extend(from.min(end).to(to.min(end)));
        }
    }
    sort_set(&mut gone);
    let live = session.transcript.ledger.live();
    let before = live.get(..live.partition_point(|&at| at < end)).unwrap_or_default();
    let goes = |at: &BlockId| {
        let block = session.transcript.ledger.block(*at);
        block.is_some_and(|it| it.mask.may_drop) && gone.binary_search(at).is_ok()
    };
    let group =
        |at: &BlockId| session.transcript.ledger.block(*at).map_or(GroupId::NONE, |it| it.group);
    // A user's text is kept by itself, and keeps nothing else with it.
    let bound = |at: &&BlockId| {
        let verbatim = session.transcript.ledger.block(**at).is_some_and(|it| it.user);
        !verbatim && !goes(at)
    };
    let mut stay: Vec<GroupId> = before.iter().filter(bound).map(group).collect();
    sort_set(&mut stay);
    let free = |at: &BlockId| group(at).is_none() || stay.binary_search(&group(at)).is_err();
    let gone: Vec<BlockId> = before.iter().filter(|at| goes(at) && free(at)).copied().collect();
    session.decisions.placeholders.summary_to_write = members.str("summary").map(Into::into);
    let mut decision = Decision::default();
    let (setting, call) = (session.deciding(session.decisions.usable), session.transcript.call);
    let (ledger, lines) = (&mut session.transcript.ledger, &mut session.decisions.placeholders);
    session.decisions.pruner.replace(
        ledger,
        &setting,
        call,
        cut,
        &gone,
        true,
        lines,
        &mut decision,
    );
    take_decision(session, decision);
    if messages_of_lines(session).is_empty() {
        write_lines_of_head(session);
    }
    Ok(members)
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

/// The messages of these blocks, in order.
pub(in crate::context) fn messages_of(session: &Session, blocks: &[BlockId]) -> Vec<MessageId> {
    let mut messages: Vec<MessageId> = blocks
        .iter()
        .filter_map(|&at| Some(session.transcript.ledger.block(at)?.message))
        .collect();
    messages.dedup();
    messages
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
        blocks.iter().flat_map(|&at| session.transcript.ledger.ids(at)).collect();
    sort_set(&mut ids);
    let digest = session.decisions.pruner.digest(
        &session.transcript.ledger,
        &session.setting(),
        session.transcript.call,
        &[],
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

/// So often a summary of what went without one is asked for beside a fold (F118).
const TRIES: u32 = 3;
/// And where there are so many tokens for it; any summary may have them.
pub(in crate::context) const LEAST_ROOM: u64 = 500;

/// Consecutive numbers, as [from, to).
pub(in crate::context) fn ranges<T: Id>(numbers: &[T]) -> Vec<(T, T)> {
    let mut ranges: Vec<(T, T)> = Vec::new();
    for &number in numbers {
        let next = T::from(number.into().saturating_add(1));
        match ranges.last_mut() {
            Some((_, end)) if *end >= number => *end = (*end).max(next),
            _ => ranges.push((number, next)),
        }
    }
    ranges
}

/// The blocks that a fold removes, of all changes.
pub(in crate::context) fn folded_of(changes: &[Change]) -> Vec<BlockId> {
    let folds = changes.iter().filter(|it| it.rule == Rule::Fold);
    let mut gone: Vec<BlockId> = folds.map(|it| it.block).collect();
    sort_set(&mut gone);
    gone
}

/// As yet: the files of the compactions before (G23), unless only edits made room. Secrets are taken out of what will be.
pub(in crate::context) fn nothing_extracted(session: &Session, folds: bool) -> Extracted {
    let last = session.compactions.last.as_ref().filter(|_| folds);
    let last = last.map(|it| it.found.clone()).unwrap_or_default();
    Extracted { redacts: session.options.redacts, commands: Vec::new(), errors: Vec::new(), ..last }
}

/// What went for want of a summarizer's answer, and is not back.
pub(in crate::context) fn unsummarized_blocks(session: &Session) -> Vec<BlockId> {
    let ranges = session.compactions.wanting.iter();
    let all =
        ranges.flat_map(|&(from, to)| from.to(to.min(session.transcript.ledger.next_block())));
    let is_gone =
        |at: &BlockId| session.transcript.ledger.block(*at).is_some_and(|it| it.form == Form::Gone);
    let mut gone = all.filter(is_gone).collect();
    sort_set(&mut gone);
    gone
}

/// A summary of that may be asked for, beside the fold that the next one comes with.
pub(in crate::context) fn needs_summary(session: &Session) -> bool {
    let Compactions { wanting, tries, .. } = &session.compactions;
    let (now, line) = session.sizes();
    let room = line.saturating_sub(now);
    session.options.summarizes && !wanting.is_empty() && *tries < TRIES && room >= LEAST_ROOM
}

/// As they were sent last, or as they arrived.
pub(in crate::context) fn dropped_tokens(session: &Session, blocks: &[BlockId]) -> u64 {
    let tokens = |it: &Block| if it.form == Form::Gone { it.tokens } else { it.now };
    blocks
        .iter()
        .filter_map(|&at| session.transcript.ledger.block(at))
        .map(|it| u64::from(tokens(it)))
        .sum()
}

/// What a plan stands on: the messages before its cut, and that no fold has changed them since. The head is part of it, since another
/// process's session, taken in meanwhile, may have had as many folds.
pub(in crate::context) fn base_of(session: &Session, cut: MessageId) -> String {
    let known = session.transcript.ledger.messages.iter().take(cut.index());
    let head = hash::bytes(0, session.decisions.placeholders.head.as_bytes());
    let hash = known.fold(head, |hash, message| rolled(hash, mark(message.fingerprint)));
    format!(
        "{}.{}.{hash:x}",
        cut.min(session.transcript.ledger.next_message()),
        fold_count(session).unwrap_or(0)
    )
}

/// The cut of a plan that still stands.
///
/// # Errors
/// `StalePlan`.
pub(in crate::context) fn cut_of_base(session: &Session, base: &str) -> Result<MessageId> {
    let cut = base.split('.').next().and_then(|cut| cut.parse().ok()).unwrap_or_default();
    let found = base_of(session, cut);
    let is_valid = found == base && session.transcript.ledger.may_cut(cut);
    if is_valid {
        Ok(cut)
    } else {
        Err(Error::new(ErrorInfo::StalePlan { planned: base.into(), found }))
    }
}

/// Folds so far; none before the first.
pub(in crate::context) fn fold_count(session: &Session) -> Option<u32> {
    session.decisions.pruner.head.as_ref().map(|head| head.folds)
}

/// Messages before a cut of which something stays.
pub(in crate::context) fn kept_before(
    session: &Session,
    cut: MessageId,
) -> Vec<(MessageId, MessageId)> {
    let live = session
        .transcript
        .ledger
        .live()
        .iter()
        .filter_map(|&at| session.transcript.ledger.block(at));
    let kept: Vec<MessageId> =
        live.map(|block| block.message).take_while(|&message| message < cut).collect();
    ranges(&kept)
}
