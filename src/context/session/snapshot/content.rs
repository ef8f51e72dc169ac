//! Content of a snapshot.

use crate::context::compaction::compaction_history::Compactions;
use crate::context::request::last_request::SentItem;
use crate::context::request::pins::Pins;
use crate::context::request::placeholders::Want;
use crate::context::session::calibration::Calibration;
use crate::context::session::snapshot::past::{Past, Trace};
use crate::context::session::why::Why;
use crate::format::Format;
use crate::model::{BlockId, Form, MessageId};
use crate::prune::Head;

/// Stands for messages of a request that are not known: what is sent in their place is another.
pub(in crate::context) const UNKNOWN: SentItem =
    SentItem { key: 0, ids: 0, source: MessageId::NONE, carried: 0 };

/// The history of a session, up to its last request.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a session, not a state")]
pub(in crate::context) struct Snapshot {
    /// Messages that the last request stood for.
    pub upto: MessageId,
    pub(in crate::context) format: Format,
    /// A message has shown the format.
    pub(in crate::context) certain: bool,
    /// What its tokens were estimated by: its number, 0 if that is not known.
    pub(in crate::context) estimator: u64,
    /// Of all messages before those that have a mark.
    pub(in crate::context) before: u64,
    /// It is of version 2: `before` is of whole fingerprints, and nothing tells what the messages were.
    pub(in crate::context) is_old: bool,
    pub(in crate::context) marks: Vec<u32>,
    /// What those are, and what came before them: for when they are forgotten.
    pub(in crate::context) traces: Vec<Trace>,
    pub(in crate::context) past: Past,
    pub(in crate::context) epoch: u32,
    pub(in crate::context) at_ms: Option<i64>,
    pub(in crate::context) peak: u64,
    pub(in crate::context) tokens: u64,
    pub(in crate::context) last: u64,
    /// Fingerprint and tokens of what went out beside the messages.
    pub(in crate::context) parts: Option<(u64, u64)>,
    pub(in crate::context) fold_due: bool,
    /// The last request was a prefix: nothing of ours stood at its end.
    pub(in crate::context) open: bool,
    /// First message that no fold has touched.
    pub(in crate::context) start: MessageId,
    /// First message after the head.
    pub(in crate::context) head_from: MessageId,
    pub(in crate::context) head: Option<Head>,
    /// When the first message was written that it stands for.
    pub(in crate::context) head_at: Option<i64>,
    /// What the head says, and how many bytes of it are the summary.
    pub(in crate::context) head_text: String,
    pub(in crate::context) summary: usize,
    pub(in crate::context) fold_rent: u64,
    pub(in crate::context) charged: Option<u32>,
    pub(in crate::context) changed: Vec<Changed>,
    /// Rent of blocks that are still whole.
    pub(in crate::context) rents: Vec<(BlockId, u64)>,
    pub(in crate::context) unbound: Vec<BlockId>,
    /// Reasoning was bound to what stood before it.
    pub(in crate::context) bound: bool,
    pub(in crate::context) calibration: Calibration,
    pub(in crate::context) usable: u64,
    /// What the options allowed: under another window what was sent is decided anew.
    pub(in crate::context) window: (u64, u64),
    pub(in crate::context) breakpoints: Vec<u32>,
    pub(in crate::context) pins: Pins,
    pub(in crate::context) compactions: Compactions,
    pub(in crate::context) fold_wanted: bool,
    /// Identifiers in stubs, and in the summary.
    pub(in crate::context) stubbed: Vec<u32>,
    pub(in crate::context) summarized: Vec<u32>,
    /// What would be sent of its messages may differ from what was sent: the next request is built anew.
    pub(in crate::context) anew: bool,
    /// Something was asked for since the last request, or other options hold: it is decided once more.
    pub(in crate::context) asked: bool,
    /// Another estimator counts from now on, also what lines cost.
    pub(in crate::context) recount: bool,
    pub(in crate::context) has_new_shape: bool,
    /// What the last request sent; none: what its messages give if they are built once more.
    pub(in crate::context) items: Option<Vec<SentItem>>,
}

impl Snapshot {
    /// What was sent is no longer what its messages give.
    pub(super) fn build_anew(&mut self) {
        self.anew = true;
        self.items.get_or_insert_with(|| vec![UNKNOWN]);
    }
}

/// A block that is not sent as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::context) struct Changed {
    pub(in crate::context) block: BlockId,
    pub(in crate::context) now: u32,
    pub(in crate::context) why: Why,
    pub(in crate::context) form: Shape,
}

/// Its form, with what is needed to write it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::context) enum Shape {
    /// Cut like this; stubbed where nothing more may become of it.
    Cut(Want, Form),
    /// With this line in its place.
    Stubbed(String),
    Gone,
}
