//! Real sessions with pieces cut out, mended as JSON in every format: what goes out is valid when it is read again.

use std::fs;
use std::path::Path;

use crate::halves::{HALF, broken, halves};
use crate::messages::{pieces, sessions};
use plimsoll::format::{Change, Format, What};
use plimsoll::model::{Fix, FixKind, Made, Op, Outline};
use plimsoll::validity::{Options, Provider, check, mend, mend_with};
use serde_json::{Value, json};

fn outlines(format: Format, messages: &[Value]) -> Vec<Outline> {
    let read = |(index, message): (u32, &Value)| {
        let bytes = serde_json::to_vec(message).unwrap();
        format.read(&bytes, index).unwrap_or_else(|error| panic!("{error}: {message}")).outline()
    };
    (0u32..).zip(messages).map(read).collect()
}

/// A value of the core's as a tree.
fn tree(value: &plimsoll::json::Value) -> Value {
    serde_json::from_str(value.json()).unwrap()
}

fn apply(value: &mut Value, op: &Op) {
    let (Op::Add { path, .. } | Op::Replace { path, .. } | Op::Remove { path }) = op;
    let (parent, key) = path.rsplit_once('/').unwrap();
    match (op, value.pointer_mut(parent).unwrap()) {
        (Op::Remove { .. }, Value::Array(items)) => drop(items.remove(key.parse().unwrap())),
        (Op::Remove { .. }, Value::Object(map)) => drop(map.remove(key).unwrap()),
        (Op::Add { value, .. } | Op::Replace { value, .. }, Value::Object(map)) => {
            drop(map.insert(key.into(), tree(value)));
        }
        (Op::Replace { value, .. }, Value::Array(items)) => {
            items[key.parse::<usize>().unwrap()] = tree(value);
        }
        other => panic!("{other:?}"),
    }
}

fn make(format: Format, made: &Made, outlines: &[Outline], messages: &[Value]) -> Value {
    let (value, copied) = format.make(made, |index| outlines.get(index.index()));
    let mut value = tree(&value);
    for copy in copied {
        let from = messages[copy.index.index()].pointer(&copy.from);
        *value.pointer_mut(&copy.path).unwrap() = from.unwrap().clone();
    }
    value
}

/// Carries fixes out on the messages, as a host's view does.
fn carry_out(
    format: Format,
    messages: &[Value],
    outlines: &[Outline],
    fixes: &[Fix],
) -> Vec<Value> {
    let mut out = Vec::new();
    for (index, (message, outline)) in (0u32..).zip(messages.iter().zip(outlines)) {
        let bytes = serde_json::to_vec(message).unwrap();
        let draft = format.read(&bytes, index).unwrap();
        let text = |piece: &u32| draft.parts[*piece as usize].text.to_string();
        let (mut changes, mut before, mut after) = (Vec::new(), Vec::new(), Vec::new());
        let mut dropped = 0;
        for fix in fixes.iter().filter(|fix| fix.index.get() == index) {
            let (piece, what) = match &fix.kind {
                FixKind::Before(made) => {
                    before.push(make(format, made, outlines, messages));
                    continue;
                }
                FixKind::After(made) => {
                    after.push(make(format, made, outlines, messages));
                    continue;
                }
                FixKind::Unmark { .. } | FixKind::AsUser | FixKind::Turn => continue,
                FixKind::Drop { piece } => {
                    dropped += 1;
                    (piece, What::Drop)
                }
                FixKind::Rename { piece, id } => (piece, What::Id(id.clone())),
                FixKind::Text { piece, text: Some(text) } => (piece, What::Text(text.clone())),
                FixKind::Text { piece, text: None } => (piece, What::Hollow),
                FixKind::Unicode { piece } => {
                    (piece, What::Strings(draft.parts[*piece as usize].mended.clone()))
                }
                FixKind::Sign { piece } => (piece, What::Sign),
                FixKind::Arguments { piece } => {
                    let object = serde_json::from_str::<Value>(&text(piece)).ok();
                    let object = object.filter(Value::is_object).unwrap_or_else(|| json!({}));
                    (piece, What::Arguments(plimsoll::json::Value::raw(object.to_string())))
                }
            };
            changes.push(Change { piece: *piece, what });
        }
        out.append(&mut before);
        if dropped == 0 || dropped < outline.pieces.len() {
            let mut message = message.clone();
            for op in format.edit(outline, &changes) {
                apply(&mut message, &op);
            }
            out.push(message);
        }
        out.append(&mut after);
    }
    out
}

