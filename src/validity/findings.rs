//! Findings about one message: its fixes, its groups, and the calls of its results.

use super::piece::At;
use crate::model::{Fix, FixKind, GroupId, MessageId};

/// What a message is, seen after those before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// What mends it, or an earlier message that it shows to be wrong.
    pub fixes: Vec<Fix>,
    /// For each piece the index of the first message of the assistant run that it belongs to, or `NONE`: pieces with
    /// the same number stay or go together.
    pub groups: Vec<GroupId>,
    /// For each piece that is a result its call: message and piece.
    pub pairs: Vec<Option<(MessageId, u32)>>,
    /// A tail may start here: no call is open before it, it holds no result and continues no message.
    pub may_cut: bool,
    /// Its reasoning stays or goes with it.
    pub ties_reasoning: bool,
}

impl Findings {
    /// Nothing is known of a message with so many pieces.
    pub(super) fn begin(&mut self, pieces: usize) {
        self.fixes.clear();
        self.groups.clear();
        self.groups.resize(pieces, GroupId::NONE);
        self.pairs.clear();
        self.pairs.resize(pieces, None);
        (self.may_cut, self.ties_reasoning) = (false, false);
    }

    pub(super) fn fix(&mut self, at: At<'_>, kind: FixKind, rule: &'static str, message: &str) {
        self.fixes.push(at.fix(kind, rule, message));
    }

    /// The piece stays or goes with a call.
    pub(super) fn belongs(&mut self, at: At<'_>, group: GroupId, call: Option<(MessageId, u32)>) {
        let number = usize::try_from(at.number).unwrap_or(usize::MAX);
        if let Some(own) = self.groups.get_mut(number) {
            *own = group;
        }
        if let Some(pair) = self.pairs.get_mut(number) {
            *pair = call;
        }
    }
}
