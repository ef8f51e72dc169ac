//! Golden cases, the same way for every format: a message, what is done to it, what goes out.

mod agents;
mod documents;
mod programs;
mod sdk;
mod settings;
mod wire;

use serde_json::{Value, json};

use super::*;
use crate::error::ErrorInfo;
use crate::model::{Kind, MadePart, Op, Place};

/// A value of ours as a tree.
pub(super) fn tree(value: &crate::json::Value) -> Value {
    serde_json::from_str(value.json()).unwrap()
}

pub(super) fn ours(value: Value) -> crate::json::Value {
    crate::json::Value::raw(value.to_string())
}

/// Carries operations out, as `js/core/edit.ts` does.
pub(super) fn apply(mut value: Value, ops: &[Op]) -> Value {
    for op in ops {
        let path = match op {
            Op::Add { path, .. } | Op::Replace { path, .. } | Op::Remove { path } => path,
        };
        let (parent, key) = path.rsplit_once('/').unwrap();
        let parent = value.pointer_mut(parent).unwrap();
        match (op, parent) {
            (Op::Remove { .. }, Value::Array(items)) => drop(items.remove(key.parse().unwrap())),
            (Op::Remove { .. }, Value::Object(map)) => drop(map.remove(key).unwrap()),
            (Op::Add { value, .. }, Value::Object(map)) => {
                drop(map.insert(key.into(), tree(value)));
            }
            (Op::Replace { value, .. }, Value::Object(map)) => {
                assert!(map.insert(key.into(), tree(value)).is_some(), "{path}");
            }
            (Op::Replace { value, .. }, Value::Array(items)) => {
                items[key.parse::<usize>().unwrap()] = tree(value);
            }
            other => panic!("{other:?}"),
        }
    }
    value
}

pub(super) fn outline(format: Format, message: &Value) -> Outline {
    format.read(message.to_string().as_bytes(), 0).unwrap().outline()
}

#[track_caller]
pub(super) fn edited(format: Format, message: Value, changes: Vec<(u32, What)>, expected: Value) {
    let changes: Vec<_> = changes.into_iter().map(|(piece, what)| Change { piece, what }).collect();
    let outline = outline(format, &message);
    let after = apply(message, &format.edit(&outline, &changes));
    assert_eq!(after, expected);
    format.read(after.to_string().as_bytes(), 0).unwrap();
}

/// One line for a message: role, then kind, place, id, name, flags and text of each part.
#[track_caller]
pub(super) fn reads(format: Format, message: &Value, expected: &[&str]) {
    let bytes = message.to_string();
    let draft = format.read(bytes.as_bytes(), 0).unwrap();
    let mut lines = vec![format!("{:?}", draft.role)];
    for part in &draft.parts {
        let piece = &part.piece;
        let mut line = format!("{:?} {} {:?}", piece.kind, piece.place.pointer(), part.text);
        for (flag, on) in [
            ("blank", piece.blank),
            ("error", piece.error),
            ("broken", piece.broken_unicode),
            ("opaque", piece.opaque),
            ("bad", piece.bad_arguments),
            ("unsent", piece.unsent),
            ("image", part.images > 0),
        ] {
            if on {
                line = format!("{line} {flag}");
            }
        }
        for name in [&piece.id, &piece.name] {
            if !name.is_empty() {
                line = format!("{line} {name}");
            }
        }
        lines.push(line);
    }
    assert_eq!(lines, expected);
}

#[track_caller]
pub(super) fn flawed(format: Format, message: &str, path: &str, expected: &str) {
    let error = format.read(message.as_bytes(), 7).unwrap_err();
    let expected = Error::new(ErrorInfo::MalformedMessage {
        index: 7,
        path: path.into(),
        expected: expected.into(),
    });
    assert_eq!(error, expected);
}

pub(super) fn drop_all(pieces: &[u32]) -> Vec<(u32, What)> {
    pieces.iter().map(|piece| (*piece, What::Drop)).collect()
}

