//! Whose file it is: a table of cheap signs, the only place that tells one writer from another.
//!
//! A file is a list of records: its lines, the elements of its list, or of a list inside its one object. The first record that
//! shows a sign decides; objects that say themselves what they are come before. Messages with a role and a content, which many
//! write, are the providers' own only where nothing else is shown.

use std::borrow::Cow;

use super::lines::Line;
use super::path::at;
use super::raw::{Object, RawValue, items};
use super::signs::Test::{self, Has, Holds, Inner, Is, Lacks, List, Starts};
use super::signs::all;
use super::unread::unread;

/// Whose records they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writer {
    /// pi or `OpenClaw`.
    Pi,
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    GeminiCli,
    /// Qwen Code.
    QwenCode,
    /// GitHub Copilot CLI.
    Copilot,
    /// Kimi CLI.
    Kimi,
    /// Claude Managed Agents.
    Managed,
    /// `OpenHands`: actions and observations.
    OpenHands,
    /// `OpenHands` SDK.
    OpenHandsSdk,
    /// opencode.
    OpenCode,
    /// Inspect.
    Inspect,
    /// SWE-agent.
    SweAgent,
    /// mini-swe-agent.
    MiniSweAgent,
    /// Who&When: agents that talk to each other.
    WhoAndWhen,
    /// Gemini: contents.
    Gemini,
    /// `LangChain`.
    LangChain,
    /// AI SDK: UI or model messages.
    AiSdk,
    /// `OpenAI` Responses: items.
    Responses,
    /// One message of a provider's API in each.
    Messages,
}

