//! Messages as providers take them: Anthropic and `OpenAI` chat arrays, bare or in a request, and runs of tau-bench.
//!
//! The messages are untouched. Whose they are is told by what stands in them: typed blocks of calls and results and a
//! `system` beside the messages are Anthropic's; roles `tool`, `system`, `developer` and `tool_calls` are `OpenAI`'s. Plain text
//! alone is read as `OpenAI`'s, where strings are at home.

use std::borrow::Cow;

use super::detect::{elements, is_message};
use super::file::{SessionFile, SessionWindow, refuse_leaf};
use super::lines::Line;
use super::path::at;
use super::raw::{Fields, RawValue, inside, is_object, items, text};
use super::time::millis;
use super::usage::{ANTHROPIC, CLINE, OPENAI};
use crate::error::Error;

/// Reads a list of messages, and what stands beside it in a request.
pub(super) fn read(
    request: &Fields<'_>,
    list: &[Line<'_>],
    leaf: Option<&str>,
) -> Result<SessionFile, Error> {
    let kwargs = request.object("kwargs").unwrap_or_default();
    let anthropic = request.has("system") || request.has("system_prompt") || speaks_anthropic(list);
    let name = if anthropic { "anthropic-messages" } else { "openai-messages" };
    refuse_leaf(leaf, name)?;
    let mut file = SessionFile::new(name, if anthropic { "anthropic" } else { "openai-chat" });
    take(list, &mut file);
    let system = request.get("system").or_else(|| request.get("system_prompt"));
    file.system = system.map(plain).filter(|system| !system.is_empty());
    let tools = request.get("tools").or_else(|| kwargs.get("tools")).map(items);
    file.tools = tools.map(|tools| tools.into_iter().map(ToOwned::to_owned).collect());
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
fn answer(request: &Fields<'_>, file: &mut SessionFile) {
    let Some(response) = request.object("response") else { return };
    let usage = response.object("usage");
    let usage = usage.and_then(|it| OPENAI.read(&it).or_else(|| ANTHROPIC.read(&it)));
    if usage.is_some() {
        let at = request.get("timestamp").or_else(|| response.get("created"));
        file.call(at.and_then(millis), usage);
    }
}

fn take(list: &[Line<'_>], file: &mut SessionFile) {
    for line in list {
        let fields = &line.fields;
        let role = fields.text("role").filter(|_| is_message(fields));
        let (Some(role), None) = (role, &line.fault) else {
            let fault = line.fault.as_deref().unwrap_or("not a message with a role and a content");
            file.receipt.fail(line.number, fault);
            continue;
        };
        file.receipt.count(&role, true);
        if role == "assistant" {
            let usage = at(fields, "usage|extra.response.usage").filter(|raw| is_object(raw));
            let usage = usage.map(Fields::of);
            let usage = usage.and_then(|it| OPENAI.read(&it).or_else(|| ANTHROPIC.read(&it)));
            let metrics = || CLINE.read(&fields.object("metrics")?);
            let time = at(fields, "ts|timestamp").and_then(millis);
            file.call(time, usage.or_else(metrics));
        }
        if let Some(raw) = line.raw() {
            file.messages.push(raw);
        }
    }
}

fn speaks_anthropic(list: &[Line<'_>]) -> bool {
    for fields in list.iter().map(|line| &line.fields) {
        let role = fields.text("role").unwrap_or_default();
        if fields.has("tool_calls") || !matches!(&*role, "user" | "assistant") {
            return false;
        }
        let blocks = fields.get("content").map(items).unwrap_or_default();
        for kind in blocks.into_iter().filter_map(|block| Fields::of(block).text("type")) {
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
    let fields = if is_object(raw) { Fields::of(raw) } else { Fields::default() };
    let blocks = items(fields.get("parts").unwrap_or(raw));
    let blocks = blocks.into_iter().filter(|block| is_object(block)).map(Fields::of);
    let texts = blocks.filter_map(|block| block.text("text"));
    fields.text("text").into_iter().chain(texts).collect::<Vec<_>>().join("\n\n")
}

/// The messages of a run.
fn run<'a>(raw: &&'a RawValue) -> Option<&'a RawValue> {
    let fields = if is_object(raw) { Fields::of(raw) } else { Fields::default() };
    fields.get("traj").or_else(|| fields.get("messages")).filter(|raw| inside(raw).is_none())
}

/// Runs of a benchmark: `[{traj: [...]}]`; `leaf` is a run's index, the first without it. `None`: there are none.
pub(super) fn runs(list: &RawValue, leaf: Option<&str>) -> Result<Option<SessionFile>, Error> {
    let list = items(list);
    let told = |messages| elements(messages).iter().any(|line| is_message(&line.fields));
    if !list.iter().filter_map(run).any(told) {
        return Ok(None);
    }
    let chosen = leaf.unwrap_or("0");
    let index: Option<usize> = chosen.parse().ok();
    let Some(found) = index.and_then(|index| list.get(index)) else {
        let expected = format!("the index of a run, less than {}", list.len());
        return Err(Error::argument("leaf", &expected, chosen));
    };
    let mut file = SessionFile::new("tau-openai", "openai-chat");
    take(&run(found).map(elements).unwrap_or_default(), &mut file);
    file.receipt.leaf = Some(Cow::from(chosen).into_owned());
    file.receipt.branches = (0..list.len()).map(|index| index.to_string()).collect();
    Ok(Some(file.finish()))
}

#[cfg(test)]
mod tests {
    use super::super::read_session;
    use super::super::testing::open;
    use super::*;

    #[test]
    fn anthropic_is_told_by_blocks_and_by_system() {
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
        assert_eq!(file.messages[0], r#"{"role":"user","content":"hi \ud800"}"#);
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
    fn openai_is_told_by_roles_and_a_request_log_ends_with_its_call() {
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
        assert!(first.messages[0].contains('a'));
        assert!(read_session(text, Some("1")).expect("read").messages[0].contains('b'));
        let error = read_session(text, Some("2")).expect_err("no such run").to_string();
        assert_eq!(error, "leaf: expected the index of a run, less than 2, got 2");
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
