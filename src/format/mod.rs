//! Message formats: how a host's message is read, and what an edit or a message of ours looks like in it.
//!
//! Each format is one file and owns all of its field names. Reading borrows from the bytes and keeps nothing; edits
//! are RFC 6902 operations on the host's own object, so that what is not touched is carried byte for byte.

mod ai_sdk;
mod anthropic;
mod detect;
mod edit;
mod fingerprint;
mod gemini;
mod image;
mod join;
mod json;
mod langchain;
mod mark;
mod openai_chat;
mod openai_items;
mod openai_responses;
mod part;
mod pi;
#[cfg(test)]
mod tests;
mod unicode;

use crate::error::{Error, Result, listed};
use crate::json::{Source, Value};

use crate::model::{Copied, Draft, Made, MessageId, Op, Outline, Piece};
use openai_items::{AGENTS, RESPONSES};
use unicode::Mended;

pub use edit::{Change, What, copied_ops, gone, is_marker};
pub use fingerprint::{fingerprint, of_bytes, with_call_ids};
pub use join::Joined;
pub use mark::{member, merge};

/// A message format that is read, edited in place, and made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Anthropic Messages: content blocks, results inside user messages.
    Anthropic,
    /// Chat Completions of `OpenAI`: calls beside the content, results as messages of role `tool`.
    OpenAiChat,
    /// Items of `OpenAI`'s Responses: a message, reasoning, a call, a result each stand alone.
    OpenAiResponses,
    /// The same items as `OpenAI`'s Agents SDK writes them: `callId`, `function_call_result`.
    OpenAiAgents,
    /// Contents of Gemini: `parts` of a user or a model.
    Gemini,
    /// The AI SDK's `ModelMessage`s and `UIMessage`s.
    AiSdk,
    /// `LangChain`'s messages: live instances, or what they are written as.
    LangChain,
    /// pi's agent messages: `toolCall` blocks, `toolResult` messages, roles of its own.
    Pi,
}

impl Format {
    /// Every format that is built, by its public name.
    pub const ALL: [(&'static str, Self); 8] = [
        ("anthropic", Self::Anthropic),
        ("openai-chat", Self::OpenAiChat),
        ("openai-responses", Self::OpenAiResponses),
        ("openai-agents", Self::OpenAiAgents),
        ("gemini", Self::Gemini),
        ("ai-sdk", Self::AiSdk),
        ("pi", Self::Pi),
        ("langchain", Self::LangChain),
    ];

    /// The format of that name.
    ///
    /// # Errors
    /// `InvalidArgument` with what is allowed.
    pub fn parse(name: &str) -> Result<Self> {
        let known = Self::ALL.iter().find(|(known, _)| *known == name);
        known.map(|(_, format)| *format).ok_or_else(|| {
            let allowed = format!("\"auto\", {}", Self::names());
            Error::argument("format", &allowed, format_args!("\"{name}\""))
        })
    }

    /// The names of all, for a message.
    pub fn names() -> String {
        listed(&Self::ALL.map(|(known, _)| known), "\"")
    }

    /// Its public name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
    }

    /// The format that the first messages show; plain user and assistant text alone is read as Anthropic's.
    ///
    /// # Errors
    /// `UnknownFormat` says what was seen.
    pub fn detect(messages: &[&[u8]]) -> Result<Self> {
        detect::detect(messages)
    }

    /// The format that this message alone shows, if it shows one, and whether no other has it: plain text is the same in
    /// all of them, a system message in several.
    pub fn shown_by(message: &[u8]) -> Option<(Self, bool)> {
        detect::shown_by(message)
    }

