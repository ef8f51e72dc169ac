//! Codex rollouts, as `OpenAI` chat messages.
//!
//! `response_item` lines are what went to the model and came from it; `event_msg` lines tell the same again and are used for
//! nothing but the reported usage and the window. Neighbouring items of the assistant are one message. A call that the provider
//! carried out itself (web search) has no output in the file.

use std::borrow::Cow;

use crate::json::RawValue;

use super::file::{CompactionRecord, SessionFile, SessionWindow, refuse_leaf};
use super::lines::Line;
use super::raw::{Fields, inside, is_object, items, quote};
use super::time::millis;
use super::usage;
use crate::error::Error;

const KNOWN: [&str; 5] =
    ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];
const KNOWN_ITEMS: [&str; 10] = [
    "message",
    "reasoning",
    "function_call",
    "custom_tool_call",
    "local_shell_call",
    "web_search_call",
    "tool_search_call",
    "function_call_output",
    "custom_tool_call_output",
    "tool_search_output",
];

/// Reads a rollout; it has one branch.
pub(super) fn read(lines: &[Line<'_>], leaf: Option<&str>) -> Result<SessionFile, Error> {
    refuse_leaf(leaf, "Codex")?;
    let mut reader = Reader { file: SessionFile::new("codex", "openai-chat"), open: None };
    for line in lines {
        reader.line(line);
    }
    reader.close();
    Ok(reader.file.finish())
}

/// An assistant message that is still growing.
#[derive(Default)]
struct Open<'a> {
    line: u32,
    content: Vec<Part<'a>>,
    reasoning: Vec<&'a str>,
    calls: Vec<String>,
}

