//! Compaction as data: messages to remove and to keep, and the reason. It is decided like a request, then taken back.

use crate::context::compaction::cool_down::blocked_reason;
use crate::context::compaction::folds::{
    LEAST_ROOM, base_of, digest_names, digest_names_of, dropped_tokens, fold_count, fold_planned,
    folded_of, kept_before, messages_with_evidence, needs_summary, nothing_extracted, ranges,
    touched_blocks, unsummarized_blocks,
};
use crate::context::report::floor::{Floor, smallest_request};
use crate::context::report::monitor::Counters;
use crate::context::request::shorten::piece_of;
use crate::context::session::Session;
use crate::context::session::adopted::previous_summary;
use crate::context::session::decide::{decide, finish_history};
use crate::context::session::decisions::Decisions;
use crate::context::session::read_message::read_message;
use crate::context::session::snapshot::restore::finish_restore;
use crate::context::session::snapshot::waiting::Waiting;
use crate::error::Result;
use crate::extract::Extracted;
use crate::json::{Value, json, write};
use crate::ledger::Ledger;
use crate::model::{BlockId, Form, Kind, MessageId, Role};
use crate::prune::Folds;
use crate::sort::sort_set;

/// Share of the window in a chunk, and the least where messages are large, in 1e-4; what an estimate may be wrong by (G14, G15).
const CHUNK: u64 = 4000;
const LEAST_CHUNK: u64 = 1500;
const LARGE_MESSAGE: u64 = 1000;
const MARGIN: u64 = 12_000;
const ALL: u64 = 10_000;
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

/// Everything that a decision changes, as it was before one that may be taken back.
pub(in crate::context) struct Aside {
    ledger: Ledger,
    pub decisions: Decisions,
    folds: Folds,
    rebind: bool,
    work: Counters,
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
        && (force || alone || dropped >= policy(session).summary_minimum);
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
    session.options.folds = Folds::Carried;
    session.decisions.unreported.clear();
    let (before, line) = session.sizes();
    let over = before > session.decisions.usable;
    let mut refused = None;
    if let Some(cut_from) = cut_from {
        fold_planned(session, cut_from)?;
    } else {
        session.decisions.pruner.fold_wanted |= force;
        refused = decide(session, now_ms).refused;
    }
    let changes = &session.decisions.unreported;
    let (gone, unchanged) = (folded_of(changes), changes.is_empty());
    let folded = fold_count(session) != folds_before;
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
        && (outcome == "none" && (force || is_wanting) || cut_from.is_some() && folded);
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
        cut,
        kept,
        names,
        shortened,
    })
}

/// Copies what a decision changes, and nothing else of the session.
pub(in crate::context) fn set_aside(session: &Session) -> Aside {
    Aside {
        ledger: session.transcript.ledger.clone(),
        decisions: session.decisions.clone(),
        folds: session.options.folds,
        rebind: session.request.last.rebind,
        work: session.monitor.work,
    }
}