    /// Reads one message from the JSON that `JSON.stringify` wrote. Lone surrogates are mended and flagged.
    ///
    /// # Errors
    /// `MalformedMessage` with the index, the place in the message and what is allowed there.
    pub fn read(self, bytes: &[u8], index: u32) -> Result<Draft<'_>> {
        self.read_json(utf8(bytes, index)?.into(), index)
    }

    /// The same of JSON of which some strings are known.
    ///
    /// # Errors
    /// As `read`.
    pub fn read_json(self, source: Source<'_>, index: u32) -> Result<Draft<'_>> {
        let draft = match unicode::mend(source.json) {
            Some(mended) => self.read_mended(&mended),
            None => self.read_source(source),
        };
        draft.map_err(|flaw| flaw.at(index))
    }

    #[inline(never)]
    fn read_mended(self, mended: &Mended) -> json::Read<Draft<'static>> {
        self.read_source(mended.text.as_str().into()).map(|draft| mended.mark(draft))
    }

    /// The operations that change a message as told: members first, then removals from the last index to the first.
    ///
    /// At least one piece that is not reasoning should stay; where none does, a short placeholder takes its place, so
    /// that no message goes out empty. A change that the piece cannot take (arguments of a text) is left out.
    pub fn edit(self, outline: &Outline, changes: &[Change]) -> Vec<Op> {
        match self {
            Self::Anthropic => edit::blocks(outline, changes, &anthropic::set),
            Self::OpenAiChat => openai_chat::edit(outline, changes),
            Self::OpenAiResponses => openai_responses::edit(outline, changes, &RESPONSES),
            Self::OpenAiAgents => openai_responses::edit(outline, changes, &AGENTS),
            Self::Gemini => gemini::edit(outline, changes),
            Self::AiSdk => ai_sdk::edit(outline, changes),
            Self::LangChain => langchain::edit(outline, changes),
            Self::Pi => edit::blocks(outline, changes, &pi::set),
        }
    }

    /// A message of ours in the format's shape, and what of the host's is to be put into it: where something is
    /// copied to, the message has `null`. `outlines` knows the messages that `made` refers to.
    pub fn make<'o>(
        self,
        made: &Made,
        outlines: impl Fn(MessageId) -> Option<&'o Outline>,
    ) -> (Value, Vec<Copied>) {
        let host = |message: MessageId, piece: u32| {
            outlines(message)?.pieces.get(usize::try_from(piece).ok()?)
        };
        match self {
            Self::Anthropic => anthropic::make(made, &host),
            Self::OpenAiChat => openai_chat::make(made, &host),
            Self::OpenAiResponses => openai_responses::make(made, &host, &RESPONSES),
            Self::OpenAiAgents => openai_responses::make(made, &host, &AGENTS),
            Self::Gemini => gemini::make(made, &host),
            Self::AiSdk => ai_sdk::make(made, &host),
            Self::LangChain => langchain::make(made, &host),
            Self::Pi => pi::make(made, &host),
        }
    }

    /// Gives a message of ours a time, where messages of the format have one.
    pub fn date(self, message: &mut Value, at_ms: Option<i64>) {
        if let Some(at_ms) = at_ms.filter(|_| self == Self::Pi) {
            message.set("timestamp", Value::raw(at_ms.to_string()));
        }
    }

    /// A turn of the model is a run of messages: that run is one call.
    pub fn has_runs(self) -> bool {
        matches!(self, Self::OpenAiResponses | Self::OpenAiAgents)
    }

    /// Results travel in the user's messages; elsewhere each is a message of its own.
    pub fn has_results_inline(self) -> bool {
        matches!(self, Self::Anthropic | Self::Gemini)
    }

    /// What one change sets on a piece of a joined message; a format that has no such edit sets nothing.
    fn set(self, piece: &Piece, what: &What) -> Option<Op> {
        match self {
            Self::Anthropic => anthropic::set(piece, what),
            Self::OpenAiChat => openai_chat::set(piece, what),
            Self::Pi => pi::set(piece, what),
            Self::OpenAiResponses
            | Self::OpenAiAgents
            | Self::AiSdk
            | Self::LangChain
            | Self::Gemini => None,
        }
    }

    /// Each format has a function of its own, since an engine compiles a whole function at its first call.
    fn read_source(self, source: Source<'_>) -> json::Read<Draft<'_>> {
        let (mut parts, mut at_ms) = (Vec::new(), None);
        let role = match self {
            Self::Anthropic => anthropic::read(source, &mut parts),
            Self::OpenAiChat => openai_chat::read(source, &mut parts),
            Self::OpenAiResponses => openai_responses::read(source, &mut parts, &RESPONSES),
            Self::OpenAiAgents => openai_responses::read(source, &mut parts, &AGENTS),
            Self::Gemini => gemini::read(source, &mut parts),
            Self::AiSdk => ai_sdk::read(source, &mut parts),
            Self::LangChain => langchain::read(source, &mut parts),
            Self::Pi => pi::read(source, &mut parts, &mut at_ms),
        };
        Ok(Draft { role: role?, parts, at_ms })
    }
}

/// The bytes of a message as text.
///
/// # Errors
/// `MalformedMessage` with its index.
pub fn utf8(bytes: &[u8], index: u32) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| json::malformed(index, "", "JSON in UTF-8"))
}
