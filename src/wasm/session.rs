//! Session files.

use wasm_bindgen::prelude::wasm_bindgen;

use super::memory::with_bytes;
use super::write;
use crate::error::Result;

/// A session file as JSON.
#[wasm_bindgen]
pub fn read_session(len: usize, leaf: Option<String>) -> Result<String> {
    with_bytes(len, |bytes| write(&crate::session::read_session(bytes, leaf.as_deref())?))
}
