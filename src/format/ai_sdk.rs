//! The AI SDK's messages: `ModelMessage` with content parts, `UIMessage` with call and result in one part.

use crate::json::Value;

use super::edit::{Change, Host};
use super::json::{Flaw, Read};
use crate::model::{Copied, Draft, Made, Op, Outline};

pub(super) fn read(_text: &str) -> Read<Draft<'_>> {
    Err(Flaw::new("", "a format that is built"))
}

pub(super) fn edit(_outline: &Outline, _changes: &[Change]) -> Vec<Op> {
    Vec::new()
}

pub(super) fn make(_made: &Made, _host: Host<'_>) -> (Value, Vec<Copied>) {
    (Value::NULL, Vec::new())
}