pub(super) fn text(piece: u32, text: &str) -> (u32, What) {
    (piece, What::Text(text.into()))
}

fn anthropic_turn() -> Value {
    json!({ "role": "assistant", "content": [
        { "type": "thinking", "thinking": "hm", "signature": "sig" },
        { "type": "text", "text": "I look.", "cache_control": { "type": "ephemeral" } },
        { "type": "tool_use", "id": "t1", "name": "read", "input": { "path": "a.rs" } },
        { "type": "server_tool_use", "id": "s1", "name": "web_search", "input": {} },
    ] })
}

fn anthropic_results() -> Value {
    json!({ "role": "user", "content": [
        { "type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": [
            { "type": "text", "text": "one" }, { "type": "text", "text": "two" },
            { "type": "image", "source": { "type": "base64", "data": "AA" } },
        ] },
        { "type": "tool_result", "tool_use_id": "t2" },
        { "type": "document", "source": { "type": "text", "data": "plain" } },
        { "type": "text", "text": "go on" },
    ] })
}

#[test]
fn anthropic_messages_are_read() {
    reads(
        Format::Anthropic,
        &anthropic_turn(),
        &[
            "Assistant",
            "Thinking /content/0 \"hm\" opaque",
            "Text /content/1 \"I look.\"",
            "Call /content/2 \"{\\\"path\\\":\\\"a.rs\\\"}\" t1 read",
            "Call /content/3 \"{}\" opaque s1 web_search",
        ],
    );
    reads(
        Format::Anthropic,
        &anthropic_results(),
        &[
            "User",
            "Result /content/0 \"one\\ntwo\" error image t1",
            "Result /content/1 \"\" blank t2",
            "Image /content/2 \"plain\"",
            "Text /content/3 \"go on\"",
        ],
    );
    reads(
        Format::Anthropic,
        &json!({ "role": "assistant", "content": [
            { "type": "redacted_thinking", "data": "xyz" }, { "type": "tool_use", "id": "a", "name": "b", "input": "{" },
        ] }),
        &["Assistant", "Thinking /content/0 \"\" opaque", "Call /content/1 \"\\\"{\\\"\" bad a b"],
    );
}

