//! The agent's tool that brings back a removed text: its name, and the reference of a block.

use crate::model::BlockId;

macro_rules! recall {
    () => {
        "context_recall"
    };
}
/// A stub promises it only where it is among the request's tools.
pub(in crate::context) const RECALL: &str = recall!();
/// How a stub speaks of it, before its reference.
pub(in crate::context) const PROMISE: &str = concat!(", ", recall!(), " ");
/// As it stands in JSON.
pub(in crate::context) const QUOTED: &str = concat!("\"", recall!(), "\"");

/// The reference of a block.
pub(in crate::context) fn reference(block: BlockId) -> String {
    format!("r{block}")
}
