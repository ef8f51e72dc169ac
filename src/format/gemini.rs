//! Contents of Gemini: `parts` of a user or a model.

use crate::json::Value;

use super::edit::{Host, What};
use super::json::{Flaw, Read};
use crate::model::{Copied, Draft, Made, Op, Piece};

pub(super) fn read(_text: &str) -> Read<Draft<'_>> {
    Err(Flaw::new("", "a format that is built"))
}

pub(super) fn set(_piece: &Piece, _what: &What) -> Option<Op> {
    None
}

pub(super) fn make(_made: &Made, _host: Host<'_>) -> (Value, Vec<Copied>) {
    (Value::NULL, Vec::new())
}