#[test]
fn flaws_of_anthropic_messages_are_named() {
    let f = Format::Anthropic;
    flawed(f, r#"{"role":"tool","content":""}"#, "/role", "\"user\", \"assistant\" or \"system\"");
    flawed(f, r#"{"role":"user","content":5}"#, "/content", "a string or an array of blocks");
    flawed(f, r#"{"role":"user"}"#, "/", "a member `content`");
    flawed(f, r#"{"role":"user","content":[{"type":"text"}]}"#, "/content/0/text", "a string");
    flawed(
        f,
        r#"{"role":"user","content":[{"type":"text","text":[1]}]}"#,
        "/content/0/text",
        "a string",
    );
    flawed(f, r#"{"role":"user","content":["x"]}"#, "/content/0", "a block: { type, .. }");
    flawed(f, "5", "/", "a message: { role, content }");
    let inner = r#"{"role":"user","content":[{"type":"tool_result","content":[{"type":"text"}]}]}"#;
    flawed(f, inner, "/content/0/content/0/text", "a string");
}

#[test]
fn anthropic_messages_are_edited() {
    let arguments = What::Arguments(ours(json!({ "path": "…" })));
    edited(
        Format::Anthropic,
        anthropic_turn(),
        vec![
            (0, What::Drop),
            text(1, "cut"),
            (2, What::Id("n_1".into())),
            (2, arguments),
            (3, What::Drop),
        ],
        json!({ "role": "assistant", "content": [
            { "type": "text", "text": "cut", "cache_control": { "type": "ephemeral" } },
            { "type": "tool_use", "id": "n_1", "name": "read", "input": { "path": "…" } },
        ] }),
    );
    edited(
        Format::Anthropic,
        anthropic_turn(),
        drop_all(&[1, 2, 3]),
        json!({ "role": "assistant", "content": [
            { "type": "thinking", "thinking": "hm", "signature": "sig" }, { "type": "text", "text": "(omitted)" },
        ] }),
    );
    edited(
        Format::Anthropic,
        anthropic_results(),
        vec![text(0, "stub"), text(1, "none"), (1, What::Id("n_2".into())), (2, What::Drop)],
        json!({ "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": "stub" },
            { "type": "tool_result", "tool_use_id": "n_2", "content": "none" },
            { "type": "text", "text": "go on" },
        ] }),
    );
    let plain = json!({ "role": "user", "content": "long" });
    edited(
        Format::Anthropic,
        plain,
        vec![text(0, "short")],
        json!({ "role": "user", "content": "short" }),
    );
}

fn openai_turn() -> Value {
    json!({ "role": "assistant", "content": "I look.", "reasoning_content": "hm", "reasoning": "hm", "tool_calls": [
        { "id": "c1", "type": "function", "function": { "name": "read", "arguments": "{\"path\":\"a\"}" } },
        { "id": "c2", "type": "function", "function": { "name": "read", "arguments": "{" } },
        { "id": "c3", "type": "custom", "custom": { "name": "patch", "input": "*** Begin" } },
    ] })
}

#[test]
fn openai_chat_messages_are_read() {
    let f = Format::OpenAiChat;
    reads(
        f,
        &openai_turn(),
        &[
            "Assistant",
            "Thinking /reasoning_content \"hm\"",
            "Thinking /reasoning \"\"",
            "Text /content \"I look.\"",
            "Call /tool_calls/0 \"{\\\"path\\\":\\\"a\\\"}\" c1 read",
            "Call /tool_calls/1 \"{\" bad c2 read",
            "Call /tool_calls/2 \"*** Begin\" c3 patch",
        ],
    );
    let result = json!({ "role": "tool", "tool_call_id": "c1", "content": [{ "type": "text", "text": "x" }] });
    reads(f, &result, &["Tool", "Result /content \"x\" c1"]);
    let legacy = json!({ "role": "function", "name": "read", "content": "" });
    reads(f, &legacy, &["Tool", "Result /content \"\" blank read"]);
    let legacy = json!({ "role": "assistant", "content": null, "function_call": { "name": "read", "arguments": "{}" } });
    reads(f, &legacy, &["Assistant", "Call /function_call \"{}\" read"]);
    let empty = json!({ "role": "assistant", "content": "", "tool_calls": [{ "id": "c", "function": { "name": "n", "arguments": "{}" } }] });
    reads(f, &empty, &["Assistant", "Call /tool_calls/0 \"{}\" c n"]);
    let parts = json!({ "role": "user", "content": [
        { "type": "text", "text": "see" }, { "type": "image_url", "image_url": { "url": "data:," } }, { "type": "new" },
    ] });
    let new = "Other /content/2 \"{\\\"type\\\":\\\"new\\\"}\" opaque";
    reads(f, &parts, &["User", "Text /content/0 \"see\"", "Image /content/1 \"\" image", new]);
    reads(f, &json!({ "role": "developer", "content": "d" }), &["System", "Text /content \"d\""]);
}

#[test]
fn openai_chat_flaws_are_named() {
    let f = Format::OpenAiChat;
    let roles = "\"system\", \"developer\", \"user\", \"assistant\", \"tool\" or \"function\"";
    flawed(f, r#"{"role":"model"}"#, "/role", roles);
    flawed(f, r#"{"role":"assistant","tool_calls":{}}"#, "/tool_calls", "an array");
    let arguments = r#"{"role":"assistant","tool_calls":[{"function":{"arguments":{}}}]}"#;
    flawed(f, arguments, "/tool_calls/0/function/arguments", "a string");
    let call = r#"{"role":"assistant","tool_calls":[{"id":"a"}]}"#;
    flawed(f, call, "/tool_calls/0", "a call with `function` or `custom`");
}

#[test]
fn openai_chat_messages_are_edited() {
    let f = Format::OpenAiChat;
    let calls = openai_turn()["tool_calls"].clone();
    edited(
        f,
        openai_turn(),
        drop_all(&[0, 1, 2]),
        json!({ "role": "assistant", "content": null, "tool_calls": calls }),
    );
    edited(
        f,
        openai_turn(),
        vec![
            text(0, "…"),
            (1, What::Drop),
            (3, What::Drop),
            (4, What::Arguments(ours(json!({ "a": 1 })))),
            (4, What::Id("n".into())),
            (5, What::Arguments("cut".into())),
        ],
        json!({ "role": "assistant", "content": "I look.", "reasoning_content": "…", "tool_calls": [
            { "id": "n", "type": "function", "function": { "name": "read", "arguments": "{\"a\":1}" } },
            { "id": "c3", "type": "custom", "custom": { "name": "patch", "input": "cut" } },
        ] }),
    );
    edited(
        f,
        openai_turn(),
        drop_all(&[2, 3, 4, 5]),
        json!({ "role": "assistant", "content": "(omitted)", "reasoning_content": "hm", "reasoning": "hm" }),
    );
    edited(
        f,
        json!({ "role": "tool", "tool_call_id": "c1", "content": [{ "type": "text", "text": "long" }] }),
        vec![text(0, "stub"), (0, What::Id("n".into()))],
        json!({ "role": "tool", "tool_call_id": "n", "content": "stub" }),
    );
}

fn pi_result() -> Value {
    json!({ "role": "toolResult", "toolCallId": "p1", "toolName": "bash", "isError": true, "timestamp": 3, "details": {},
        "content": [{ "type": "text", "text": "no" }, { "type": "image", "data": "AA", "mimeType": "image/png" }] })
}

#[test]
fn pi_messages_are_read() {
    let f = Format::Pi;
    let turn = json!({ "role": "assistant", "stopReason": "toolUse", "content": [
        { "type": "thinking", "thinking": "hm", "thinkingSignature": "s" },
        { "type": "text", "text": "I look.", "textSignature": "m" },
        { "type": "toolCall", "id": "p1", "name": "bash", "arguments": { "a": 1 }, "thoughtSignature": "t" },
    ] });
    reads(
        f,
        &turn,
        &[
            "Assistant",
            "Thinking /content/0 \"hm\" opaque",
            "Text /content/1 \"I look.\" opaque",
            "Call /content/2 \"{\\\"a\\\":1}\" opaque p1 bash",
        ],
    );
    reads(f, &pi_result(), &["Tool", "Result /content \"no\" error image p1 bash"]);
    let bash = json!({ "role": "bashExecution", "command": "ls", "output": "a" });
    reads(f, &bash, &["User", "Text /output \"ls\\na\""]);
    let hidden = json!({ "role": "bashExecution", "command": "ls", "output": "a", "excludeFromContext": true });
    reads(f, &hidden, &["User", "Other /content \"\" unsent"]);
    let aborted = json!({ "role": "assistant", "stopReason": "aborted", "content": [{ "type": "text", "text": "I" }] });
    reads(f, &aborted, &["Assistant", "Text /content/0 \"I\" unsent"]);
    reads(f, &json!({ "role": "assistant", "stopReason": "stop", "content": [] }), &["Assistant"]);
    reads(
        f,
        &json!({ "role": "compactionSummary", "summary": "s" }),
        &["User", "Text /summary \"s\""],
    );
    reads(f, &json!({ "role": "custom", "content": "c" }), &["User", "Text /content \"c\""]);
    reads(f, &json!({ "role": "ui", "state": {} }), &["User", "Other /content \"\" unsent"]);
    flawed(f, r#"{"role":"assistant"}"#, "/content", "a string or an array of blocks");
}

#[test]
fn a_system_message_of_pi_is_counted_with_its_sections_and_tools() {
    let system = json!({ "role": "system", "content": "", "timestamp": 1,
        "sections": { "base": "You are \"pi\".", "gone": null },
        "toolsAdded": [{ "name": "bash" }], "toolsRemoved": [{ "name": "ls" }] });
    let expected = "Text /content \"You are \\\"pi\\\".\\n[{\\\"name\\\":\\\"bash\\\"}]\"";
    reads(Format::Pi, &system, &["System", expected]);
    let blocks = json!({ "role": "system", "content": [{ "type": "text", "text": "Be brief." }] });
    reads(Format::Pi, &blocks, &["System", "Text /content \"Be brief.\""]);
}

#[test]
fn pi_messages_are_edited() {
    let f = Format::Pi;
    edited(
        f,
        pi_result(),
        vec![text(0, "stub"), (0, What::Id("n".into()))],
        json!({ "role": "toolResult", "toolCallId": "n", "toolName": "bash", "isError": true, "timestamp": 3,
            "details": {}, "content": [{ "type": "text", "text": "stub" }] }),
    );
    edited(
        f,
        json!({ "role": "assistant", "content": [
            { "type": "text", "text": "a" }, { "type": "toolCall", "id": "p", "name": "n", "arguments": { "x": 1 } },
        ] }),
        vec![(0, What::Drop), (1, What::Arguments(ours(json!({})))), (1, What::Id("q".into()))],
        json!({ "role": "assistant", "content": [
            { "type": "toolCall", "id": "q", "name": "n", "arguments": {} },
        ] }),
    );
    let summary = json!({ "role": "compactionSummary", "summary": "long", "tokensBefore": 1 });
    let short = json!({ "role": "compactionSummary", "summary": "short", "tokensBefore": 1 });
    edited(f, summary, vec![text(0, "short")], short);
}

#[track_caller]
pub(super) fn made(
    format: Format,
    made: Made,
    hosts: &[Value],
    expected: Value,
    expected_copies: &[(&str, u32, &str)],
) {
    let outlines: Vec<_> = hosts.iter().map(|host| outline(format, host)).collect();
    let (value, copies) = format.make(&made, |index| outlines.get(index.index()));
    let mut value = tree(&value);
    let seen: Vec<_> =
        copies.iter().map(|copy| (&*copy.path, copy.index.get(), &*copy.from)).collect();
    assert_eq!((&value, seen.as_slice()), (&expected, expected_copies));
    for copy in &copies {
        *value.pointer_mut(&copy.path).unwrap() =
            hosts[copy.index.index()].pointer(&copy.from).unwrap().clone();
    }
    format.read(value.to_string().as_bytes(), 0).unwrap();
}

pub(super) fn result(id: &str) -> Made {
    like(id, Place::Content)
}

fn like(id: &str, like: Place) -> Made {
    let (name, text) = ("bash".into(), "aborted".into());
    Made::Result { id: id.into(), name, text, error: true, like, toolset: String::new() }
}

pub(super) fn moved(message: u32, piece: u32) -> Made {
    Made::Moved { id: "n".into(), name: "bash".into(), message: message.into(), piece }
}

pub(super) fn head() -> Made {
    Made::User(vec![
        MadePart::Text("head".into()),
        MadePart::Host(0.into(), 0),
        MadePart::Host(1.into(), 1),
    ])
}

#[test]
fn synthetic_messages_of_anthropic_have_its_form() {
    let f = Format::Anthropic;
    let hosts = [json!({ "role": "user", "content": "first" }), anthropic_results()];
    let block = json!({ "type": "tool_result", "tool_use_id": "t", "content": "aborted", "is_error": true });
    made(f, result("t"), &hosts, json!({ "role": "user", "content": [block] }), &[]);
    let block =
        json!({ "type": "tool_result", "tool_use_id": "n", "content": null, "is_error": true });
    let copies = [("/content/0/content", 1, "/content/0/content")];
    made(f, moved(1, 0), &hosts, json!({ "role": "user", "content": [block] }), &copies);
    let block = json!({ "type": "tool_result", "tool_use_id": "n", "content": "(no output)", "is_error": false });
    made(f, moved(1, 1), &hosts, json!({ "role": "user", "content": [block] }), &[]);
    let hosts = [
        hosts[0].clone(),
        json!({ "role": "user", "content": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }] }),
    ];
    let copies = [("/content/1/text", 0, "/content"), ("/content/2", 1, "/content/1")];
    let content =
        json!([{ "type": "text", "text": "head" }, { "type": "text", "text": null }, null]);
    made(f, head(), &hosts, json!({ "role": "user", "content": content }), &copies);
}

#[test]
fn synthetic_messages_of_openai_chat_have_its_form() {
    let f = Format::OpenAiChat;
    let hosts = [json!({ "role": "tool", "tool_call_id": "c", "content": "x" })];
    made(
        f,
        result("t"),
        &hosts,
        json!({ "role": "tool", "tool_call_id": "t", "content": "aborted" }),
        &[],
    );
    let copies = [("/content", 0, "/content")];
    made(
        f,
        moved(0, 0),
        &hosts,
        json!({ "role": "tool", "tool_call_id": "n", "content": null }),
        &copies,
    );
    let legacy = json!({ "role": "function", "name": "bash", "content": "aborted" });
    made(f, result(""), &hosts, legacy, &[]);
}

#[test]
fn synthetic_messages_of_pi_have_its_form() {
    let f = Format::Pi;
    let content = json!([{ "type": "text", "text": "aborted" }]);
    let expected = json!({ "role": "toolResult", "toolCallId": "t", "toolName": "bash", "content": content, "isError": true, "timestamp": 0 });
    made(f, result("t"), &[], expected, &[]);
    let expected = json!({ "role": "toolResult", "toolCallId": "n", "toolName": "bash", "content": null, "isError": true, "timestamp": 0 });
    made(f, moved(0, 0), &[pi_result()], expected, &[("/content", 0, "/content")]);
    let hosts = [
        json!({ "role": "compactionSummary", "summary": "s" }),
        json!({ "role": "user", "content": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }] }),
    ];
    let copies = [("/content/1/text", 0, "/summary"), ("/content/2", 1, "/content/1")];
    let content =
        json!([{ "type": "text", "text": "head" }, { "type": "text", "text": null }, null]);
    made(f, head(), &hosts, json!({ "role": "user", "content": content, "timestamp": 0 }), &copies);
}

#[test]
fn deep_and_random_messages_are_read_or_refused() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let built = [
        Format::Anthropic,
        Format::OpenAiChat,
        Format::OpenAiResponses,
        Format::Gemini,
        Format::Pi,
    ];
    for format in built {
        let member = if format == Format::Gemini { "parts" } else { "content" };
        let content = if format == Format::Gemini { r#"[{"text":"x"}]"# } else { r#""x""# };
        for json in [
            format!(r#"{{"role":"user","{member}":{content},"extra":{deep}}}"#),
            format!(r#"{{"role":"user","{member}":[{{"type":"new","x":{deep}}}]}}"#),
        ] {
            assert_eq!(format.read(json.as_bytes(), 0).unwrap().parts.len(), 1);
        }
        assert!(format.read(deep.as_bytes(), 0).is_err());
        assert!(format.read(b"", 0).is_err());
        assert!(format.read(b"{\"role\":\"user\",\"content\":\"\xff\"}", 0).is_err());
    }
    let call = format!(
        r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"a","name":"n","input":{{"x":{deep}}}}}]}}"#
    );
    let draft = Format::Anthropic.read(call.as_bytes(), 0).unwrap();
    assert_eq!(
        (draft.parts[0].piece.kind, draft.parts[0].piece.bad_arguments),
        (Kind::Call, false)
    );
}

#[test]
fn a_format_is_known_by_its_name_and_an_unknown_one_is_refused_with_what_is_allowed() {
    for (name, format) in Format::ALL {
        assert_eq!((Format::parse(name), format.name()), (Ok(format), name));
    }
    let error = Format::parse("cohere").unwrap_err().to_string();
    assert!(error.starts_with("format: expected \"auto\", \"anthropic\", "), "{error}");
    assert!(error.ends_with("got \"cohere\""), "{error}");
}
