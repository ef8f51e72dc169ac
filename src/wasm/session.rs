//! Session files.

use std::mem;
use std::rc::Rc;

use wasm_bindgen::prelude::wasm_bindgen;

use super::answer::{Flag, Number, Text, answer, plain, text};
use super::memory::{grow_ahead, with_bytes, with_input};
use super::replay::Recording;
use crate::compressed_texts::{self, CompressedTexts};
use crate::context;
use crate::error::Result;
use crate::json::{self, Value, json, write};
use crate::number::count;
use crate::session_files::{self, Redaction, is_canonical, write_list};
use crate::text::{redact_each, utf16_len};

/// A session file that comes in pieces.
#[wasm_bindgen]
#[derive(Default)]
pub struct SessionReader(session_files::SessionReader);

/// A session that was read. Its messages stay here.
#[wasm_bindgen]
pub struct OpenSession {
    head: String,
    messages: Rc<CompressedTexts>,
    /// Places of messages that JavaScript would write otherwise, until it has.
    others: Vec<usize>,
    /// The messages before them, as JavaScript writes them.
    rewritten: CompressedTexts,
}

#[wasm_bindgen]
impl SessionReader {
    /// Reads nothing yet.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in the bytes in the input buffer: how many lines have ended so far.
    pub fn push(&mut self, len: usize) -> Number {
        answer(with_bytes(len, |bytes| {
            self.0.push(bytes);
            Ok(self.0.lines())
        }))
    }

    /// The session, once all bytes came; the reader is then as it was when it was new.
    pub fn end(&mut self, leaf: Option<String>) -> Result<OpenSession> {
        let reader = mem::take(&mut self.0);
        grow_ahead(reader.bytes());
        let mut file = reader.end(leaf.as_deref())?;
        let messages = mem::take(&mut file.messages);
        let others = (0..).zip(messages.iter()).filter(|(_, json)| !is_canonical(json));
        let others = others.map(|(at, _)| at).collect();
        let rewritten = CompressedTexts::default();
        Ok(OpenSession { head: write(&file), messages: Rc::new(messages), others, rewritten })
    }
}

#[wasm_bindgen]
impl OpenSession {
    /// The session without its messages, as JSON; it is given once.
    pub fn head(&mut self) -> Text {
        plain(&mem::take(&mut self.head))
    }

    /// Messages that JavaScript would write otherwise, as JSON: the first of them, of so many bytes and one more.
    pub fn others(&self, bytes: usize) -> Text {
        let mut room = bytes;
        let others = self.others.iter().filter_map(|at| self.messages.get(*at));
        plain(&list(others.take_while(|json| {
            let has_room = room > 0;
            room = room.saturating_sub(json.len());
            has_room
        })))
    }

    /// Takes these messages (JSON) as JavaScript has written them; false: there are more.
    pub fn rewrite(&mut self, len: usize) -> Flag {
        let Self { messages, others, rewritten, .. } = self;
        answer(with_input(len, |json| {
            let written = json::items(json).unwrap_or_default();
            let done = written.len().min(others.len());
            for (at, json) in others.drain(..done).zip(written) {
                rewritten.extend((rewritten.len()..at).filter_map(|at| messages.get(at)));
                rewritten.push(json);
            }
            // Nothing written would be asked for for ever.
            let is_done = others.is_empty() || done == 0;
            if is_done {
                rewritten
                    .extend((rewritten.len()..messages.len()).filter_map(|at| messages.get(at)));
                *messages = Rc::new(mem::take(rewritten));
            }
            Ok(is_done)
        }))
    }

    /// How many messages it has.
    pub fn count(&self) -> usize {
        self.messages.len()
    }

    /// Messages from one place to another, as JSON.
    pub fn messages(&self, from: usize, to: usize) -> Text {
        plain(&list((from..to).map_while(|at| self.messages.get(at))))
    }

    /// Measures the session with what stands beside its messages (JSON) in the input buffer.
    pub fn recording(&self, len: usize, estimator: Option<String>) -> Result<Recording> {
        with_input(len, |json| Recording::of(json, &self.messages, estimator))
    }

    /// Its texts that are counted, as JSON: for a counter of the host's. The rest of the session (JSON) is in the input buffer.
    pub fn texts(&self, len: usize) -> Text {
        text(with_input(len, |json| {
            Ok(write(&context::Recording::texts_of(json, &self.messages)?))
        }))
    }
}

/// JSON texts as one array.
fn list(texts: impl Iterator<Item = compressed_texts::Text>) -> String {
    let mut all = String::new();
    write_list(texts, &mut all);
    all
}

/// The session (JSON) in the input buffer without what the options (JSON) take out, and what that was, as JSON.
#[wasm_bindgen]
pub fn redact_session(len: usize, options: &str) -> Text {
    grow_ahead(len.saturating_mul(2));
    text(Redaction::parse(options).and_then(|redaction| {
        with_input(len, |json| {
            let (session, hits) = redaction.session(json);
            Ok(format!(r#"{{"session":{session},"hits":{}}}"#, write(&hits)))
        })
    }))
}

/// The text in the input buffer without secrets, and where they stood, as JSON.
#[wasm_bindgen]
pub fn redact(len: usize) -> Text {
    text(with_input(len, |text| {
        let units =
            |from: usize, to: usize| count(utf16_len(text.get(from..to).unwrap_or_default()));
        let (mut done, mut at) = (0, 0u32);
        let mut hits: Vec<Value> = Vec::new();
        let redacted = redact_each(text, 0, &mut |from, to, kind| {
            at = at.saturating_add(units(done, from));
            hits.push(json!({ "kind": kind, "at": at, "length": units(from, to) }));
            at = at.saturating_add(units(from, to));
            done = to;
        });
        Ok(json!({ "text": redacted, "hits": hits }).json().to_owned())
    }))
}
