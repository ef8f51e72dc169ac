//! The measured transcript: messages and blocks with their sizes, their shapes, and what may not change now.

pub(in crate::context) mod counter;
pub(in crate::context) mod dialect;
pub(in crate::context) mod masks;
pub(in crate::context) mod measure;
pub(in crate::context) mod occurrences;

use std::rc::Rc;

use litemap::LiteMap;

use crate::context::transcript::dialect::Dialect;
use crate::context::transcript::occurrences::Occurrences;
use crate::ledger::Ledger;
use crate::model::{BlockId, MessageId, Op, Outline, RecentTraits, Span};
use crate::shared_list::SharedList;

/// The messages of a session as they were measured. Every block and message is numbered in order of arrival.
#[derive(Clone, Debug)]
pub(super) struct Transcript {
    pub dialect: Dialect,
    /// Messages and blocks with their sizes, and what the model has used of them.
    pub ledger: Ledger,
    /// The shape of each message.
    pub outlines: SharedList<Rc<Outline>>,
    /// The newest traits, for new pieces to share.
    pub traits: RecentTraits,
    /// Identifiers as they stand in the messages.
    pub occurrences: Occurrences,
    /// Replacements of strings with half surrogate pairs, by block.
    pub sanitized: LiteMap<BlockId, Vec<Op>>,
    /// At least the bytes of all messages of which something is sent.
    pub bytes: u64,
    /// Images that ever arrived, and the longest side of any.
    pub images: u32,
    pub widest: u32,
    /// The last request of the user; `NONE` before the first. Its blocks may not change.
    pub user_request: MessageId,
    /// The newest reasoning with all beside it. Its blocks may not change.
    pub protected: Span<MessageId>,
    /// Turns and calls so far.
    pub turn: u32,
    pub call: u32,
}

impl Transcript {
    /// Without messages.
    pub(super) fn new(dialect: Dialect, keeps_secrets: bool) -> Self {
        let mut ledger = Ledger::default();
        ledger.identifiers.keeps_secrets = keeps_secrets;
        Self {
            dialect,
            ledger,
            outlines: SharedList::default(),
            traits: RecentTraits::default(),
            occurrences: Occurrences::default(),
            sanitized: LiteMap::new(),
            bytes: 0,
            images: 0,
            widest: 0,
            user_request: MessageId::NONE,
            protected: Span::default(),
            turn: 0,
            call: 0,
        }
    }

    /// The shape of a message, if there is one.
    pub(in crate::context) fn outline(&self, message: MessageId) -> Option<&Outline> {
        self.outlines.get(message.index()).map(|it| &**it)
    }

    /// The turn of a message, if there is one.
    pub(in crate::context) fn turn_of(&self, message: MessageId) -> Option<u32> {
        self.ledger.message(message).map(|it| it.turn)
    }
}
