//! Cache markers of ours on a message that is ready to send, and members merged into what the host has set itself.

use super::Format;
use super::json::kind_of;
use crate::json::{self, Content, Object, RawValue, Value};
use crate::model::Op;

/// What a cache marker is in blocks of content.
const BLOCK_MARK: &str = r#"{"cache_control":{"type":"ephemeral"}}"#;
/// What it is in a message of the AI SDK, for Anthropic and for Bedrock.
const SDK_MARK: &str = r#"{"providerOptions":{"anthropic":{"cacheControl":{"type":"ephemeral"}}}}"#;
const SDK_BEDROCK_MARK: &str =
    r#"{"providerOptions":{"bedrock":{"cachePoint":{"type":"default"}}}}"#;

impl Format {
    /// The operations that mark the end of a message (JSON, as it is sent) for the provider's cache; none if the format has no
    /// place for a marker, or the host has put one there.
    pub fn mark(self, message: &str, is_bedrock: bool) -> Vec<Op> {
        let mut ops = Vec::new();
        match self {
            Self::Anthropic | Self::OpenAiChat => mark_content(message, &mut ops),
            // Converse of LangChain has a block of its own as its marker.
            Self::LangChain if !is_bedrock => mark_content(message, &mut ops),
            // A `UIMessage` has parts, and is converted before it is sent.
            Self::AiSdk if member(message, "content").is_some() => {
                merge(message, if is_bedrock { SDK_BEDROCK_MARK } else { SDK_MARK }, "", &mut ops);
            }
            // pi marks what it sends itself; other providers take no markers.
            Self::AiSdk
            | Self::LangChain
            | Self::Gemini
            | Self::OpenAiResponses
            | Self::OpenAiAgents
            | Self::Pi => {}
        }
        ops
    }

    /// The member of a request that holds its messages.
    pub fn messages_member(self) -> &'static str {
        match self {
            Self::OpenAiResponses | Self::OpenAiAgents => "input",
            Self::Gemini => "contents",
            Self::Anthropic | Self::OpenAiChat | Self::AiSdk | Self::LangChain | Self::Pi => {
                "messages"
            }
        }
    }
}

/// Marks the last block of a message's content that may be marked: not reasoning, and no blank text.
fn mark_content(message: &str, ops: &mut Vec<Op>) {
    match member(message, "content").map(json::content) {
        Some(Ok(Some(Content::Text(text)))) if !text.trim().is_empty() => {
            let mut block = Value::object(&[("type", "text".into()), ("text", (&*text).into())]);
            block.set("cache_control", Value::object(&[("type", "ephemeral".into())]));
            ops.push(Op::Replace { path: "/content".into(), value: Value::array(&[block]) });
        }
        Some(Ok(Some(Content::Blocks(blocks)))) => {
            let last = blocks.iter().rposition(|block| may_be_marked(block.raw));
            if let Some((at, block)) = last.and_then(|at| Some((at, blocks.get(at)?))) {
                merge(block.raw, BLOCK_MARK, &format!("/content/{at}"), ops);
            }
        }
        _ => {}
    }
}

fn may_be_marked(block: &RawValue) -> bool {
    let kind = kind_of(block).unwrap_or_default();
    let text = member(block, "text").and_then(|text| json::string(text).ok());
    let unmarked =
        ["", "thinking", "redacted_thinking", "reasoning", "fallback", "mcp_tool_listing"];
    !unmarked.contains(&&*kind) && text.is_none_or(|text| !text.trim().is_empty())
}

/// A member of an object.
pub fn member<'a>(object: &'a RawValue, name: &str) -> Option<&'a RawValue> {
    Object::read(object).ok()?.raw(name)
}

/// Adds our members to the host's object at `path`, and our elements to its lists. What the host has set stays.
pub fn merge(host: &RawValue, ours: &RawValue, path: &str, ops: &mut Vec<Op>) {
    for (name, own) in Object::read(ours).unwrap_or_default() {
        let path = format!("{path}/{name}");
        match member(host, &name) {
            None => ops.push(Op::Add { path, value: Value::raw(own.into()) }),
            Some(known) if known.starts_with('[') => {
                let known = json::items(known).unwrap_or_default();
                for item in json::items(own).unwrap_or_default() {
                    if !known.contains(&item) {
                        let path = format!("{path}/-");
                        ops.push(Op::Add { path, value: Value::raw(item.into()) });
                    }
                }
            }
            Some(known) => merge(known, own, &path, ops),
        }
    }
}
