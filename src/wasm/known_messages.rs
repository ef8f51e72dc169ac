//! Measures that the host kept, for a session that takes its messages by them.

use js_sys::Uint8Array;
use wasm_bindgen::prelude::wasm_bindgen;

use super::answer::{Flag, Text, answer, plain};
use super::memory::{with_bytes, with_input};
use crate::context;
use crate::error::Result;

/// Measures of messages, and the host's keys of these.
#[wasm_bindgen]
pub struct KnownMessages(pub(super) context::KnownMessages);

#[wasm_bindgen]
impl KnownMessages {
    /// What `Manager.measures` wrote; none: the bytes in the input buffer are others, or have changed.
    pub fn read(len: usize) -> Result<Option<Self>> {
        with_bytes(len, |bytes| Ok(context::KnownMessages::read(bytes).map(Self)))
    }

    /// How many messages there are.
    pub fn count(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    /// Where the last group of calls and results starts.
    pub fn last_group(&self) -> u32 {
        self.0.last_group().get()
    }

    /// The host's keys, as it passed them.
    pub fn keys(&self) -> Text {
        plain(self.0.keys())
    }

    /// The bytes as they were read; copied once, and not within Wasm memory, which would keep that size.
    pub fn bytes(&self) -> Uint8Array {
        self.0.bytes().into()
    }

    /// Whether the message at `index` was measured from the JSON in the input buffer.
    pub fn is_written(&self, index: u32, len: usize) -> Flag {
        answer(with_input(len, |json| Ok(self.0.is_written(index.into(), json.as_bytes()))))
    }
}
