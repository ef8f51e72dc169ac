//! Lists of messages in a format of their own, handed over byte for byte: Gemini contents, `LangChain` messages, AI SDK UI or
//! model messages, items of `OpenAI` Responses.
//!
//! `LangChain` dumps its messages in three forms. Plain dicts (`{type: "human" | "ai" | "system" | "tool", content, tool_calls,
//! tool_call_id, ..}`) stay as they are; stored ones (`{type, data}`) and serialised ones (`{lc, type: "constructor", id, kwargs}`)
//! become such dicts, their members unchanged.

use std::borrow::Cow;

use super::file::{SessionFile, refuse_leaf};
use super::lines::Line;
use super::messages::plain;
use super::path::at;
use super::raw::{Object, items, quote, text};
use super::time::millis;
use super::usage::{self, Dialect};
use crate::error::Error;

/// One format's members.
pub(super) struct Form {
    name: &'static str,
    /// The name of its format.
    pub(super) messages: &'static str,
    /// What kind of message it is.
    kind: &'static str,
    /// All kinds that are known, and after them those that the model writes.
    kinds: &'static [&'static str],
    answers: &'static [&'static str],
    time: &'static str,
    usage: &'static [(&'static str, &'static Dialect)],
    /// Beside the list.
    system: &'static str,
    /// Neighbours of the model are of one call.
    items: bool,
}

/// Who a message is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// The model.
    Models,
    /// Anyone else.
    Others,
    /// Its kind is not known.
    Unknown,
}

/// Contents of Gemini.
pub(super) const CONTENTS: Form = Form {
    name: "gemini-contents",
    messages: "gemini",
    kind: "role",
    kinds: &["user", "model", "function", "tool"],
    answers: &["model"],
    time: "timestamp",
    usage: &[("usageMetadata", &usage::GEMINI)],
    system: "systemInstruction|system_instruction|config.systemInstruction",
    items: false,
};

/// Messages of `LangChain`.
pub(super) const LANGCHAIN: Form = Form {
    name: "langchain",
    messages: "langchain",
    kind: "type",
    kinds: &["human", "ai", "system", "tool", "function", "chat", "remove", "developer"],
    answers: &["ai"],
    time: "response_metadata.created_at",
    usage: &[
        ("usage_metadata", &usage::LANGCHAIN),
        ("response_metadata.token_usage|response_metadata.tokenUsage", &usage::OPENAI),
        ("response_metadata.usage", &usage::ANTHROPIC),
    ],
    system: "",
    items: false,
};

/// UI or model messages of the AI SDK.
pub(super) const AI_SDK: Form = Form {
    name: "ai-sdk",
    messages: "ai-sdk",
    kind: "role",
    kinds: &["system", "user", "assistant", "tool", "data"],
    answers: &["assistant"],
    time: "createdAt|metadata.createdAt",
    usage: &[("usage|metadata.usage|metadata.totalUsage", &usage::AI_SDK)],
    system: "system|instructions",
    items: false,
};

/// Items of `OpenAI` Responses.
pub(super) const RESPONSES: Form = Form {
    name: "openai-responses",
    messages: "openai-responses",
    kind: "type|role",
    kinds: &[
        "message",
        "user",
        "system",
        "developer",
        "function_call_output",
        "custom_tool_call_output",
        "local_shell_call_output",
        "shell_call_output",
        "apply_patch_call_output",
        "computer_call_output",
        "tool_search_output",
        "mcp_approval_response",
        "item_reference",
        "compaction",
        "compaction_summary",
        "context_compaction",
        "compaction_trigger",
    ],
    answers: &[
        "assistant",
        "reasoning",
        "function_call",
        "custom_tool_call",
        "local_shell_call",
        "shell_call",
        "apply_patch_call",
        "computer_call",
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "tool_search_call",
        "mcp_call",
        "mcp_list_tools",
        "mcp_approval_request",
    ],
    time: "timestamp|created_at",
    usage: &[("usage", &usage::RESPONSES)],
    system: "instructions",
    items: true,
};

