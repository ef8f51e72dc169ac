//! Messages as providers take them: Anthropic and `OpenAI` chat arrays, bare or in a request, and runs of tau-bench.
//!
//! The messages are untouched, but for replies of Anthropic that were written block by block. Whose they are is told by what stands in them: typed blocks of calls and results and a
//! `system` beside the messages are Anthropic's; roles `tool`, `system`, `developer` and `tool_calls` are `OpenAI`'s. Plain text
//! alone is read as `OpenAI`'s, where strings are at home.

use std::borrow::Cow;

use super::blocks::{message, pieces};
use super::detect::{elements, is_message};
use super::file::{SessionFile, SessionWindow, Usage, refuse_leaf};
use super::lines::Line;
use super::path::at;
use super::raw::{Object, RawValue, inside, is_object, items, text};
use super::time::millis;
use super::usage::CLINE;
use crate::error::Error;

/// Reads a list of messages, and what stands beside it in a request. `in_lines`: each is a line of the file; some agents
/// write a line for each block of an Anthropic reply.
#[inline(never)]
pub(super) fn read(
    request: &Object<'_>,
    list: &[Line<'_>],
    leaf: Option<&str>,
    in_lines: bool,
) -> Result<SessionFile, Error> {
    let kwargs = request.object("kwargs").unwrap_or_default();
    let anthropic = request.has("system") || request.has("system_prompt") || speaks_anthropic(list);
    let name = if anthropic { "anthropic-messages" } else { "openai-messages" };
    refuse_leaf(leaf, name)?;
    let mut file = SessionFile::new(name, if anthropic { "anthropic" } else { "openai-chat" });
    take(list, in_lines && anthropic, &mut file);
    let system = request.get("system").or_else(|| request.get("system_prompt"));
    file.system = system.map(plain).filter(|system| !system.is_empty());
    let tools = request.get("tools").or_else(|| kwargs.get("tools"));
    file.tools = tools.map(|_| Vec::new());
    file.take_tools(tools);
    let output = ["max_completion_tokens", "max_tokens"];
    let size = request.number("context_window").filter(|tokens| *tokens > 0);
    file.window = size.map(|context_tokens| SessionWindow {
        context_tokens,
        max_output_tokens: output
            .iter()
            .find_map(|name| request.number(name).or_else(|| kwargs.number(name))),
    });
    answer(request, &mut file);
    Ok(file.finish())
}

/// A log of one request holds its answer beside the messages: a call that saw them all.
fn answer(request: &Object<'_>, file: &mut SessionFile) {
    let Some(response) = request.object("response") else { return };
    let usage = response.get("usage").and_then(Usage::shown_by);
    if usage.is_some() {
        let at = request.get("timestamp").or_else(|| response.get("created"));
        file.call(at.and_then(millis), usage);
    }
}

/// `joins`: neighbouring records of the assistant are blocks of one reply.
fn take(list: &[Line<'_>], joins: bool, file: &mut SessionFile) {
    let mut reply: Vec<&Line<'_>> = Vec::new();
    for line in list {
        let fields = &line.fields;
        let role = fields.text("role").filter(|_| is_message(fields));
        if !joins || line.fault.is_some() || role.as_deref() != Some("assistant") {
            write_reply(&mut reply, file);
        }
        let (Some(role), None) = (role, &line.fault) else {
            let fault = line.fault.as_deref().unwrap_or("not a message with a role and a content");
            file.receipt.fail(line.number, fault);
            continue;
        };
        file.receipt.count(&role, true);
        if role == "assistant" {
            reply.push(line);
        } else {
            file.messages.extend(line.raw());
        }
    }
    write_reply(&mut reply, file);
}

/// Writes the records of a reply as one call and one message.
fn write_reply(reply: &mut Vec<&Line<'_>>, file: &mut SessionFile) {
    let records = std::mem::take(reply);
    let Some(first) = records.first() else { return };
    let time = at(&first.fields, "ts|timestamp").and_then(millis);
    file.call(time, records.iter().rev().find_map(|record| usage(&record.fields)));
    if let Some(model) = at(&first.fields, "modelInfo.modelId").and_then(text) {
        file.called(&model);
    }
    if let [only] = &*records {
        file.messages.extend(only.raw());
        return;
    }
    let contents = records.iter().map(|record| record.fields.get("content"));
    let blocks: Vec<&RawValue> = contents.flat_map(pieces).collect();
    file.made(first.number, message("assistant", &blocks, &|block| block.into()));
}

/// The tokens that a record reports.
fn usage(fields: &Object<'_>) -> Option<Usage> {
    let usage = at(fields, "usage|extra.response.usage").and_then(Usage::shown_by);
    usage.or_else(|| CLINE.read(&fields.object("metrics")?))
}

fn speaks_anthropic(list: &[Line<'_>]) -> bool {
    for fields in list.iter().map(|line| &line.fields).filter(|fields| is_message(fields)) {
        let role = fields.text("role").unwrap_or_default();
        if fields.has("tool_calls") || !matches!(&*role, "user" | "assistant") {
            return false;
        }
        let blocks = fields.get("content").map(items).unwrap_or_default();
        for kind in blocks.into_iter().filter_map(|block| Object::of(block).text("type")) {
            match &*kind {
                "tool_use" | "tool_result" | "thinking" | "redacted_thinking"
                | "server_tool_use" | "image" | "document" => return true,
                "image_url" | "input_text" | "input_audio" => return false,
                _ => {}
            }
        }
    }
    false
}

/// A system prompt: text, or blocks of text, or an object around them.
pub(super) fn plain(raw: &RawValue) -> String {
    if let Some(text) = text(raw) {
        return text.into_owned();
    }
    let fields = if is_object(raw) { Object::of(raw) } else { Object::default() };
    let blocks = items(fields.get("parts").unwrap_or(raw));
    let blocks = blocks.into_iter().filter(|block| is_object(block)).map(Object::of);
    let texts = blocks.filter_map(|block| block.text("text"));
    fields.text("text").into_iter().chain(texts).collect::<Vec<_>>().join("\n\n")
}

/// The messages of a run.
fn run<'a>(raw: &&'a RawValue) -> Option<&'a RawValue> {
    let fields = if is_object(raw) { Object::of(raw) } else { Object::default() };
    fields.get("traj").or_else(|| fields.get("messages")).filter(|raw| inside(raw).is_none())
}

/// Runs of a benchmark: `[{traj: [...]}]`; `leaf` is a run's index, the first without it. `None`: there are none.
pub(super) fn runs(list: &RawValue, leaf: Option<&str>) -> Result<Option<SessionFile>, Error> {
    let list = items(list);
    let has_message = |messages| elements(messages).iter().any(|line| is_message(&line.fields));
    if !list.iter().filter_map(run).any(has_message) {
        return Ok(None);
    }
    let chosen = leaf.unwrap_or("0");
    let index: Option<usize> = chosen.parse().ok();
    let Some(found) = index.and_then(|index| list.get(index)) else {
        let expected = format!("the index of a run, less than {}", list.len());
        return Err(Error::argument("leaf", &expected, chosen));
    };
    let mut file = SessionFile::new("tau-openai", "openai-chat");
    take(&run(found).map(elements).unwrap_or_default(), false, &mut file);
    file.receipt.leaf = Some(Cow::from(chosen).into_owned());
    file.receipt.branches = (0..list.len()).map(|index| index.to_string()).collect();
    Ok(Some(file.finish()))
}

#[cfg(test)]
mod tests {
    use super::super::read_session;
    use super::super::testing::{json, models, open};
    use super::*;

    #[test]
    fn anthropic_is_recognized_by_blocks_and_by_system() {
        let file = open(
            r#"{"system":[{"type":"text","text":"a"},{"type":"text","text":"b","cache_control":{}}],"tools":[{"name":"x","n":1.0}],
            "messages":[{"role":"user","content":"hi \ud800"},{"role":"assistant","content":[],"ts":5000000000000,
            "metrics":{"inputTokens":9,"cacheReadTokens":4,"outputTokens":1}},7]}"#,
        );
        assert_eq!((file.format, file.message_format), ("anthropic-messages", "anthropic"));
        assert_eq!(file.system.as_deref(), Some("a\n\nb"));
        assert_eq!(
            file.tools.as_ref().map(|tools| tools[0].as_str()),
            Some(r#"{"name":"x","n":1.0}"#)
        );
        assert_eq!(json(&file)[0], r#"{"role":"user","content":"hi \ud800"}"#);
        assert_eq!(file.calls[0].at, Some(5_000_000_000_000));
        assert_eq!(file.calls[0].usage.map(|usage| usage.input_tokens), Some(9));
        assert_eq!(file.receipt.broken[0].line, 3);
        let bare =
            open(r#"[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]"#);
        assert_eq!(bare.format, "anthropic-messages");
        let seen = open(r#"[{"role":"user","content":[{"type":"image_url","image_url":{}}]}]"#);
        assert_eq!(seen.format, "openai-messages");
    }

    #[test]
    fn tasks_of_cline_and_roo_code_are_messages_of_anthropic() {
        let ask = r#"{"role":"user","content":[{"type":"text","text":"<task>x</task>"}],"ts":1764500000000}"#;
        let look = r#"{"type":"text","text":"I look."},{"type":"tool_use","id":"t","name":"read_file","input":{}}"#;
        let result = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"r"}],"ts":1764500002000}"#;
        let reply = |before: &str, more: &str| {
            format!(r#"{{"role":"assistant","content":[{before}{look}],"ts":1764500001000{more}}}"#)
        };
        let cline = reply(
            "",
            r#","modelInfo":{"modelId":"claude-x","mode":"act"},"metrics":{"tokens":{"prompt":100,"completion":5,"cached":10},"cost":0.1}"#,
        );
        let file = open(&format!("[{ask},{cline},{result}]"));
        assert_eq!((file.format, file.messages.len()), ("anthropic-messages", 3));
        assert_eq!(models(&file), [("claude-x", 1)]);
        let usage = file.calls[0].usage.expect("usage");
        assert_eq!(
            (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens),
            (100, 5, 10)
        );
        // Roo Code puts what another model thought before its answer, or between the messages.
        let thought = r#"{"type":"reasoning","text":"hm","summary":[]},"#;
        let apart =
            r#"{"type":"reasoning","encrypted_content":"e","summary":[],"ts":1764500000500}"#;
        let file = open(&format!("[{ask},{apart},{},{result}]", reply(thought, "")));
        assert_eq!((file.format, file.messages.len()), ("anthropic-messages", 3));
        assert_eq!(file.receipt.broken.len(), 1);
    }

    #[test]
    fn usage_of_anthropic_is_read_with_what_was_written_to_the_cache() {
        let usage = r#""usage":{"input_tokens":12,"cache_creation_input_tokens":5000,"cache_read_input_tokens":20000,"output_tokens":300}"#;
        let ask = r#"{"role":"user","content":"hi"}"#;
        let reply = format!(
            r#"{{"role":"assistant","content":[{{"type":"thinking","thinking":"t","signature":"s"}}],{usage}}}"#
        );
        for text in [
            format!("[{ask},{reply}]"),
            format!(r#"{{"system":"s","messages":[{ask}],"response":{{{usage}}}}}"#),
        ] {
            let usage = open(&text).calls[0].usage.expect("usage");
            assert_eq!((usage.input_tokens, usage.output_tokens), (25_012, 300), "{text}");
            assert_eq!((usage.cache_read_tokens, usage.cache_write_tokens), (20_000, 5000));
        }
    }

    #[test]
    fn openai_is_recognized_by_roles_and_a_request_log_ends_with_its_call() {
        let file = open(
            r#"{"messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}],"context_window":1000,
            "kwargs":{"tools":[{}],"max_completion_tokens":10},"timestamp":2.5,
            "response":{"usage":{"prompt_tokens":11,"completion_tokens":2}}}"#,
        );
        assert_eq!((file.format, file.message_format), ("openai-messages", "openai-chat"));
        assert_eq!((file.calls.len(), file.calls[0].sent, file.calls[0].at), (1, 2, Some(2500)));
        assert_eq!(
            file.window,
            Some(SessionWindow { context_tokens: 1000, max_output_tokens: Some(10) })
        );
        assert_eq!(file.tools.map(|tools| tools.len()), Some(1));
        let inner = open(r#"{"kwargs":{"messages":[{"role":"assistant","tool_calls":[]}]}}"#);
        assert_eq!((inner.format, inner.calls.len()), ("openai-messages", 1));
    }

    #[test]
    fn runs_are_chosen_by_index() {
        let text = br#"[{"task_id":0,"traj":[{"role":"user","content":"a"}]},{"traj":[{"role":"user","content":"b"}]}]"#;
        let first = read_session(text, None).expect("read");
        assert_eq!((first.format, first.receipt.branches.len()), ("tau-openai", 2));
        assert!(json(&first)[0].contains('a'));
        assert!(json(&read_session(text, Some("1")).expect("read"))[0].contains('b'));
        let error = read_session(text, Some("2")).expect_err("no such run").to_string();
        assert_eq!(error, "leaf: expected the index of a run, less than 2, got 2");
    }

    #[test]
    fn a_reply_of_anthropic_that_was_written_block_by_block_is_one_message_and_one_call() {
        let block = |block: &str, more: &str| {
            format!(r#"{{"role":"assistant","content":[{block}]{more}}}"#)
        };
        let call =
            |id: &str| format!(r#"{{"type":"tool_use","id":"{id}","name":"f","input":{{}}}}"#);
        let lines = [
            r#"{"role":"user","content":"go"}"#.to_owned(),
            block(
                r#"{"type":"thinking","thinking":"x","signature":"s"}"#,
                r#","ts":1000000000001"#,
            ),
            r#"{"role":"assistant","content":"I look"}"#.to_owned(),
            block(&call("a"), r#","usage":{"input_tokens":9,"output_tokens":2}"#),
            block(&call("b"), ""),
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}"#
                .to_owned(),
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"2"}]}"#
                .to_owned(),
            block(r#"{"type":"text","text":"done"}"#, ""),
        ];
        let file = open(&lines.join("\n"));
        assert_eq!(
            (file.message_format, file.messages.len(), file.receipt.read),
            ("anthropic", 5, 8)
        );
        let reply = [
            r#"{"type":"thinking","thinking":"x","signature":"s"}"#,
            r#"{"type":"text","text":"I look"}"#,
            &call("a"),
            &call("b"),
        ];
        let reply = format!(r#"{{"role":"assistant","content":[{}]}}"#, reply.join(","));
        assert_eq!(json(&file)[1], reply);
        assert_eq!(json(&file)[4], lines[7], "a single record is sent as it is");
        let calls: Vec<_> = file.calls.iter().map(|call| (call.sent, call.at)).collect();
        assert_eq!(calls, [(1, Some(1_000_000_000_001)), (4, None)]);
        assert_eq!(file.calls[0].usage.map(|usage| usage.input_tokens), Some(9));
        // Messages as they were sent, and those of other providers, stay apart.
        assert_eq!(open(&format!("[{}]", lines.join(","))).messages.len(), 8);
        let chat = r#"{"role":"assistant","content":"a"}"#;
        assert_eq!(open(&format!("{chat}\n{chat}")).messages.len(), 2);
    }

    #[test]
    fn a_line_that_cannot_be_read_parts_two_replies() {
        let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}"#;
        let file = open(&format!("{call}\n{{\"role\":\n{call}"));
        assert_eq!((file.calls.len(), file.messages.len(), file.receipt.broken.len()), (2, 2, 1));
    }

    #[test]
    fn messages_may_stand_in_lines() {
        let text = "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\n{\"x\":1}\n{\"role\":\"tool\",\"content\":\"b\"}";
        let file = open(text);
        assert_eq!((file.messages.len(), file.format), (2, "openai-messages"));
        let broken: Vec<u32> = file.receipt.broken.iter().map(|broken| broken.line).collect();
        assert_eq!((broken, file.receipt.lines), (vec![2, 3], 4));
    }
}
