//! A session that waits for the messages that its snapshot was made of, and how it takes up what it knew of them.

use crate::context::request::placeholders::Want;
use crate::context::session::snapshot::content::{Changed, Shape, Snapshot};
use crate::model::{BlockId, MessageId, Span};
use crate::prune::Shorten;

/// A snapshot that waits for the messages it was made of.
#[derive(Clone, Debug)]
pub(in crate::context) struct Waiting {
    pub(super) snapshot: Snapshot,
    pub(super) cuts: Cuts,
    /// Of the messages that have come.
    pub(super) rolling: u64,
    /// Marks of the messages that the snapshot knows only as one hash; none if it comes from another process.
    pub(super) earlier: Vec<u32>,
    /// The measured messages are kept where the history parts.
    pub(super) keeps: bool,
    /// From this message on it is another history.
    pub(super) ends: MessageId,
    /// They are kept before this message, at which no call waits for its result. `NONE`: they are kept where the history parts.
    pub(super) closed: MessageId,
    /// The host's side has not been asked yet whether it has forgotten how the history starts.
    pub(super) may_start_late: bool,
    /// It is being asked.
    pub(in crate::context) starts_late: bool,
    /// Blocks of messages that the host has forgotten.
    pub(super) forgotten: Span<BlockId>,
}

impl Waiting {
    pub(super) fn new(snapshot: Snapshot) -> Self {
        Self {
            cuts: Cuts::of(&snapshot.changed),
            snapshot,
            rolling: 0,
            earlier: Vec::new(),
            keeps: false,
            ends: MessageId::NONE,
            closed: MessageId::NONE,
            may_start_late: false,
            starts_late: false,
            forgotten: Span::default(),
        }
    }

    /// Its next request is decided once more; with a compaction, if one is wanted.
    pub(in crate::context) fn decide_again(&mut self, wants_fold: bool) {
        self.snapshot.asked = true;
        self.snapshot.fold_wanted |= wants_fold;
    }

    /// A text that was pinned and sent is not any more: its last request is built anew.
    pub(in crate::context) fn build_anew(&mut self) {
        self.snapshot.build_anew();
    }

    /// What the job engine kept of checkpoints.
    pub(in crate::context) fn checkpoints(&self) -> &str {
        &self.snapshot.compactions.checkpoints
    }
}

/// What is written again from the texts of the messages that come.
#[derive(Clone, Debug)]
pub(in crate::context) struct Cuts {
    /// Blocks of which the start and the end were sent, sorted.
    pub(super) blocks: Vec<BlockId>,
    /// A line in place of one of them quotes calls.
    pub(super) quote_calls: bool,
}

impl Cuts {
    fn of(changed: &[Changed]) -> Self {
        let line = Want::Shorten(Shorten::Line);
        let is_line = |it: &Changed| matches!(it.form, Shape::Cut(want, _) if want == line);
        let cuts = changed.iter().filter(|it| matches!(it.form, Shape::Cut(..)));
        Self { blocks: cuts.map(|it| it.block).collect(), quote_calls: changed.iter().any(is_line) }
    }
}

/// What a message does to a session that waits.
pub(in crate::context) enum Match {
    /// It is one of those that the snapshot was made of.
    Same,
    /// It is not, or there are no more: the session has been taken up as far as it came.
    Ends,
    /// The session is another altogether, or starts later than it did: it waits as before.
    Different,
}
