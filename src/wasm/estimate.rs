//! Token estimates of plain text.

use wasm_bindgen::prelude::wasm_bindgen;

use super::memory::with_input;
use crate::error::Result;
use crate::estimate::Estimator;

/// Fails if there is no estimator of that name.
#[wasm_bindgen]
pub fn estimator(name: &str) -> Result<u32> {
    Ok(Estimator::parse(name)?.number())
}

/// Tokens of the text in the input buffer.
#[wasm_bindgen]
pub fn estimate_tokens(len: usize, estimator: u32) -> Result<u32> {
    with_input(len, |text| Ok(Estimator::numbered(estimator).tokens(text)))
}
