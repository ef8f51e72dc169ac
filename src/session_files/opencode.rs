//! opencode: an exported session, its messages in parts.
//!
//! An assistant's message may hold several steps, each a model call; a tool's part holds call and result. The summary of a
//! compaction is no message, and nothing at all if it failed. What was reverted is left out, as is what the model was never shown
//! (`ignored`).

use super::chat::Chat;
use super::content::{Part, arguments, join, parts};
use super::detect::elements;
use super::file::{CompactionRecord, SessionFile, refuse_leaf};
use super::lines::Line;
use super::path::at;
use super::raw::{Object, text};
use super::time::millis;
use super::usage::OPENCODE;
use crate::error::Error;
use crate::hash_index::ByName;
use crate::number::count;

/// Parts that are no context.
const QUIET: [&str; 6] = ["snapshot", "patch", "agent", "retry", "compaction", "subtask"];

/// Reads an export: `{info, messages: [{info, parts}]}`.
#[inline(never)]
pub(super) fn read(
    session: &Object<'_>,
    messages: &[Line<'_>],
    leaf: Option<&str>,
) -> Result<SessionFile, Error> {
    refuse_leaf(leaf, "opencode")?;
    let mut chat = Chat::new("opencode");
    let reverted = at(session, "info.revert.messageID").and_then(text);
    let (mut starts, mut tail) = (ByName::default(), None);
    let (mut gone, mut ends) = (false, false);
    for line in messages {
        let receipt = &mut chat.file.receipt;
        if let Some(fault) = &line.fault {
            receipt.fail(line.number, fault.as_str());
            continue;
        }
        let Some(role) = at(&line.fields, "info.role").and_then(text) else {
            receipt.fail(line.number, "a message without its role");
            continue;
        };
        gone |= reverted.is_some() && at(&line.fields, "info.id").and_then(text) == reverted;
        receipt.count(&role, matches!(&*role, "user" | "assistant"));
        if gone {
            receipt.dead_ends = receipt.dead_ends.saturating_add(1);
            continue;
        }
        let info = line.fields.object("info").unwrap_or_default();
        if let Some(id) = info.text("id") {
            starts.insert(0, id, chat.file.messages.len());
        }
        // Versions that write why an answer ended write it of each; a summary without it was cut off.
        ends |= info.get("finish").is_some();
        let pieces = line.fields.get("parts").map(elements).unwrap_or_default();
        match &*role {
            "user" => {
                if let Some(part) = pieces.iter().find(|it| it.fields.is("type", "compaction")) {
                    let id = part.fields.text("tail_start_id");
                    tail = id.and_then(|id| Some((count(starts.get(0, &id)?), id.into_owned())));
                }
                user(&mut chat, line.number, &pieces);
            }
            "assistant" if !info.flag("summary") => assistant(&mut chat, line, &pieces),
            // The compaction failed.
            "assistant"
                if info.get("error").is_some() || (ends && info.get("finish").is_none()) => {}
            "assistant" => fold(&mut chat, line, &pieces, tail.take()),
            _ => {}
        }
    }
    Ok(chat.finish())
}

fn user<'a>(chat: &mut Chat<'a>, number: u32, pieces: &[Line<'a>]) {
    let mut content = Vec::new();
    for piece in pieces.iter().map(|piece| &piece.fields).filter(|piece| !piece.flag("ignored")) {
        match piece.text("type").as_deref() {
            Some("text") => content.extend(piece.get("text").map(parts).unwrap_or_default()),
            Some("file") => content.extend(file(piece)),
            _ => {}
        }
    }
    if !content.is_empty() {
        chat.hear(number, "user", &join(&content));
    }
}

/// An image is one; of other files the text stands beside them, and here is the name.
fn file<'a>(piece: &Object<'a>) -> Option<Part<'a>> {
    let url = piece.get("url")?;
    if piece.text("mime").is_some_and(|mime| mime.starts_with("image/")) {
        let json = format!("{{\"type\":\"image_url\",\"image_url\":{{\"url\":{url}}}}}");
        return Some(Part::Other(json));
    }
    let name = piece.get("filename").map_or(url, |name| name);
    Some(Part::Text(name.into()))
}

