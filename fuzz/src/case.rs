//! A fuzzer's bytes as a case: a format, a provider, a policy, and messages a line each.

use plimsoll::context::{self, Append, Options};
use plimsoll::format::Format;
use plimsoll::model::Violation;
use serde_json::{Value, json};

use crate::carry::validate;

/// Formats, and the providers that accept them in whatever way: others have no rules to hold.
const PAIRS: [(Format, &[&str]); 7] = [
    (Format::Anthropic, &["anthropic", "bedrock", "deepseek", "kimi"]),
    (
        Format::OpenAiChat,
        &["openai-chat", "mistral", "deepseek", "kimi", "gemini", "anthropic", "bedrock"],
    ),
    (Format::OpenAiResponses, &["openai-responses"]),
    (Format::Gemini, &["gemini"]),
    (Format::AiSdk, &PROVIDERS),
    (Format::Pi, &PROVIDERS),
    (Format::LangChain, &PROVIDERS),
];

const PROVIDERS: [&str; 8] = [
    "anthropic",
    "openai-chat",
    "openai-responses",
    "gemini",
    "bedrock",
    "mistral",
    "deepseek",
    "kimi",
];

const OVERSIZE_IMAGE: &str = "I27";

const PRESETS: [&str; 5] = ["balanced", "economy", "retention", "aceclaw", "openclaw"];

/// A history, and what it is managed under.
pub(crate) struct Case {
    pub(crate) format: Format,
    pub(crate) provider: &'static str,
    pub(crate) messages: Vec<String>,
    preset: &'static str,
    window: u32,
}

impl Case {
    /// The first four bytes choose, the lines after them are the messages. Lone surrogates have tests of their own.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let (&[format, provider, preset, window], rest) = bytes.split_first_chunk()?;
        let text = std::str::from_utf8(rest).ok()?;
        let messages: Vec<String> = text.lines().map(String::from).collect();
        let are_json = messages.iter().all(|line| serde_json::from_str::<Value>(line).is_ok());
        let (format, providers) = PAIRS[usize::from(format) % PAIRS.len()];
        are_json.then_some(Self {
            format,
            provider: providers[usize::from(provider) % providers.len()],
            preset: PRESETS[usize::from(preset) % PRESETS.len()],
            window: 40 * u32::from(window),
            messages,
        })
    }

    pub(crate) fn options(&self) -> Value {
        json!({ "provider": self.provider, "preset": self.preset, "window": { "contextTokens": self.window } })
    }
}

/// Whether a session reads every one of these messages.
pub(crate) fn accepts(case: &Case, messages: &[String]) -> bool {
    let options = json!({ "format": case.format.name(), "provider": case.provider, "window": { "contextTokens": 0 } });
    let Ok(options) = Options::parse(&options.to_string()) else { return false };
    let mut session = context::Session::new(options, case.format);
    messages.iter().all(|text| session.push(text.as_bytes()) == Ok(Append::Appended))
}

/// Rules that these messages break and a repair could have fixed: an image of the newest messages stays, and is reported (I27).
pub(crate) fn unrepaired(case: &Case, messages: &[String]) -> Vec<Violation> {
    let mut left = validate(case.format, case.provider, &json!({}), false, messages);
    left.retain(|violation| violation.rule != OVERSIZE_IMAGE);
    left
}

/// Whether an image of the newest messages is too large: it stays until a newer message follows.
pub(crate) fn has_oversize_image(case: &Case, messages: &[String]) -> bool {
    let left = validate(case.format, case.provider, &json!({}), false, messages);
    left.iter().any(|violation| violation.rule == OVERSIZE_IMAGE)
}
