//! Replays of sessions.

use wasm_bindgen::prelude::wasm_bindgen;

use super::memory::{grow_ahead, with_input};
use crate::context::{self, Options, list_buckets, list_messages};
use crate::error::Result;
use crate::estimate::Estimator;
use crate::inspect;
use crate::json::write;

/// To measure a session and play it takes so many times the size of its JSON.
const WORK_PER_BYTE: usize = 12;

/// A session measured once.
#[wasm_bindgen]
pub struct Recording(context::Recording);

/// A session played under a policy.
#[wasm_bindgen]
pub struct Replay(context::Replay);

#[wasm_bindgen]
impl Recording {
    /// Measures the session (JSON) in the input buffer.
    #[wasm_bindgen(constructor)]
    pub fn new(len: usize, estimator: Option<String>) -> Result<Self> {
        let estimator = match estimator {
            Some(name) => Estimator::parse(&name)?,
            None => Estimator::Scaled(1000),
        };
        grow_ahead(len.saturating_mul(WORK_PER_BYTE));
        with_input(len, |json| Ok(Self(context::Recording::parse(json, estimator)?)))
    }

    /// The texts of the session (JSON) in the input buffer that are counted, as JSON: for a counter of the host's.
    pub fn texts(len: usize) -> Result<String> {
        with_input(len, |json| Ok(write(&context::Recording::texts(json)?)))
    }

    /// Plays it with the options (JSON) in the input buffer, up to a call or to its end.
    pub fn replay(&self, len: usize, last: Option<u32>) -> Result<Replay> {
        let options = with_input(len, Options::for_replay)?;
        Ok(Replay(self.0.replay(&options, last)?))
    }

    /// Every call as it was made, with the window of the options (JSON) in the input buffer, as JSON.
    pub fn recorded(&self, len: usize) -> Result<String> {
        let options = with_input(len, Options::for_replay)?;
        Ok(write(&self.0.recorded(&options)))
    }

    /// The session as it was sent at a call, with the options (JSON) in the input buffer.
    pub fn recorded_at(&self, len: usize, call: u32) -> Result<Replay> {
        let options = with_input(len, Options::for_replay)?;
        Ok(Replay(self.0.recorded_at(&options, call)?))
    }

    /// What a compaction would do behind the last call of a replay, as JSON.
    pub fn plan(&self, replay: &mut Replay) -> Result<String> {
        Ok(write(&self.0.plan(&mut replay.0)?))
    }

    /// What a message of the session says.
    pub fn text(&self, replay: &Replay, index: u32) -> Result<String> {
        self.0.text(&replay.0, index)
    }
}

#[wasm_bindgen]
impl Replay {
    /// Its calls and totals, as JSON.
    pub fn calls(&self) -> String {
        write(&(&self.0.calls, &self.0.totals))
    }

    /// What its last request holds, as JSON.
    pub fn buckets(&self) -> String {
        write(&list_buckets(&self.0.state))
    }

    /// The report of its last request, as the question (JSON) in the input buffer wants it.
    pub fn report(&self, len: usize) -> Result<String> {
        let now_ms = self.0.calls.last().map_or(0, |call| call.at);
        with_input(len, |ask| Ok(write(&inspect::report(&self.0.state, ask, now_ms)?)))
    }

    /// Every message of the history at its last request, as JSON.
    pub fn list(&self) -> Result<String> {
        Ok(write(&list_messages(&self.0.state)?))
    }
}
