//! The providers: each a row of rules. What a rule means stands where it is applied.

use crate::error::{Error, Result};

/// Whose rules a request must satisfy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// Anthropic's own API: runs of messages of one role are one turn; ids are `[a-zA-Z0-9_-]{1,64}`.
    Anthropic,
    /// Chat Completions: results directly after their calls; ids of at most 64 characters.
    OpenAiChat,
    /// Responses: items; reasoning goes with what it led to.
    OpenAiResponses,
    /// Gemini: as many results as calls, in one turn; signed calls.
    Gemini,
    /// Bedrock's Converse and its Claude: roles alternate, all results of a turn in one message.
    Bedrock,
    /// Mistral: ids of nine letters and digits; no user directly behind a tool.
    Mistral,
    /// `DeepSeek`: reasoning of turns with calls is sent back.
    DeepSeek,
    /// Kimi (Moonshot): nothing empty; reasoning of turns with calls is sent back.
    Kimi,
}

/// What a provider's call ids may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Charset {
    /// Anything but the replacement character.
    Any,
    /// ASCII letters, digits, `_` and `-`.
    Word,
    /// Those, `.` and `:`.
    Path,
    /// ASCII letters and digits.
    Alphanumeric,
}

/// How reasoning is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reasoning {
    /// It may leave at any time.
    Free,
    /// The newest turn that has any stays as it is (I10), and what stands behind a change is void (I12).
    Newest,
    /// It stays or goes with what it led to (I14, I23).
    WithCall,
}

/// One provider's rules.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Its public name.
    pub(super) name: &'static str,
    /// A run of assistant messages is one turn.
    pub(super) merges: bool,
    /// What call ids may be made of.
    pub(super) ids: Charset,
    /// UTF-16 code units of the longest id.
    pub(super) longest_id: usize,
    /// What binds its reasoning.
    pub(super) reasoning: Reasoning,
}

const fn rules(name: &'static str, ids: Charset, reasoning: Reasoning) -> Rules {
    Rules { name, merges: false, ids, longest_id: 64, reasoning }
}

impl Provider {
    /// Every provider.
    pub const ALL: [Self; 8] = [
        Self::Anthropic,
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::Gemini,
        Self::Bedrock,
        Self::Mistral,
        Self::DeepSeek,
        Self::Kimi,
    ];

    /// The provider of that name.
    ///
    /// # Errors
    /// `InvalidArgument` with what is allowed.
    pub fn parse(name: &str) -> Result<Self> {
        let known = Self::ALL.into_iter().find(|provider| provider.name() == name);
        known.ok_or_else(|| {
            let allowed = Self::ALL.map(|known| format!("\"{}\"", known.name())).join(", ");
            Error::argument("provider", &allowed, format_args!("\"{name}\""))
        })
    }

    /// Its public name.
    pub fn name(self) -> &'static str {
        self.rules().name
    }

    pub(super) const fn rules(self) -> Rules {
        match self {
            Self::Anthropic => {
                Rules { merges: true, ..rules("anthropic", Charset::Word, Reasoning::Newest) }
            }
            Self::OpenAiChat => rules("openai-chat", Charset::Any, Reasoning::Free),
            Self::OpenAiResponses => Rules {
                merges: true,
                ..rules("openai-responses", Charset::Any, Reasoning::WithCall)
            },
            Self::Gemini => rules("gemini", Charset::Any, Reasoning::Free),
            Self::Bedrock => {
                Rules { merges: true, ..rules("bedrock", Charset::Path, Reasoning::Newest) }
            }
            Self::Mistral => {
                Rules { longest_id: 9, ..rules("mistral", Charset::Alphanumeric, Reasoning::Free) }
            }
            Self::DeepSeek => rules("deepseek", Charset::Any, Reasoning::WithCall),
            Self::Kimi => rules("kimi", Charset::Any, Reasoning::WithCall),
        }
    }

    /// Whether it reads a run of assistant messages as one, as Anthropic does.
    pub(super) fn merges(self) -> bool {
        self.rules().merges
    }

    /// Whether reasoning stays or goes with what it led to.
    pub fn ties_reasoning(self) -> bool {
        self.rules().reasoning == Reasoning::WithCall
    }

    /// Whether reasoning of the newest turn is held, and that behind a change void.
    pub fn binds_reasoning(self) -> bool {
        self.rules().reasoning == Reasoning::Newest
    }
}
