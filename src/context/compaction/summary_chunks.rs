//! Chunks of a summary: runs of messages that go, each of which one call of a summarizer can take.

use crate::context::compaction::folds::dropped_tokens;
use crate::context::session::Session;
use crate::json;
use crate::model::{BlockId, MessageId};

/// Share of the window in a chunk, and the least where messages are large, in 1e-4; what an estimate may be wrong by (G14, G15).
const CHUNK: u64 = 4000;
const LEAST_CHUNK: u64 = 1500;
const LARGE_MESSAGE: u64 = 1000;
const MARGIN: u64 = 12_000;
const ALL: u64 = 10_000;

/// The runs of messages that are summarized, and the calls that this takes: one for each, and one that merges those of the history;
/// likewise for the beginning of a turn that is split.
pub(in crate::context) fn summary_chunks(
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

json::json_struct! {
    /// A run of messages.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(in crate::context) struct Chunk {
        from: MessageId,
        to: MessageId,
        tokens: u64,
    }
}
