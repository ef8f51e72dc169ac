//! The providers: each a row of rules. What a rule means stands where it is applied.

use crate::error::{Error, Result, listed};
use crate::model::Role;

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
    /// Mistral: ids of nine letters and digits; no user directly after a tool; roles alternate, as its templates want.
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
    /// Exactly as many ASCII letters and digits as the longest id has.
    Exact,
}

/// How reasoning is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reasoning {
    /// It may leave at any time.
    Free,
    /// The newest turn that has any stays as it is (I10), and what stands after a change is void (I12).
    Newest,
    /// It stays or goes with the calls it led to (I14, I23).
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
    /// A result that does not stand directly after its call.
    pub(super) late: &'static str,
    /// The first message is not the user's.
    pub(super) first: &'static str,
    /// The last message is the assistant's.
    pub(super) last: &'static str,
    /// Reasoning with nothing after it.
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

/// What a provider says of the images and the size of a request. 0: nothing that we know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Images in a request.
    pub images: u32,
    /// With more images than this, each has at most `many_pixels` a side: an image that was taken once is refused later.
    pub many: u32,
    /// See `many`.
    pub many_pixels: u32,
    /// Pixels of a side, always.
    pub pixels: u32,
    /// Bytes of the request's JSON.
    pub bytes: u64,
}

/// What Claude takes, wherever it runs, but for the bytes.
const CLAUDE: Limits =
    Limits { images: 100, many: 20, many_pixels: 2000, pixels: 8000, bytes: 32_000_000 };
const NO_LIMITS: Limits = Limits { images: 0, many: 0, many_pixels: 0, pixels: 0, bytes: 0 };

/// One provider's rules.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "a row of a table")]
pub(super) struct Rules {
    /// Its public name.
    pub(super) name: &'static str,
    /// A run of assistant messages is one turn.
    pub(super) merges: bool,
    /// No two messages of one role in a row (I9, I21).
    pub(super) alternates: bool,
    /// Results are messages of the tool's, and the user may not speak directly after them (I9).
    pub(super) bridges: bool,
    /// The system speaks before all others only (I31).
    pub(super) system_first: bool,
    /// The system prompt is a field beside the messages: in its own format no message is the system's (I31).
    pub(super) system_apart: bool,
    /// A request with calls in its history must declare tools (I29); it fails most often where a summarizer is called without them.
    pub(super) declares: bool,
    /// `cache_control` markers that it takes; 0 where there are none (I13).
    pub(super) markers: u32,
    /// What call ids may be made of.
    pub(super) ids: Charset,
    /// UTF-16 code units of the longest id.
    pub(super) longest_id: usize,
    /// What binds its reasoning.
    pub(super) reasoning: Reasoning,
    /// All results of a turn stand in one message, the next one.
    pub(super) together: bool,
    /// Calls of a turn are signed, and stand directly after the user or results.
    pub(super) signs: bool,
    /// What its rules are called.
    pub(super) names: Names,
    /// Images and bytes (I27, I28).
    pub(super) limits: Limits,
}

const fn rules(name: &'static str, ids: Charset, reasoning: Reasoning) -> Rules {
    Rules {
        name,
        merges: false,
        alternates: false,
        bridges: false,
        system_first: false,
        system_apart: false,
        declares: false,
        markers: 0,
        ids,
        // OpenAI, Anthropic and Bedrock take no more (I5).
        longest_id: 64,
        reasoning,
        together: false,
        signs: false,
        names: USUAL,
        limits: NO_LIMITS,
    }
}