/// Takes a decision back.
pub(in crate::context) fn put_back(session: &mut Session, aside: Aside) {
    session.transcript.ledger = aside.ledger;
    session.decisions = aside.decisions;
    session.options.folds = aside.folds;
    session.request.last.rebind = aside.rebind;
    session.monitor.work = aside.work;
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

/// The messages of these blocks, in order.
fn messages_of(session: &Session, blocks: &[BlockId]) -> Vec<MessageId> {
    let mut messages: Vec<MessageId> = blocks
        .iter()
        .filter_map(|&at| Some(session.transcript.ledger.block(at)?.message))
        .collect();
    messages.dedup();
    messages
}

/// What a checkpoint now would be made of, as JSON: figures, and from message `from` on those that it would tell of. Their blocks
/// are what `flat` takes up next.
pub fn plan_checkpoint(session: &mut Session, from: MessageId) -> Value {
    let mut going = session.transcript.ledger.live().to_vec();
    going.extend(unsummarized_blocks(session));
    sort_set(&mut going);
    let message = |at: &BlockId| {
        session.transcript.ledger.block(*at).map_or(MessageId::FIRST, |it| it.message)
    };
    going.retain(|at| {
        message(at) >= from
            || session.transcript.ledger.block(*at).is_some_and(|it| it.form == Form::Gone)
    });
    let go = messages_of(session, &going);
    let dropped = dropped_tokens(session, &going);
    let previous = previous_summary(session, &going);
    session.compactions.going = going;
    json!({
        "base": base_of(session, session.transcript.ledger.next_message()),
        "messages": session.transcript.ledger.message_count(),
        "turns": session.transcript.ledger.messages.last().map_or(0, |it| it.turn),
        "folds": fold_count(session).unwrap_or(0),
        "tokens": session.sizes().0,
        "usable": session.decisions.usable,
        "checkpoints": checkpoint_state(session),
        "go": go,
        "droppedTokens": dropped,
        "previousSummary": previous,
        "pins": session.request.pins.sent().collect::<Vec<&str>>()
    })
}

fn checkpoint_state(session: &Session) -> Option<Value> {
    // Before the first message has come they are those of the snapshot.
    let snapshot = session
        .restoration
        .waiting
        .as_ref()
        .filter(|_| session.transcript.ledger.message_count() == 0);
    let kept = snapshot.map_or(&*session.compactions.checkpoints, Waiting::checkpoints);
    let kept = if kept.is_empty() { earlier_checkpoint(session)? } else { kept.into() };
    Some(Value::raw(kept))
}

/// What is kept of a checkpoint that the host has from an earlier process: it holds for a whole history that has not folded.
fn earlier_checkpoint(session: &Session) -> Option<String> {
    let earlier = session.options.checkpoint.as_ref()?;
    let is_complete = session.decisions.pruner.head.is_none()
        && session.decisions.pruner.forgotten == MessageId::FIRST;
    let last = earlier.messages.checked_sub(1)?;
    let turn = session.transcript.turn_of(last.into()).filter(|_| is_complete)?;
    Some(earlier.state(turn, session.decisions.usable))
}

/// Keeps what the job engine knows of checkpoints, as long as the history is the one with this base.
/// False: it is another by now.
pub fn set_checkpoints(session: &mut Session, base: &str, kept: &str) -> bool {
    let cut = base.split('.').next().and_then(|cut| cut.parse().ok()).unwrap_or_default();
    let same = base_of(session, cut) == base;
    if same {
        session.compactions.checkpoints = kept.into();
    }
    same
}

/// A message (JSON) as a summarizer's prompt is made of: of one that a plan takes apart only what goes, and words of the user that
/// are kept. What it tells of
/// files, commands and errors is taken up.
///
/// # Errors
/// `MalformedMessage`, or `InvalidArgument` if there is no such message.
pub fn flat_message(session: &mut Session, index: MessageId, bytes: &[u8]) -> Result<Value> {
    let draft = read_message(session, index, bytes)?;
    let blocks = session.transcript.ledger.blocks_of(index);
    let going = &session.compactions.going;
    let (mut parts, mut tokens) = (Vec::new(), 0u64);
    for (at, part) in blocks.zip(&draft.parts) {
        let block = session.transcript.ledger.block(at);
        let kept = !going.is_empty() && going.binary_search(&at).is_err();
        // A summary is fed once, as the previous one.
        let is_summary = block.is_some_and(|it| it.summary);
        if part.piece.unsent || is_summary || (kept && !block.is_some_and(|it| it.user)) {
            continue;
        }
        session.compactions.found.take(part);
        let goes = block.filter(|_| !kept);
        tokens = tokens.saturating_add(goes.map_or(0, |it| it.tokens.into()));
        let call =
            block.filter(|it| it.kind == Kind::Result).and_then(|it| piece_of(session, it.pair));
        let name = call.map_or(&*part.piece.name, |call| &call.name);
        let kind = match part.piece.kind {
            Kind::Text => "text",
            Kind::Thinking => "thinking",
            Kind::Call => "call",
            Kind::Result => "result",
            Kind::Image => "image",
            Kind::Other => "other",
        };
        let error = part.piece.error;
        // What the model no longer saw in full is not summarized in full.
        let shown = block.filter(|it| matches!(it.form, Form::Capped | Form::Stubbed));
        let text = shown
            .and_then(|_| session.decisions.placeholders.text.get(&at))
            .map_or(&*part.text, String::as_str);
        parts.push(
            json!({ "kind": kind, "text": text, "name": name, "error": error, "kept": kept }),
        );
    }
    let role = match draft.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    let turn = session.transcript.turn_of(index);
    Ok(json!({ "index": index, "turn": turn, "tokens": tokens, "role": role, "parts": parts }))
}

/// What the messages that were asked for since the last plan or fold tell.
pub fn extracted_so_far(session: &Session) -> &Extracted {
    &session.compactions.found
}

fn policy(session: &Session) -> &crate::prune::Policy {
    &session.decisions.pruner.policy
}

/// The runs of messages that are summarized, and the calls that this takes: one for each, and one that merges those of the history;
/// likewise for the beginning of a turn that is split.
fn summary_chunks(
    session: &Session,
    go: &[MessageId],
    gone: &[BlockId],
    split: Option<u32>,
) -> (Vec<Chunk>, usize) {
    let is_before =
        |&at: &MessageId| split.is_none_or(|turn| session.transcript.turn_of(at) < Some(turn));
    let (history, turn) = go.split_at(go.partition_point(is_before));
    let (mut chunks, mut calls) = (Vec::new(), 0_usize);
    for part in [history, turn] {
        let own = chunks_of(session, part, gone);
        calls = calls.saturating_add(own.len()).saturating_add(usize::from(own.len() > 1));
        chunks.extend(own);
    }
    (chunks, calls)
}

/// Messages that go, in runs that a summarizer can take: smaller ones where messages are large (G13 to G15).
fn chunks_of(session: &Session, go: &[MessageId], gone: &[BlockId]) -> Vec<Chunk> {
    let tokens = |message: MessageId| -> u64 {
        let blocks = session.transcript.ledger.blocks_of(message);
        let going: Vec<BlockId> = blocks.filter(|at| gone.binary_search(at).is_ok()).collect();
        dropped_tokens(session, &going)
    };
    let window = session.options.summary_window.max(1);
    let total: u64 = go.iter().map(|&message| tokens(message)).sum();
    let average = total
        .saturating_mul(MARGIN)
        .checked_div(window.saturating_mul(go.len() as u64))
        .unwrap_or(0);
    let less = if average > LARGE_MESSAGE { average.saturating_mul(2) } else { 0 };
    let share = CHUNK.saturating_sub(less).max(LEAST_CHUNK);
    let share_of_window = window.saturating_mul(share) / ALL;
    let most = if total <= share_of_window {
        share_of_window
    } else {
        window.saturating_mul(share) / MARGIN
    };
    let mut chunks: Vec<Chunk> = Vec::new();
    for &message in go {
        let (more, to) = (tokens(message), message.next());
        match chunks.last_mut() {
            Some(last)
                if last.tokens.saturating_add(more) <= most
                    || !session.transcript.ledger.may_cut(message) =>
            {
                (last.to, last.tokens) = (to, last.tokens.saturating_add(more));
            }
            _ => chunks.push(Chunk { from: message, to, tokens: more }),
        }
    }
    chunks
}

crate::json::json_struct! {
    /// A run of messages.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(in crate::context) struct Chunk {
        from: MessageId,
        to: MessageId,
        tokens: u64,
    }
}
