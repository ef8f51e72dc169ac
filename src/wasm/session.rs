//! Session files.

use wasm_bindgen::prelude::wasm_bindgen;

use super::memory::{grow_ahead, with_bytes};
use crate::error::Result;
use crate::json::write;

/// To read a file takes so many times its size.
const WORK_PER_BYTE: usize = 5;

/// A session file as JSON.
#[wasm_bindgen]
pub fn read_session(len: usize, leaf: Option<String>) -> Result<String> {
    grow_ahead(len.saturating_mul(WORK_PER_BYTE));
    with_bytes(len, |bytes| Ok(write(&crate::session_files::read_session(bytes, leaf.as_deref())?)))
}
