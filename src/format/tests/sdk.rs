//! Golden cases of the two SDKs, whose messages are what a host holds and not what a provider sees.

use serde_json::{Value, json};

use super::{
    drop_all, edited, flawed, head, made, moved, ours, outline, reads, result, text, tree,
};
use crate::format::*;
use crate::model::Kind;

const AI: Format = Format::AiSdk;
const LC: Format = Format::LangChain;

fn turn() -> Value {
    json!({ "role": "assistant", "content": [
        { "type": "reasoning", "text": "hm", "providerOptions": { "anthropic": { "signature": "s" } } },
        { "type": "text", "text": "I look.", "providerOptions": { "anthropic": { "cacheControl": { "type": "ephemeral" } } } },
        { "type": "tool-call", "toolCallId": "c1", "toolName": "read", "input": { "path": "a" } },
        { "type": "tool-call", "toolCallId": "s1", "toolName": "search", "input": {}, "providerExecuted": true },
        { "type": "tool-result", "toolCallId": "s1", "toolName": "search", "output": { "type": "json", "value": [1] } },
        { "type": "tool-approval-request", "approvalId": "a1", "toolCallId": "c1" },
    ] })
}

fn results() -> Value {
    json!({ "role": "tool", "content": [
        { "type": "tool-approval-response", "approvalId": "a1", "approved": true },
        { "type": "tool-result", "toolCallId": "c1", "toolName": "read", "output": { "type": "content", "value": [
            { "type": "text", "text": "one" }, { "type": "media", "data": "AA", "mediaType": "image/png" },
        ] } },
        { "type": "tool-result", "toolCallId": "c2", "toolName": "read", "output": { "type": "error-text", "value": "no" } },
        { "type": "tool-result", "toolCallId": "c3", "toolName": "read", "output": { "type": "text", "value": "" } },
        { "type": "tool-result", "toolCallId": "c4", "toolName": "read", "output": { "type": "execution-denied" } },
    ] })
}

#[test]
fn model_messages_of_the_ai_sdk_are_read() {
    reads(
        AI,
        &turn(),
        &[
            "Assistant",
            "Thinking /content/0 \"hm\" opaque",
            "Text /content/1 \"I look.\"",
            "Call /content/2 \"{\\\"path\\\":\\\"a\\\"}\" c1 read",
            "Call /content/3 \"{}\" opaque s1 search",
            "Result /content/4 \"[1]\" opaque s1 search",
            "Other /content/5 \"\" c1 a1",
        ],
    );
    reads(
        AI,
        &results(),
        &[
            "Tool",
            "Other /content/0 \"\" a1",
            "Result /content/1 \"one\" image c1 read",
            "Result /content/2 \"no\" error c2 read",
            "Result /content/3 \"\" blank c3 read",
            "Result /content/4 \"\" error opaque c4 read",
        ],
    );
    let user = json!({ "role": "user", "content": [
        { "type": "image", "image": "AA" }, { "type": "file", "data": "AA", "mediaType": "application/pdf" }, { "type": "new" },
    ] });
    let new = "Other /content/2 \"{\\\"type\\\":\\\"new\\\"}\" opaque";
    reads(AI, &user, &["User", "Image /content/0 \"\" image", "Image /content/1 \"\" image", new]);
    let v4 = json!({ "role": "tool", "content": [
        { "type": "tool-result", "toolCallId": "c", "toolName": "n", "result": { "a": 1 }, "isError": true },
    ] });
    reads(AI, &v4, &["Tool", "Result /content/0 \"{\\\"a\\\":1}\" error c n"]);
    let stored = json!({ "role": "assistant", "content": [
        { "type": "tool-call", "toolCallId": "c", "toolName": "n", "input": "{", "providerOptions": { "openai": { "itemId": "fc" } } },
    ] });
    reads(AI, &stored, &["Assistant", "Call /content/0 \"\\\"{\\\"\" opaque bad c n"]);
}