/// A writer, and what shows it.
type Sign = (Writer, &'static [Test]);

/// Signs of a record.
const RECORDS: [Sign; 36] = [
    (
        Writer::Codex,
        &[
            Is(
                "type",
                &["session_meta", "response_item", "event_msg", "turn_context", "compacted"],
            ),
            Inner("payload"),
        ],
    ),
    (Writer::Pi, &[Is("type", &["session"]), Has("cwd|version")]),
    (Writer::Pi, &[Is("type", &["message"]), Inner("message")]),
    (Writer::QwenCode, &[Has("uuid"), Has("sessionId"), Has(OF_QWEN)]),
    (Writer::QwenCode, &[Has("uuid"), Is("type", &["tool_result"])]),
    (Writer::ClaudeCode, &[Is("type", &["user", "assistant"]), Inner("message"), Lacks(OF_QWEN)]),
    (Writer::ClaudeCode, &[Has("uuid"), Has("sessionId"), Lacks(OF_QWEN)]),
    (Writer::ClaudeCode, &[Is("type", &["summary"]), Has("leafUuid")]),
    (Writer::ClaudeCode, &[Is("type", &["file-history-snapshot"]), Has("snapshot")]),
    (Writer::ClaudeCode, &[Is("type", &["queue-operation"]), Has("sessionId")]),
    (Writer::GeminiCli, &[Has("sessionId"), Has("projectHash"), Lacks("messages")]),
    (Writer::GeminiCli, &[Is("type", &["gemini"]), Has("id")]),
    (Writer::GeminiCli, &[Inner("$set"), Lacks("type")]),
    (Writer::GeminiCli, &[Has("$rewindTo"), Lacks("type")]),
    (
        Writer::Copilot,
        &[
            Is(
                "type",
                &[
                    "session.start",
                    "session.resume",
                    "system.message",
                    "user.message",
                    "assistant.message",
                    "tool.execution_complete",
                ],
            ),
            Inner("data"),
        ],
    ),
    (Writer::Kimi, &[Is("type", &["metadata"]), Has("protocol_version")]),
    (Writer::Kimi, &[Is("type", &["context.append_message"]), Inner("message")]),
    (Writer::Kimi, &[Is("type", &["context.append_loop_event"]), Inner("event")]),
    (Writer::Managed, &[Is("type", MANAGED), Lacks("data"), Has("id|content")]),
    (Writer::OpenHands, &[Has("source"), Has("action"), Inner("args")]),
    (Writer::OpenHands, &[Has("source"), Has("observation"), Has("content")]),
    (
        Writer::OpenHandsSdk,
        &[
            Has("source"),
            Is("kind", &["SystemPromptEvent", "MessageEvent", "ActionEvent", "ObservationEvent"]),
        ],
    ),
    (Writer::OpenCode, &[Is("info.role", &["user", "assistant"]), List("parts")]),
    (Writer::AiSdk, &[Is("role", &["system", "user", "assistant"]), Has("parts.0.type")]),
    (
        Writer::AiSdk,
        &[
            Is("role", &["assistant", "tool"]),
            Is(
                "content.*.type",
                &["tool-call", "tool-result", "tool-approval-request", "tool-approval-response"],
            ),
        ],
    ),
    // Roo Code puts reasoning with a summary before Anthropic's blocks.
    (
        Writer::AiSdk,
        &[
            Is("role", &["assistant"]),
            Is("content.*.type", &["reasoning"]),
            Lacks("content.0.summary"),
        ],
    ),
    (
        Writer::Gemini,
        &[Is("role", &["user", "model", "function"]), Has("parts.0"), Lacks("parts.0.type")],
    ),
    (Writer::Gemini, &[Is("role", &["model"]), List("parts")]),
    (Writer::LangChain, &[Is("type", LANGCHAIN), Has("content|data.content")]),
    (Writer::LangChain, &[Is("type", &["constructor"]), Has("lc"), Inner("kwargs")]),
    (
        Writer::Responses,
        &[Is("type", &["message"]), Is("content.*.type", &["input_text", "output_text"])],
    ),
    (
        Writer::Responses,
        &[
            Is(
                "type",
                &[
                    "function_call",
                    "function_call_output",
                    "custom_tool_call",
                    "custom_tool_call_output",
                ],
            ),
            Has("call_id"),
        ],
    ),
    (Writer::Responses, &[Is("type", &["reasoning"]), List("summary"), Lacks("ts")]),
    (
        Writer::MiniSweAgent,
        &[Is("role", &["assistant"]), Holds("content", "```mswea_bash_command")],
    ),
    (Writer::MiniSweAgent, &[Is("role", &["user"]), Starts("content", "<returncode>")]),
    (Writer::SweAgent, &[Has("role"), Has("agent"), Has("message_type|is_demo")]),
];

/// What Qwen Code writes in records that are like those of Claude Code otherwise.
const OF_QWEN: &str = "message.parts|systemPayload|usageMetadata";

const MANAGED: &[&str] = &[
    "user.message",
    "agent.message",
    "agent.tool_use",
    "agent.mcp_tool_use",
    "agent.custom_tool_use",
    "session.status_running",
    "span.model_request_start",
];

const LANGCHAIN: &[&str] =
    &["human", "ai", "HumanMessage", "AIMessage", "HumanMessageChunk", "AIMessageChunk"];

/// Signs of an object that is the whole file, and where its records are.
const WHOLES: [(Sign, &str); 8] = [
    ((Writer::GeminiCli, &[Has("sessionId"), Has("projectHash"), List("messages")]), "messages"),
    ((Writer::Inspect, &[Inner("eval"), Has("eval.task|version")]), "samples"),
    ((Writer::SweAgent, &[List("trajectory"), List("history")]), "history"),
    ((Writer::WhoAndWhen, &[List("history"), Has("mistake_agent|question_ID")]), "history"),
    ((Writer::MiniSweAgent, &[Starts("trajectory_format", "mini-swe-agent")]), "messages"),
    ((Writer::MiniSweAgent, &[Has("info.mini_version"), List("messages")]), "messages"),
    ((Writer::OpenCode, &[Inner("info"), Inner("messages.0.info")]), "messages"),
    ((Writer::Managed, &[Is("data.0.type", MANAGED)]), "data"),
];

/// Where an object that says nothing of itself has its records.
const LISTS: &str = "messages|contents|input|history|events|items|trajectory|values.messages|channel_values.messages|kwargs.messages";

/// A message that any provider may have written.
const MESSAGE: [&[Test]; 2] =
    [&[Is("role", ROLES), Has("content")], &[Is("role", ROLES), Has("tool_calls")]];
/// Another's: a message with a role that no provider has.
const FOREIGN: &[Test] = &[Is("role", &[]), Has("content|tool_calls")];
const ROLES: &[&str] = &["system", "developer", "user", "assistant", "tool", "function"];

/// Whose record it is, as far as it shows.
pub(super) fn shown(fields: &Object<'_>) -> Option<Writer> {
    RECORDS.iter().find(|(_, tests)| all(tests, fields)).map(|(writer, _)| *writer)
}

/// A message of a provider's API.
pub(super) fn is_message(fields: &Object<'_>) -> bool {
    MESSAGE.iter().any(|tests| all(tests, fields))
}

/// The role of a message that no provider has.
pub(super) fn foreign_role<'a>(fields: &Object<'a>) -> Option<Cow<'a, str>> {
    fields.text("role").filter(|_| all(FOREIGN, fields) && !is_message(fields))
}

