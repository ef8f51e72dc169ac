//! Reported usage, in the words of each agent.

use super::file::Usage;
use super::path::at;
use super::raw::{Object, is_object, unsigned};

/// How one source names its counts; each name is a path.
pub(super) struct Dialect {
    input: &'static str,
    output: &'static str,
    /// What came back beside `output`: reasoning, where it is not in it.
    beside: &'static str,
    read: &'static str,
    write: &'static str,
    /// `input` holds the cached tokens too; otherwise they stand beside it.
    inclusive: bool,
}

/// pi and `OpenClaw`: `usage`.
pub(super) const PI: Dialect = Dialect {
    input: "input",
    output: "output",
    beside: "",
    read: "cacheRead",
    write: "cacheWrite",
    inclusive: false,
};
/// The Anthropic API: `usage`.
pub(super) const ANTHROPIC: Dialect = Dialect {
    input: "input_tokens",
    output: "output_tokens",
    beside: "",
    read: "cache_read_input_tokens",
    write: "cache_creation_input_tokens",
    inclusive: false,
};
/// `OpenAI` Responses: `usage`.
pub(super) const RESPONSES: Dialect = Dialect {
    input: "input_tokens",
    output: "output_tokens",
    beside: "",
    read: "input_tokens_details.cached_tokens",
    write: "",
    inclusive: true,
};
/// Codex: `last_token_usage`.
pub(super) const CODEX: Dialect = Dialect {
    input: "input_tokens",
    output: "output_tokens",
    beside: "",
    read: "cached_input_tokens",
    write: "cache_write_input_tokens",
    inclusive: true,
};
/// Cline: `metrics`, of its older and its newer tasks; Copilot's events are like the older.
pub(super) const CLINE: Dialect = Dialect {
    input: "inputTokens|tokens.prompt",
    output: "outputTokens|tokens.completion",
    beside: "",
    read: "cacheReadTokens|tokens.cached",
    write: "cacheWriteTokens",
    inclusive: true,
};
/// `OpenAI` chat completions: `usage`; the cached share stands in `prompt_tokens_details`.
pub(super) const OPENAI: Dialect = Dialect {
    input: "prompt_tokens|promptTokens",
    output: "completion_tokens|completionTokens",
    beside: "",
    read: "cached_tokens|prompt_tokens_details.cached_tokens|prompt_cache_hit_tokens",
    write: "cache_creation_input_tokens",
    inclusive: true,
};
/// Kimi: `usage`.
pub(super) const KIMI: Dialect = Dialect {
    input: "inputOther",
    output: "output",
    beside: "",
    read: "inputCacheRead",
    write: "inputCacheCreation",
    inclusive: false,
};
/// Inspect: `usage`; what was cached stands beside the input or in it, as the provider had it.
pub(super) const INSPECT: Dialect = Dialect {
    input: "input_tokens",
    output: "output_tokens",
    beside: "",
    read: "input_tokens_cache_read",
    write: "input_tokens_cache_write",
    inclusive: true,
};
/// `LangChain`: `usage_metadata`.
pub(super) const LANGCHAIN: Dialect = Dialect {
    input: "input_tokens",
    output: "output_tokens",
    beside: "",
    read: "input_token_details.cache_read",
    write: "input_token_details.cache_creation",
    inclusive: true,
};
/// AI SDK: `usage`; a model that is wrapped tells of a total and its parts.
pub(super) const AI_SDK: Dialect = Dialect {
    input: "inputTokens.total|inputTokens|promptTokens",
    output: "outputTokens.total|outputTokens|completionTokens",
    beside: "",
    read: "cachedInputTokens|inputTokenDetails.cacheReadTokens|inputTokens.cacheRead",
    write: "inputTokenDetails.cacheWriteTokens|inputTokens.cacheWrite",
    inclusive: true,
};
/// Gemini: `usageMetadata`.
pub(super) const GEMINI: Dialect = Dialect {
    input: "promptTokenCount",
    output: "candidatesTokenCount",
    beside: "thoughtsTokenCount",
    read: "cachedContentTokenCount",
    write: "",
    inclusive: true,
};
/// Gemini CLI: `tokens`.
pub(super) const GEMINI_CLI: Dialect = Dialect {
    input: "input",
    output: "output",
    beside: "thoughts",
    read: "cached",
    write: "",
    inclusive: true,
};
/// Qwen Code: `usageMetadata`; what came back is all but the input, whether a provider counts its thoughts there or beside it.
pub(super) const QWEN_CODE: Dialect = Dialect { beside: "", ..GEMINI };
/// opencode: `tokens`.
pub(super) const OPENCODE: Dialect = Dialect {
    input: "input",
    output: "output",
    beside: "reasoning",
    read: "cache.read",
    write: "cache.write",
    inclusive: false,
};