/// Reads a list in one of the formats, and what stands beside it.
#[inline(never)]
pub(super) fn read(
    form: &Form,
    beside: &Object<'_>,
    list: &[Line<'_>],
    leaf: Option<&str>,
) -> Result<SessionFile, Error> {
    refuse_leaf(leaf, form.name)?;
    let mut file = SessionFile::new(form.name, form.messages);
    let mut answering = false;
    for line in list {
        answering = form.take(line, answering, &mut file);
    }
    file.system = at(beside, form.system).map(plain).filter(|system| !system.is_empty());
    file.take_tools(beside.get("tools"));
    Ok(file.finish())
}

impl Form {
    /// Takes in a message; true: it is of the model, and so may the next be, of the same call.
    fn take(&self, line: &Line<'_>, answering: bool, file: &mut SessionFile) -> bool {
        if let Some(fault) = &line.fault {
            file.receipt.fail(line.number, fault.as_str());
            return false;
        }
        let made = unwrapped(&line.fields);
        let fields = made.as_deref().map_or_else(|| line.fields.clone(), Object::of);
        let Some((kind, whose)) = self.weigh(&fields) else {
            file.receipt.fail(line.number, format!("a message without {}", self.kind));
            return false;
        };
        file.receipt.count(&kind, whose != Whose::Unknown);
        // An unknown item may be what a known one refers to: it stays.
        if whose == Whose::Unknown && !self.items {
            return false;
        }
        let answer = whose == Whose::Models;
        if answer && !(self.items && answering) {
            let counts =
                |(path, dialect): &(&str, &Dialect)| dialect.read(&Object::of(at(&fields, path)?));
            let usage = self.usage.iter().find_map(counts);
            file.call(at(&fields, self.time).and_then(millis), usage);
        }
        match made {
            Some(json) => file.made(line.number, json),
            None => file.messages.extend(line.raw()),
        }
        answer
    }

    /// What kind of message it is, and whose.
    pub(super) fn weigh<'a>(&self, fields: &Object<'a>) -> Option<(Cow<'a, str>, Whose)> {
        let kind = at(fields, self.kind).and_then(text)?;
        // LangChain names its pieces after the class, as it does whole messages in older dumps.
        let kind = plain_type(&kind).map_or(kind, Cow::Borrowed);
        let by_role = self.items && kind == "message" && fields.is("role", "assistant");
        let whose = if by_role || self.answers.contains(&&*kind) {
            Whose::Models
        } else if self.kinds.contains(&&*kind) {
            Whose::Others
        } else {
            Whose::Unknown
        };
        Some((kind, whose))
    }
}

/// The plain form of a stored or serialised message of `LangChain`.
fn unwrapped(fields: &Object<'_>) -> Option<String> {
    let (kind, members) = match (fields.object("data"), fields.object("kwargs")) {
        (Some(data), _) if !fields.has("content") => (fields.text("type")?, data),
        (_, Some(kwargs)) if fields.is("type", "constructor") => {
            let class = fields.get("id").map(items).and_then(|id| text(id.last()?))?;
            (class, kwargs)
        }
        _ => return None,
    };
    let kind = plain_type(&kind).unwrap_or(&kind);
    let mut json = format!("{{\"type\":{}", quote(kind));
    for (name, raw) in members.iter().filter(|(name, _)| *name != "type") {
        json.extend([",\"", name, "\":", raw]);
    }
    json.push('}');
    Some(json)
}

