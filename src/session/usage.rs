//! Reported usage, in the words of each agent.

use super::file::Usage;
use super::raw::Fields;

/// How one source names its counts.
pub(super) struct Dialect {
    input: &'static str,
    output: &'static str,
    read: &'static str,
    write: &'static str,
    /// `input` holds the cached tokens too; otherwise they stand beside it.
    inclusive: bool,
}

/// pi and `OpenClaw`: `usage`.
pub(super) const PI: Dialect = Dialect {
    input: "input",
    output: "output",
    read: "cacheRead",
    write: "cacheWrite",
    inclusive: false,
};
/// The Anthropic API: `usage`.
pub(super) const ANTHROPIC: Dialect = Dialect {
    input: "input_tokens",
    output: "output_tokens",
    read: "cache_read_input_tokens",
    write: "cache_creation_input_tokens",
    inclusive: false,
};
/// Codex: `last_token_usage`.
pub(super) const CODEX: Dialect = Dialect {
    input: "input_tokens",
    output: "output_tokens",
    read: "cached_input_tokens",
    write: "cache_write_input_tokens",
    inclusive: true,
};
/// Cline: `metrics`.
pub(super) const CLINE: Dialect = Dialect {
    input: "inputTokens",
    output: "outputTokens",
    read: "cacheReadTokens",
    write: "cacheWriteTokens",
    inclusive: true,
};
/// `OpenAI` chat completions: `usage`; the cached share stands in `prompt_tokens_details`.
pub(super) const OPENAI: Dialect = Dialect {
    input: "prompt_tokens",
    output: "completion_tokens",
    read: "cached_tokens",
    write: "cache_creation_input_tokens",
    inclusive: true,
};

impl Dialect {
    /// The counts, unless no input is reported: an aborted call has a usage of zeros.
    pub(super) fn read(&self, fields: &Fields<'_>) -> Option<Usage> {
        let count = |name| fields.number(name).unwrap_or(0);
        let nested = || fields.object("prompt_tokens_details")?.number(self.read);
        let cache_read_tokens = fields.number(self.read).or_else(nested).unwrap_or(0);
        let cache_write_tokens = count(self.write);
        let cached = cache_read_tokens.saturating_add(cache_write_tokens);
        let input = count(self.input);
        // A count said to hold the cached tokens and smaller than them does not.
        let held = self.inclusive && input >= cached;
        let input_tokens = if held { input } else { input.saturating_add(cached) };
        let output_tokens = count(self.output);
        (input_tokens > 0).then_some(Usage {
            input_tokens,
            output_tokens,
            cache_read_tokens,
            cache_write_tokens,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(dialect: &Dialect, json: &str) -> Option<[u64; 4]> {
        let usage = dialect.read(&Fields::read(json).0)?;
        Some([
            usage.input_tokens,
            usage.output_tokens,
            usage.cache_read_tokens,
            usage.cache_write_tokens,
        ])
    }

    #[test]
    fn input_is_all_that_was_sent() {
        let pi = r#"{"input":3,"output":5,"cacheRead":100,"cacheWrite":20}"#;
        assert_eq!(read(&PI, pi), Some([123, 5, 100, 20]));
        let anthropic = r#"{"input_tokens":3,"output_tokens":5,"cache_read_input_tokens":null,"cache_creation_input_tokens":7}"#;
        assert_eq!(read(&ANTHROPIC, anthropic), Some([10, 5, 0, 7]));
        let codex = r#"{"input_tokens":100,"cached_input_tokens":90,"output_tokens":5}"#;
        assert_eq!(read(&CODEX, codex), Some([100, 5, 90, 0]));
        let cline =
            r#"{"inputTokens":100,"outputTokens":5,"cacheReadTokens":90,"cacheWriteTokens":5}"#;
        assert_eq!(read(&CLINE, cline), Some([100, 5, 90, 5]));
        let beside =
            r#"{"inputTokens":3,"outputTokens":5,"cacheReadTokens":90,"cacheWriteTokens":5}"#;
        assert_eq!(read(&CLINE, beside), Some([98, 5, 90, 5]));
        let openai = r#"{"prompt_tokens":100,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":64}}"#;
        assert_eq!(read(&OPENAI, openai), Some([100, 5, 64, 0]));
    }

    #[test]
    fn zeros_are_no_report() {
        assert_eq!(read(&PI, r#"{"input":0,"output":0,"cacheRead":0,"cacheWrite":0}"#), None);
    }
}
