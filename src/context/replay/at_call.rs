//! A session as it stood at a call: what every view of that call is made of.

use crate::context::compaction::{extracted_so_far, flat_message, plan_compaction};
use crate::context::report::breakdown::list_messages;
use crate::context::report::explain::State;
use crate::context::request::build_request::resend;
use crate::context::request::written::Written;
use crate::context::session::Session;
use crate::context::session::agent::words_of;
use crate::error::Result;
use crate::json::{self, Value};
use crate::model::MessageId;

use super::recording::Recording;

/// A session as it stood at a call.
#[derive(Clone, Debug)]
pub struct AtCall {
    /// The session, after the request was made.
    pub session: Session,
    /// When it was made.
    pub at_ms: i64,
}

impl AtCall {
    /// The messages of the request: kept, edited, or made.
    pub fn sent(&self) -> Vec<Written> {
        resend(&self.session).items
    }

    /// Every message of the history in columns, one behind the other: tokens, tokens that are sent, state, turn, bucket. A bucket is
    /// its place in the names beside them.
    ///
    /// # Errors
    /// None: every message it asks for is there.
    pub fn table(&self) -> Result<(Vec<u32>, Vec<String>)> {
        let listed = list_messages(&self.session)?;
        let mut names: Vec<String> = Vec::new();
        let mut buckets = Vec::with_capacity(listed.len());
        for message in &listed {
            let known = names.iter().position(|name| *name == message.bucket);
            buckets.push(known.unwrap_or(names.len()));
            if known.is_none() {
                names.push(message.bucket.clone());
            }
        }
        let size = |tokens: u64| u32::try_from(tokens).unwrap_or(u32::MAX);
        let state = |name: &str| State::ALL.iter().position(|state| state.name() == name);
        let mut all = Vec::with_capacity(listed.len().saturating_mul(5));
        all.extend(listed.iter().map(|message| size(message.tokens)));
        all.extend(listed.iter().map(|message| size(message.sent_tokens)));
        all.extend(
            listed.iter().map(|message| state(message.state).map_or(0, crate::number::count)),
        );
        all.extend(listed.iter().map(|message| message.turn));
        all.extend(buckets.into_iter().map(crate::number::count));
        Ok((all, names))
    }
}

impl Recording {
    /// What a compaction would do after a call, as JSON: a plan with all that its texts tell.
    ///
    /// # Errors
    /// `MalformedMessage`.
    pub fn plan(&self, at: &mut AtCall) -> Result<Value> {
        let session = &mut at.session;
        let plan = plan_compaction(session, false, None, at.at_ms)?;
        let members = json::members(plan.json()).unwrap_or_default();
        let of = |name| members.iter().find(|(known, _)| known == name).map_or("[]", |(_, it)| *it);
        for index in json::items(of("go")).unwrap_or_default() {
            let index = index.parse().unwrap_or(MessageId::NONE);
            flat_message(session, index, self.raw(index))?;
        }
        let names = Value::raw(of("identifiers").into());
        let mut extracted = String::new();
        json::object(&[("*", extracted_so_far(session)), ("identifiers", &names)], &mut extracted);
        let mut plan = Value::raw(of("plan").into());
        plan.set("extracted", Value::raw(extracted));
        Ok(plan)
    }

    /// What a message of the session says, as a report tells it under its key; nothing where there is none.
    ///
    /// # Errors
    /// `MalformedMessage`.
    pub fn text(&self, index: MessageId) -> Result<String> {
        if index >= self.end() {
            return Ok(String::new());
        }
        self.text_of(index, self.raw(index))
    }

    /// What a message (JSON) in the format of the session says.
    ///
    /// # Errors
    /// `MalformedMessage`.
    pub fn text_of(&self, index: MessageId, json: &[u8]) -> Result<String> {
        Ok(words_of(&self.format.read(json, index.get())?, |_| true))
    }
}