#[test]
fn model_messages_of_the_ai_sdk_are_edited() {
    let mut expected = turn();
    expected["content"] = json!([
        { "type": "text", "text": "cut", "providerOptions": { "anthropic": { "cacheControl": { "type": "ephemeral" } } } },
        { "type": "tool-call", "toolCallId": "n", "toolName": "read", "input": { "cut": "…" } },
        { "type": "tool-approval-request", "approvalId": "a1", "toolCallId": "n" },
    ]);
    edited(
        AI,
        turn(),
        vec![
            (0, What::Drop),
            text(1, "cut"),
            (2, What::Id("n".into())),
            (2, What::Arguments(ours(json!({ "cut": "…" })))),
            (3, What::Drop),
            (4, What::Drop),
            (5, What::Id("n".into())),
        ],
        expected,
    );
    edited(
        AI,
        results(),
        vec![
            text(1, "stub"),
            text(2, "stub"),
            (2, What::Id("n".into())),
            (3, What::Drop),
            (4, What::Drop),
        ],
        json!({ "role": "tool", "content": [
            { "type": "tool-approval-response", "approvalId": "a1", "approved": true },
            { "type": "tool-result", "toolCallId": "c1", "toolName": "read", "output": { "type": "text", "value": "stub" } },
            { "type": "tool-result", "toolCallId": "n", "toolName": "read", "output": { "type": "error-text", "value": "stub" } },
        ] }),
    );
    edited(
        AI,
        json!({ "role": "tool", "content": [
            { "type": "tool-result", "toolCallId": "c", "toolName": "n", "output": { "type": "json", "value": 1 } },
        ] }),
        drop_all(&[0]),
        json!({ "role": "tool", "content": [
            { "type": "tool-result", "toolCallId": "c", "toolName": "n", "output": { "type": "text", "value": "(omitted)" } },
        ] }),
    );
    edited(
        AI,
        json!({ "role": "assistant", "content": [
            { "type": "tool-call", "toolCallId": "c", "toolName": "n", "args": { "a": 1 } },
        ] }),
        vec![(0, What::Arguments(ours(json!({}))))],
        json!({ "role": "assistant", "content": [
            { "type": "tool-call", "toolCallId": "c", "toolName": "n", "args": {} },
        ] }),
    );
}

fn shown() -> Value {
    json!({ "id": "m2", "role": "assistant", "metadata": { "model": "m" }, "parts": [
        { "type": "step-start" },
        { "type": "reasoning", "text": "hm" },
        { "type": "tool-read", "toolCallId": "c1", "state": "output-available", "input": { "path": "a" }, "output": { "text": "long" } },
        { "type": "step-start" },
        { "type": "dynamic-tool", "toolName": "ls", "toolCallId": "c2", "state": "output-error", "input": {}, "errorText": "no" },
        { "type": "tool-read", "toolCallId": "c3", "state": "input-available", "input": { "path": "b" } },
        { "type": "tool-read", "toolCallId": "c4", "state": "approval-requested", "input": {}, "approval": { "id": "a4" } },
        { "type": "tool-read", "toolCallId": "c5", "state": "input-streaming" },
        { "type": "source-url", "url": "https://a.example" },
        { "type": "text", "text": "done" },
    ] })
}