/// Whose records they are; `None` for those of an agent that no reader knows.
pub(super) fn writer(records: &[Line<'_>]) -> Option<Writer> {
    if unread(records).is_some() {
        return None;
    }
    let intact = || records.iter().filter(|record| record.fault.is_none());
    let messages = || {
        let is_ours = intact().any(|record| is_message(&record.fields));
        let foreign = intact().find_map(|record| foreign_role(&record.fields));
        (is_ours && foreign.is_none()).then_some(Writer::Messages)
    };
    intact().find_map(|record| shown(&record.fields)).or_else(messages)
}

/// Whose file an object says it is, and the list of its records.
pub(super) fn object_writer<'a>(object: &Object<'a>) -> Option<(Writer, Vec<Line<'a>>)> {
    if let Some(((writer, _), path)) = WHOLES.iter().find(|((_, tests), _)| all(tests, object)) {
        return Some((*writer, at(object, path).map(elements).unwrap_or_default()));
    }
    // A list that nobody knows does not hide the next.
    LISTS.split('|').find_map(|path| {
        let records = elements(at(object, path)?);
        writer(&records).map(|writer| (writer, records))
    })
}

/// The elements of a list as records, numbered from 1.
pub(super) fn elements(list: &RawValue) -> Vec<Line<'_>> {
    (1_u32..).zip(items(list)).map(|(number, raw)| Line::read(number, raw)).collect()
}