/// Bedrock's Converse: `usage`.
pub(super) const BEDROCK: Dialect = Dialect {
    input: "inputTokens",
    output: "outputTokens",
    beside: "",
    read: "cacheReadInputTokens",
    write: "cacheWriteInputTokens",
    inclusive: false,
};
/// Ollama: members of its answer.
pub(super) const OLLAMA: Dialect = Dialect {
    input: "prompt_eval_count",
    output: "eval_count",
    beside: "",
    read: "",
    write: "",
    inclusive: true,
};

/// A member that only one dialect has; the first that is there decides. Ours stands under `inputTokens`.
const SIGNS: [(&str, &Dialect); 14] = [
    ("promptTokenCount", &GEMINI),
    ("inputOther", &KIMI),
    ("cache.read|cache.write", &OPENCODE),
    ("input_tokens_cache_read|input_tokens_cache_write", &INSPECT),
    ("input_token_details", &LANGCHAIN),
    ("cached_input_tokens", &CODEX),
    ("input_tokens_details", &RESPONSES),
    ("prompt_tokens|promptTokens", &OPENAI),
    ("cacheReadInputTokens|cacheWriteInputTokens", &BEDROCK),
    ("cachedInputTokens|inputTokenDetails|inputTokens.total", &AI_SDK),
    ("inputTokens", &CLINE),
    ("input_tokens", &ANTHROPIC),
    ("prompt_eval_count", &OLLAMA),
    ("input", &PI),
];

/// Where an answer or a message holds its usage.
const HOLDERS: &str = "usage|usageMetadata|usage_metadata|response.usage|tokens";

impl Usage {
    /// What a usage (JSON) says, known by its fields; of an answer or message the usage in it.
    pub fn shown_by(json: &str) -> Option<Self> {
        if !is_object(json) {
            return None;
        }
        let fields = Object::of(json);
        let fields = match at(&fields, HOLDERS).filter(|inner| is_object(inner)) {
            Some(inner) => Object::of(inner),
            None => fields,
        };
        let dialect = SIGNS.iter().find(|(sign, _)| at(&fields, sign).is_some());
        dialect.and_then(|(_, dialect)| dialect.read(&fields))
    }
}

