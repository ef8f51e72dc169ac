//! Whether a provider's error says that the request was too large for its window: phrases of every provider, and what is none.

use crate::json::{self, Reader, Shape, Type, optional};

/// G25: what providers say, in lower case.
const PHRASES: [&str; 27] = [
    "prompt is too long",
    "prompt too long",
    "context_length_exceeded",
    "context length exceeded",
    "maximum context length",
    "exceeds the context window",
    "exceeds context window",
    "exceeds model context window",
    "exceeds the model's context window",
    "request_too_large",
    "request exceeds the maximum size",
    "context overflow",
    "exceeded model token limit",
    "context size has been exceeded",
    "exceeds the available context size",
    "greater than the context length",
    "input is too long for requested model",
    "maximum prompt length is",
    "reduce the length of the messages",
    "context window exceeds limit",
    "model_context_window_exceeded",
    "too many tokens",
    "token limit exceeded",
    "exceeds maximum context",
    "string_above_max_length",
    "context window is full",
    // The name of LangChain's and of opencode's own error.
    "contextoverflowerror",
];

/// Two phrases that say it together, the second after the first.
const PAIRS: [(&str, &str); 5] = [
    ("input token count", "exceeds the maximum"),
    ("too large for model with", "maximum context length"),
    ("request size exceeds", "context"),
    ("input length", "exceed context limit"),
    ("prompt token", "exceeds the limit of"),
];

/// Another limit, though the words are alike: of requests or tokens in a time, of a plan.
const OTHERS: [&str; 14] = [
    "rate limit",
    "rate_limit",
    "ratelimit",
    "too many requests",
    "tokens per minute",
    "tokens per day",
    "requests per minute",
    "throttl",
    "quota",
    "billing",
    "credit balance",
    "overloaded",
    "per-minute",
    "please wait before",
];

/// Where errors keep what they say. What was sent stands beside it and is passed over.
const ERROR: Shape = Shape {
    what: "an error",
    members: &[
        optional("message", Type::Raw),
        optional("error", Type::Raw),
        optional("code", Type::Raw),
        optional("type", Type::Raw),
        optional("status", Type::Raw),
        optional("statusCode", Type::Raw),
        optional("statusText", Type::Raw),
        optional("body", Type::Raw),
        optional("responseBody", Type::Raw),
        optional("data", Type::Raw),
        optional("detail", Type::Raw),
        optional("details", Type::Raw),
        optional("reason", Type::Raw),
        optional("response", Type::Raw),
        optional("cause", Type::Raw),
        optional("lastError", Type::Raw),
        optional("errors", Type::Raw),
        optional("name", Type::Raw),
    ],
    closed: false,
};
const MEMBERS: [&str; 13] = [
    "message",
    "error",
    "code",
    "type",
    "statusText",
    "body",
    "responseBody",
    "data",
    "detail",
    "details",
    "reason",
    "name",
    "response",
];
/// An error that is wrapped in so many others is looked into.
const MOST_LEVELS: u8 = 8;

/// What an error says, and its status.
#[derive(Default)]
struct ErrorFields {
    text: String,
    status: Option<i64>,
}

/// True for an error, as JSON, that says that the context was too long; false for rate limits and everything else (F114).
///
/// # Example
/// ```
/// use plimsoll::compact::is_context_overflow;
/// assert!(is_context_overflow(r#"{"status":400,"message":"prompt is too long: 250000 tokens > 200000 maximum"}"#));
/// assert!(!is_context_overflow(r#"{"status":429,"message":"Rate limit reached: too many tokens per minute"}"#));
/// ```
pub fn is_context_overflow(json: &str) -> bool {
    let (text, status) = text_and_status(json);
    is_overflow(&text, status)
}

/// The same of a message and its status.
pub(super) fn is_overflow(message: &str, status: Option<i64>) -> bool {
    is_overflow_text(&message.to_ascii_lowercase(), status)
}

/// What an error (JSON) says, and its status.
pub(super) fn text_and_status(json: &str) -> (String, Option<i64>) {
    let mut fields = ErrorFields::default();
    fields.take(json, 0);
    (fields.text, fields.status)
}

fn is_overflow_text(text: &str, status: Option<i64>) -> bool {
    if status == Some(429) || OTHERS.iter().any(|other| text.contains(other)) {
        return false;
    }
    let bare = text.contains("(no body)") && matches!(status, Some(400 | 413));
    let large = status == Some(413) && text.contains("too large");
    bare || large
        || text.contains("too large") && (text.starts_with("413") || text.contains(" 413 "))
        || PHRASES.iter().any(|phrase| text.contains(phrase))
        || PAIRS.iter().any(|(first, second)| {
            text.find(first).and_then(|at| text.get(at..)).is_some_and(|rest| rest.contains(second))
        })
        || exceeds_the_limit(text)
}

/// `exceeds the limit of 131072`: with a number of tokens after it, not of bytes, files or requests.
fn exceeds_the_limit(text: &str) -> bool {
    const WORDS: &str = "exceeds the limit of ";
    let counts_tokens = text.contains("token");
    text.split(WORDS).skip(1).any(|after| {
        let digits = after
            .trim_start_matches(|sign: char| sign.is_ascii_digit() || sign == ',' || sign == '.');
        let unit = digits.trim_start();
        digits.len() < after.len()
            && (unit.starts_with("token") || counts_tokens || unit.is_empty())
    })
}

