//! The system prompt: arguments as JSON in, results as JSON out.

use std::cell::RefCell;
use std::mem::take;

use js_sys::Uint32Array;
use wasm_bindgen::prelude::wasm_bindgen;

use super::answer::{Text, plain, text};
use super::memory::{with_input, with_inputs};
use crate::prompt::calls;
use crate::prompt::crossing::{self, Assembled};

thread_local! {
    /// What was assembled last, until it is taken: the prompt, and the numbers of its sections.
    static LEFT: RefCell<(String, Vec<u32>)> = const { RefCell::new((String::new(), Vec::new())) };
}

/// A plan of arguments and the sections' texts, which stand one after the other in the input. Prompt and figures are left to
/// be taken.
#[wasm_bindgen]
#[expect(clippy::needless_pass_by_value, reason = "what crosses is owned")]
pub fn assemble(lens: Vec<usize>) -> Text {
    let assembled = with_inputs(&lens, crossing::assemble);
    text(assembled.map(|Assembled { plan, prompt, figures }| {
        LEFT.with_borrow_mut(|left| *left = (prompt, figures));
        plan
    }))
}

/// The prompt that was assembled last.
#[wasm_bindgen]
pub fn prompt() -> Text {
    plain(&LEFT.with_borrow_mut(|left| take(&mut left.0)))
}

/// Of each of its sections its numbers.
#[wasm_bindgen]
pub fn figures() -> Uint32Array {
    Uint32Array::from(&*LEFT.with_borrow_mut(|left| take(&mut left.1)))
}

/// What a request is about.
#[wasm_bindgen]
pub fn focus(len: usize) -> Text {
    text(with_input(len, calls::focus))
}

/// The budget for a window.
#[wasm_bindgen]
pub fn budget(len: usize) -> Text {
    text(with_input(len, calls::budget))
}

/// A text cut to a number of characters.
#[wasm_bindgen]
pub fn truncate(len: usize) -> Text {
    text(with_input(len, calls::truncate))
}

/// Sections of memory files.
#[wasm_bindgen]
pub fn tiers(len: usize) -> Text {
    text(with_input(len, calls::tiers))
}

/// Sections of the rules that are about the active files.
#[wasm_bindgen]
pub fn rules(len: usize) -> Text {
    text(with_input(len, calls::rules))
}

/// Sections of a workspace's files.
#[wasm_bindgen]
pub fn workspace(len: usize) -> Text {
    text(with_input(len, calls::workspace))
}

/// Descriptions of tools cut to a number of characters.
#[wasm_bindgen]
pub fn trim(len: usize) -> Text {
    text(with_input(len, calls::trim))
}

/// Memories and a message within a budget.
#[wasm_bindgen]
pub fn remember(len: usize) -> Text {
    text(with_input(len, calls::remember))
}

/// A text compressed to a number of characters.
#[wasm_bindgen]
pub fn compress(len: usize) -> Text {
    text(with_input(len, calls::compress))
}
