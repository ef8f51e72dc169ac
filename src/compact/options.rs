//! Options of a compaction job.

use super::inert::inert;
use super::template::Template;
use crate::estimate::Estimator;
use crate::text::redact;

/// The options, their texts ready to be fed: secrets out, structure out.
pub(super) struct Options {
    pub(super) template: Template,
    /// What the host wants before its summaries, instead of the template's words.
    pub(super) prefix: Option<String>,
    pub(super) max_tokens: Option<u32>,
    pub(super) language: Option<String>,
    pub(super) instructions: String,
    pub(super) focus: String,
    pub(super) redact: bool,
    pub(super) nonce: String,
    /// The summarizer's window; 0: unknown.
    pub(super) window: u32,
    pub(super) summarizers: usize,
    pub(super) previous: Option<String>,
    /// The summary must cost less.
    pub(super) room: u32,
    pub(super) estimator: Estimator,
    pub(super) pins: Vec<String>,
    pub(super) identifiers: Vec<String>,
    pub(super) parallel: bool,
    pub(super) degrade: bool,
    pub(super) checkpoint: Ahead,
    /// Calls that have failed already, of what was given up for this.
    pub(super) strikes: u32,
    /// The turn of which only the beginning goes.
    pub(super) split_turn: Option<i64>,
    /// Milliseconds that a call may be silent, and that all of it may take.
    pub(super) silence_ms: u32,
    pub(super) total_ms: u32,
}

/// How a compaction and checkpoints have to do with each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ahead {
    /// What is made is one.
    pub(super) makes: bool,
    /// The previous summary is one, of the messages before this one.
    pub(super) covers: i64,
    /// It is enough, with an extract of what came since (G30).
    pub(super) is_enough: bool,
}

impl Options {
    /// A text from outside as it may go out: without secrets and without structure.
    pub(super) fn safe(&self, text: &str) -> String {
        let text = if self.redact { redact(text) } else { text.to_owned() };
        inert(&text, &self.nonce)
    }

    /// Tokens of a text.
    pub(super) fn tokens(&self, text: &str) -> u32 {
        self.estimator.tokens(text)
    }
}
