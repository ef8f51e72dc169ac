//! Rendering of a report for JavaScript: JSON in, text out.

use wasm_bindgen::prelude::wasm_bindgen;

use super::memory::with_inputs;
use crate::error::Result;
use crate::inspect::{Look, render_detail, render_list};

/// A report as `/context list` shows it: how (JSON) and the report (JSON) stand one behind the other in the input.
#[wasm_bindgen]
#[expect(clippy::needless_pass_by_value, reason = "what crosses is owned")]
pub fn list(lens: Vec<usize>) -> Result<String> {
    with_inputs(&lens, |look, others| {
        let report = others.first().copied().unwrap_or_default();
        Ok(render_list(report, Look::read(look)?))
    })
}

/// What is under a key of a report: how (JSON), the report (JSON) and the key.
#[wasm_bindgen]
#[expect(clippy::needless_pass_by_value, reason = "what crosses is owned")]
pub fn detail(lens: Vec<usize>) -> Result<String> {
    with_inputs(&lens, |look, others| {
        let of = |at: usize| others.get(at).copied().unwrap_or_default();
        Ok(render_detail(of(0), of(1), Look::read(look)?))
    })
}
