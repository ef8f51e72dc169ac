//! Decisions of a session: what is sent of each block and why, beside the forms that the ledger holds.

use litemap::LiteMap;

use crate::context::options::Options;
use crate::context::request::placeholders::Placeholders;
use crate::context::session::why::Reasons;
use crate::model::{BlockId, Fix, MessageId};
use crate::prune::{Change, Pruner};

/// Everything that a decision changes, beside the ledger's forms.
#[derive(Clone, Debug)]
pub(in crate::context) struct Decisions {
    pub pruner: Pruner,
    pub placeholders: Placeholders,
    /// The reason for each block that is not sent as it was.
    pub reasons: Reasons,
    /// Changes that no request has reported yet.
    pub unreported: Vec<Change>,
    /// Reasoning that is still sent though what it is bound to is gone.
    pub unbound: LiteMap<BlockId, ()>,
    /// Repairs that a request needs because it ends here; by message.
    pub end_fixes: Vec<Fix>,
    /// Pieces that this request leaves out, or sends elsewhere, because it ends here: message, piece; in order.
    pub absent_at_end: Vec<(MessageId, u32)>,
    /// Blocks that cost nothing for that, and their tokens otherwise.
    pub left_at_end: Vec<(BlockId, u32)>,
    /// Blocks that pins brought back, and whose identifiers are to be found in their texts again.
    pub returned: Vec<BlockId>,
    /// What may be sent, in estimates: as it was when an epoch last opened for it.
    pub usable: u64,
    /// A decision that waits for texts.
    pub pending: Option<Decided>,
}

/// What a decision came to, until its request is carried out.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::context) struct Decided {
    /// Tokens of the request before anything was decided.
    pub before: u64,
    /// A fold was carried out.
    pub folded: bool,
    /// A fold pays, and was deferred.
    pub fold_due: bool,
    /// Why a fold that was wanted was not carried out.
    pub refused: Option<&'static str>,
    /// What was shortened has been measured.
    pub measured: bool,
}

impl Decisions {
    /// Nothing is decided yet.
    pub(in crate::context) fn new(options: &Options) -> Self {
        Self {
            pruner: Pruner::new(options.policy.clone()),
            placeholders: Placeholders {
                notes: options.note,
                keeps_lines: options.policy.lines,
                ..Placeholders::new(options.estimator)
            },
            reasons: Reasons::default(),
            unreported: Vec::new(),
            unbound: LiteMap::new(),
            end_fixes: Vec::new(),
            absent_at_end: Vec::new(),
            left_at_end: Vec::new(),
            returned: Vec::new(),
            usable: options.mode.usable_tokens(),
            pending: None,
        }
    }
}
