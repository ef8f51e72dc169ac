//! Retention metric: the share of identifiers in the model's next texts and calls that its request still held.

use crate::json;

use crate::context::session::Session;
use crate::context::transcript::measure::{Measure, Measured};
use crate::hash_index::ByHash;
use crate::model::{BlockId, Form, Kind};
use crate::sort::sort_set;

json::json_struct! {
    /// Wanted and found, in millionths; a message counts for at most 20 identifiers.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Retention {
        /// Identifiers seen before that the next message uses, and those of them that the request still showed anywhere.
        pub recall: Share,
        /// The same where the newest mention lies more than 8,000 tokens back.
        pub far_recall: Share,
        /// The same, where the newest result that holds it is still sent in full, or in the part that a cap left.
        pub content_recall: Share,
        /// Of what people wrote before a request, the share of tokens that it held verbatim; each request counts the same.
        pub user_text: Share,
        /// Tool calls of the model that name an identifier seen before, which its request showed nowhere.
        pub blind_calls: u32,
        /// Tool calls equal to an earlier one whose result its request no longer held in full.
        pub refetches: u32,
    }
}

json::json_struct! {
    /// A share as two sums.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Share {
        /// What was found.
        pub found: u64,
        /// What was wanted.
        pub wanted: u64,
    }
}

const MOST: u64 = 20;
const FAR_TOKENS: u64 = 8000;
const ONE: u64 = 1_000_000;

impl Share {
    fn add(&mut self, weight: u64, found: bool) {
        self.wanted = self.wanted.saturating_add(weight);
        self.found = self.found.saturating_add(if found { weight } else { 0 });
    }
}

/// Which blocks hold an identifier, and where they stand.
#[derive(Clone, Debug, Default)]
pub(super) struct Holders {
    by_id: Vec<OfOne>,
    /// Tokens up to and with each block.
    up_to: Vec<u64>,
    /// The newest call by tool and arguments.
    calls: ByHash,
}

/// The blocks that hold one identifier.
#[derive(Clone, Debug, Default)]
struct OfOne {
    all: Vec<BlockId>,
    newest_result: Option<BlockId>,
}

impl Holders {
    /// Takes up a message that has arrived.
    pub(super) fn add(&mut self, measure: &Measure) {
        for (piece, measured) in measure.outline.pieces.iter().zip(&measure.blocks) {
            let at = BlockId::at(self.up_to.len());
            for id in measured.numbers() {
                let id = id as usize;
                if self.by_id.len() <= id {
                    self.by_id.resize(id.saturating_add(1), OfOne::default());
                }
                if let Some(holders) = self.by_id.get_mut(id) {
                    holders.all.push(at);
                    if piece.kind == Kind::Result {
                        holders.newest_result = Some(at);
                    }
                }
            }
            if piece.kind == Kind::Call && measured.key != 0 {
                self.calls.insert(measured.key, i64::from(at.get()));
            }
            let before = self.total();
            self.up_to.push(before.saturating_add(u64::from(measured.tokens)));
        }
    }

    /// Tokens of all messages so far.
    pub(super) fn total(&self) -> u64 {
        self.up_to.last().copied().unwrap_or(0)
    }

    fn of(&self, id: u32) -> &[BlockId] {
        self.by_id.get(id as usize).map_or(&[], |of| &of.all)
    }

    fn newest_result_of(&self, id: u32) -> Option<BlockId> {
        self.by_id.get(id as usize)?.newest_result
    }

    /// The newest call with this tool and these arguments.
    fn call_of(&self, key: u64) -> Option<BlockId> {
        let at = usize::try_from(self.calls.get(key)?).ok()?;
        Some(BlockId::at(at))
    }

    fn after(&self, at: BlockId) -> u64 {
        self.total().saturating_sub(self.up_to.get(at.index()).copied().unwrap_or(0))
    }
}

