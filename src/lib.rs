//! The core of Plimsoll: it decides what enters a model's context window, what leaves it and when, and can say why.
//!
//! Pure Rust: no clock, no randomness, no I/O, no callback, and no JavaScript type outside `wasm`.
//! ARCHITECTURE.md describes the floors; a module imports only from floors below its own.
//! Each Wasm compiles the modules that its features need; natively, with the default features, all are compiled.

#[cfg(feature = "candidates")]
pub mod candidate;
#[cfg(any(feature = "compact", feature = "context", feature = "inspect"))]
pub mod compact;
#[cfg(any(feature = "context", feature = "inspect"))]
pub mod context;
pub mod error;
pub mod estimate;
#[cfg(any(feature = "context", feature = "inspect"))]
pub mod extract;
#[cfg(any(feature = "prompt", feature = "candidates"))]
pub mod focus;
#[cfg(any(feature = "context", feature = "inspect"))]
pub mod format;
pub mod hash;
pub mod hash_index;
#[cfg(any(feature = "context", feature = "inspect"))]
pub mod identifiers;
#[cfg(any(feature = "context", feature = "inspect"))]
pub mod inspect;
pub mod json;
#[cfg(any(feature = "context", feature = "inspect"))]
pub mod ledger;
#[cfg(any(feature = "context", feature = "inspect"))]
pub mod model;
pub mod number;
#[cfg(feature = "prompt")]
pub mod prompt;
#[cfg(any(feature = "context", feature = "inspect"))]
pub mod prune;
#[cfg(any(feature = "sessions", feature = "context", feature = "inspect"))]
pub mod session;
pub mod sort;
pub mod text;
#[cfg(test)]
mod types;
#[cfg(any(feature = "context", feature = "inspect"))]
pub mod validity;
#[cfg(target_arch = "wasm32")]
mod wasm;
