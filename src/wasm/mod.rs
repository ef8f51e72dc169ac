//! The seam to JavaScript: parse, call, write. The only module that knows it, and it decides nothing.
//!
//! Bulk comes in through [`memory`]: JavaScript asks for room, writes UTF-8 into it, and then calls a function that
//! takes the filled length. Each call answers one JavaScript value ([`answer`]); an [`Error`](crate::error::Error) is thrown as JSON that
//! `js/core/errors.ts` reads.
//!
//! The crate's features say what a Wasm exports; `xtask/src/build.rs` lists the Wasm files that are built.
#![expect(
    unreachable_pub,
    unnameable_types,
    reason = "wasm-bindgen exports only items that are `pub`"
)]

mod answer;
#[cfg(feature = "manager")]
mod budget;
#[cfg(feature = "candidates")]
mod candidates;
#[cfg(feature = "compact")]
mod compact;
mod error;
#[cfg(feature = "manager")]
mod estimate;
#[cfg(feature = "manager")]
mod known_messages;
#[cfg(feature = "manager")]
mod manager;
mod memory;
#[cfg(feature = "prompt")]
mod prompt;
#[cfg(feature = "sessions")]
mod replay;
#[cfg(feature = "sessions")]
mod session;

use wasm_bindgen::prelude::wasm_bindgen;

/// Runs once for each instance: a panic is reported on the console before the instance is replaced.
#[wasm_bindgen(start)]
pub fn start() {
    console_error_panic_hook::set_once();
}
