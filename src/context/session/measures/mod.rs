//! Measures of messages as bytes: the host keeps them beside its messages, so that what is known is not read again.
//!
//! What a measure is made of but not in the bytes (format, estimator, ...) is their setting: under another one they are not read.

mod append;
mod piece;
#[cfg(test)]
mod tests;
mod write;

pub use append::{Appended, append_known};
pub use write::measures_of;

use crate::context::session::Session;
use crate::estimate::Estimator;
use crate::hash;
use crate::model::Role;

/// Changes with whatever is measured, and with how it is written here.
const VERSION: u64 = 1;

const ROLES: [Role; 4] = [Role::System, Role::User, Role::Assistant, Role::Tool];

/// What measures depend on beside the messages, as one number. None: the host counts by itself.
fn setting_of(session: &Session) -> Option<u64> {
    let options = &session.options;
    if matches!(options.estimator, Estimator::Scaled(_)) {
        return None;
    }
    let (format, estimator) = (session.dialect.format.name(), options.estimator.name());
    let setting = format!("{format} {estimator} {}", options.image_tokens);
    Some(hash::bytes(VERSION, setting.as_bytes()))
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
