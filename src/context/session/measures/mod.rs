//! Measures of messages as bytes: the host keeps them beside its messages, so that what is known is not read again.
//!
//! What a measure is made of but not in the bytes (format, estimator, ...) is their setting: under another one they are not read.

mod again;
mod append;
#[cfg(test)]
mod tests;
mod traits;
mod write;

pub(in crate::context) use again::{append_again, measured_until};
pub use append::{Appended, KnownMessages, append_known};
pub use write::measures_of;

use crate::context::session::Session;
use crate::context::session::snapshot::snapshot_bytes;
use crate::error::{Error, ErrorInfo, Result};
use crate::estimate::Estimator;
use crate::hash;
use crate::model::Role;

/// Changes with whatever is measured, and with how it is written here.
const VERSION: u64 = 8;

const ROLES: [Role; 4] = [Role::System, Role::User, Role::Assistant, Role::Tool];

/// What measures depend on beside the messages, as one number. None: the host counts by itself.
fn setting_of(session: &Session) -> Option<u64> {
    let options = &session.options;
    if matches!(options.estimator, Estimator::Scaled(_)) {
        return None;
    }
    let (format, estimator) = (session.transcript.dialect.format.name(), options.estimator.name());
    let setting = format!("{format} {estimator} {}", options.image_tokens);
    Some(hash::bytes(VERSION, setting.as_bytes()))
}

/// After the measures that follow a snapshot, and their length in the four bytes before it.
const MEASURED: &[u8; 4] = b"MEAS";

/// The session as bytes, with these measures after its snapshot.
pub fn snapshot_with(session: &Session, measures: &[u8]) -> Vec<u8> {
    let mut bytes = snapshot_bytes(session);
    if let Ok(length) = u32::try_from(measures.len()) {
        bytes.extend(measures);
        bytes.extend(length.to_le_bytes());
        bytes.extend(MEASURED);
    }
    bytes
}

/// A snapshot and the measures after it, if there are any.
///
/// # Errors
/// `CorruptState` for measures that have changed.
pub fn split_measures(bytes: &[u8]) -> Result<(&[u8], Option<KnownMessages>)> {
    let both = bytes.strip_suffix(MEASURED).and_then(<[u8]>::split_last_chunk);
    let Some((both, length)) = both else { return Ok((bytes, None)) };
    let length = u32::from_le_bytes(*length) as usize;
    let split = both.len().checked_sub(length).and_then(|at| both.split_at_checked(at));
    // The hash at the end of a snapshot may look like this.
    let Some((snapshot, measures)) = split else { return Ok((bytes, None)) };
    if measures.is_empty() {
        return Ok((snapshot, None));
    }
    let known = KnownMessages::read(measures).ok_or_else(|| {
        Error::new(ErrorInfo::CorruptState {
            what: "snapshot".into(),
            reason: "its measures have changed".into(),
        })
    })?;
    Ok((snapshot, Some(known)))
}

/// Which identifiers a session looks for in its messages: those of one kind cannot be made of another's.
fn words_of(session: &Session) -> u64 {
    match (session.options.mode.is_managed(), session.options.redacts) {
        (false, _) => NO_WORDS,
        (true, true) => 1,
        (true, false) => 2,
    }
}

/// Nothing is decided, and nobody asks for identifiers.
const NO_WORDS: u64 = 0;
