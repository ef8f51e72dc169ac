//! Last request: its items, its size, and what it was built from.

use litemap::LiteMap;

use crate::context::request::request_checks::RequestChecks;
use crate::model::{BlockId, Fix, Item, MessageId, Role, Violation};
use crate::prune::Change;

/// What was sent last, and what is known of it.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a request, not a state")]
pub(in crate::context) struct LastRequest {
    /// Nothing has changed since: the same request again.
    pub settled: bool,
    /// Changes only when something other than the end of the request does.
    pub epoch: u32,
    /// The messages sent.
    pub items: Vec<SentItem>,
    /// Messages of the history that the items stand for.
    pub upto: MessageId,
    /// Something before `upto` has changed: everything is built anew.
    pub rebuild: bool,
    /// Of the parts that went with it.
    pub parts: Option<u64>,
    /// Tokens of them.
    pub extras_tokens: u64,
    /// Where its cache markers pay.
    pub breakpoints: Vec<u32>,
    /// The host writes its messages in another shape now: where something stands is another place.
    pub has_new_shape: bool,
    /// The host has renamed a call since: what a repair made for it has the old id.
    pub renamed: bool,
    /// Reasoning is bound from now on, and something before it had changed before.
    pub rebinds_reasoning: bool,
    /// The host's side does not hold it: the next one is handed over whole.
    pub resend_all: bool,
    /// When it was made.
    pub at_ms: Option<i64>,
    /// Tokens of our own messages that stand for no block.
    pub made_tokens: u64,
    /// What it needed because it ended where it did.
    pub ending: Vec<Fix>,
    /// A fold pays, and was deferred.
    pub fold_due: bool,
    /// It ended with a line of ours.
    pub ends_with_filler: bool,
    /// It was a prefix, whose end the host appended.
    pub open: bool,
    /// Who spoke last.
    pub speaker: Option<Role>,
    /// The most that a request had.
    pub peak: u64,
    /// Its tokens.
    pub tokens: u64,
    /// Tokens of the one before; 0: there was none.
    pub previous_tokens: u64,
    /// The edit of each message that a request has reported, as its key.
    pub reported_edits: LiteMap<MessageId, u64>,
    /// States of the validator, for the next check.
    pub checks: RequestChecks,
    /// Rules that it breaks beyond repair.
    pub violations: Vec<Violation>,
    /// It has more bytes than the provider takes, and nothing is left to cut.
    pub oversize: Option<Violation>,
    /// What it was built of, for the replay of a session.
    pub built: Option<Built>,
}

/// A message of the view with its key.
#[derive(Clone, Debug)]
pub(in crate::context) struct Entry {
    pub(in crate::context) item: Item,
    pub(in crate::context) key: u64,
    pub(in crate::context) ids: u64,
    pub(in crate::context) source: MessageId,
    /// The first of the host's messages that it is or stands for; of a line of ours that stands for none, its neighbour.
    pub(in crate::context) about: MessageId,
    pub(in crate::context) carried: u64,
}

impl Entry {
    pub(in crate::context) fn sent(&self) -> SentItem {
        let Self { key, ids, source, carried, .. } = *self;
        SentItem { key, ids, source, carried }
    }
}

/// What a request was built of.
#[derive(Clone, Debug)]
pub(in crate::context) struct Built {
    /// So many messages of the request before stand before them.
    pub start: usize,
    /// Its messages after those.
    pub entries: Vec<Entry>,
    /// Blocks that it sends otherwise than the request before.
    pub changes: Vec<Change>,
}

impl Built {
    /// See `changes`.
    pub(in crate::context) fn changed(&self) -> impl Iterator<Item = BlockId> {
        self.changes.iter().map(|change| change.block)
    }
}

impl LastRequest {
    /// Without what is known of messages that are others now: the next request is built anew.
    pub(in crate::context) fn of_another(self) -> Self {
        Self {
            settled: false,
            rebuild: true,
            reported_edits: LiteMap::new(),
            checks: RequestChecks::default(),
            violations: Vec::new(),
            oversize: None,
            built: None,
            ..self
        }
    }
}

/// A message that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::context) struct SentItem {
    /// A hash of what it says, whatever its cache markers and the ids of its calls.
    pub key: u64,
    /// A hash of these ids, as the host has them.
    pub ids: u64,
    /// The message of the host that it is or edits.
    pub source: MessageId,
    /// A hash of how the host's side carries it out, with its cache markers.
    pub carried: u64,
}