struct Reader<'a> {
    file: SessionFile,
    open: Option<Open<'a>>,
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: &Line<'a>) {
        let fields = &line.fields;
        let kind = fields.text("type");
        let payload = fields.object("payload");
        let receipt = &mut self.file.receipt;
        let (Some(kind), Some(payload), None) = (kind, payload, &line.fault) else {
            let bare = if fields.has("type") {
                "a line without a payload"
            } else {
                "a line without a type"
            };
            receipt.fail(line.number, line.fault.clone().unwrap_or_else(|| bare.into()));
            return;
        };
        let part = payload.text("type").unwrap_or_default();
        let item = kind == "response_item";
        let known = if item { KNOWN_ITEMS.contains(&&*part) } else { KNOWN.contains(&&*kind) };
        let name = if part.is_empty() { kind.clone() } else { format!("{kind}/{part}").into() };
        receipt.count(&name, known);
        match &*kind {
            "response_item" => self.item(line, &part, &payload),
            "event_msg" => self.event(&payload),
            "session_meta" => self.meta(&payload),
            "compacted" => {
                self.close();
                let mut record = CompactionRecord::at(line, self.file.len());
                if let Some(window) = payload.text("window_id") {
                    record.id = window.into_owned();
                }
                record.summary = payload.text("message").unwrap_or_default().into_owned();
                record.tokens_before = self.last_input();
                self.file.compactions.push(record);
            }
            _ => {}
        }
    }

    fn meta(&mut self, meta: &Fields<'a>) {
        let base = meta.object("base_instructions").and_then(|base| base.text("text"));
        let system = base.or_else(|| meta.text("instructions")).map(Cow::into_owned);
        self.file.system = self.file.system.take().or(system);
    }

    fn event(&mut self, event: &Fields<'a>) {
        let info = event.object("info").unwrap_or_default();
        let size = "model_context_window";
        if let Some(context_tokens) = info.number(size).or_else(|| event.number(size)) {
            self.file.window = Some(SessionWindow { context_tokens, max_output_tokens: None });
        }
        let usage = info.object("last_token_usage").and_then(|it| usage::CODEX.read(&it));
        if let (Some(call), Some(usage)) = (self.file.calls.last_mut(), usage) {
            call.usage = Some(usage);
        }
    }

    fn last_input(&self) -> u64 {
        self.file.calls.last().and_then(|call| call.usage).map_or(0, |usage| usage.input_tokens)
    }

    fn item(&mut self, line: &Line<'a>, kind: &str, item: &Fields<'a>) {
        match kind {
            "message" => {
                let role = item.text("role").unwrap_or_default();
                let content = parts(item.get("content"));
                if role == "assistant" {
                    self.open(line).content.extend(content);
                } else {
                    self.close();
                    let role = quote(&role);
                    self.file.made(
                        line.number,
                        format!("{{\"role\":{role},\"content\":{}}}", join(&content)),
                    );
                }
            }
            "reasoning" => {
                let open = self.open(line);
                for name in ["summary", "content"] {
                    let texts = item.get(name).map(items).unwrap_or_default();
                    let texts =
                        texts.into_iter().filter_map(|part| inside(Fields::of(part).get("text")?));
                    open.reasoning.extend(texts);
                }
            }
            "function_call_output" | "custom_tool_call_output" | "tool_search_output" => {
                self.close();
                let id = item.get("call_id").unwrap_or("\"\"");
                let content = output(item.get("output").or_else(|| item.get("tools")));
                self.file.made(
                    line.number,
                    format!("{{\"role\":\"tool\",\"tool_call_id\":{id},\"content\":{content}}}"),
                );
            }
            _ if KNOWN_ITEMS.contains(&kind) => {
                let call = call(line, kind, item);
                self.open(line).calls.push(call);
            }
            _ => {}
        }
    }

    /// The assistant message that grows; a new one is a new model call.
    fn open(&mut self, line: &Line<'a>) -> &mut Open<'a> {
        if self.open.is_none() {
            self.file.call(line.fields.get("timestamp").and_then(millis), None);
        }
        self.open.get_or_insert_with(|| Open { line: line.number, ..Open::default() })
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let mut json = String::from("{\"role\":\"assistant\"");
        if !open.reasoning.is_empty() {
            let text = open.reasoning.join("\\n\\n");
            json.extend([",\"reasoning_content\":\"", &text, "\""]);
        }
        json.push_str(",\"content\":");
        let content = if open.content.is_empty() { "null".into() } else { join(&open.content) };
        json.push_str(&content);
        if !open.calls.is_empty() {
            json.extend([",\"tool_calls\":[", &open.calls.join(","), "]"]);
        }
        json.push('}');
        self.file.made(open.line, json);
    }
}

fn call(line: &Line<'_>, kind: &str, item: &Fields<'_>) -> String {
    let id = item.get("call_id").or_else(|| item.get("id")).filter(|raw| inside(raw).is_some());
    // What the provider carries out itself may have no id: the line's number makes one.
    let id = id.map_or_else(|| format!("\"{kind}-{}\"", line.number), |raw| raw.to_owned());
    let name = item.get("name").filter(|raw| inside(raw).is_some());
    let name = name.map_or_else(|| quote(kind), |raw| raw.to_owned());
    let arguments = match (item.get("arguments"), item.get("input"), item.get("action")) {
        (Some(raw), ..) if inside(raw).is_some() => raw.to_owned(),
        (Some(raw), ..) => quote(raw),
        (None, Some(input), _) if is_object(input) => quote(input),
        (None, Some(input), _) => quote(&format!("{{\"input\":{}}}", input)),
        (None, None, Some(action)) => quote(action),
        (None, None, None) => quote("{}"),
    };
    format!(
        "{{\"id\":{id},\"type\":\"function\",\"function\":{{\"name\":{name},\"arguments\":{arguments}}}}}"
    )
}

/// A part of a content: the JSON of a text, or of another part.
enum Part<'a> {
    Text(&'a str),
    Other(String),
}

fn parts(content: Option<&RawValue>) -> Vec<Part<'_>> {
    match content {
        Some(raw) if inside(raw).is_some() => vec![Part::Text(raw)],
        Some(raw) => items(raw).into_iter().map(part).collect(),
        None => Vec::new(),
    }
}

