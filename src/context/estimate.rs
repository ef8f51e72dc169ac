//! What a request is estimated to hold, by kind.

use crate::json;

use super::state::{State, told};
use crate::model::{Kind, Role, Violation};
use crate::validity;

/// Tokens and characters of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename_all = "camelCase"))]
pub struct Estimate {
    /// All its tokens.
    pub tokens: u64,
    /// UTF-16 code units of its texts, arguments, results, system prompt and tool definitions.
    pub chars: u64,
    /// The tokens by kind; they sum to `tokens`.
    pub by_kind: ByKind,
}

json::written!(Estimate { tokens, chars, by_kind });

/// Tokens by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename_all = "camelCase"))]
pub struct ByKind {
    /// Text of user and model.
    pub text: u64,
    /// Reasoning.
    pub thinking: u64,
    /// Arguments of calls.
    pub tool_call: u64,
    /// Results, with their images.
    pub tool_result: u64,
    /// Images of their own.
    pub image: u64,
    /// Tool definitions.
    pub tools: u64,
    /// System text, beside the messages or in them.
    pub system: u64,
    /// Frames: 4 a message, 20 and its name a call, 10 a result.
    pub overhead: u64,
}

json::written!(ByKind { text, thinking, tool_call, tool_result, image, tools, system, overhead });

impl State {
    /// What the whole history and its parts are estimated to hold, before any edit.
    pub fn estimate(&self) -> Estimate {
        let mut kinds = ByKind {
            tools: self.parts.tools,
            system: self.parts.system,
            overhead: self.parts.unseen,
            ..ByKind::default()
        };
        let chars_of = self.ledger.blocks.iter().map(|block| block.chars);
        let sizes = self.lines.overheads.iter().zip(chars_of);
        let mut chars = self.parts.chars.0.saturating_add(self.parts.chars.1);
        for (block, (&overhead, units)) in self.ledger.blocks.iter().zip(sizes) {
            let role = self.ledger.messages.get(block.message as usize).map(|message| message.role);
            let kind = match block.kind {
                Kind::Text | Kind::Other if role == Some(Role::System) => &mut kinds.system,
                Kind::Text | Kind::Other => &mut kinds.text,
                Kind::Thinking => &mut kinds.thinking,
                Kind::Call => &mut kinds.tool_call,
                Kind::Result => &mut kinds.tool_result,
                Kind::Image => &mut kinds.image,
            };
            *kind = kind.saturating_add(u64::from(block.tokens.saturating_sub(overhead)));
            kinds.overhead = kinds.overhead.saturating_add(u64::from(overhead));
            chars = chars.saturating_add(u64::from(units));
        }
        let all = [
            kinds.text,
            kinds.thinking,
            kinds.tool_call,
            kinds.tool_result,
            kinds.image,
            kinds.tools,
            kinds.system,
            kinds.overhead,
        ];
        Estimate { tokens: all.iter().sum(), chars, by_kind: kinds }
    }

    /// Rules of the provider that the history itself breaks.
    pub fn check(&self, thinking: bool) -> Vec<Violation> {
        let options = self.request_options(thinking);
        let mut violations = validity::check(&self.outlines, self.provider, options);
        violations.extend(self.too_large());
        violations
    }

    /// What is known of the request beside its messages.
    pub(super) fn request_options(&self, thinking: bool) -> validity::Options {
        validity::Options {
            tools: self.parts.definitions.map(|definitions| definitions > 0),
            marks: self.parts.marks,
            ..told(self.format, thinking)
        }
    }
}