#[track_caller]
fn check_mended(format: Format, provider: Provider, messages: &[Value]) -> usize {
    let read = outlines(format, messages);
    let fixes = mend(&read, provider);
    let mended = carry_out(format, messages, &read, &fixes);
    let again = outlines(format, &mended);
    let left = check(&again, provider, Options::default());
    assert!(left.is_empty(), "{left:?}\nafter {fixes:?}");
    if fixes.is_empty() {
        assert_eq!(mended, messages);
    }
    fixes.len()
}

fn check_pieces(format: Format, provider: Provider, messages: &[Value]) -> usize {
    pieces(messages).iter().map(|it| check_mended(format, provider, it)).sum()
}

/// As it is, and in pieces.
fn check_folder(folder: &str, format: Format, provider: Provider) {
    let (mut fixes, mut unchanged) = (0, 0);
    for messages in sessions(folder) {
        unchanged += check_mended(format, provider, &messages);
        fixes += check_pieces(format, provider, &messages);
    }
    println!("{folder} for {}: {unchanged} fixes whole, {fixes} in pieces", provider.name());
}

#[test]
fn cut_and_broken_anthropic_sessions_are_repaired() {
    check_folder("claude-code", Format::Anthropic, Provider::Anthropic);
    check_folder("anthropic-messages", Format::Anthropic, Provider::Anthropic);
}

#[test]
fn cut_and_broken_openai_chat_sessions_are_repaired() {
    check_folder("openai-messages", Format::OpenAiChat, Provider::OpenAiChat);
    check_folder("tau-openai", Format::OpenAiChat, Provider::OpenAiChat);
}

#[test]
fn cut_and_broken_pi_sessions_are_repaired() {
    check_folder("pi", Format::Pi, Provider::Anthropic);
    check_folder("pi", Format::Pi, Provider::OpenAiChat);
}

#[test]
fn half_characters_in_every_string_are_repaired() {
    let (half, [anthropic, openai, pi]) = (HALF, halves());
    let ai_sdk = json!([
        { "role": "user", "content": half },
        { "role": "assistant", "content": [{ "type": "text", "text": half }, { "type": "tool-call", "toolCallId": half, "toolName": "n", "input": { "x": half } }] },
        { "role": "tool", "content": [{ "type": "tool-result", "toolCallId": half, "toolName": "n", "output": { "type": "text", "value": half } }] },
    ]);
    let shown = json!([
        { "id": "1", "role": "user", "parts": [{ "type": "text", "text": half }] },
        { "id": "2", "role": "assistant", "parts": [{ "type": "text", "text": half }, { "type": "tool-n", "toolCallId": half, "state": "output-available", "input": { "x": half }, "output": half }] },
    ]);
    let langchain = json!([
        { "type": "human", "content": half },
        { "type": "ai", "content": half, "tool_calls": [{ "id": half, "name": "n", "args": { "x": half } }] },
        { "type": "tool", "tool_call_id": half, "content": half },
    ]);
    let responses = json!([
        { "role": "user", "content": half },
        { "type": "reasoning", "id": "rs_1", "summary": [{ "type": "summary_text", "text": half }], "encrypted_content": "g" },
        { "type": "function_call", "call_id": half, "name": "n", "arguments": half },
        { "type": "function_call_output", "call_id": half, "output": half },
    ]);
    let gemini = json!([
        { "role": "user", "parts": [{ "text": half }] },
        { "role": "model", "parts": [{ "text": half }, { "functionCall": { "id": half, "name": "n", "args": { "x": half } } }] },
        { "role": "user", "parts": [{ "functionResponse": { "id": half, "name": "n", "response": { "output": half } } }] },
    ]);
    for (format, provider, messages) in [
        (Format::OpenAiResponses, Provider::OpenAiResponses, responses),
        (Format::Gemini, Provider::Gemini, gemini),
        (Format::Anthropic, Provider::Anthropic, anthropic),
        (Format::OpenAiChat, Provider::OpenAiChat, openai),
        (Format::Pi, Provider::Anthropic, pi),
        (Format::AiSdk, Provider::Anthropic, ai_sdk),
        (Format::AiSdk, Provider::OpenAiChat, shown),
        (Format::LangChain, Provider::Anthropic, langchain),
    ] {
        let messages = messages.as_array().unwrap();
        let outline =
            |(index, text): (u32, String)| format.read(text.as_bytes(), index).unwrap().outline();
        let read: Vec<_> = (0u32..).zip(broken(messages)).map(outline).collect();
        let fixes = mend(&read, provider);
        let rules: Vec<_> = fixes.iter().map(|fix| fix.violation.rule).collect();
        assert!(rules.iter().filter(|rule| **rule == "I26").count() >= 4, "{rules:?}");
        let mended = carry_out(format, messages, &read, &fixes);
        let again = outlines(format, &mended);
        assert_eq!(check(&again, provider, Options::default()), []);
        assert_eq!(mended.len(), messages.len());
    }
}

