//! Replays of sessions.

use std::rc::Rc;

use js_sys::Uint32Array;
use wasm_bindgen::prelude::wasm_bindgen;

use super::answer::{Flag, Text, answer, plain, text};
use super::memory::{grow_ahead, with_input};
use crate::compressed_texts::CompressedTexts;
use crate::context::{self, Options, explain, list_buckets, list_messages};
use crate::error::Result;
use crate::estimate::Estimator;
use crate::inspect;
use crate::json::write;

/// To measure a session and play it takes so many times the size of its JSON.
const WORK_PER_BYTE: usize = 5;

/// A session measured once.
#[wasm_bindgen]
pub struct Recording(context::Recording);

/// A session played under a policy, as far as it was played.
#[wasm_bindgen]
pub struct Replay(context::Replay, String);

/// A session as its agent sent it.
#[wasm_bindgen]
pub struct RecordedView(context::RecordedView);

/// A session as it stood at a call, and names of the buckets in the table that was asked for.
#[wasm_bindgen]
pub struct AtCall(context::AtCall, Vec<String>);

/// Tokens by call and bucket of a session as it was sent, and what changed from call to call.
#[wasm_bindgen]
pub struct Layers {
    layers: context::Layers,
    changes: Vec<context::MessageChange>,
}

#[wasm_bindgen]
impl Layers {
    /// Names of the buckets, as JSON.
    pub fn names(&self) -> Text {
        plain(&write(&self.layers.names))
    }

    /// Tokens by call and bucket.
    pub fn tokens(&self) -> Uint32Array {
        Uint32Array::from(&*self.layers.tokens())
    }

    /// Messages that calls sent otherwise than the call before, as JSON.
    pub fn changes(&self) -> Text {
        plain(&write(&self.changes))
    }
}

fn named(estimator: Option<String>) -> Result<Estimator> {
    estimator.map_or(Ok(Estimator::Scaled(1000)), |name| Estimator::parse(&name))
}

impl Recording {
    /// Measures a session whose messages are here.
    pub(super) fn of(
        json: &str,
        messages: &Rc<CompressedTexts>,
        estimator: Option<String>,
    ) -> Result<Self> {
        let estimator = named(estimator)?;
        let bytes = messages.bytes().saturating_add(json.len());
        grow_ahead(bytes.saturating_mul(WORK_PER_BYTE));
        Ok(Self(context::Recording::of(json, Rc::clone(messages), estimator)?))
    }
}

#[wasm_bindgen]
impl Recording {
    /// Measures the session (JSON) in the input buffer.
    #[wasm_bindgen(constructor)]
    pub fn new(len: usize, estimator: Option<String>) -> Result<Self> {
        let estimator = named(estimator)?;
        grow_ahead(len.saturating_mul(WORK_PER_BYTE));
        with_input(len, |json| Ok(Self(context::Recording::parse(json, estimator)?)))
    }

    /// The texts of the session (JSON) in the input buffer that are counted, as JSON: for a counter of the host's.
    pub fn texts(len: usize) -> Text {
        text(with_input(len, |json| Ok(write(&context::Recording::texts(json)?))))
    }

    /// Tokens of the session's own summaries; 0: there is none. `calibrate`: in the provider's tokens.
    pub fn summary_tokens(&self, calibrate: bool) -> u32 {
        self.0.summary_tokens(calibrate)
    }

    /// A replay with the options (JSON) in the input buffer, which has played no call yet.
    pub fn begin(&self, len: usize) -> Result<Replay> {
        let options = with_input(len, Options::for_replay)?;
        Ok(Replay(self.0.begin(&options), String::new()))
    }

    /// Plays so many calls more: whether all have been played.
    pub fn advance(&self, replay: &mut Replay, calls: u32) -> Flag {
        answer(self.0.advance(&mut replay.0, calls))
    }

    /// The session as a replay stood at one of its calls.
    pub fn at_call(&self, replay: &Replay, call: u32) -> Result<AtCall> {
        Ok(AtCall(self.0.at_call(&replay.0, call)?, Vec::new()))
    }

    /// The session at the request that would follow, so many milliseconds later.
    pub fn next(&self, replay: &mut Replay, idle_ms: u32) -> Result<AtCall> {
        let (at, changes) = self.0.next(&replay.0, idle_ms.into())?;
        replay.1 = write(&changes);
        Ok(AtCall(at, Vec::new()))
    }

