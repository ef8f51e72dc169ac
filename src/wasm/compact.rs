//! The job engine of compaction: JSON in, JSON out; between two calls the host asks its summarizer.

use wasm_bindgen::prelude::wasm_bindgen;

use super::answer::{Nothing, Text, done, plain, text};
use super::memory::with_input;
use crate::compact;
use crate::error::{Error, Result};

/// One compaction.
#[wasm_bindgen]
pub struct Compaction(compact::Compaction);

#[wasm_bindgen]
impl Compaction {
    /// One with the options (JSON) in the input buffer.
    #[wasm_bindgen(constructor)]
    pub fn new(len: usize) -> Result<Self> {
        with_input(len, compact::Compaction::new).map(Self)
    }

    /// Takes the next message (JSON) that goes.
    pub fn push(&mut self, len: usize) -> Nothing {
        done(with_input(len, |json| self.0.push(json)))
    }

    /// What to do now, as JSON.
    pub fn step(&mut self) -> Text {
        plain(&self.0.step())
    }

    /// What came of a call (JSON).
    pub fn answer(&mut self, id: u32, len: usize) -> Nothing {
        done(with_input(len, |json| {
            self.0.answer(id, json);
            Ok(())
        }))
    }

    /// Milliseconds that a call may be silent, and that all of it may take, as JSON.
    pub fn deadlines(&self) -> Text {
        plain(&self.0.deadlines())
    }

    /// Ends it: `aborted` or `timeout`, in the input buffer.
    pub fn stop(&mut self, len: usize) -> Nothing {
        done(with_input(len, |why| {
            self.0.stop(why);
            Ok(())
        }))
    }
}

/// Whether a checkpoint is due by the figures (JSON) in the input buffer, and the state from then on, as JSON.
#[wasm_bindgen]
pub fn checkpoint_due(len: usize) -> Text {
    text(with_input(len, compact::checkpoint_due))
}

/// The state with a checkpoint that has come (JSON, in the input buffer), as JSON.
#[wasm_bindgen]
pub fn checkpoint_taken(len: usize) -> Text {
    text(with_input(len, compact::checkpoint_taken))
}

/// A name that no text can know: 16 random bytes, as hexadecimal digits.
#[wasm_bindgen]
pub fn nonce() -> Text {
    let mut bytes = [0; 16];
    let filled = getrandom::fill(&mut bytes).map_err(|reason| {
        Error::argument("globalThis.crypto", "getRandomValues, for a nonce", reason)
    });
    text(filled.map(|()| format!("{:032x}", u128::from_ne_bytes(bytes))))
}