fn assistant<'a>(chat: &mut Chat<'a>, line: &Line<'a>, pieces: &[Line<'a>]) {
    let number = line.number;
    let time = at(&line.fields, "info.time.created").and_then(millis);
    chat.step(number, None, time);
    chat.model = at(&line.fields, "info.modelID").and_then(text).unwrap_or_default();
    for piece in pieces.iter().map(|piece| &piece.fields) {
        match piece.text("type").as_deref().unwrap_or_default() {
            "step-start" => drop(chat.step(number, None, time)),
            "text" if !piece.flag("ignored") => {
                chat.say(number, piece.get("text").map(parts).unwrap_or_default());
            }
            "reasoning" => chat.think(number, piece.get("text").map(parts).unwrap_or_default()),
            "tool" => tool(chat, number, piece),
            "step-finish" => {
                chat.cost(piece.object("tokens").and_then(|tokens| OPENCODE.read(&tokens)));
                chat.close();
            }
            "file" => chat.say(number, file(piece).into_iter().collect()),
            kind if QUIET.contains(&kind) || kind == "text" => {}
            kind => chat.file.receipt.note(&format!("assistant/{kind}")),
        }
    }
    let tokens = at(&line.fields, "info.tokens").map(Object::of);
    chat.cost_if_none(tokens.and_then(|tokens| OPENCODE.read(&tokens)));
    chat.close();
}

fn tool<'a>(chat: &mut Chat<'a>, number: u32, piece: &Object<'a>) {
    let id_text = piece.get("callID").or_else(|| piece.get("id")).map_or("\"\"", |id| id);
    let mut id = id_text.to_owned();
    // Some models give one id to several calls of a message: each part is a call of its own.
    for again in 2_u32.. {
        if !chat.has_asked(&id) {
            break;
        }
        id = format!("{}_{again}\"", id_text.trim_end_matches('"'));
    }
    let name = piece.get("tool").map_or("\"unknown\"", |name| name);
    chat.call(number, id.clone(), name, &arguments(at(piece, "state.input|input")));
    let result = at(piece, "state.output|state.error").map(parts);
    if let Some(result) = result {
        chat.result(number, &id, &join(&result));
    }
}

/// The summary of a compaction, which may have kept the messages from the start of a tail on.
fn fold<'a>(
    chat: &mut Chat<'a>,
    line: &Line<'a>,
    pieces: &[Line<'a>],
    tail: Option<(u32, String)>,
) {
    chat.close();
    let texts = pieces.iter().filter(|piece| piece.fields.is("type", "text"));
    let texts: Vec<_> = texts.filter_map(|piece| piece.fields.text("text")).collect();
    let mut record = CompactionRecord::at(line, chat.file.len());
    if let Some(id) = at(&line.fields, "info.id").and_then(text) {
        record.id = id.into_owned();
    }
    record.summary = texts.join("\n");
    if let Some((index, id)) = tail {
        record.first_kept_index = index;
        record.first_kept_entry_id = Some(id);
    }
    let tokens = at(&line.fields, "info.tokens").map(Object::of);
    let usage = tokens.and_then(|tokens| OPENCODE.read(&tokens));
    record.tokens_before = usage.map_or(0, |usage| usage.input_tokens);
    chat.file.compactions.push(record);
}

#[cfg(test)]
mod tests {
    use super::super::testing::{json, models, open};
    use super::super::{SessionFile, read_session};

