//! Detection of the message format from the first messages.

use std::borrow::Cow;

use super::Format;
use super::json::{kind_of, string};
use super::openai_items::{COMPACTION, is_agents, is_item};
use crate::error::{Error, ErrorInfo, Result, listed};
use crate::json::{Content, Item, Members, RawValue, Shape, Type, optional};

/// The members by which a message shows its format.
const PROBE: Shape = Shape {
    what: "a message",
    members: &[
        optional("role", Type::Text),
        optional("content", Type::Raw),
        optional("tool_calls", Type::Raw),
        optional("tool_call_id", Type::Raw),
        optional("stopReason", Type::Raw),
        optional("parts", Type::Raw),
        optional("type", Type::Raw),
        optional("lc", Type::Raw),
        optional("lc_namespace", Type::Raw),
        optional("data", Type::Raw),
        optional("sections", Type::Raw),
        optional("toolsAdded", Type::Raw),
        optional("toolsRemoved", Type::Raw),
        optional("callId", Type::Raw),
        optional("summary", Type::Raw),
    ],
    closed: false,
};

/// What tells an image or a file of one format from another's.
const MEDIUM: Shape = Shape {
    what: "an image",
    members: &[
        optional("mimeType", Type::Raw),
        optional("image", Type::Raw),
        optional("mediaType", Type::Raw),
    ],
    closed: false,
};

/// A call as `LangChain` has it, in a list where others have `function`.
const CALL: Shape =
    Shape { what: "a call", members: &[optional("args", Type::Raw)], closed: false };

/// The types by which `LangChain`'s messages go, where they have no role.
const LANGCHAIN: [&str; 7] = ["human", "ai", "system", "tool", "function", "generic", "remove"];

/// Parts that only the AI SDK has.
const AI_SDK: [&str; 8] = [
    "tool-call",
    "tool-result",
    "tool-approval-request",
    "tool-approval-response",
    "reasoning",
    "reasoning-file",
    "image with image",
    "file with mediaType",
];

/// What a message's look says.
enum Look {
    /// This format and no other.
    Shows(Format),
    /// This format, unless another shows later: a system's message is Chat's, and may lead Responses' items; a message
    /// among those is written alike by the Agents SDK.
    Hints(Format),
    /// Plain text, which all formats write alike.
    Plain,
    /// Something that none of the formats has.
    Foreign(String),
}

pub(super) fn detect(messages: &[&[u8]]) -> Result<Format> {
    let mut foreign: Vec<String> = Vec::new();
    let mut hinted = None;
    for message in messages {
        match look(message) {
            Look::Shows(format) => return Ok(format),
            Look::Hints(format) => {
                if hinted.is_none_or(|guess| format.is_more_specific_than(guess)) {
                    hinted = Some(format);
                }
            }
            Look::Plain => {}
            Look::Foreign(saw) => {
                if let Err(at) = foreign.binary_search(&saw) {
                    foreign.insert(at, saw);
                }
            }
        }
    }
    if foreign.is_empty() {
        return Ok(hinted.unwrap_or(Format::Anthropic));
    }
    let saw: Vec<&str> = foreign.iter().map(String::as_str).collect();
    Err(Error::new(ErrorInfo::UnknownFormat { saw: listed(&saw, "") }))
}

pub(super) fn shown_by(message: &[u8]) -> Option<(Format, bool)> {
    match look(message) {
        Look::Shows(format) => Some((format, true)),
        Look::Hints(format) => Some((format, false)),
        Look::Plain | Look::Foreign(_) => None,
    }
}

impl Format {
    /// Whether a hint of it is better than the guess.
    pub fn is_more_specific_than(self, guess: Self) -> bool {
        match guess {
            Self::Anthropic => self != guess,
            Self::OpenAiChat => self == Self::OpenAiResponses,
            Self::OpenAiResponses
            | Self::OpenAiAgents
            | Self::Gemini
            | Self::AiSdk
            | Self::LangChain
            | Self::Pi => false,
        }
    }
}

fn look(message: &[u8]) -> Look {
    let probe = std::str::from_utf8(message).ok();
    let Some(probe) = probe.and_then(|text| PROBE.read(text).ok()) else {
        return Look::Foreign("no object with a role".into());
    };
    if is_plain(&probe) { Look::Plain } else { look_closer(probe) }
}