/// What a provider refused, by the thread that reports it: the rule is named, and after the mending nothing is left.
fn check_threads(name: &str, format: Format, provider: Provider) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let cases: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    for case in cases.as_array().unwrap() {
        let thread = case["thread"].as_str().unwrap();
        let messages = case["messages"].as_array().unwrap();
        let thinking = case["thinking"] == true;
        let options = Options { thinking, ..Options::default() };
        let read = outlines(format, messages);
        let found = check(&read, provider, options);
        match case["rule"].as_str() {
            Some(rule) => assert!(found.iter().any(|it| it.rule == rule), "{thread}: {found:?}"),
            None => assert_eq!(found, [], "{thread}"),
        }
        let fixes = mend_with(&read, provider, options);
        let mended = carry_out(format, messages, &read, &fixes);
        let left = check(&outlines(format, &mended), provider, options);
        assert_eq!(left, [], "{thread}: {mended:?}");
        assert_eq!(fixes.is_empty(), *messages == mended, "{thread}");
    }
}

#[test]
fn transcripts_that_responses_refused_are_repaired() {
    check_threads("openai-responses.json", Format::OpenAiResponses, Provider::OpenAiResponses);
}

#[test]
fn transcripts_that_gemini_refused_are_repaired() {
    check_threads("gemini.json", Format::Gemini, Provider::Gemini);
}

#[test]
fn openai_sessions_written_for_responses_and_gemini_are_repaired() {
    for (folder, take) in [("openai-messages", 20), ("tau-openai", 40)] {
        for chat in sessions(folder).iter().take(take) {
            let responses = as_responses(chat);
            let gemini = as_gemini(chat);
            check_pieces(Format::OpenAiResponses, Provider::OpenAiResponses, &responses);
            check_pieces(Format::Gemini, Provider::Gemini, &gemini);
        }
    }
}

/// A Chat session as Responses' items: reasoning before each turn of calls.
fn as_responses(chat: &[Value]) -> Vec<Value> {
    let mut items = Vec::new();
    for (at, message) in chat.iter().enumerate() {
        if message["role"] == "tool" {
            items.push(json!({ "type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"] }));
            continue;
        }
        let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
        if !calls.is_empty() {
            items.push(json!({ "type": "reasoning", "id": format!("rs_{at}"), "summary": [], "encrypted_content": "gAAA" }));
        }
        if let Some(text) = message["content"].as_str().filter(|text| !text.is_empty()) {
            items.push(json!({ "type": "message", "role": message["role"], "content": text }));
        }
        for call in calls {
            let (name, arguments) = (&call["function"]["name"], &call["function"]["arguments"]);
            items.push(json!({ "type": "function_call", "call_id": call["id"], "name": name, "arguments": arguments }));
        }
    }
    items
}

#[test]
fn openai_sessions_written_for_two_sdks_are_repaired() {
    for (folder, take) in [("openai-messages", 20), ("tau-openai", 30)] {
        for chat in sessions(folder).iter().take(take) {
            for (format, messages) in [
                (Format::AiSdk, as_model_messages(chat)),
                (Format::AiSdk, as_shown(chat)),
                (Format::LangChain, as_langchain(chat, "")),
                (Format::LangChain, as_langchain(chat, "kwargs")),
                (Format::LangChain, as_langchain(chat, "data")),
            ] {
                for provider in [Provider::Anthropic, Provider::OpenAiChat] {
                    check_mended(format, provider, &messages);
                    check_pieces(format, provider, &messages);
                }
            }
        }
    }
}

/// The arguments of a Chat call as an object.
fn input(call: &Value) -> Value {
    let text = call["function"]["arguments"].as_str().unwrap_or("{}");
    serde_json::from_str(text).unwrap_or_default()
}

/// A Chat session as the AI SDK's `ModelMessage`s.
fn as_model_messages(chat: &[Value]) -> Vec<Value> {
    let turn = |message: &Value| {
        let text = message["content"].as_str().unwrap_or_default();
        if message["role"] == "tool" {
            let output = json!({ "type": "text", "value": text });
            return json!({ "role": "tool", "content": [
                { "type": "tool-result", "toolCallId": message["tool_call_id"], "toolName": "t", "output": output },
            ] });
        }
        let mut content = vec![json!({ "type": "text", "text": text })];
        content.retain(|part| part["text"] != "");
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            content.push(json!({ "type": "tool-call", "toolCallId": call["id"], "toolName": call["function"]["name"], "input": input(call) }));
        }
        json!({ "role": message["role"], "content": content })
    };
    let messages = chat.iter().map(turn);
    messages
        .map(|message| match message["role"].as_str() {
            Some("system") => {
                json!({ "role": "system", "content": message["content"][0]["text"] })
            }
            _ => message,
        })
        .collect()
}

