//! Marks of messages: hashes by which a message and a history are known again.

/// Goes on with the hash of messages by one more of them.
pub(in crate::context) fn rolled(rolling: u64, mark: u32) -> u64 {
    rolled_by(rolling, mark.into())
}

pub(in crate::context) fn rolled_by(rolling: u64, print: u64) -> u64 {
    crate::hash::mix(rolling ^ print)
}

/// The lower half tells one message from another at the same place.
pub(in crate::context) fn mark(fingerprint: u64) -> u32 {
    let [a, b, c, d, ..] = fingerprint.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}
