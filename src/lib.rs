//! The core of Plimsoll: it decides what enters a model's context window, what leaves it and when, and can say why.
//!
//! Pure Rust: no clock, no randomness, no I/O, no callback, and no JavaScript type outside `wasm`.
//! ARCHITECTURE.md describes the floors; a module imports only from floors below its own.
//! Each Wasm compiles the modules that its features need; natively, with the default features, all are compiled.

pub mod argument;
pub mod bytes;
#[cfg(feature = "candidates")]
pub mod candidate;
#[cfg(any(feature = "compact", feature = "context"))]
pub mod compact;
#[cfg(feature = "context")]
pub mod compressed_texts;
#[cfg(feature = "context")]
pub mod context;
pub mod error;
pub mod estimate;
#[cfg(feature = "context")]
pub mod extract;
#[cfg(any(feature = "prompt", feature = "candidates"))]
pub mod focus;
#[cfg(feature = "context")]
pub mod format;
pub mod hash;
pub mod hash_index;
#[cfg(feature = "context")]
pub mod identifiers;
#[cfg(feature = "context")]
pub mod inspect;
pub mod json;
#[cfg(feature = "context")]
pub mod leb128;
#[cfg(feature = "context")]
pub mod ledger;
#[cfg(feature = "context")]
pub mod model;
pub mod number;
#[cfg(feature = "prompt")]
pub mod prompt;
#[cfg(feature = "context")]
pub mod prune;
#[cfg(any(feature = "sessions", feature = "context"))]
pub mod session_files;
#[cfg(feature = "context")]
pub mod shared_list;
pub mod sort;
pub mod text;
#[cfg(test)]
mod types;
#[cfg(feature = "context")]
pub mod validity;
#[cfg(target_arch = "wasm32")]
mod wasm;