/// A Chat session as the AI SDK shows it: what stands between two of the user's messages is one, its calls with results.
fn as_shown(chat: &[Value]) -> Vec<Value> {
    let mut shown: Vec<Value> = Vec::new();
    for (at, message) in chat.iter().enumerate() {
        let text = message["content"].as_str().unwrap_or_default();
        if message["role"] == "tool" {
            let parts = shown.last_mut().and_then(|last| last["parts"].as_array_mut());
            let mut parts = parts.into_iter().flatten();
            let open = |part: &&mut Value| {
                part["toolCallId"] == message["tool_call_id"] && part["state"] == "input-available"
            };
            if let Some(part) = parts.find(open) {
                part["state"] = "output-available".into();
                part["output"] = text.into();
            }
            continue;
        }
        let mut parts = vec![json!({ "type": "text", "text": text })];
        parts.retain(|part| part["text"] != "");
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let kind = format!("tool-{}", call["function"]["name"].as_str().unwrap_or("t"));
            parts.push(json!({ "type": kind, "toolCallId": call["id"], "state": "input-available", "input": input(call) }));
        }
        let role = message["role"].clone();
        match shown.last_mut().filter(|last| role == "assistant" && last["role"] == role) {
            Some(last) => {
                let all = last["parts"].as_array_mut().unwrap();
                all.push(json!({ "type": "step-start" }));
                all.append(&mut parts);
            }
            None => shown.push(json!({ "id": at.to_string(), "role": role, "parts": parts })),
        }
    }
    shown
}

/// A Chat session as `LangChain`'s messages, in the object under which they are written; calls stand in two places.
fn as_langchain(chat: &[Value], under: &str) -> Vec<Value> {
    let turn = |message: &Value| {
        let mut body = json!({ "content": message["content"].as_str().unwrap_or_default() });
        let (kind, class) = match message["role"].as_str() {
            Some("assistant") => ("ai", "AIMessage"),
            Some("tool") => ("tool", "ToolMessage"),
            Some("system") => ("system", "SystemMessage"),
            _ => ("human", "HumanMessage"),
        };
        if kind == "tool" {
            body["tool_call_id"] = message["tool_call_id"].clone();
        }
        if let Some(raw) = message["tool_calls"].as_array() {
            let call = |call: &Value| json!({ "id": call["id"], "name": call["function"]["name"], "args": input(call) });
            body["tool_calls"] = raw.iter().map(call).collect();
            body["additional_kwargs"] = json!({ "tool_calls": raw });
        }
        match under {
            "kwargs" => json!({ "lc": 1, "type": "constructor", "id": [class], "kwargs": body }),
            "data" => json!({ "type": kind, "data": body }),
            _ => {
                body["type"] = kind.into();
                body
            }
        }
    };
    chat.iter().map(turn).collect()
}

/// A Chat session as Gemini's contents, without ids: the results of a turn in one content.
fn as_gemini(chat: &[Value]) -> Vec<Value> {
    let mut contents: Vec<Value> = Vec::new();
    for message in chat.iter().filter(|message| message["role"] != "system") {
        let mut parts = Vec::new();
        let text = message["content"].as_str().unwrap_or_default();
        if message["role"] == "tool" {
            let calls =
                chat.iter().flat_map(|it| it["tool_calls"].as_array().into_iter().flatten());
            let mut calls = calls.filter(|call| call["id"] == message["tool_call_id"]);
            let name = calls.next().map_or(Value::Null, |call| call["function"]["name"].clone());
            let part =
                json!({ "functionResponse": { "name": name, "response": { "output": text } } });
            match contents.last_mut() {
                Some(last) if last["parts"][0].get("functionResponse").is_some() => {
                    last["parts"].as_array_mut().unwrap().push(part);
                }
                _ => contents.push(json!({ "role": "user", "parts": [part] })),
            }
            continue;
        }
        if !text.is_empty() {
            parts.push(json!({ "text": text }));
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let arguments = call["function"]["arguments"].as_str().unwrap_or("{}");
            let args: Value = serde_json::from_str(arguments).unwrap_or_default();
            parts.push(
                json!({ "functionCall": { "name": call["function"]["name"], "args": args } }),
            );
        }
        let role = if message["role"] == "assistant" { "model" } else { "user" };
        contents.push(json!({ "role": role, "parts": parts }));
    }
    contents
}
