//! Session files.

use wasm_bindgen::prelude::wasm_bindgen;

use super::memory::{grow_ahead, with_bytes, with_input};
use crate::error::Result;
use crate::json::{Value, json, write};
use crate::number::count;
use crate::session_files::Redaction;
use crate::text::{redact_each, utf16_len};

/// To read a file takes so many times its size.
const WORK_PER_BYTE: usize = 5;

/// A session file as JSON.
#[wasm_bindgen]
pub fn read_session(len: usize, leaf: Option<String>) -> Result<String> {
    grow_ahead(len.saturating_mul(WORK_PER_BYTE));
    with_bytes(len, |bytes| Ok(write(&crate::session_files::read_session(bytes, leaf.as_deref())?)))
}

/// The session (JSON) in the input buffer without what the options (JSON) take out, and what that was, as JSON.
#[wasm_bindgen]
pub fn redact_session(len: usize, options: &str) -> Result<String> {
    let redaction = Redaction::parse(options)?;
    grow_ahead(len.saturating_mul(2));
    with_input(len, |json| {
        let (session, hits) = redaction.session(json);
        Ok(format!(r#"{{"session":{session},"hits":{}}}"#, write(&hits)))
    })
}

/// The text in the input buffer without secrets, and where they stood, as JSON.
#[wasm_bindgen]
pub fn redact(len: usize) -> Result<String> {
    with_input(len, |text| {
        let units =
            |from: usize, to: usize| count(utf16_len(text.get(from..to).unwrap_or_default()));
        let (mut done, mut at) = (0, 0u32);
        let mut hits: Vec<Value> = Vec::new();
        let redacted = redact_each(text, 0, &mut |from, to, kind| {
            at = at.saturating_add(units(done, from));
            hits.push(json!({ "kind": kind, "at": at, "length": units(from, to) }));
            at = at.saturating_add(units(from, to));
            done = to;
        });
        Ok(json!({ "text": redacted, "hits": hits }).json().to_owned())
    })
}