/// A text of the user's or the model's, as most first messages are.
fn is_plain(probe: &Members<'_>) -> bool {
    let is_text = probe.peek("content").is_some_and(|raw| raw.starts_with('"'));
    is_text && probe.count() == 2 && matches!(probe.str("role"), Some("user" | "assistant"))
}

#[inline(never)]
fn look_closer(mut probe: Members<'_>) -> Look {
    if let Some(look) = wire(&mut probe) {
        return look;
    }
    let role = probe.text("role").unwrap_or_default();
    let content = probe.raw("content");
    let kinds = content.map(kinds).unwrap_or_default();
    let in_parts = probe.raw("parts");
    let calls = probe.raw("tool_calls");
    let typed = probe.raw("type").is_some_and(is_langchain);
    let mut is_there = |name| probe.raw(name).is_some();
    let stopped = is_there("stopReason");
    let instance = is_there("lc") | is_there("lc_namespace");
    let has_content = is_there("data") || content.is_some();
    let called = calls.is_some() | is_there("tool_call_id");
    let declares = is_there("sections") | is_there("toolsAdded") | is_there("toolsRemoved");
    let has = |any: &[&str]| has_any(&kinds, any);
    match &*role {
        _ if instance || calls.is_some_and(has_args) => Look::Shows(Format::LangChain),
        "" if typed && has_content => Look::Shows(Format::LangChain),
        "human" | "ai" => Look::Shows(Format::LangChain),
        "toolResult" | "bashExecution" | "compactionSummary" | "branchSummary" | "custom" => {
            Look::Shows(Format::Pi)
        }
        "user" | "assistant" | "system" | "tool" if has(&AI_SDK) => Look::Shows(Format::AiSdk),
        "user" | "assistant" | "system" if in_parts.is_some_and(is_shown) => {
            Look::Shows(Format::AiSdk)
        }
        "user" | "assistant" | "system" if in_parts.is_some() => {
            Look::Foreign(format!("role \"{role}\" with `parts`"))
        }
        "system" if declares => Look::Shows(Format::Pi),
        "system" | "developer" if !called => Look::Hints(Format::OpenAiChat),
        "tool" | "function" => Look::Shows(Format::OpenAiChat),
        _ if called => Look::Shows(Format::OpenAiChat),
        "user" | "assistant" if has(&["toolCall", "image with mimeType"]) || stopped => {
            Look::Shows(Format::Pi)
        }
        "user" | "assistant" if has(&["image_url", "input_audio", "refusal"]) => {
            Look::Shows(Format::OpenAiChat)
        }
        "user" | "assistant" if kinds.iter().any(|kind| kind != "text") => {
            Look::Shows(Format::Anthropic)
        }
        "user" | "assistant" => Look::Plain,
        "" => Look::Foreign("a message without a role".into()),
        role => Look::Foreign(format!("role \"{role}\"")),
    }
}

/// Responses' items have a type of their own, or parts of input and output; Gemini's contents have parts without types.
fn wire(probe: &mut Members<'_>) -> Option<Look> {
    let kind = probe.peek("type").and_then(|raw| string(raw).ok()).unwrap_or_default();
    let content = probe.peek("content");
    let of_message = |kind: &str| {
        matches!(kind, "input_text" | "output_text" | "input_image" | "input_file" | "summary_text")
    };
    let is_there = |name| probe.peek(name).is_some_and(|raw| raw != "null");
    // The SDK has the summary of reasoning as its content.
    let of_sdk = is_there("callId")
        || (kind == "reasoning" && content.is_some() && probe.peek("summary").is_none());
    if is_agents(&kind) || (is_item(&kind) && of_sdk) {
        return Some(Look::Shows(Format::OpenAiAgents));
    }
    if is_item(&kind) {
        return Some(Look::Shows(Format::OpenAiResponses));
    }
    if COMPACTION.contains(&&*kind)
        || (kind == "message" && content.is_some_and(|raw| raw.starts_with('"')))
        || content.is_some_and(|raw| kinds(raw).iter().any(|kind| of_message(kind)))
    {
        return Some(Look::Hints(Format::OpenAiResponses));
    }
    let parts = probe.peek("parts")?;
    let Ok(Some(Content::Blocks(parts))) = crate::json::content(parts) else { return None };
    let typed = |part: &Item<'_>| kind_of(part.raw).is_some();
    let model = probe.str("role").is_some_and(|role| role == "model");
    (model || (!parts.is_empty() && !parts.iter().any(typed)))
        .then_some(Look::Shows(Format::Gemini))
}