impl Retention {
    /// Judges a request by what people had written, and by what the model wrote on it: a message, or a run of items.
    pub(super) fn judge(&mut self, state: &Session, holders: &Holders, next: &[Measure]) {
        self.user_text.wanted = self.user_text.wanted.saturating_add(ONE);
        self.user_text.found = self.user_text.found.saturating_add(user_text_kept(state));
        let spoken = next.iter().flat_map(|next| next.outline.pieces.iter().zip(&next.blocks));
        let spoken = spoken.filter(|(piece, _)| matches!(piece.kind, Kind::Text | Kind::Call));
        let known = |id: &u32| !holders.of(*id).is_empty();
        let mut wanted: Vec<u32> =
            spoken.flat_map(|(_, measured)| measured.numbers()).filter(known).collect();
        sort_set(&mut wanted);
        for call in calls_of(next) {
            let hidden = |id: &u32| known(id) && !shows(state, *id, holders.of(*id));
            self.blind_calls = self.blind_calls.saturating_add(call.ids.iter().any(hidden).into());
            let earlier = holders.call_of(call.key);
            let again = earlier.is_some_and(|at| is_result_cut(state, at));
            self.refetches = self.refetches.saturating_add(again.into());
        }
        let most = u64::try_from(wanted.len()).unwrap_or(u64::MAX).max(MOST);
        let weight = MOST.saturating_mul(ONE).checked_div(most).unwrap_or(0);
        for id in wanted {
            let blocks = holders.of(id);
            let shown = shows(state, id, blocks);
            self.recall.add(weight, shown);
            let newest = blocks.last().copied().unwrap_or_default();
            if holders.after(newest) > FAR_TOKENS {
                self.far_recall.add(weight, shown);
            }
            if let Some(source) = holders.newest_result_of(id) {
                self.content_recall.add(weight, sent_in_full(state, id, source));
            }
        }
    }
}

/// The tool calls of messages.
fn calls_of(messages: &[Measure]) -> impl Iterator<Item = &Measured> {
    let pieces = messages.iter().flat_map(|it| it.outline.pieces.iter().zip(&it.blocks));
    pieces.filter(|(piece, _)| piece.kind == Kind::Call).map(|(_, call)| call)
}

/// The result of a call is no longer sent in full.
fn is_result_cut(session: &Session, call: BlockId) -> bool {
    let ledger = &session.transcript.ledger;
    let result = ledger.block(call).and_then(|call| ledger.block(call.pair));
    result.is_some_and(|it| !matches!(it.form, Form::Full | Form::Capped))
}

/// The share of people's text that the request holds verbatim, in millionths; all of it where there is none.
fn user_text_kept(session: &Session) -> u64 {
    let (all, kept) = session.transcript.ledger.user_tokens();
    kept.saturating_mul(ONE).checked_div(all).unwrap_or(ONE)
}

/// The identifier stands somewhere in the request.
fn shows(session: &Session, id: u32, holders: &[BlockId]) -> bool {
    let in_head =
        session.decisions.pruner.head.as_ref().is_some_and(|head| head.digest.contains(&id))
            || lines_show(session, id);
    in_head
        || holders
            .iter()
            .rev()
            .any(|&at| sent_in_full(session, id, at) || stub_shows(session, id, at))
}

fn lines_show(session: &Session, id: u32) -> bool {
    let lines = session.decisions.placeholders.lines_of_head();
    !lines.is_empty() && lines.contains(session.transcript.ledger.identifiers.text(id))
}

fn sent_in_full(session: &Session, id: u32, at: BlockId) -> bool {
    let form = session.transcript.ledger.block(at).map(|block| block.form);
    form == Some(Form::Full) || (form == Some(Form::Capped) && line_shows(session, id, at))
}

fn stub_shows(session: &Session, id: u32, at: BlockId) -> bool {
    let form = session.transcript.ledger.block(at).map(|block| block.form);
    form == Some(Form::Stubbed) && line_shows(session, id, at)
}

fn line_shows(session: &Session, id: u32, at: BlockId) -> bool {
    let text = session.transcript.ledger.identifiers.text(id);
    session.decisions.placeholders.text.get(&at).is_some_and(|line| line.contains(text))
}