/// Files that are no text, by how they begin.
const SEALED: [(&[u8], &str); 4] = [
    (
        b"PK\x03\x04",
        "a zip archive: if it is an Inspect log (.eval), convert it to .json with `inspect log convert` first",
    ),
    (b"\x1f\x8b", "gzip: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "zstd: unpack it first"),
    (b"SQLite format 3\0", "an SQLite database: export the session first"),
];

/// What a file is that no reader can read as text.
pub(super) fn sealed(bytes: &[u8]) -> Option<&'static str> {
    SEALED.iter().find(|(start, _)| bytes.starts_with(start)).map(|(_, what)| *what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(record: &str, expected: Option<Writer>) {
        let fields = Object::of(record);
        let claims = RECORDS.iter().filter(|(_, tests)| all(tests, &fields));
        let mut claims: Vec<Writer> = claims.map(|(writer, _)| *writer).collect();
        claims.dedup();
        assert_eq!(claims, Vec::from_iter(expected), "{record}");
    }

    #[test]
    fn a_record_is_claimed_by_one_writer_at_most() {
        for (record, expected) in [
            (r#"{"type":"session","version":3,"id":"a"}"#, Writer::Pi),
            (r#"{"type":"message","message":{"role":"user"}}"#, Writer::Pi),
            (r#"{"type":"user","message":{"role":"user"}}"#, Writer::ClaudeCode),
            (r#"{"type":"summary","summary":"x","leafUuid":"y"}"#, Writer::ClaudeCode),
            (
                r#"{"uuid":"a","sessionId":"s","type":"user","message":{"role":"user","parts":[]}}"#,
                Writer::QwenCode,
            ),
            (
                r#"{"uuid":"a","sessionId":"s","type":"system","subtype":"rewind","systemPayload":{}}"#,
                Writer::QwenCode,
            ),
            (r#"{"type":"event_msg","payload":{}}"#, Writer::Codex),
            (r#"{"type":"user.message","data":{"content":"x"}}"#, Writer::Copilot),
            (r#"{"type":"metadata","protocol_version":"1.4"}"#, Writer::Kimi),
            (r#"{"type":"user.message","id":"e","content":[]}"#, Writer::Managed),
            (r#"{"source":"user","action":"message","args":{"content":"x"}}"#, Writer::OpenHands),
            (r#"{"source":"agent","kind":"ActionEvent","tool_call_id":"c"}"#, Writer::OpenHandsSdk),
            (r#"{"role":"model","parts":[]}"#, Writer::Gemini),
            (r#"{"role":"user","parts":[{"text":"x"}]}"#, Writer::Gemini),
            (r#"{"id":"1","role":"user","parts":[{"type":"text","text":"x"}]}"#, Writer::AiSdk),
            (
                r#"{"role":"tool","content":[{"type":"tool-result","toolCallId":"c"}]}"#,
                Writer::AiSdk,
            ),
            (r#"{"type":"human","content":"x"}"#, Writer::LangChain),
            (r#"{"type":"ai","data":{"content":"x"}}"#, Writer::LangChain),
            (
                r#"{"lc":1,"type":"constructor","id":["HumanMessage"],"kwargs":{}}"#,
                Writer::LangChain,
            ),
            (r#"{"type":"function_call","call_id":"c","name":"n"}"#, Writer::Responses),
            (r#"{"info":{"role":"user"},"parts":[]}"#, Writer::OpenCode),
        ] {
            check(record, Some(expected));
        }
        for plain in [
            r#"{"role":"user","content":"x"}"#,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"c"}]}"#,
            r#"{"type":"session.start","data":7}"#,
            "{}",
        ] {
            check(plain, None);
        }
    }

    /// Every writer that any record of the file, or the file itself, shows.
    fn claims(text: &str) -> Vec<Writer> {
        let all_of = |records: &[Line<'_>]| -> Vec<Writer> {
            let signs = |record: &Line<'_>| {
                let shown = RECORDS.iter().filter(|(_, tests)| all(tests, &record.fields));
                shown.map(|(writer, _)| *writer).collect::<Vec<_>>()
            };
            records.iter().flat_map(signs).collect()
        };
        let mut found = match crate::json::parse(text) {
            Ok(raw) if raw.starts_with('{') => {
                let object = Object::of(raw);
                let wholes = WHOLES.iter().filter(|((_, tests), _)| all(tests, &object));
                let mut found: Vec<Writer> = wholes.map(|((writer, _), _)| *writer).collect();
                for path in LISTS.split('|') {
                    found.extend(all_of(&at(&object, path).map(elements).unwrap_or_default()));
                }
                found
            }
            Ok(raw) => all_of(&elements(raw)),
            Err(_) => all_of(&super::super::lines::lines(text)),
        };
        found.dedup();
        found
    }

    #[test]
    #[expect(
        clippy::disallowed_methods,
        clippy::print_stdout,
        reason = "a test reads files, or prints that they are absent"
    )]
    fn a_file_is_claimed_by_one_writer() {
        let shared = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/sessions");
        let Ok(folders) = std::fs::read_dir(shared) else {
            println!("skipped: ../shared is absent");
            return;
        };
        let mut plain = Vec::new();
        for folder in folders.flatten().filter(|folder| folder.path().is_dir()) {
            for file in std::fs::read_dir(folder.path()).expect("a folder").flatten() {
                let name = format!("{:?}", file.path());
                let text = std::fs::read_to_string(file.path()).expect("text");
                match claims(&text).as_slice() {
                    [] => plain.push(folder.file_name()),
                    [_] => {}
                    several => panic!("{name}: {several:?}"),
                }
            }
        }
        plain.sort();
        plain.dedup();
        // What providers take themselves shows nothing else.
        assert_eq!(plain, ["anthropic-messages", "openai-messages", "tau-openai"]);
    }

    #[test]
    fn plain_messages_are_of_a_provider_unless_a_later_one_shows_a_writer() {
        let detected = |list: &str| writer(&elements(crate::json::parse(list).expect("JSON")));
        let plain = r#"{"role":"user","content":"x"}"#;
        assert_eq!(detected(&format!("[7,{plain}]")), Some(Writer::Messages));
        let later = r#"{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool-call","toolCallId":"c"}]}"#;
        assert_eq!(detected(&format!("[{plain},{later}]")), Some(Writer::AiSdk));
        assert_eq!(detected("[{\"a\":1}]"), None);
    }

    #[test]
    fn messages_of_a_role_that_no_provider_has_have_no_writer() {
        let detected = |list: &str| writer(&elements(crate::json::parse(list).expect("JSON")));
        let plain = r#"{"role":"user","content":"x"}"#;
        for role in ["agent", "bot", "Human"] {
            let foreign = format!(r#"{{"role":"{role}","content":"x"}}"#);
            assert_eq!(detected(&format!("[{foreign}]")), None);
            assert_eq!(detected(&format!("[{plain},{foreign}]")), None, "not half of a talk");
            let lines = format!("{plain}\n{foreign}\n");
            let error = super::super::read_session(lines.as_bytes(), None).expect_err("refused");
            let error = error.to_string();
            assert!(error.contains(&format!("\"{role}\"")), "{error}");
            assert!(error.contains("session files that are known: pi / OpenClaw"), "{error}");
        }
    }
}