#[inline(never)]
fn kinds(content: &RawValue) -> Vec<Cow<'_, str>> {
    match crate::json::content(content) {
        Ok(Some(Content::Blocks(blocks))) => {
            blocks.iter().filter_map(|block| kind(block.raw)).collect()
        }
        Ok(_) | Err(_) => Vec::new(),
    }
}

#[inline(never)]
fn has_any(kinds: &[Cow<'_, str>], any: &[&str]) -> bool {
    kinds.iter().any(|kind| any.contains(&&**kind))
}

fn kind(block: &str) -> Option<Cow<'_, str>> {
    let kind = kind_of(block)?;
    let has = |name| MEDIUM.read(block).is_ok_and(|mut it| it.raw(name).is_some());
    Some(match &*kind {
        "image" if has("mimeType") => Cow::Borrowed("image with mimeType"),
        "image" if has("image") => Cow::Borrowed("image with image"),
        "file" if has("mediaType") => Cow::Borrowed("file with mediaType"),
        _ => kind,
    })
}

/// Parts as the AI SDK shows them have a type each; Gemini's have none.
fn is_shown(parts: &RawValue) -> bool {
    !kinds(parts).is_empty() || parts == "[]"
}

#[inline(never)]
fn is_langchain(kind: &RawValue) -> bool {
    LANGCHAIN.iter().any(|of| kind == format!("\"{of}\""))
}

