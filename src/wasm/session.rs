//! Session files.

use wasm_bindgen::prelude::wasm_bindgen;

use super::memory::with_bytes;
use crate::error::Result;
use crate::json::write;

/// A session file as JSON.
#[wasm_bindgen]
pub fn read_session(len: usize, leaf: Option<String>) -> Result<String> {
    with_bytes(len, |bytes| Ok(write(&crate::session::read_session(bytes, leaf.as_deref())?)))
}