/// The type that a class stands for.
fn plain_type(class: &str) -> Option<&'static str> {
    let class = class.strip_suffix("Chunk").unwrap_or(class);
    let known = [
        ("HumanMessage", "human"),
        ("AIMessage", "ai"),
        ("SystemMessage", "system"),
        ("ToolMessage", "tool"),
        ("FunctionMessage", "function"),
        ("ChatMessage", "chat"),
        ("RemoveMessage", "remove"),
    ];
    known.iter().find(|(name, _)| *name == class).map(|(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{json, open};

    #[test]
    fn contents_of_gemini_stay_as_they_are() {
        let file = open(
            r#"{"systemInstruction":{"parts":[{"text":"rules"}]},"tools":[{"functionDeclarations":[]}],"contents":[{"role":"user","parts":[{ "text":"hi\ud800" }]},
            {"role":"model","parts":[{"functionCall":{"name":"f","args":{"n":1.0}},"thoughtSignature":"x"}]},{"role":"odd","parts":[]},5]}"#,
        );
        assert_eq!((file.format, file.message_format), ("gemini-contents", "gemini"));
        assert_eq!(json(&file)[0], r#"{"role":"user","parts":[{ "text":"hi\ud800" }]}"#);
        assert!(json(&file)[1].contains("\"n\":1.0"));
        assert_eq!((file.calls.len(), file.calls[0].sent), (1, 1));
        assert_eq!(
            (file.system.as_deref(), file.receipt.absent.as_slice()),
            (Some("rules"), &["window"][..])
        );
        assert_eq!((file.receipt.read, file.receipt.unknown, file.receipt.broken.len()), (2, 1, 1));
    }

    #[test]
    fn what_is_nested_too_deeply_costs_its_message_or_definition_only() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        let file = open(&format!(
            r#"{{"tools":[{{"a":{deep}}},{{"b":"\ud800"}},{{"c":1}}],"contents":[{{"role":"user","parts":[{{"text":"hi"}}]}},{{"role":"user","parts":[{{"functionResponse":{deep}}}]}}],"x":{deep}}}"#
        ));
        assert_eq!((file.messages.len(), file.receipt.broken[0].line), (1, 2));
        assert_eq!(file.tools, Some(vec![r#"{"c":1}"#.to_owned()]));
    }

    #[test]
    fn the_three_forms_of_langchain_become_one() {
        let plain = r#"{"content": "a", "type":"human"}"#;
        let ai = r#""content":"","tool_calls":[{"name":"f","args":{},"id":"c"}],"usage_metadata":{"input_tokens":9,"output_tokens":1,"input_token_details":{"cache_read":4}}"#;
        let text = format!(
            r#"{{"values":{{"messages":[{plain},{{"type":"ai","data":{{"type":"ai",{ai}}}}},
            {{"lc":1,"type":"constructor","id":["langchain_core","messages","ToolMessage"],"kwargs":{{"content":"r","tool_call_id":"c"}}}},
            {{"type":"AIMessageChunk","content":"x"}},{{"lc":1,"type":"not_implemented","id":[]}}]}}}}"#
        );
        let file = open(&text);
        let ai = format!("{{\"type\":\"ai\",{ai}}}");
        assert_eq!(
            json(&file),
            [
                plain,
                ai.as_str(),
                r#"{"type":"tool","content":"r","tool_call_id":"c"}"#,
                r#"{"type":"AIMessageChunk","content":"x"}"#
            ]
        );
        assert_eq!((file.format, file.calls.len(), file.receipt.unknown), ("langchain", 2, 1));
        assert_eq!(
            file.calls[0].usage.map(|it| (it.input_tokens, it.cache_read_tokens)),
            Some((9, 4))
        );
    }

    #[test]
    fn messages_of_the_ai_sdk_stay_as_they_are() {
        let ui = open(
            r#"[{"id":"1","role":"user","parts":[{"type":"text","text":"hi"}]},{"id":"2","role":"assistant","metadata":{"createdAt":2500,"usage":{"inputTokens":8,"outputTokens":2,"cachedInputTokens":3}},
            "parts":[{"type":"step-start"},{"type":"tool-ls","toolCallId":"c","state":"output-available","input":{},"output":"a"}]}]"#,
        );
        assert_eq!((ui.format, ui.message_format, ui.messages.len()), ("ai-sdk", "ai-sdk", 2));
        assert_eq!(
            ui.calls[0].usage.map(|it| (it.input_tokens, it.cache_read_tokens)),
            Some((8, 3))
        );
        let model = open(
            "{\"role\":\"user\",\"content\":\"hi\"}\n{\"role\":\"assistant\",\"content\":[{\"type\":\"tool-call\",\"toolCallId\":\"c\",\"toolName\":\"f\",\"input\":{}}]}",
        );
        assert_eq!((model.format, model.calls.len(), model.calls[0].sent), ("ai-sdk", 1, 1));
    }

    #[test]
    fn neighbouring_items_of_the_model_are_one_call() {
        let file = open(
            r#"{"instructions":"rules","input":[{"role":"user","content":"hi"},{"type":"reasoning","summary":[]},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},
            {"type":"function_call_output","call_id":"c","output":"r"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]},{"type":"new_item"}]}"#,
        );
        assert_eq!((file.format, file.message_format), ("openai-responses", "openai-responses"));
        let sent: Vec<u32> = file.calls.iter().map(|call| call.sent).collect();
        assert_eq!((sent, file.messages.len(), file.receipt.unknown), (vec![1, 4], 6, 1));
        assert_eq!(file.system.as_deref(), Some("rules"));
    }
}