    const EXPORT: &str = r#"{"info":{"id":"ses","title":"t"},"messages":[
        {"info":{"id":"u","role":"user"},"parts":[{"type":"text","text":"hi"},{"type":"text","text":"not sent","ignored":true},
            {"type":"file","mime":"image/png","url":"data:x"},{"type":"file","mime":"text/plain","filename":"a.txt","url":"file:a"}]},
        {"info":{"id":"m","role":"assistant","modelID":"claude-x","time":{"created":1765233665292},"tokens":{"input":9,"output":1,"reasoning":0,"cache":{"read":0,"write":0}}},"parts":[
            {"type":"step-start"},{"type":"reasoning","text":"hm"},{"type":"text","text":"look"},
            {"type":"tool","callID":"a","tool":"ls","state":{"status":"completed","input":{"p":1},"output":"out","time":{"compacted":5}}},
            {"type":"tool","callID":"b","tool":"rm","state":{"status":"error","input":{},"error":"no"}},
            {"type":"step-finish","tokens":{"input":3,"output":5,"reasoning":2,"cache":{"read":90,"write":4}}},
            {"type":"step-start"},{"type":"text","text":"done"},{"type":"new-part"}]},
        {"info":{"id":"c","role":"user"},"parts":[{"type":"compaction","auto":true}]},
        {"info":{"id":"s","role":"assistant","summary":true,"tokens":{"input":70,"output":5,"cache":{"read":0,"write":0}}},"parts":[{"type":"text","text":"so far"}]},
        {"info":{"id":"v","role":"user"},"parts":[{"type":"text","text":"more"}]},7]}"#;

    #[test]
    fn steps_tools_and_compactions_are_distinguished() {
        let file = read_session(EXPORT.as_bytes(), None).expect("read");
        let json = json(&file);
        assert_eq!(
            json,
            [
                r#"{"role":"user","content":[{"type":"text","text":"hi"},{"type":"image_url","image_url":{"url":"data:x"}},{"type":"text","text":"a.txt"}]}"#,
                r#"{"role":"assistant","reasoning_content":"hm","content":"look","tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{\"p\":1}"}},{"id":"b","type":"function","function":{"name":"rm","arguments":"{}"}}]}"#,
                r#"{"role":"tool","tool_call_id":"a","content":"out"}"#,
                r#"{"role":"tool","tool_call_id":"b","content":"no"}"#,
                r#"{"role":"assistant","content":"done"}"#,
                r#"{"role":"user","content":"more"}"#,
            ]
        );
        let found: Vec<_> =
            file.calls.iter().map(|it| (it.sent, it.usage.map(|it| it.input_tokens))).collect();
        assert_eq!(found, [(1, Some(97)), (4, Some(9))]);
        assert_eq!(file.calls[0].at, Some(1_765_233_665_292));
        assert_eq!(models(&file), [("claude-x", 2)]);
        let fold = &file.compactions[0];
        assert_eq!(
            (fold.first_kept_index, &*fold.summary, &*fold.id, fold.tokens_before),
            (5, "so far", "s", 70)
        );
        let receipt = &file.receipt;
        assert_eq!((receipt.read, receipt.lines, receipt.broken[0].line), (5, 6, 6));
        assert_eq!(receipt.kinds.get("assistant/new-part"), Some(&1));
    }

    #[test]
    fn calls_of_one_message_with_the_same_id_are_all_there() {
        let again = EXPORT.replace(r#""callID":"b""#, r#""callID":"a""#);
        let file = read_session(again.as_bytes(), None).expect("read");
        let json = json(&file);
        assert!(json[1].contains(r#""id":"a","#) && json[1].contains(r#""id":"a_2","#));
        assert_eq!(
            json[2..4],
            [
                r#"{"role":"tool","tool_call_id":"a","content":"out"}"#,
                r#"{"role":"tool","tool_call_id":"a_2","content":"no"}"#
            ]
        );
    }

    #[test]
    fn what_was_reverted_is_left_out() {
        let reverted = EXPORT.replace(r#""title":"t""#, r#""revert":{"messageID":"m"}"#);
        let file = read_session(reverted.as_bytes(), None).expect("read");
        assert_eq!((file.messages.len(), file.receipt.dead_ends), (1, 4));
    }

    /// An export of four messages, a compaction with these members in its part and its summary, and a message after them.
    fn compacted(part: &str, summary: &str) -> SessionFile {
        let text = |role: &str, id: &str| {
            format!(
                r#"{{"info":{{"id":"{id}","role":"{role}","finish":"stop"}},"parts":[{{"type":"text","text":"{id}"}}]}}"#
            )
        };
        let messages = [
            text("user", "a"),
            text("assistant", "b"),
            text("user", "c"),
            text("assistant", "d"),
            format!(
                r#"{{"info":{{"id":"e","role":"user"}},"parts":[{{"type":"compaction","auto":true{part}}}]}}"#
            ),
            format!(
                r#"{{"info":{{"id":"f","role":"assistant","summary":true{summary}}},"parts":[{{"type":"text","text":"so far"}}]}}"#
            ),
            text("user", "g"),
        ];
        open(&format!(r#"{{"info":{{"id":"s"}},"messages":[{}]}}"#, messages.join(",")))
    }

    #[test]
    fn a_summary_that_failed_is_no_compaction() {
        for failed in ["", r#","error":{"name":"E"}"#, r#","finish":"error","error":{"name":"E"}"#]
        {
            let file = compacted("", failed);
            assert_eq!((file.messages.len(), file.compactions.len()), (5, 0), "{failed}");
        }
        assert_eq!(compacted("", r#","finish":"stop","error":null"#).compactions.len(), 1);
    }

    #[test]
    fn messages_from_the_start_of_the_tail_on_stay() {
        let found = |part: &str| {
            let file = compacted(part, r#","finish":"stop""#);
            let record = &file.compactions[0];
            (record.at, record.first_kept_index, record.first_kept_entry_id.clone())
        };
        assert_eq!(found(r#","tail_start_id":"c""#), (4, 2, Some("c".into())));
        assert_eq!(found(r#","tail_start_id":"nowhere""#), (4, 4, None));
        assert_eq!(found(""), (4, 4, None));
    }
}
