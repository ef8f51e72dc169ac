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

/// By what names a provider's rules on pairs, places and ends go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names {
    /// A call without a result.
    pub(super) open: &'static str,
    /// A result without a call.
    pub(super) orphan: &'static str,
    /// A second result of a call.
    pub(super) again: &'static str,
    /// A result that does not stand directly behind its call.
    pub(super) late: &'static str,
    /// The first message is not the user's.
    pub(super) first: &'static str,
    /// The last message is the assistant's.
    pub(super) last: &'static str,
    /// Reasoning with nothing behind it.
    pub(super) trailing: &'static str,
}

const USUAL: Names = Names {
    open: "I1",
    orphan: "I2",
    again: "I1",
    late: "I3",
    first: "I7",
    last: "I8",
    trailing: "I6",
};

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
    /// All results of a turn stand in one message, the next one.
    pub(super) together: bool,
    /// Calls of a turn are signed, and stand directly behind the user or results.
    pub(super) signs: bool,
    /// What its rules are called.
    pub(super) names: Names,
}

const fn rules(name: &'static str, ids: Charset, reasoning: Reasoning) -> Rules {
    Rules {
        name,
        merges: false,
        ids,
        longest_id: 64,
        reasoning,
        together: false,
        signs: false,
        names: USUAL,
    }
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
                names: Names { trailing: "I14", ..USUAL },
                ..rules("openai-responses", Charset::Any, Reasoning::WithCall)
            },
            Self::Gemini => Rules {
                together: true,
                signs: true,
                names: Names {
                    open: "I19",
                    orphan: "I18",
                    again: "I19",
                    late: "I19",
                    first: "I18",
                    last: "I18",
                    ..USUAL
                },
                ..rules("gemini", Charset::Any, Reasoning::Free)
            },
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

    /// Whether the calls of the current turn are signed, so that they stay as they are.
    pub fn signs_calls(self) -> bool {
        self.rules().signs
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
