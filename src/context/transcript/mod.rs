//! The measured transcript: messages and blocks with their sizes, their shapes, and what may not change now.

pub(in crate::context) mod masks;
pub(in crate::context) mod measure;

use std::ops::Range;

use litemap::LiteMap;

use crate::ledger::Ledger;
use crate::model::{NONE, Op, Outline};

/// The messages of a session as they were measured. Every block and message is numbered in order of arrival.
#[derive(Clone, Debug)]
pub(super) struct Transcript {
    /// Messages and blocks with their sizes, and what the model has used of them.
    pub ledger: Ledger,
    /// The shape of each message.
    pub outlines: Vec<Outline>,
    /// Replacements of strings with half surrogate pairs, by block.
    pub sanitized: LiteMap<u32, Vec<Op>>,
    /// At least the bytes of all messages of which something is sent.
    pub bytes: u64,
    /// Images that ever arrived, and the longest side of any.
    pub images: u32,
    pub widest: u32,
    /// The last request of the user; `NONE` before the first. Its blocks may not change.
    pub user_request: u32,
    /// The newest reasoning with all beside it. Its blocks may not change.
    pub protected: Range<u32>,
    /// Turns and calls so far.
    pub turn: u32,
    pub call: u32,
}

impl Transcript {
    /// Without messages.
    pub(super) fn new(keeps_secrets: bool) -> Self {
        let mut ledger = Ledger::default();
        ledger.identifiers.keeps_secrets = keeps_secrets;
        Self {
            ledger,
            outlines: Vec::new(),
            sanitized: LiteMap::new(),
            bytes: 0,
            images: 0,
            widest: 0,
            user_request: NONE,
            protected: 0..0,
            turn: 0,
            call: 0,
        }
    }

    /// The shape of a message, if there is one.
    pub(in crate::context) fn outline(&self, message: u32) -> Option<&Outline> {
        self.outlines.get(message as usize)
    }

    /// The turn of a message, if there is one.
    pub(in crate::context) fn turn_of(&self, message: u32) -> Option<u32> {
        self.ledger.message(message).map(|it| it.turn)
    }
}