#[test]
fn ui_messages_of_the_ai_sdk_are_read() {
    reads(
        AI,
        &shown(),
        &[
            "Assistant",
            "Thinking /parts/1 \"hm\"",
            "Call /parts/2 \"{\\\"path\\\":\\\"a\\\"}\" c1 read",
            "Result /parts/2/output \"{\\\"text\\\":\\\"long\\\"}\" c1 read",
            "Call /parts/4 \"{}\" c2 ls",
            "Result /parts/4/errorText \"no\" error c2 ls",
            "Call /parts/5 \"{\\\"path\\\":\\\"b\\\"}\" c3 read",
            "Call /parts/6 \"{}\" c4 read",
            "Other /parts/6/approval \"\" c4 a4",
            "Text /parts/9 \"done\"",
        ],
    );
    let file = json!({ "id": "u", "role": "user", "parts": [{ "type": "file", "mediaType": "image/png", "url": "data:," }] });
    reads(AI, &file, &["User", "Image /parts/0 \"\" image"]);
    let states = json!({ "id": "a", "role": "assistant", "parts": [
        { "type": "tool-a", "toolCallId": "1", "state": "approval-responded", "input": {}, "approval": { "id": "x", "approved": true } },
        { "type": "tool-a", "toolCallId": "2", "state": "output-denied", "input": {}, "approval": { "id": "y", "approved": false } },
        { "type": "tool-a", "toolCallId": "3", "state": "output-available", "input": {}, "output": 1, "providerExecuted": true },
    ] });
    let pieces = outline(AI, &states).pieces;
    let facts: Vec<_> = pieces.iter().map(|it| (it.within, it.decided, it.opaque)).collect();
    let theirs = (true, false, true);
    assert_eq!(facts, [(false, true, false), (true, false, false), theirs, theirs]);
}

#[test]
fn what_a_tool_of_the_provider_has_painted_is_an_image() {
    let painted = json!({ "result": "iVBORw0KGgo=" });
    let output = json!({ "type": "json", "value": painted });
    let of = json!({ "type": "tool-result", "toolCallId": "i", "toolName": "image_generation", "output": output });
    let line = "Result /content/0 \"\" opaque image i image_generation";
    reads(AI, &json!({ "role": "assistant", "content": [of] }), &["Assistant", line]);
    let own = json!({ "role": "tool", "content": [of] });
    let line = "Result /content/0 \"{\\\"result\\\":\\\"iVBORw0KGgo=\\\"}\" i image_generation";
    reads(AI, &own, &["Tool", line]);
    let shown = json!({ "type": "tool-image_generation", "toolCallId": "i", "state": "output-available", "input": {}, "output": painted, "providerExecuted": true });
    let pieces = outline(AI, &json!({ "id": "a", "role": "assistant", "parts": [shown] })).pieces;
    assert!(pieces.iter().all(|piece| piece.opaque));
}

#[test]
fn ui_messages_of_the_ai_sdk_are_edited() {
    let mut expected = shown();
    let parts = expected["parts"].as_array_mut().unwrap();
    parts[2]["output"] = "stub".into();
    parts[2]["input"] = json!({ "cut": "…" });
    parts[2]["toolCallId"] = "n".into();
    parts[4]["errorText"] = "stub".into();
    parts[6] = json!({ "type": "tool-read", "toolCallId": "c4", "state": "output-error", "input": {}, "errorText": "aborted" });
    parts.remove(5);
    edited(
        AI,
        shown(),
        vec![
            (1, What::Arguments(ours(json!({ "cut": "…" })))),
            (1, What::Id("n".into())),
            text(2, "stub"),
            (2, What::Id("n".into())),
            text(4, "stub"),
            (5, What::Drop),
            text(6, "aborted"),
        ],
        expected,
    );
    edited(
        AI,
        json!({ "id": "a", "role": "assistant", "parts": [
            { "type": "tool-a", "toolCallId": "1", "state": "output-available", "input": {}, "output": 1, "providerExecuted": true },
            { "type": "tool-a", "toolCallId": "2", "state": "output-available", "input": {}, "output": 1 },
            { "type": "text", "text": "t" },
        ] }),
        drop_all(&[0, 1, 2, 3]),
        json!({ "id": "a", "role": "assistant", "parts": [{ "type": "text", "text": "t" }] }),
    );
}

