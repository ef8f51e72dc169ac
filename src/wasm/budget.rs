//! `ContextBudget` for JavaScript: window use without a session.

use wasm_bindgen::prelude::wasm_bindgen;

use super::answer::{Text, text};
use super::memory::with_input;
use crate::context::context_budget;
use crate::json::write;

/// A budget after what it was told (JSON), as JSON.
#[wasm_bindgen]
pub fn budget(len: usize) -> Text {
    text(with_input(len, |ask| Ok(write(&context_budget(ask)?))))
}
