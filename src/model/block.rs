//! A block: the smallest part of a message that is decided on.

use super::{BlockId, GroupId, MessageId};

/// No piece of a message.
pub const NONE: u32 = u32::MAX;

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text of the user, the model or the system.
    Text,
    /// Reasoning, readable or not.
    Thinking,
    /// A tool call with its arguments.
    Call,
    /// A tool's result.
    Result,
    /// An image, document or other medium.
    Image,
    /// Something the format knows of no use for; never edited.
    Other,
}

impl Kind {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Thinking => "thinking",
            Self::Call => "toolCall",
            Self::Result => "toolResult",
            Self::Image => "image",
            Self::Other => "other",
        }
    }
}

/// What is sent of a block. Monotone: it never goes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// As the host wrote it.
    #[default]
    Full,
    /// Head and tail.
    Capped,
    /// One line in its place.
    Stubbed,
    /// Nothing.
    Gone,
}

/// What validity allows to be done with a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mask {
    /// It may be stubbed, capped or thinned.
    pub may_edit: bool,
    /// It may leave the request.
    pub may_drop: bool,
    /// It is not cut: what is signed leaves whole or stays as it is.
    pub atomic: bool,
}

impl Mask {
    /// Everything is allowed.
    pub const FREE: Self = Self { may_edit: true, may_drop: true, atomic: false };
    /// Nothing is allowed.
    pub const FIXED: Self = Self { may_edit: false, may_drop: false, atomic: true };
}

/// A block's measure and what is known of its use.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a block, not a state")]
pub struct Block {
    /// What it is.
    pub kind: Kind,
    /// Text of a person: kept verbatim, newest first, across a fold.
    pub user: bool,
    /// Text that the host calls a summary: a fold takes it up.
    pub summary: bool,
    /// The message it stands in.
    pub message: MessageId,
    /// Blocks that stay or go together have the same group; `NONE` for a block on its own.
    pub group: GroupId,
    /// Tokens at arrival.
    pub tokens: u32,
    /// Tokens in its present form.
    pub now: u32,
    /// Tokens at arrival that remain whatever is sent of its text: its frame, its name, its share of the message.
    pub overhead: u32,
    /// UTF-16 code units of its text.
    pub chars: u32,
    /// Bytes of its text and images, roughly.
    pub bytes: u32,
    /// Hash of a call's tool and arguments; of anything else, of its text and images.
    pub key: u64,
    /// A result that reports an error.
    pub failed: bool,
    /// A call's result, a result's call.
    pub pair: BlockId,
    /// The tool of a call, and of the call that a result answers, as `Ledger::tool` knows it; 0 where it has no name.
    pub tool: u32,
    /// Where its identifiers stand in the ledger's list, from and up to.
    pub ids: (u32, u32),
    /// Call at which it was last used, or arrived.
    pub last: u32,
    /// Calls that used it.
    pub uses: u16,
    /// Identifiers whose newest result it is.
    pub live: u32,
    /// Those of them that the model has used.
    pub used_live: u32,
    /// A later result tells the same.
    pub duplicate: bool,
    /// A later result has the same text.
    pub repeated: bool,
    /// It stands where the host wants nothing edited: at the start, or at the end.
    pub in_protected_range: bool,
    /// Its tool is one whose calls and results the host wants left alone.
    pub named: bool,
    /// Rent paid while stale, in 1e-5 of a base input token.
    pub rent: u64,
    /// What is sent of it.
    pub form: Form,
    /// What may be done with it.
    pub mask: Mask,
}

impl Block {
    /// The host protects it: only a request that would not fit touches it, after everything else.
    pub const fn is_protected(&self) -> bool {
        self.in_protected_range || self.named
    }

    /// A fold may remove it: neither its provider nor the host forbids that.
    pub const fn may_go(&self) -> bool {
        self.mask.may_drop && !self.is_protected()
    }
}