#[test]
fn synthetic_messages_of_the_ai_sdk_have_its_form() {
    let hosts = [json!({ "role": "user", "content": "first" }), results()];
    let part = |output: Value| json!({ "role": "tool", "content": [{ "type": "tool-result", "toolCallId": "t", "toolName": "bash", "output": output }] });
    made(AI, result("t"), &hosts, part(json!({ "type": "error-text", "value": "aborted" })), &[]);
    let mut expected = part(Value::Null);
    expected["content"][0]["toolCallId"] = "n".into();
    made(AI, moved(1, 1), &hosts, expected, &[("/content/0/output", 1, "/content/1/output")]);
    let hosts = [
        json!({ "id": "u", "role": "user", "parts": [{ "type": "text", "text": "a" }] }),
        json!({ "id": "v", "role": "user", "parts": [{ "type": "text", "text": "b" }, { "type": "text", "text": "c" }] }),
    ];
    let parts = json!([{ "type": "text", "text": "head" }, null, null]);
    let copies = [("/parts/1", 0, "/parts/0"), ("/parts/2", 1, "/parts/1")];
    let written = r#"[{"type":"text","text":"head"},null,null]"#;
    let id = format!("plimsoll-{:x}", crate::hash::fnv(written.bytes()));
    let expected = json!({ "id": id, "role": "user", "parts": parts });
    made(AI, head(), &hosts, expected, &copies);
    flawed(
        AI,
        r#"{"role":"model","content":""}"#,
        "/role",
        "\"user\", \"assistant\", \"system\" or \"tool\"",
    );
    flawed(AI, r#"{"role":"user","content":[{"type":"text"}]}"#, "/content/0/text", "a string");
}

/// An instance, as the facade writes it.
fn instance() -> Value {
    json!({ "@@toStringTag": "AIMessageChunk", "lc_namespace": ["langchain_core", "messages"], "type": "ai", "id": "m",
        "content": [
            { "type": "text", "text": "I look." },
            { "type": "tool_use", "id": "c1", "name": "read", "input": { "path": "a" } },
        ],
        "tool_calls": [
            { "id": "c1", "name": "read", "args": { "path": "a" }, "type": "tool_call" },
            { "id": "c2", "name": "ls", "args": {}, "type": "tool_call" },
        ],
        "tool_call_chunks": [{ "id": "c1", "name": "read", "args": "{\"path\":\"a\"}", "index": 0 }],
        "invalid_tool_calls": [],
        "additional_kwargs": { "tool_calls": [
            { "id": "c1", "type": "function", "function": { "name": "read", "arguments": "{\"path\":\"a\"}" } },
            { "id": "c2", "type": "function", "function": { "name": "ls", "arguments": "{}" } },
        ] },
        "response_metadata": {},
    })
}

/// I30: what replaces arguments stands where they are read.
#[test]
fn a_langchain_call_as_openai_writes_it_is_changed_in_its_function() {
    let with = |arguments: &str| {
        json!({ "role": "assistant", "content": "", "tool_calls": [
            { "id": "c", "type": "function", "function": { "name": "read", "arguments": arguments } },
        ] })
    };
    let bad = with("{\"path\":\"a\"fold}");
    let call = outline(LC, &bad).pieces.iter().position(|it| it.kind == Kind::Call).unwrap();
    let what = What::Arguments(ours(json!({})));
    edited(LC, bad, vec![(u32::try_from(call).unwrap(), what)], with("{}"));
}

/// I30, I4: calls under one id, written in two ways in one list, are changed each for itself.
#[test]
fn langchain_calls_written_in_two_ways_are_changed_each_in_its_place() {
    let with = |id: &str, arguments: &str| {
        json!({ "role": "assistant", "content": "", "tool_calls": [
            { "id": "c", "type": "tool_call", "name": "read", "args": { "path": "a" } },
            { "id": id, "type": "function", "function": { "name": "read", "arguments": arguments } },
        ] })
    };
    let bad = with("c", "{\"path\":\"b\"}*");
    let pieces = outline(LC, &bad).pieces;
    let calls = (0_u32..).zip(&pieces).filter(|(_, it)| it.kind == Kind::Call);
    let [first, second] = calls.map(|(at, _)| at).collect::<Vec<_>>()[..] else { panic!("calls") };
    let changes = vec![(second, What::Id("d".into())), (second, What::Arguments(ours(json!({}))))];
    edited(LC, bad.clone(), changes, with("d", "{}"));
    let mut expected = bad.clone();
    expected["tool_calls"][0]["args"] = json!({});
    edited(LC, bad, vec![(first, What::Arguments(ours(json!({}))))], expected);
}

#[test]
fn langchain_instances_are_read_and_a_call_counts_once() {
    reads(
        LC,
        &instance(),
        &[
            "Assistant",
            "Text /content/0 \"I look.\"",
            "Other /content/1 \"\" c1 input",
            "Other /additional_kwargs/tool_calls/0 \"\" c1 =function/arguments",
            "Other /additional_kwargs/tool_calls/1 \"\" c2 =function/arguments",
            "Other /tool_call_chunks/0 \"\" c1 =args",
            "Call /tool_calls/0 \"{\\\"path\\\":\\\"a\\\"}\" c1 read",
            "Call /tool_calls/1 \"{}\" c2 ls",
        ],
    );
    let tool = json!({ "@@toStringTag": "ToolMessage", "lc_namespace": [], "content": [{ "type": "text", "text": "x" }],
        "tool_call_id": "c1", "name": "read", "status": "error", "artifact": { "rows": 1 } });
    reads(LC, &tool, &["Tool", "Result /content \"x\" error c1 read"]);
    let alone = json!({ "type": "ai", "content": [{ "type": "tool_use", "id": "c", "name": "n", "input": "{" }], "tool_calls": [] });
    let call = "Call /content/0 \"{\" bad c n";
    reads(LC, &alone, &["Assistant", "Other /content/0 \"\" c =input", call]);
    let remove = json!({ "type": "remove", "id": "m", "content": [] });
    reads(LC, &remove, &["User"]);
    let thinks = json!({ "type": "ai", "content": [
        { "type": "thinking", "thinking": "hm", "signature": "s" }, { "type": "reasoning", "reasoning": "so" }, { "type": "image_url", "image_url": "data:," },
    ], "additional_kwargs": { "reasoning_content": "hm" } });
    reads(
        LC,
        &thinks,
        &[
            "Assistant",
            "Thinking /additional_kwargs/reasoning_content \"hm\"",
            "Thinking /content/0 \"hm\" opaque",
            "Thinking /content/1 \"so\" opaque",
            "Image /content/2 \"\" image",
        ],
    );
    let google = json!({ "type": "ai", "content": [{ "type": "functionCall", "functionCall": { "name": "n", "args": {} } }],
        "tool_calls": [{ "id": "g", "name": "n", "args": {} }] });
    let mirror = "Other /content/0 \"\" g functionCall/args";
    reads(LC, &google, &["Assistant", mirror, "Call /tool_calls/0 \"{}\" g n"]);
}

#[test]
fn a_call_in_an_unread_place_is_left_alone() {
    for elsewhere in [
        json!({ "additional_kwargs": { "signatures": { "c": "sig" } } }),
        json!({ "response_metadata": { "output": [{ "type": "function_call", "call_id": "c" }] } }),
        json!({ "response_metadata": { "output": [{ "type": "message" }] } }),
        json!({ "content": [{ "type": "input_json_delta", "index": 0, "input": "{" }] }),
        json!({ "tool_call_chunks": [{ "id": "c", "args": "{" }, { "index": 0, "args": "}" }] }),
    ] {
        let mut message = json!({ "type": "ai", "content": "", "tool_calls": [{ "id": "c", "name": "n", "args": {} }] });
        for (key, value) in elsewhere.as_object().unwrap() {
            message[key] = value.clone();
        }
        let pieces = outline(LC, &message).pieces;
        let call = pieces.iter().find(|piece| piece.kind == Kind::Call).unwrap();
        assert!(call.opaque, "{message}");
    }
}

#[test]
fn items_of_openai_that_are_nowhere_else_are_read() {
    let asks = json!({ "type": "mcp_approval_request", "id": "m", "arguments": "{}" });
    let shell = json!({ "type": "local_shell_call", "call_id": "s", "action": {} });
    let elsewhere = [
        json!({ "type": "message", "content": [] }),
        json!({ "type": "function_call", "call_id": "c" }),
        json!({ "type": "reasoning", "summary": [] }),
    ];
    let items = json!([elsewhere[0], asks, elsewhere[1], shell, elsewhere[2]]);
    for (beside, place) in [
        (json!({ "response_metadata": { "output": items } }), "/response_metadata/output"),
        (
            json!({ "additional_kwargs": { "tool_outputs": items } }),
            "/additional_kwargs/tool_outputs",
        ),
    ] {
        let mut message = json!({ "type": "ai", "content": [] });
        for (key, value) in beside.as_object().unwrap() {
            message[key] = value.clone();
        }
        let expected = [
            "Assistant".to_owned(),
            format!("Other {place} {:?} opaque", asks.to_string()),
            format!("Call {place} {:?} opaque s local_shell_call", shell.to_string()),
        ];
        reads(LC, &message, &expected.each_ref().map(String::as_str));
        let mut emptied = message.clone();
        let (list, name) = place.rsplit_once('/').unwrap();
        emptied.pointer_mut(list).unwrap().as_object_mut().unwrap().remove(name);
        edited(LC, message, drop_all(&[0, 1]), emptied);
    }
    let shown = json!({ "type": "tool", "tool_call_id": "c", "content": [{ "type": "text", "text": "x" }],
        "additional_kwargs": { "type": "computer_call_output" } });
    reads(LC, &shown, &["Tool", "Result /content \"x\" opaque c"]);
}

#[test]
fn a_call_is_changed_wherever_it_is() {
    let mut expected = instance();
    expected["content"][1]["id"] = "n".into();
    expected["content"][1]["input"] = json!({ "cut": "…" });
    expected["tool_calls"][0]["id"] = "n".into();
    expected["tool_calls"][0]["args"] = json!({ "cut": "…" });
    expected["tool_call_chunks"][0]["id"] = "n".into();
    expected["tool_call_chunks"][0]["args"] = "{\"cut\":\"…\"}".into();
    let raw = &mut expected["additional_kwargs"]["tool_calls"][0];
    raw["id"] = "n".into();
    raw["function"]["arguments"] = "{\"cut\":\"…\"}".into();
    let changes =
        vec![(5, What::Arguments(ours(json!({ "cut": "…" })))), (5, What::Id("n".into()))];
    edited(LC, instance(), changes, expected);
    let mut expected = instance();
    expected["content"].as_array_mut().unwrap().pop();
    expected["tool_calls"].as_array_mut().unwrap().remove(0);
    expected["tool_call_chunks"] = json!([]);
    expected["additional_kwargs"]["tool_calls"].as_array_mut().unwrap().remove(0);
    edited(LC, instance(), drop_all(&[5]), expected);
    let mut expected = instance();
    expected["content"] = "(omitted)".into();
    for list in ["tool_calls", "tool_call_chunks"] {
        expected[list] = json!([]);
    }
    expected["additional_kwargs"]["tool_calls"] = json!([]);
    edited(LC, instance(), drop_all(&[0, 5, 6]), expected);
    // Without an id the name tells which call it is once more.
    let nameless = |id: &str| {
        json!({ "type": "ai", "content": [{ "type": "tool_use", "id": id, "name": "n", "input": {} }],
            "tool_calls": [{ "id": id, "name": "n", "args": {} }] })
    };
    edited(LC, nameless(""), vec![(1, What::Id("call".into()))], nameless("call"));
    let twice = json!({ "type": "ai", "content": "", "tool_calls": [{ "id": "c", "name": "n", "args": {} }, { "id": "c", "name": "n", "args": {} }],
        "additional_kwargs": { "tool_calls": [
            { "id": "c", "function": { "name": "n", "arguments": "{}" } }, { "id": "c", "function": { "name": "n", "arguments": "{}" } },
        ] } });
    let mut expected = twice.clone();
    expected["tool_calls"][1]["id"] = "c_2".into();
    expected["additional_kwargs"]["tool_calls"][1]["id"] = "c_2".into();
    edited(LC, twice, vec![(3, What::Id("c_2".into()))], expected);
    let alone = json!({ "type": "ai", "content": [{ "type": "tool_use", "id": "c", "name": "n", "input": "{" }, { "type": "text", "text": "t" }] });
    let mended = json!({ "type": "ai", "content": [{ "type": "tool_use", "id": "c", "name": "n", "input": "{}" }, { "type": "text", "text": "t" }] });
    let number = outline(LC, &alone).pieces.len() - 1;
    let number = u32::try_from(number).unwrap();
    edited(LC, alone.clone(), vec![(number, What::Arguments(ours(json!({}))))], mended);
    edited(
        LC,
        alone,
        drop_all(&[number]),
        json!({ "type": "ai", "content": [{ "type": "text", "text": "t" }] }),
    );
}

#[test]
fn serialized_langchain_messages_are_edited_in_place_and_recognized_again() {
    let own = json!({ "type": "tool", "content": "long", "tool_call_id": "c", "status": "error" });
    let fields =
        json!({ "content": "long", "tool_call_id": "c", "status": "error", "artifact": 1 });
    let written = json!({ "lc": 1, "type": "constructor", "id": ["langchain_core", "messages", "ToolMessage"], "kwargs": fields });
    let stored = json!({ "type": "tool", "data": fields });
    let print = |message: &Value| fingerprint(&LC.read(message.to_string().as_bytes(), 0).unwrap());
    assert_eq!((print(&own), print(&written)), (print(&stored), print(&stored)));
    for (message, root) in [(own, ""), (written, "/kwargs"), (stored, "/data")] {
        let mut expected = message.clone();
        let fields = expected.pointer_mut(root).unwrap();
        fields["content"] = "stub".into();
        fields["tool_call_id"] = "n".into();
        edited(LC, message.clone(), vec![text(0, "stub"), (0, What::Id("n".into()))], expected);
        let content = format!("{root}/content");
        let (made, copied) = LC.make(&moved(0, 0), |_| None);
        assert_eq!((&tree(&made)["type"], copied.len()), (&"tool".into(), 0));
        let host = outline(LC, &message);
        let (made, copied) = LC.make(&moved(0, 0), |at| (at == 0.into()).then_some(&host));
        assert_eq!(tree(&made).pointer(&content), Some(&Value::Null));
        assert_eq!((copied[0].path.as_str(), copied[0].from.as_str()), (&*content, &*content));
    }
    let chunk = instance();
    let mut plain = chunk.clone();
    let members = plain.as_object_mut().unwrap();
    for gone in ["@@toStringTag", "lc_namespace", "tool_call_chunks"] {
        members.remove(gone);
    }
    assert_eq!(print(&chunk), print(&plain));
}

#[test]
fn synthetic_messages_of_langchain_have_its_form() {
    let hosts = [
        json!({ "type": "human", "content": "a" }),
        json!({ "type": "human", "content": [{ "type": "text", "text": "b" }, { "type": "text", "text": "c" }] }),
    ];
    let content =
        json!([{ "type": "text", "text": "head" }, { "type": "text", "text": null }, null]);
    let copies = [("/content/1/text", 0, "/content"), ("/content/2", 1, "/content/1")];
    made(LC, head(), &hosts, json!({ "type": "human", "content": content }), &copies);
    let tool = json!({ "type": "tool", "tool_call_id": "t", "name": "bash", "content": "aborted", "status": "error" });
    made(LC, result("t"), &hosts, tool, &[]);
    let legacy = json!({ "type": "function", "name": "bash", "content": "aborted" });
    made(LC, result(""), &hosts, legacy, &[]);
    let allowed = "\"human\", \"ai\", \"system\", \"developer\", \"tool\", \"function\", \"generic\" or \"remove\"";
    flawed(LC, r#"{"type":"x","content":""}"#, "/type", allowed);
    flawed(
        LC,
        r#"{"lc":1,"id":["AIMessage"],"kwargs":{"content":5}}"#,
        "/kwargs/content",
        "a string or an array of blocks",
    );
}
