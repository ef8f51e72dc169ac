//! Token estimates of plain text.

use wasm_bindgen::prelude::wasm_bindgen;

use super::answer::{Number, answer};
use super::memory::with_bytes;
use crate::error::Error;
use crate::estimate::Estimator;

/// The number of an estimator, by its name: what crosses with each call. It is the same in every instance.
#[wasm_bindgen]
pub fn estimator(name: &str) -> Number {
    answer(Estimator::parse(name).map(|wanted| {
        let position = Estimator::ALL.iter().position(|estimator| *estimator == wanted);
        position.and_then(|position| u32::try_from(position).ok()).unwrap_or_default()
    }))
}

/// Tokens of the text in the input buffer.
#[wasm_bindgen]
pub fn estimate_tokens(len: usize, estimator: usize) -> Number {
    let known = Estimator::ALL
        .get(estimator)
        .ok_or_else(|| Error::argument("estimator", "a number that `estimator` gave", estimator));
    // What `encodeInto` wrote is UTF-8: checking it would cost a tenth of the estimate.
    answer(known.and_then(|it| with_bytes(len, |bytes| Ok(it.tokens_of(bytes)))))
}
