//! A session as it stood at a call: what every view of that call is made of.

use crate::context::compaction::{extracted_so_far, flat_message, plan_compaction};
use crate::context::report::breakdown::{bucket_name, bucket_of, largest_block};
use crate::context::report::explain::{State, sending};
use crate::context::request::build_request::resend;
use crate::context::request::written::Written;
use crate::context::session::Session;
use crate::context::session::agent::words_of;
use crate::error::Result;
use crate::json::{self, Value};
use crate::model::MessageId;
use crate::number::count;

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
        resend(&self.session, None).items
    }

    /// Every message of the history in columns, one after the other: tokens, tokens that are sent, state, turn, bucket. A bucket is
    /// its place in the names beside them.
    pub fn table(&self) -> (Vec<u32>, Vec<String>) {
        let messages = &self.session.transcript.ledger.messages;
        let mut columns = [const { Vec::new() }; 5];
        for column in &mut columns {
            column.reserve_exact(messages.len());
        }
        // Of each bucket its place among those that came, and one more; 0 until it comes.
        let (mut buckets, mut places) = (Vec::new(), Vec::new());
        let size = |tokens: u64| u32::try_from(tokens).unwrap_or(u32::MAX);
        for (index, message) in MessageId::FIRST.on().zip(messages) {
            let largest = largest_block(&self.session, index);
            let bucket = largest.map_or(0, |block| bucket_of(&self.session, block));
            if places.len() <= bucket {
                places.resize(bucket.saturating_add(1), 0u32);
            }
            let Some(place) = places.get_mut(bucket) else { continue };
            if *place == 0 {
                buckets.push(bucket_name(&self.session, bucket).concat());
                *place = count(buckets.len());
            }
            let sending = sending(&self.session, index);
            let state = State::ALL.iter().position(|state| *state == sending.state);
            let row = [
                size(sending.tokens),
                size(sending.sent_tokens),
                count(state.unwrap_or_default()),
                message.turn,
                place.saturating_sub(1),
            ];
            for (column, figure) in columns.iter_mut().zip(row) {
                column.push(figure);
            }
        }
        (columns.concat(), buckets)
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
            if !self.unreadable.iter().any(|it| it.index == index.get()) {
                flat_message(session, index, self.raw(index).as_bytes())?;
            }
        }
        let names = Value::raw(of("identifiers").into());
        let mut extracted = String::new();
        json::object(&[("*", extracted_so_far(session)), ("identifiers", &names)], &mut extracted);
        let mut plan = Value::raw(of("plan").into());
        plan.set("extracted", Value::raw(extracted));
        Ok(plan)
    }

    /// What a message of the session says, as a report tells it under its key; nothing where there is none. One that is not of
    /// the format is shown as its JSON.
    pub fn text(&self, index: MessageId) -> String {
        let raw = self.raw(index);
        self.text_of(index, raw.as_bytes()).unwrap_or_else(|_| String::from(&*raw))
    }

    /// What a message (JSON) in the format of the session says.
    ///
    /// # Errors
    /// `MalformedMessage`.
    pub fn text_of(&self, index: MessageId, json: &[u8]) -> Result<String> {
        Ok(words_of(&self.format.read(json, index.get())?, |_| true))
    }
}
