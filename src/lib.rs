//! The core of Plimsoll: it decides what enters a model's context window, what leaves it and when, and can say why.
//!
//! Pure Rust: no clock, no randomness, no I/O, no callback, and no JavaScript type outside `wasm`.
//! ARCHITECTURE.md describes the floors; a module imports only from floors below its own.

pub mod argument;
pub mod candidate;
pub mod compact;
pub mod context;
pub mod error;
pub mod estimate;
pub mod extract;
pub mod focus;
pub mod format;
pub mod hash;
pub mod identifiers;
pub mod inspect;
pub mod json;
pub mod keyed;
pub mod ledger;
pub mod model;
pub mod number;
pub mod order;
pub mod prompt;
pub mod prune;
pub mod session;
pub mod text;
#[cfg(test)]
mod types;
pub mod validity;
#[cfg(target_arch = "wasm32")]
mod wasm;