    /// Every call as it was made, with the window of the options (JSON) in the input buffer.
    pub fn recorded_view(&self, len: usize) -> Result<RecordedView> {
        Ok(RecordedView(self.0.recorded_view(&with_input(len, Options::for_replay)?)))
    }

    /// The session as it was sent at a call.
    pub fn recorded_at(&self, view: &RecordedView, call: u32) -> AtCall {
        AtCall(self.0.recorded_at(&view.0, call), Vec::new())
    }

    /// Tokens by call and bucket as they were sent. Has the view show any call sooner from then on.
    pub fn recorded_layers(&self, view: &mut RecordedView) -> Layers {
        let (layers, changes) = self.0.recorded_layers(&mut view.0);
        Layers { layers, changes }
    }

    /// What a compaction would do after a call, as JSON.
    pub fn plan(&self, at: &mut AtCall) -> Text {
        text(self.0.plan(&mut at.0).map(|it| write(&it)))
    }

    /// What a message of the session says.
    pub fn text(&self, index: u32) -> Text {
        plain(&self.0.text(index.into()))
    }

    /// Messages that are not of the session's format, as JSON.
    pub fn unreadable(&self) -> Text {
        plain(&write(&self.0.unreadable))
    }

    /// What the message (JSON) in the input buffer says.
    pub fn text_of(&self, len: usize, index: u32) -> Text {
        text(with_input(len, |json| self.0.text_of(index.into(), json.as_bytes())))
    }

    /// Messages that say the text in the input buffer, with so many hits altogether, as JSON.
    pub fn find(&self, len: usize, ignore_case: bool, limit: usize) -> Text {
        text(with_input(len, |text| Ok(write(&self.0.find(text, ignore_case, limit)))))
    }
}

#[wasm_bindgen]
impl RecordedView {
    /// Every call, as JSON.
    pub fn calls(&self) -> Text {
        plain(&write(&self.0.recorded))
    }
}

#[wasm_bindgen]
impl Replay {
    /// Its calls from one on, and its totals, as JSON.
    pub fn calls(&self, from: usize) -> Text {
        plain(&write(&(self.0.calls.get(from..).unwrap_or_default().to_vec(), &self.0.totals)))
    }

    /// The provider's tokens for 10,000 of ours, and its tokens that the file does not tell of, as JSON.
    pub fn calibration(&self) -> Text {
        plain(&write(&self.0.calibration()))
    }

    /// What the policy did, as JSON.
    pub fn events(&self) -> Text {
        plain(&write(&self.0.events))
    }

    /// Messages that calls sent otherwise than the call before, as JSON.
    pub fn changes(&self, from: u32, to: u32) -> Text {
        plain(&write(&self.0.changes(from, to).to_vec()))
    }

    /// What the next request would change, as JSON, once it was asked for.
    pub fn next_changes(&mut self) -> Text {
        plain(&std::mem::take(&mut self.1))
    }

    /// Names of the buckets in its layers, as JSON.
    pub fn layer_names(&self) -> Text {
        plain(&write(&self.0.layers.names))
    }

    /// Tokens by call and bucket.
    pub fn layers(&self) -> Uint32Array {
        Uint32Array::from(&*self.0.layers.tokens())
    }
}

#[wasm_bindgen]
impl AtCall {
    /// What its request holds, as JSON.
    pub fn buckets(&self) -> Text {
        plain(&write(&list_buckets(&self.0.session)))
    }

    /// The report of its request, as the question (JSON) in the input buffer wants it.
    pub fn report(&self, len: usize) -> Text {
        text(with_input(len, |ask| {
            Ok(write(&inspect::report(&self.0.session, ask, self.0.at_ms)?))
        }))
    }

    /// Every message of the history at its request, as JSON.
    pub fn list(&self) -> Text {
        plain(&write(&list_messages(&self.0.session)))
    }

    /// Why a message is sent as it is, as JSON.
    pub fn explain(&self, index: u32) -> Text {
        text(explain(&self.0.session, index.into()).map(|it| write(&it)))
    }

    /// The messages of its request, as JSON.
    pub fn sent(&self) -> Text {
        plain(&write(&self.0.sent()))
    }

    /// Every message of the history: tokens, sent tokens, state, turn and bucket, one column after the other.
    pub fn table(&mut self) -> Uint32Array {
        let (table, buckets) = self.0.table();
        self.1 = buckets;
        Uint32Array::from(&*table)
    }

    /// Names of the buckets in its table, as JSON, once it was asked for.
    pub fn table_buckets(&mut self) -> Text {
        plain(&write(&std::mem::take(&mut self.1)))
    }
}
