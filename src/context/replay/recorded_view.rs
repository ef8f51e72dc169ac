//! A session as its agent sent it, at any of its calls.

use super::as_sent::{AsSent, Standing};
use super::at_call::AtCall;
use super::layers::Layers;
use super::message_changes::{MessageChange, MessageChanges};
use super::recorded::Recorded;
use super::recording::Recording;
use super::usage_fit::ONE;
use crate::context::options::Options;
use crate::number::count;

/// Checkpoints of the view. Fewer than a replay has: nothing is decided on the way from one to a call.
const CHECKPOINTS: u32 = 4;

/// Every call as it was made, and the session at some of them, from which any other is a short way.
#[derive(Debug)]
pub struct RecordedView {
    /// Every call as it was made.
    pub recorded: Recorded,
    options: Options,
    /// Tokens are counted by this factor.
    factor: u64,
    /// In order of their calls. `layers`, which comes by all calls, leaves them.
    checkpoints: Vec<(u32, Standing)>,
}

impl Recording {
    /// The view by these options, which have the window.
    pub fn recorded_view(&self, options: &Options) -> RecordedView {
        let recorded = self.recorded(options);
        let factor = recorded.calibration.as_ref().map_or(ONE, |it| it.factor);
        RecordedView { recorded, options: options.clone(), factor, checkpoints: Vec::new() }
    }

    /// The session as it stood at a call (the last, if there is none of that number), for reports.
    pub fn recorded_at(&self, view: &RecordedView, at: u32) -> AtCall {
        let calls = &view.recorded.calls;
        let calls = calls.get(..=at as usize).unwrap_or(calls);
        let sent = calls.last().map_or(0, |call| call.sent);
        // A file may say that a call sent fewer messages than one before it.
        let is_before = |(call, it): &&(u32, Standing)| {
            *call <= at && it.session.transcript.ledger.message_count() <= sent
        };
        let mut shown = match view.checkpoints.iter().rev().find(is_before) {
            Some((_, standing)) => AsSent::from(self, standing.clone(), view.factor),
            None => AsSent::new(self, &view.options, view.factor),
        };
        shown.advance(sent);
        if let Some(last) = calls.last() {
            shown.count(last.used, last.is_counted());
        }
        let mut session = shown.standing.session;
        session.request.last.previous_tokens =
            calls.iter().rev().nth(1).map_or(0, |call| call.used);
        session.request.last.peak = calls.iter().map(|call| call.used).max().unwrap_or(0);
        AtCall { session, at_ms: calls.last().and_then(|call| call.at).unwrap_or(0) }
    }

    /// Tokens of every request as it was made, by kind of content, and the messages that each sent otherwise than the one before.
    pub fn recorded_layers(&self, view: &mut RecordedView) -> (Layers, Vec<MessageChange>) {
        let RecordedView { recorded, options, factor, checkpoints } = view;
        let mut shown = AsSent::new(self, options, *factor);
        let (mut layers, mut changes) = (Layers::default(), MessageChanges::default());
        let apart = (count(recorded.calls.len()) / CHECKPOINTS).max(1);
        checkpoints.clear();
        for call in &recorded.calls {
            let folds = shown.standing.folds;
            let ledger = &shown.standing.session.transcript.ledger;
            let known = (ledger.next_message(), ledger.next_block());
            shown.advance(call.sent);
            if call.call > 0 && call.call.is_multiple_of(apart) {
                checkpoints.push((call.call, shown.standing.clone()));
            }
            shown.count(call.used, call.is_counted());
            let compacted = shown.standing.folds > folds;
            let (first, blocks) = if compacted { Default::default() } else { known };
            let session = &shown.standing.session;
            let ledger = &session.transcript.ledger;
            layers.add(session, blocks.to(ledger.next_block()));
            changes.note(session, call.call, first.to(ledger.next_message()));
        }
        (layers, changes.log)
    }
}
