//! Histories in which every string that a model or a tool wrote ends in a character that was cut in half.

use serde_json::{Value, json};

/// What stands where half a character stood.
pub(crate) const HALF: &str = "cut \u{fffd}";

/// In Anthropic's shape, `OpenAI`'s, pi's: a request, an answer with a call, its result.
pub(crate) fn halves() -> [Value; 3] {
    let half = HALF;
    let anthropic = json!([
        { "role": "user", "content": half },
        { "role": "assistant", "content": [{ "type": "text", "text": half }, { "type": "tool_use", "id": half, "name": "n", "input": { "x": half } }] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": half, "content": half }] },
    ]);
    let openai = json!([
        { "role": "user", "content": half },
        { "role": "assistant", "content": half, "tool_calls": [{ "id": half, "type": "function", "function": { "name": "n", "arguments": half } }] },
        { "role": "tool", "tool_call_id": half, "content": half },
    ]);
    let pi = json!([
        { "role": "user", "content": half },
        { "role": "assistant", "content": [{ "type": "text", "text": half }, { "type": "toolCall", "id": half, "name": "n", "arguments": { "x": half } }] },
        { "role": "toolResult", "toolCallId": half, "toolName": "n", "content": [{ "type": "text", "text": half }], "isError": false },
    ]);
    [anthropic, openai, pi]
}

/// The messages as JSON with the half characters back in them.
pub(crate) fn broken(messages: &[Value]) -> Vec<String> {
    messages.iter().map(|it| it.to_string().replace('\u{fffd}', "\\ud83d")).collect()
}
