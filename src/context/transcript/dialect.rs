//! Dialect of a transcript: the format of its messages, and the provider whose rules its requests keep.

use crate::format::Format;
use crate::validity::{self, Provider};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(in crate::context) struct Dialect {
    pub format: Format,
    pub provider: Provider,
    /// A message has shown the format; until then it is a guess.
    pub certain: bool,
}

/// What validity knows of a format's host, and whether lost signatures are made up for.
pub(in crate::context) fn validity_options_for(
    format: Format,
    thinking: bool,
) -> validity::Options {
    validity::Options {
        thinking,
        apart: format == Format::Pi,
        single: !matches!(format, Format::Gemini | Format::Anthropic),
        inline: format.has_results_inline(),
        as_placed: !format.has_runs() && format != Format::Pi,
        ..validity::Options::default()
    }
}

/// Whose rules hold for a format unless the host says otherwise.
pub(in crate::context) fn native(format: Format) -> Provider {
    match format {
        // What goes through an SDK is held to the strictest of the common providers.
        Format::Anthropic | Format::Pi | Format::AiSdk | Format::LangChain => Provider::Anthropic,
        Format::OpenAiChat => Provider::OpenAiChat,
        Format::OpenAiResponses | Format::OpenAiAgents => Provider::OpenAiResponses,
        Format::Gemini => Provider::Gemini,
    }
}
