//! Candidates: JSON in, JSON out; bytes to be signed out, signatures in.

use js_sys::Uint8Array;
use wasm_bindgen::prelude::wasm_bindgen;

use super::answer::{Bytes, Nothing, PerhapsBytes, Text, answer, done, plain, text, value};
use super::memory::{with_bytes, with_input, with_secret};
use crate::candidate::{self, Store};
use crate::error::Result;
use crate::json::write;

/// The candidates of an agent.
#[wasm_bindgen]
pub struct Candidates(Store);

/// A key of the host's.
#[wasm_bindgen]
pub struct Key(candidate::Key);

/// A file in the making.
#[wasm_bindgen]
pub struct Saving(candidate::Saving);

/// A file that is read.
#[wasm_bindgen]
pub struct Loading(candidate::Loading);

#[wasm_bindgen]
impl Key {
    /// The bytes in the input buffer, which are wiped there and on the stack.
    #[wasm_bindgen(constructor)]
    pub fn new(len: usize) -> Result<Self> {
        let key = keyed(len);
        wipe_stack();
        key
    }

    /// The signature of the bytes in the input buffer.
    pub fn sign(&self, len: usize) -> Bytes {
        answer(with_bytes(len, |bytes| Ok(Uint8Array::from(&self.0.sign(bytes)[..]))))
    }
}

#[inline(never)]
fn keyed(len: usize) -> Result<Key> {
    with_secret(len, candidate::Key::new).map(Key)
}

/// The stack is memory like any other: what a call that has ended wrote there stays until another writes over it.
#[inline(never)]
fn wipe_stack() {
    std::hint::black_box(&mut [0u8; 4096]);
}

#[wasm_bindgen]
impl Candidates {
    /// A store with the options (JSON) in the input buffer.
    #[wasm_bindgen(constructor)]
    pub fn new(len: usize) -> Result<Self> {
        with_input(len, Store::from_options).map(Self)
    }

    /// Takes in an observation.
    pub fn upsert(&mut self, len: usize) -> Text {
        text(with_input(len, |json| self.0.upsert_json(json)))
    }

    /// Takes in what came of a candidate.
    pub fn conclude(&mut self, len: usize) -> Text {
        text(with_input(len, |json| self.0.conclude_json(json)))
    }

    /// Moves what is due.
    pub fn evaluate(&mut self, len: usize) -> Text {
        text(with_input(len, |json| self.0.evaluate_json(json)))
    }

    /// Moves a candidate as the host wants it.
    pub fn transition(&mut self, len: usize) -> Text {
        text(with_input(len, |json| self.0.transition_json(json)))
    }

    /// The candidates.
    pub fn list(&self, len: usize) -> Text {
        text(with_input(len, |json| self.0.list_json(json)))
    }

    /// The transitions.
    pub fn audit(&self) -> Text {
        plain(&self.0.audit())
    }

    /// What goes into a prompt.
    pub fn section(&self, len: usize) -> Text {
        text(with_input(len, |json| self.0.section_json(json)))
    }

    /// What of it stands there.
    pub fn inject(&mut self, len: usize) -> Text {
        text(with_input(len, |json| self.0.inject_json(json)))
    }

    /// Files that were made of it.
    pub fn revision(&self) -> u32 {
        u32::try_from(self.0.revision()).unwrap_or(u32::MAX)
    }

    /// Begins a file.
    pub fn save(&mut self) -> Saving {
        Saving(self.0.save())
    }

    /// Begins to read the file in the input buffer, of this revision or a later one.
    pub fn load(&self, len: usize, least: u32) -> Result<Loading> {
        with_input(len, |file| Ok(Loading(self.0.load(file, least.into()))))
    }

    /// Holds what was read.
    pub fn adopt(&mut self, loading: &mut Loading) -> Text {
        text(self.0.adopt(&mut loading.0).map(|it| write(&it)))
    }
}

#[wasm_bindgen]
impl Saving {
    /// What is to be signed next.
    pub fn bytes(&self) -> PerhapsBytes {
        value(self.0.bytes().map(|bytes| Uint8Array::from(&*bytes)))
    }

    /// Takes the signature in the input buffer.
    pub fn take(&mut self, len: usize) -> Nothing {
        done(with_bytes(len, |signature| self.0.take(signature)))
    }

    /// The file.
    pub fn file(&mut self) -> Text {
        plain(&self.0.file())
    }
}

#[wasm_bindgen]
impl Loading {
    /// What has to be signed to see whether the next line is whole.
    pub fn bytes(&mut self) -> PerhapsBytes {
        value(self.0.bytes().map(|bytes| Uint8Array::from(&*bytes)))
    }

    /// Takes the signature in the input buffer.
    pub fn take(&mut self, len: usize) -> Nothing {
        done(with_bytes(len, |signature| self.0.take(signature)))
    }
}