fn part(raw: &RawValue) -> Part<'_> {
    if inside(raw).is_some() {
        return Part::Text(raw);
    }
    let fields = if is_object(raw) { Fields::of(raw) } else { Fields::default() };
    let text = fields.get("text").filter(|text| inside(text).is_some());
    match (fields.text("type").as_deref(), text, fields.get("image_url")) {
        (Some("input_text" | "output_text" | "text"), Some(text), _) => Part::Text(text),
        (Some("input_image"), _, Some(url)) if inside(url).is_some() => {
            Part::Other(format!("{{\"type\":\"image_url\",\"image_url\":{{\"url\":{}}}}}", url))
        }
        _ => Part::Other(raw.to_owned()),
    }
}

/// One text is a string, anything else a list.
fn join(parts: &[Part<'_>]) -> String {
    match parts {
        [] => "\"\"".into(),
        [Part::Text(text)] => (*text).to_owned(),
        _ => {
            let list = parts.iter().map(|part| match part {
                Part::Text(text) => format!("{{\"type\":\"text\",\"text\":{text}}}"),
                Part::Other(json) => json.clone(),
            });
            format!("[{}]", list.collect::<Vec<_>>().join(","))
        }
    }
}

/// A result: text, parts, an object around one of both, or anything else as its JSON text.
fn output(raw: Option<&RawValue>) -> String {
    let Some(raw) = raw else { return "\"\"".into() };
    let listed = |raw: &RawValue| {
        items(raw).first().is_some_and(|part| {
            Fields::of(part).text("type").is_some_and(|kind| {
                kind.starts_with("input_") || kind.starts_with("output_") || kind == "text"
            })
        })
    };
    if inside(raw).is_some() {
        return raw.to_owned();
    }
    if listed(raw) {
        return join(&parts(Some(raw)));
    }
    let inner = if is_object(raw) { Fields::of(raw).get("content") } else { None };
    match inner {
        Some(text) if inside(text).is_some() => text.to_owned(),
        Some(list) if listed(list) => join(&parts(Some(list))),
        _ => quote(raw),
    }
}

#[cfg(test)]
mod tests {
    use super::super::lines::lines;
    use super::*;

    fn item(payload: &str) -> String {
        format!(
            r#"{{"timestamp":"1970-01-01T00:00:02Z","type":"response_item","payload":{payload}}}"#
        )
    }

    fn rollout(items: &[&str]) -> SessionFile {
        let mut text = String::from(
            r#"{"timestamp":"x","type":"session_meta","payload":{"id":"s","base_instructions":{"text":"You are"}}}"#,
        );
        for line in items {
            text.push('\n');
            text.push_str(&if line.starts_with(r#"{"type":"#) {
                item(line)
            } else {
                (*line).into()
            });
        }
        read(&lines(&text), None).expect("read")
    }

    fn json(file: &SessionFile) -> Vec<&str> {
        file.messages.iter().map(String::as_str).collect()
    }

    #[test]
    fn neighbouring_items_of_the_assistant_are_one_message() {
        let file = rollout(&[
            r#"{"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]}"#,
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:x"}]}"#,
            r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"think\ud800"},{"type":"summary_text","text":"more"}],"encrypted_content":"zz"}"#,
            r#"{"timestamp":"x","type":"event_msg","payload":{"type":"agent_message","message":"twice told"}}"#,
            r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok\u00e9"}]}"#,
            r#"{"type":"function_call","name":"ls","arguments":"{\"a\":1}","call_id":"c1"}"#,
            r#"{"type":"custom_tool_call","name":"patch","input":"*** \"x\"","call_id":"c2"}"#,
            r#"{"type":"function_call_output","call_id":"c1","output":"done"}"#,
            r#"{"type":"custom_tool_call_output","call_id":"c2","output":[{"type":"input_text","text":"fine"}]}"#,
            r#"{"timestamp":"x","type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":50,"cached_input_tokens":40,"output_tokens":3},"model_context_window":999}}}"#,
        ]);
        assert_eq!(
            json(&file),
            [
                r#"{"role":"developer","content":"rules"}"#,
                r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:x"}}]}"#,
                r#"{"role":"assistant","reasoning_content":"think\ud800\n\nmore","content":"ok\u00e9","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\":1}"}},{"id":"c2","type":"function","function":{"name":"patch","arguments":"{\"input\":\"*** \\\"x\\\"\"}"}}]}"#,
                r#"{"role":"tool","tool_call_id":"c1","content":"done"}"#,
                r#"{"role":"tool","tool_call_id":"c2","content":"fine"}"#,
            ]
        );
        assert_eq!(file.system.as_deref(), Some("You are"));
        assert_eq!(file.window.map(|window| window.context_tokens), Some(999));
        assert_eq!(file.calls.len(), 1);
        assert_eq!((file.calls[0].sent, file.calls[0].at), (2, Some(2000)));
        assert_eq!(file.calls[0].usage.map(|usage| usage.input_tokens), Some(50));
        assert_eq!(file.receipt.absent, ["tools"]);
    }

    #[test]
    fn calls_of_the_provider_get_an_id_and_objects_become_text() {
        let file = rollout(&[
            r#"{"type":"web_search_call","action":{"type":"open_page"}}"#,
            r#"{"type":"tool_search_call","call_id":"t","arguments":{"query":"q"}}"#,
            r#"{"type":"tool_search_output","call_id":"t","tools":[{"name":"x"}]}"#,
            r#"{"type":"local_shell_call","call_id":"l","action":{"command":["ls"]}}"#,
            r#"{"timestamp":"x","type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":5}}}}"#,
            r#"{"type":"function_call_output","call_id":"l","output":{"content":"a","success":true}}"#,
        ]);
        let json = json(&file);
        assert!(json[0].contains(r#""id":"web_search_call-2""#), "{}", json[0]);
        assert!(json[0].contains(r#""arguments":"{\"query\":\"q\"}""#), "{}", json[0]);
        assert_eq!(json[1], r#"{"role":"tool","tool_call_id":"t","content":"[{\"name\":\"x\"}]"}"#);
        assert!(
            json[2].contains(r#""name":"local_shell_call""#)
                && json[2].contains(r#""content":null"#)
        );
        assert_eq!(json[3], r#"{"role":"tool","tool_call_id":"l","content":"a"}"#);
        let reported: Vec<bool> = file.calls.iter().map(|call| call.usage.is_some()).collect();
        assert_eq!(reported, [false, true]);
    }

    #[test]
    fn damaged_rows_are_receipts_and_compactions_are_placed() {
        let file = rollout(&[
            r#"{"type":"message","role":"user","content":"a"}"#,
            r#"{"type":"message","role":"assistant","content":[]}"#,
            "{\"timestamp\":\"x\",\"type\":\"response_item\",\"payload\":{\0\0\0",
            r#"{"timestamp":"x","payload":{}}"#,
            r#"{"timestamp":"x","type":"compacted","payload":{"message":"so far","replacement_history":[]}}"#,
            r#"{"timestamp":"x","type":"token_usage_record","payload":{"type":"y"}}"#,
            r#"{"type":"ghost","text":"boo"}"#,
            r#"{"type":"message","role":"user","content":"b"}"#,
        ]);
        assert_eq!(file.messages.len(), 3);
        let reasons: Vec<_> =
            file.receipt.broken.iter().map(|it| (it.line, it.reason.as_str())).collect();
        assert_eq!(reasons, [(4, "NUL bytes"), (5, "a line without a type")]);
        assert_eq!(file.receipt.unknown, 2);
        let record = &file.compactions[0];
        assert_eq!((record.first_kept_index, record.summary.as_str()), (2, "so far"));
        assert_eq!(record.id, "compaction-6");
    }
}