/// One row for each provider, in the order of [`Provider::ALL`].
const ROWS: [Rules; 8] = [
    Rules {
        merges: true,
        system_first: true,
        system_apart: true,
        markers: 4,
        limits: CLAUDE,
        ..rules("anthropic", Charset::Word, Reasoning::Newest)
    },
    rules("openai-chat", Charset::Any, Reasoning::Free),
    Rules {
        merges: true,
        names: Names { trailing: "I14", ..USUAL },
        ..rules("openai-responses", Charset::Any, Reasoning::WithCall)
    },
    Rules {
        system_first: true,
        system_apart: true,
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
    Rules {
        merges: true,
        alternates: true,
        system_first: true,
        system_apart: true,
        declares: true,
        markers: 4,
        // InvokeModel takes 20 MB; what Converse takes is not published.
        limits: Limits { bytes: 20_000_000, ..CLAUDE },
        ..rules("bedrock", Charset::Path, Reasoning::Newest)
    },
    Rules {
        alternates: true,
        bridges: true,
        system_first: true,
        // Nine, since Mistral refuses ids of any other length (I5).
        longest_id: 9,
        ..rules("mistral", Charset::Exact, Reasoning::Free)
    },
    // Both want the reasoning of a turn that called tools in every later request, too (I23).
    rules("deepseek", Charset::Any, Reasoning::WithCall),
    rules("kimi", Charset::Any, Reasoning::WithCall),
];

/// What must stand between two messages that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// Nothing: they may.
    Nothing,
    /// They go out as one, or with a line of the other side's between them.
    OneMessage,
    /// A line of the assistant's.
    Assistant,
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
            let allowed = listed(&Self::ALL.map(Self::name), "\"");
            Error::argument("provider", &allowed, format_args!("\"{name}\""))
        })
    }

    /// Its public name.
    pub fn name(self) -> &'static str {
        self.rules().name
    }

    pub(super) const fn rules(self) -> &'static Rules {
        let [anthropic, chat, responses, gemini, bedrock, mistral, deepseek, kimi] = &ROWS;
        match self {
            Self::Anthropic => anthropic,
            Self::OpenAiChat => chat,
            Self::OpenAiResponses => responses,
            Self::Gemini => gemini,
            Self::Bedrock => bedrock,
            Self::Mistral => mistral,
            Self::DeepSeek => deepseek,
            Self::Kimi => kimi,
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

    /// Whether reasoning stays or goes with what it led to: in a turn that made calls (I23), or always, where reasoning
    /// is an item that needs the next one (I14).
    pub fn ties_reasoning(self, made_calls: bool) -> bool {
        self.rules().reasoning == Reasoning::WithCall && (made_calls || self.merges())
    }

    /// Whether reasoning of the newest turn is held, and that after a change void.
    pub fn binds_reasoning(self) -> bool {
        self.rules().reasoning == Reasoning::Newest
    }

    /// Whether a turn with calls goes out with its reasoning, or is refused (I23).
    pub(super) fn wants_reasoning(self) -> bool {
        self.rules().reasoning == Reasoning::WithCall && !self.merges()
    }

    /// So many markers tell it at most where its cache ends (I13); 0: it takes none.
    pub fn most_markers(self) -> u32 {
        self.rules().markers
    }

    /// What of images and bytes it takes.
    pub fn limits(self) -> Limits {
        self.rules().limits
    }

    /// Whether messages of one role may not follow each other, or the user not a tool.
    pub fn takes_turns(self) -> bool {
        self.rules().alternates
    }

    /// Whether results speak in the tool's name, and what else stands beside them in the user's.
    pub fn splits_results(self) -> bool {
        self.rules().bridges
    }

    /// Who speaks in a message that holds results, where they travel in the user's messages or in their own.
    pub fn speaker_of_results(self, inline: bool, role: Role) -> Role {
        match (self.rules().bridges, inline) {
            (true, _) => Role::Tool,
            (false, true) => Role::User,
            (false, false) => role,
        }
    }

    /// What must stand between messages of these two.
    pub fn between(self, before: Option<Role>, now: Role) -> Between {
        let rules = self.rules();
        match (before, now) {
            (Some(Role::User), Role::User) | (Some(Role::Assistant), Role::Assistant)
                if rules.alternates =>
            {
                Between::OneMessage
            }
            (Some(Role::Tool), Role::User) if rules.bridges => Between::Assistant,
            _ => Between::Nothing,
        }
    }
}
