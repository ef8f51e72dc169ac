//! Real sessions with pieces cut out, under the rules of every provider they may go to: what a request makes of them is valid when
//! it is read again, and the same once more.

use crate::carry::{repair, validate};
use crate::halves::{broken, halves};
use crate::messages::{pieces, sessions};
use plimsoll::format::Format;
use serde_json::{Value, json};

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

/// As it is, and in pieces.
fn check_folder(folder: &str, format: Format, provider: &str) {
    let (mut fixes, mut unchanged) = (0, 0);
    for messages in sessions(folder) {
        unchanged += check_mended(format, provider, &messages);
        fixes +=
            pieces(&messages).iter().map(|it| check_mended(format, provider, it)).sum::<usize>();
    }
    println!("{folder} for {provider}: {unchanged} repairs whole, {fixes} in pieces");
}

#[test]
fn recorded_anthropic_sessions_are_repaired_for_each_provider_of_the_format() {
    for provider in ["anthropic", "bedrock", "mistral"] {
        check_folder("claude-code", Format::Anthropic, provider);
        check_folder("anthropic-messages", Format::Anthropic, provider);
    }
}

#[test]
fn recorded_openai_chat_sessions_are_repaired_for_each_provider_of_the_format() {
    for provider in ["openai-chat", "bedrock", "mistral", "deepseek", "kimi"] {
        check_folder("openai-messages", Format::OpenAiChat, provider);
        check_folder("tau-openai", Format::OpenAiChat, provider);
    }
}

#[test]
fn recorded_pi_sessions_are_repaired_for_each_provider_of_the_format() {
    for provider in ["anthropic", "openai-chat", "bedrock", "mistral"] {
        check_folder("pi", Format::Pi, provider);
    }
}

#[test]
fn half_characters_in_every_string_are_repaired() {
    let [anthropic, openai, pi] = halves();
    for (format, provider, messages) in [
        (Format::Anthropic, "anthropic", &anthropic),
        (Format::Anthropic, "bedrock", &anthropic),
        (Format::Anthropic, "mistral", &anthropic),
        (Format::OpenAiChat, "openai-chat", &openai),
        (Format::OpenAiChat, "mistral", &openai),
        (Format::Pi, "anthropic", &pi),
    ] {
        let broken = broken(messages.as_array().unwrap());
        let (mended, repairs) = repair(format, provider, &json!({}), &broken);
        let rules: Vec<_> = repairs.as_array().unwrap().iter().map(|it| &it["rule"]).collect();
        assert!(rules.iter().filter(|rule| **rule == "I26").count() >= 4, "{rules:?}");
        let again: Vec<String> = mended.iter().map(Value::to_string).collect();
        assert_eq!(validate(format, provider, &json!({}), false, &again), []);
        assert_eq!(mended.len(), 3);
    }
}
