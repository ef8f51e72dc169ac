//! Repairs of the host's history: a provider would reject it as it is.

use litemap::LiteMap;

use crate::context::options::Options;
use crate::context::transcript::dialect::{Dialect, validity_options_for};
use crate::model::{Fix, FixKind, Made, MessageId, NONE, Outline, Violation};
use crate::validity::{Findings, Repairer};

/// See the module.
#[derive(Clone, Debug)]
pub(in crate::context) struct Repairs {
    pub repairer: Repairer,
    /// Repairs by message.
    pub fixes: LiteMap<MessageId, Vec<Fix>>,
    /// Results that are sent at another place: message, piece.
    pub displaced: LiteMap<(MessageId, u32), ()>,
    /// The host has renamed calls since: see `renew_repairs`.
    pub has_new_ids: bool,
    /// Nothing is repaired: every message goes out as it came.
    noop: bool,
}

impl Repairs {
    /// None yet.
    pub(in crate::context) fn new(dialect: Dialect, options: &Options) -> Self {
        Self {
            repairer: Repairer::new(dialect.provider)
                .with_options(validity_options_for(dialect.format, options.signs)),
            fixes: LiteMap::new(),
            displaced: LiteMap::new(),
            has_new_ids: false,
            noop: options.noop,
        }
    }

    /// Finds what is wrong with the next message.
    pub(in crate::context) fn find(
        &mut self,
        index: MessageId,
        outline: &Outline,
        found: &mut Findings,
    ) {
        // The host leaves an aborted turn out by itself; between a call and its result it must not even stand.
        let is_between = self.repairer.is_open() && outline.pieces.iter().any(|piece| piece.unsent);
        self.repairer.find(index, outline, found);
        if is_between {
            found.fixes.push(aborted_between(index));
        }
        if self.noop {
            found.fixes.clear();
        }
    }

    /// What a request needs because it ends here.
    pub(in crate::context) fn finish(&self) -> Vec<Fix> {
        if self.noop { Vec::new() } else { self.repairer.finish() }
    }

    /// Notes which results these fixes move.
    pub(in crate::context) fn displace(&mut self, fixes: &[Fix]) {
        for fix in fixes {
            if let FixKind::After(Made::Moved { message, piece, .. }) = fix.kind {
                self.displaced.insert((message, piece), ());
            }
        }
    }
}

/// An aborted turn goes where it would part a call from its result.
fn aborted_between(index: MessageId) -> Fix {
    let message = "an aborted turn stands between a call and its result".into();
    let violation = Violation { rule: "I3", index: index.get(), path: None, message };
    Fix { index, kind: FixKind::Drop { piece: NONE }, violation }
}
