//! Real sessions with pieces cut out, under the rules of every provider they may go to: what a request makes of them is valid when
//! it is read again, and the same once more.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    reason = "a test reads files, says what it skips and may fail"
)]

use carry::{repair, validate};
use plimsoll::format::Format;
use serde_json::{Value, json};
use sessions::sessions;

#[path = "support/carry.rs"]
mod carry;
#[path = "support/sessions.rs"]
mod sessions;

#[track_caller]
fn check_mended(format: Format, provider: &str, messages: &[Value]) -> usize {
    let texts: Vec<String> = messages.iter().map(Value::to_string).collect();
    let nothing = json!({});
    let (mended, repairs) = repair(format, provider, &nothing, &texts);
    let again: Vec<String> = mended.iter().map(Value::to_string).collect();
    let left = validate(format, provider, &nothing, false, &again);
    assert!(left.is_empty(), "{left:?}\nafter {repairs}");
    let repairs = repairs.as_array().unwrap().len();
    if repairs == 0 {
        assert_eq!(mended, messages);
    } else {
        let (twice, repairs) = repair(format, provider, &nothing, &again);
        assert_eq!((twice, repairs), (mended, json!([])));
    }
    repairs
}

/// As it is, cut off at the start and at the end, and with every seventh message missing.
fn check_folder(folder: &str, format: Format, provider: &str) {
    let (mut fixes, mut whole) = (0, 0);
    for messages in sessions(folder) {
        whole += check_mended(format, provider, &messages);
        let third = messages.len() / 3;
        for part in [&messages[..2 * third], &messages[third + 1..], &messages[1..third]] {
            fixes += check_mended(format, provider, part);
        }
        for skipped in [1, 4] {
            let numbered = messages.iter().enumerate().filter(|(at, _)| at % 7 != skipped);
            let holed: Vec<_> = numbered.map(|(_, message)| message.clone()).collect();
            fixes += check_mended(format, provider, &holed);
        }
    }
    println!("{folder} for {provider}: {whole} repairs whole, {fixes} in pieces");
}

#[test]
fn anthropic() {
    for provider in ["anthropic", "bedrock", "mistral"] {
        check_folder("claude-code", Format::Anthropic, provider);
        check_folder("anthropic-messages", Format::Anthropic, provider);
    }
}

#[test]
fn openai_chat() {
    for provider in ["openai-chat", "bedrock", "mistral", "deepseek", "kimi"] {
        check_folder("openai-messages", Format::OpenAiChat, provider);
        check_folder("tau-openai", Format::OpenAiChat, provider);
    }
}

#[test]
fn pi() {
    for provider in ["anthropic", "openai-chat", "bedrock", "mistral"] {
        check_folder("pi", Format::Pi, provider);
    }
}

#[test]
fn half_characters_in_every_string_are_mended() {
    let half = "cut \u{fffd}";
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
    for (format, provider, messages) in [
        (Format::Anthropic, "anthropic", &anthropic),
        (Format::Anthropic, "bedrock", &anthropic),
        (Format::Anthropic, "mistral", &anthropic),
        (Format::OpenAiChat, "openai-chat", &openai),
        (Format::OpenAiChat, "mistral", &openai),
        (Format::Pi, "anthropic", &pi),
    ] {
        let messages = messages.as_array().unwrap().iter();
        let broken = messages.map(|message| message.to_string().replace('\u{fffd}', "\\ud83d"));
        let broken: Vec<String> = broken.collect();
        let (mended, repairs) = repair(format, provider, &json!({}), &broken);
        let rules: Vec<_> = repairs.as_array().unwrap().iter().map(|it| &it["rule"]).collect();
        assert!(rules.iter().filter(|rule| **rule == "I26").count() >= 4, "{rules:?}");
        let again: Vec<String> = mended.iter().map(Value::to_string).collect();
        assert_eq!(validate(format, provider, &json!({}), false, &again), []);
        assert_eq!(mended.len(), 3);
    }
}