impl Dialect {
    /// The counts, unless no input is reported: an aborted call has a usage of zeros.
    pub(super) fn read(&self, fields: &Object<'_>) -> Option<Usage> {
        let count = |paths| at(fields, paths).and_then(unsigned).unwrap_or(0);
        let (cache_read_tokens, cache_write_tokens) = (count(self.read), count(self.write));
        let cached = cache_read_tokens.saturating_add(cache_write_tokens);
        let input = count(self.input);
        let output_tokens = count(self.output).saturating_add(count(self.beside));
        let all = input.saturating_add(cached);
        // A count said to hold the cached tokens does not if it is smaller than them, or if the total counts them once more.
        let is_beside = cached > 0 && count("total_tokens") == all.saturating_add(output_tokens);
        let includes_cached = self.inclusive && input >= cached && !is_beside;
        let input_tokens = if includes_cached { input } else { all };
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
        let usage = dialect.read(&Object::of(json))?;
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
    fn each_agent_has_its_own_words() {
        let kimi = r#"{"inputOther":3,"output":5,"inputCacheRead":90,"inputCacheCreation":1}"#;
        assert_eq!(read(&KIMI, kimi), Some([94, 5, 90, 1]));
        let gemini = r#"{"promptTokenCount":100,"candidatesTokenCount":5,"thoughtsTokenCount":7,"cachedContentTokenCount":9}"#;
        assert_eq!(read(&GEMINI, gemini), Some([100, 12, 9, 0]));
        let opencode = r#"{"input":3,"output":5,"reasoning":2,"cache":{"read":90,"write":4}}"#;
        assert_eq!(read(&OPENCODE, opencode), Some([97, 7, 90, 4]));
        let inspect = r#"{"input_tokens":100,"output_tokens":5,"input_tokens_cache_read":64}"#;
        assert_eq!(read(&INSPECT, inspect), Some([100, 5, 64, 0]));
        let inclusive = r#"{"input_tokens":100,"output_tokens":5,"input_tokens_cache_read":64,"total_tokens":105}"#;
        assert_eq!(read(&INSPECT, inclusive), Some([100, 5, 64, 0]));
        let beside = r#"{"input_tokens":100,"output_tokens":5,"input_tokens_cache_read":64,"input_tokens_cache_write":6,"total_tokens":175}"#;
        assert_eq!(read(&INSPECT, beside), Some([170, 5, 64, 6]));
        let sdk = r#"{"inputTokens":100,"outputTokens":5,"inputTokenDetails":{"cacheReadTokens":8,"cacheWriteTokens":2}}"#;
        assert_eq!(read(&AI_SDK, sdk), Some([100, 5, 8, 2]));
    }

    #[test]
    fn usage_of_all_zeros_counts_as_not_reported() {
        assert_eq!(read(&PI, r#"{"input":0,"output":0,"cacheRead":0,"cacheWrite":0}"#), None);
    }

    #[test]
    fn every_providers_usage_is_known_by_its_fields() {
        let input = |json| Usage::shown_by(json).map(|usage| usage.input_tokens);
        for (json, wanted) in [
            (
                r#"{"inputTokens":100,"outputTokens":5,"cacheReadTokens":90,"cacheWriteTokens":5}"#,
                100,
            ),
            (
                r#"{"input_tokens":3,"cache_read_input_tokens":90,"cache_creation_input_tokens":7,"output_tokens":1}"#,
                100,
            ),
            (
                r#"{"input_tokens":100,"input_tokens_details":{"cached_tokens":90},"output_tokens":1}"#,
                100,
            ),
            (
                r#"{"prompt_tokens":100,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":90}}"#,
                100,
            ),
            (
                r#"{"prompt_tokens":100,"prompt_cache_hit_tokens":90,"prompt_cache_miss_tokens":10}"#,
                100,
            ),
            (
                r#"{"promptTokenCount":100,"cachedContentTokenCount":90,"candidatesTokenCount":1}"#,
                100,
            ),
            (
                r#"{"inputTokens":3,"cacheReadInputTokens":90,"cacheWriteInputTokens":7,"outputTokens":1}"#,
                100,
            ),
            (r#"{"inputTokens":100,"outputTokens":1,"cachedInputTokens":90}"#, 100),
            (
                r#"{"inputTokens":100,"inputTokenDetails":{"cacheReadTokens":90,"noCacheTokens":10}}"#,
                100,
            ),
            (r#"{"inputTokens":{"total":100,"noCache":3,"cacheRead":90,"cacheWrite":7}}"#, 100),
            (r#"{"promptTokens":100,"completionTokens":1}"#, 100),
            (r#"{"input":3,"output":1,"cacheRead":90,"cacheWrite":7,"totalTokens":101}"#, 100),
            (
                r#"{"input_tokens":100,"output_tokens":1,"total_tokens":101,"input_token_details":{"cache_read":90}}"#,
                100,
            ),
            (r#"{"inputOther":3,"output":1,"inputCacheRead":90,"inputCacheCreation":7}"#, 100),
            (r#"{"model":"llama","prompt_eval_count":100,"eval_count":1}"#, 100),
            (r#"{"id":"msg","usage":{"input_tokens":100,"output_tokens":1}}"#, 100),
            (r#"{"usageMetadata":{"promptTokenCount":100}}"#, 100),
        ] {
            assert_eq!(input(json), Some(wanted), "{json}");
        }
        for json in [
            "null",
            "7",
            "[]",
            "{}",
            r#"{"usage":null}"#,
            r#"{"tokens":7}"#,
            r#"{"input_tokens":0}"#,
            "{",
        ] {
            assert_eq!(input(json), None, "{json}");
        }
    }
}