#[inline(never)]
fn has_args(calls: &RawValue) -> bool {
    let calls: Vec<&RawValue> = crate::json::items(calls).unwrap_or_default();
    let first = calls.first().and_then(|call| CALL.read(call).ok());
    first.is_some_and(|mut call| call.raw("args").is_some())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(messages: &[&str], expected: &str) {
        let bytes: Vec<&[u8]> = messages.iter().map(|message| message.as_bytes()).collect();
        let seen = match detect(&bytes) {
            Ok(format) => format.name().to_owned(),
            Err(error) => error.to_string(),
        };
        assert!(seen.contains(expected), "{seen}");
    }

    #[test]
    fn the_first_member_that_only_one_format_has_decides_the_format() {
        let plain = r#"{"role":"user","content":"hi"}"#;
        check(&[], "anthropic");
        check(&[plain], "anthropic");
        check(
            &[plain, r#"{"role":"assistant","content":[{"type":"tool_use","id":"a"}]}"#],
            "anthropic",
        );
        check(&[plain, r#"{"role":"user","content":[{"type":"image","source":{}}]}"#], "anthropic");
        check(&[r#"{"role":"system","content":"s"}"#, plain], "openai-chat");
        check(&[plain, r#"{"role":"assistant","content":null,"tool_calls":[]}"#], "openai-chat");
        check(&[r#"{"role":"user","content":[{"type":"image_url"}]}"#], "openai-chat");
        check(
            &[r#"{"role":"user","content":[{"type":"image","data":"","mimeType":"image/png"}]}"#],
            "pi",
        );
        check(&[plain, r#"{"role":"assistant","content":[],"stopReason":"stop"}"#], "pi");
        check(&[plain, r#"{"role":"toolResult","content":[]}"#], "pi");
        check(&[r#"{"role":"system","content":"","sections":{"a":"b"}}"#, plain], "pi");
        check(&[r#"{"role":"system","content":"s","toolsAdded":[]}"#, plain], "pi");
    }

    proptest! {
        #[test]
        fn what_is_plain_at_a_glance_is_plain_on_a_closer_look(
            role in "user|assistant", text in any::<String>(), other in "id|name|cache_control",
        ) {
            let message = serde_json::json!({ "role": role, "content": text, other: "x" });
            let message = message.to_string();
            let probe = PROBE.read(&message).unwrap();
            prop_assert!(is_plain(&probe));
            prop_assert!(matches!(look_closer(probe), Look::Plain));
        }
    }

    #[test]
    fn a_message_with_a_member_that_may_show_its_format_is_not_plain_at_a_glance() {
        for name in PROBE.names() {
            let mut message = serde_json::json!({ "role": "user", "content": "hi" });
            message[name] = serde_json::json!(["x"]);
            let message = message.to_string();
            assert!(!PROBE.read(&message).is_ok_and(|probe| is_plain(&probe)), "{message}");
        }
    }

    #[test]
    fn items_and_parts_show_responses_and_gemini() {
        let plain = r#"{"role":"user","content":"hi"}"#;
        let system = r#"{"role":"developer","content":"s"}"#;
        let call = r#"{"type":"function_call","call_id":"c","name":"n","arguments":"{}"}"#;
        let responses = "openai-responses";
        check(&[plain, call], responses);
        check(&[system, plain, call], responses);
        let message = r#"{"type":"message","role":"user","content":"hi"}"#;
        check(&[system, message], responses);
        check(&[system, plain], "openai-chat");
        check(&[plain, r#"{"type":"reasoning","id":"rs_1","summary":[]}"#], responses);
        check(&[r#"{"type":"message","role":"user","content":"hi"}"#], responses);
        check(&[r#"{"role":"user","content":[{"type":"input_text","text":"hi"}]}"#], responses);
        check(&[r#"{"type":"compaction","encrypted_content":"x"}"#], responses);
        let tools = r#"{"type":"additional_tools","role":"developer","tools":[]}"#;
        check(&[tools, plain], responses);
        check(&[r#"{"type":"configuration_update","text":{"format":{}}}"#, plain], responses);
        let answer = r#"{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"hi"}]}"#;
        check(&[plain, answer], "anthropic");
        check(&[r#"{"role":"model","parts":[{"text":"hi"}]}"#], "gemini");
        check(&[r#"{"role":"user","parts":[{"text":"hi"}]}"#], "gemini");
        check(&[r#"{"parts":[{"function_response":{"name":"n","response":{}}}]}"#], "gemini");
        check(&[r#"{"role":"user","parts":[{"type":"text","text":"hi"}]}"#], "ai-sdk");
    }

    #[test]
    fn items_of_the_agents_sdk_are_distinguished_from_the_apis() {
        let message = r#"{"type":"message","role":"user","content":"hi"}"#;
        let agents = "openai-agents";
        for item in [
            r#"{"type":"function_call","callId":"c","name":"n","arguments":"{}"}"#,
            r#"{"type":"function_call_result","callId":"c","output":"x"}"#,
            r#"{"type":"hosted_tool_call","name":"web_search"}"#,
            r#"{"type":"shell_call","callId":"c","action":{}}"#,
            r#"{"type":"computer_call_result","callId":"c","output":{}}"#,
            r#"{"type":"reasoning","id":"rs_1","content":[]}"#,
        ] {
            check(&[item], agents);
            check(&[message, r#"{"type":"compaction","encrypted_content":"x"}"#, item], agents);
        }
        let reasoning = r#"{"type":"reasoning","summary":[],"content":[]}"#;
        check(&[message, reasoning], "openai-responses");
        check(&[r#"{"type":"reasoning","id":"rs_1"}"#], "openai-responses");
    }

    #[test]
    fn messages_of_sdks_are_recognized_by_their_own_members() {
        let system = r#"{"role":"system","content":"s"}"#;
        let call = r#"{"role":"assistant","content":[{"type":"tool-call","toolCallId":"a"}]}"#;
        check(&[system, call], "ai-sdk");
        check(&[r#"{"role":"tool","content":[{"type":"tool-result"}]}"#], "ai-sdk");
        check(&[r#"{"role":"user","content":[{"type":"image","image":"AA"}]}"#], "ai-sdk");
        check(&[r#"{"id":"1","role":"user","parts":[{"type":"text","text":"hi"}]}"#], "ai-sdk");
        check(&[r#"{"lc":1,"type":"constructor","id":["HumanMessage"],"kwargs":{}}"#], "langchain");
        check(&[r#"{"@@toStringTag":"AIMessage","lc_namespace":[],"content":""}"#], "langchain");
        check(&[r#"{"type":"human","data":{"content":"hi"}}"#], "langchain");
        check(&[system, r#"{"type":"ai","content":"hi"}"#], "langchain");
        let calls = r#"{"role":"assistant","content":"","tool_calls":[{"id":"a","args":{}}]}"#;
        check(&[system, calls], "langchain");
    }

    #[test]
    fn an_error_names_what_no_format_has() {
        check(&["[1]"], "no object with a role");
        check(&[r#"{"type":"user"}"#], "without a role");
    }
}
