//! The reason why a block's form changed, and when.

use crate::prune::Rule;

/// Why and when a block's form changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::context) struct Why {
    /// The rule.
    pub rule: Rule,
    /// The epoch it opened.
    pub epoch: u32,
    /// The call it was decided at.
    pub call: u32,
}
