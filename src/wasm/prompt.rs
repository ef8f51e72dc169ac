//! The system prompt: arguments as JSON in, results as JSON out.

use wasm_bindgen::prelude::wasm_bindgen;

use super::memory::with_input;
use crate::error::Result;
use crate::prompt::calls;

/// A prompt of sections under a budget.
#[wasm_bindgen]
pub fn assemble(len: usize) -> Result<String> {
    with_input(len, calls::assemble)
}

/// What a request is about.
#[wasm_bindgen]
pub fn focus(len: usize) -> Result<String> {
    with_input(len, calls::focus)
}

/// The budget for a window.
#[wasm_bindgen]
pub fn budget(len: usize) -> Result<String> {
    with_input(len, calls::budget)
}

/// A text cut to a number of characters.
#[wasm_bindgen]
pub fn truncate(len: usize) -> Result<String> {
    with_input(len, calls::truncate)
}

/// Sections of memory files.
#[wasm_bindgen]
pub fn tiers(len: usize) -> Result<String> {
    with_input(len, calls::tiers)
}

/// Sections of the rules that are about the active files.
#[wasm_bindgen]
pub fn rules(len: usize) -> Result<String> {
    with_input(len, calls::rules)
}

/// Sections of a workspace's files.
#[wasm_bindgen]
pub fn workspace(len: usize) -> Result<String> {
    with_input(len, calls::workspace)
}

/// Descriptions of tools cut to a number of characters.
#[wasm_bindgen]
pub fn trim(len: usize) -> Result<String> {
    with_input(len, calls::trim)
}

/// Memories and a message within a budget.
#[wasm_bindgen]
pub fn remember(len: usize) -> Result<String> {
    with_input(len, calls::remember)
}

/// A text compressed to a number of characters.
#[wasm_bindgen]
pub fn compress(len: usize) -> Result<String> {
    with_input(len, calls::compress)
}