impl ErrorFields {
    fn take(&mut self, json: &str, level: u8) {
        let mut reader = Reader::new(json);
        match reader.peek() {
            Some(b'"') => {
                if let Ok(text) = json::string(json) {
                    self.text.push_str(&text);
                    self.text.push('\n');
                }
            }
            Some(b'{') if level < MOST_LEVELS => {
                let Ok(mut members) = ERROR.read(json) else { return };
                for name in ["status", "statusCode", "code"] {
                    let number =
                        members.peek(name).and_then(|raw| raw.trim_matches('"').parse().ok());
                    self.status = self.status.or(number);
                }
                for name in MEMBERS.iter().chain(&["cause", "lastError", "errors"]) {
                    if let Some(raw) = members.raw(name) {
                        self.take(raw, level.saturating_add(1));
                    }
                }
            }
            Some(b'[') if level < MOST_LEVELS => {
                for item in json::items(json).unwrap_or_default() {
                    self.take(item, level.saturating_add(1));
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// F114, G25: each phrase as its provider says it.
    /// Row F114.
    #[test]
    fn each_providers_phrase_is_an_overflow() {
        for message in [
            "prompt is too long: 213462 tokens > 200000 maximum",
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens",
            "error code: context_length_exceeded",
            "Your input exceeds the context window of this model",
            "request_too_large",
            "Request exceeds the maximum size",
            "Context overflow: prompt too large for the model",
            "Invalid request: Your request exceeded model token limit: 262144",
            "context size has been exceeded",
            "the request exceeds the available context size, try increasing it",
            "tokens to keep from the initial prompt is greater than the context length",
            "ValidationException: Input is too long for requested model.",
            "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)",
            "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
            "Please reduce the length of the messages or completion",
            "prompt token count of 150000 exceeds the limit of 128000",
            "The input exceeds the limit of 131,072.",
            "invalid params, context window exceeds limit (2013)",
            "Prompt contains 40000 tokens ... too large for model with 32768 maximum context length",
            "model_context_window_exceeded",
            "too many tokens",
            "token limit exceeded",
            "413 Request Entity Too Large",
            "413 {\"error\":{\"type\":\"request_too_large\"}}",
            "Request size exceeds model context",
            "context length exceeded",
            "The prompt exceeds model context window",
            "the request exceeds context window",
            "Prompt too long; exceeded max context length",
            "The input exceeds the model's context window",
            "input exceeds maximum context size",
            "string_above_max_length",
            "the context window is full",
            "ContextOverflowError: Input exceeded the model's context window.",
            "input length and `max_tokens` exceed context limit: 197202 + 21333 > 200000",
        ] {
            let json = json::write(&message);
            assert!(is_context_overflow(&json), "{message}");
            assert!(
                is_context_overflow(&format!(r#"{{"message":{json},"status":400}}"#)),
                "{message}"
            );
            assert!(
                !is_context_overflow(&format!(r#"{{"message":{json},"status":429}}"#)),
                "429: {message}"
            );
        }
    }

    /// Row F114.
    #[test]
    fn other_errors_are_no_overflow() {
        for message in [
            "Rate limit reached for gpt-4 on tokens per min: too many tokens per minute",
            "ThrottlingException: Too many tokens, please wait before trying again.",
            "429 Too Many Requests",
            "insufficient_quota: maximum context length",
            "fetch failed",
            "invalid x-api-key",
            "file exceeds the limit of 20 MB",
            "file exceeds the limit of 1.5 MB",
            "the image of 141312 bytes is too large",
            "max_tokens is too large: 100000",
            "overloaded_error",
            "",
        ] {
            assert!(!is_context_overflow(&json::write(&message)), "{message}");
        }
        for json in [
            "null",
            "42",
            "{}",
            "[]",
            "not json",
            "{\"message\":",
            r#"{"message":null,"status":"x"}"#,
        ] {
            assert!(!is_context_overflow(json), "{json}");
        }
    }

    /// Row F114.
    #[test]
    fn a_4xx_status_without_a_body_is_an_overflow() {
        assert!(is_context_overflow(r#"{"status":413,"message":"Payload Too Large"}"#));
        assert!(is_context_overflow(r#"{"statusCode":400,"message":"400 (no body)"}"#));
        assert!(is_context_overflow(r#"{"status":413,"message":"413 status code (no body)"}"#));
        assert!(!is_context_overflow(r#"{"status":500,"message":"(no body)"}"#));
    }

    /// Row F114.
    #[test]
    fn an_error_inside_others_but_not_what_was_sent() {
        assert!(is_context_overflow(
            r#"{"message":"x","cause":{"error":{"code":"context_length_exceeded"}}}"#
        ));
        assert!(is_context_overflow(
            r#"{"errors":[{"responseBody":"{\"message\":\"prompt is too long\"}"}]}"#
        ));
        assert!(!is_context_overflow(
            r#"{"message":"x","requestBodyValues":{"message":"prompt is too long"}}"#
        ));
        let deep = format!("{}{}", "{\"cause\":".repeat(200_000), "1");
        assert!(!is_context_overflow(&deep));
    }
}
