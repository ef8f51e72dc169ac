//! Real sessions with pieces cut out, mended as JSON in every format: what goes out is valid when it is read again.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    reason = "a test reads files, says what it skips and may fail"
)]

use std::fs;
use std::path::Path;

use plimsoll::format::{Change, Format, What};
use plimsoll::model::{Fix, FixKind, Made, Op, Outline};
use plimsoll::validity::{Options, Provider, check, mend};
use serde_json::{Value, json};

fn sessions(folder: &str) -> Vec<Vec<Value>> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/sessions"));
    if !root.is_dir() {
        println!("skipped: ../shared is absent");
        return Vec::new();
    }
    let files = fs::read_dir(root.join(folder)).unwrap().map(|file| file.unwrap().path());
    let texts = files.map(|file| fs::read_to_string(file).unwrap());
    let messages = texts.flat_map(|text| {
        if let Ok(whole) = serde_json::from_str::<Value>(&text) {
            let holders = whole.as_array().cloned().unwrap_or_else(|| vec![whole.clone()]);
            let of = |holder: &Value| {
                let list = ["traj", "messages"].iter().find_map(|key| holder.get(key));
                list.unwrap().as_array().unwrap().clone()
            };
            return holders.iter().map(of).take(15).collect::<Vec<_>>();
        }
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        vec![
            lines
                .filter_map(|line| line.get("message").filter(|m| m.is_object()).cloned())
                .collect(),
        ]
    });
    messages.collect()
}

fn outlines(format: Format, messages: &[Value]) -> Vec<Outline> {
    let read = |(index, message): (u32, &Value)| {
        let bytes = serde_json::to_vec(message).unwrap();
        format.read(&bytes, index).unwrap_or_else(|error| panic!("{error}: {message}")).outline()
    };
    (0u32..).zip(messages).map(read).collect()
}

/// A value of the core's as a tree.
fn tree(value: &plimsoll::json::Value) -> Value {
    serde_json::from_str(value.get()).unwrap()
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
    let (value, copied) = format.make(made, |index| outlines.get(index as usize));
    let mut value = tree(&value);
    for copy in copied {
        let from = messages[copy.index as usize].pointer(&copy.from);
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
        for fix in fixes.iter().filter(|fix| fix.index == index) {
            let (piece, what) = match &fix.kind {
                FixKind::Before(made) => {
                    before.push(make(format, made, outlines, messages));
                    continue;
                }
                FixKind::After(made) => {
                    after.push(make(format, made, outlines, messages));
                    continue;
                }
                FixKind::Drop { piece } => {
                    dropped += 1;
                    (piece, What::Drop)
                }
                FixKind::Rename { piece, id } => (piece, What::Id(id.clone())),
                FixKind::Text { piece, text: Some(text) } => (piece, What::Text(text.clone())),
                FixKind::Text { piece, text: None } => (piece, What::Text(text(piece))),
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

/// As it is, cut off at the start and at the end, and with every seventh message missing.
fn check_folder(folder: &str, format: Format, provider: Provider) {
    let (mut fixes, mut whole) = (0, 0);
    for messages in sessions(folder) {
        whole += check_mended(format, provider, &messages);
        let third = messages.len() / 3;
        for part in [&messages[..2 * third], &messages[third + 1..], &messages[1..third]] {
            fixes += check_mended(format, provider, part);
        }
        for skipped in [1, 4] {
            let numbered = messages.iter().enumerate().filter(|(at, _)| at % 7 != skipped);
            let holed: Vec<_> = numbered.map(|(_, message)| message.clone()).collect();
            fixes += check_mended(format, provider, &holed);
        }
    }
    println!("{folder} for {}: {whole} fixes whole, {fixes} in pieces", provider.name());
}

#[test]
fn anthropic() {
    check_folder("claude-code", Format::Anthropic, Provider::Anthropic);
    check_folder("anthropic-messages", Format::Anthropic, Provider::Anthropic);
}

#[test]
fn openai_chat() {
    check_folder("openai-messages", Format::OpenAiChat, Provider::OpenAiChat);
    check_folder("tau-openai", Format::OpenAiChat, Provider::OpenAiChat);
}

#[test]
fn pi() {
    check_folder("pi", Format::Pi, Provider::Anthropic);
    check_folder("pi", Format::Pi, Provider::OpenAiChat);
}

#[test]
fn half_characters_in_every_string_are_mended() {
    let half = "cut \u{fffd}";
    let anthropic = json!([
        { "role": "user", "content": half },
        { "role": "assistant", "content": [{ "type": "text", "text": half }, { "type": "tool_use", "id": half, "name": "n", "input": { "x": half } }] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": half, "content": half }] },
    ]);
    let openai = json!([
        { "role": "user", "content": half },
        { "role": "assistant", "content": half, "tool_calls": [{ "id": half, "type": "function", "function": { "name": "n", "arguments": half } }] },
        { "role": "tool", "tool_call_id": half, "content": half },
    ]);
    let pi = json!([
        { "role": "user", "content": half },
        { "role": "assistant", "content": [{ "type": "text", "text": half }, { "type": "toolCall", "id": half, "name": "n", "arguments": { "x": half } }] },
        { "role": "toolResult", "toolCallId": half, "toolName": "n", "content": [{ "type": "text", "text": half }], "isError": false },
    ]);
    for (format, provider, messages) in [
        (Format::Anthropic, Provider::Anthropic, anthropic),
        (Format::OpenAiChat, Provider::OpenAiChat, openai),
        (Format::Pi, Provider::Anthropic, pi),
    ] {
        let messages = messages.as_array().unwrap();
        let read: Vec<_> = (0u32..)
            .zip(messages)
            .map(|(index, message)| {
                let broken = message.to_string().replace('\u{fffd}', "\\ud83d");
                format.read(broken.as_bytes(), index).unwrap().outline()
            })
            .collect();
        let fixes = mend(&read, provider);
        let rules: Vec<_> = fixes.iter().map(|fix| fix.violation.rule).collect();
        assert!(rules.iter().filter(|rule| **rule == "I26").count() >= 4, "{rules:?}");
        let mended = carry_out(format, messages, &read, &fixes);
        let again = outlines(format, &mended);
        assert_eq!(check(&again, provider, Options::default()), []);
        assert_eq!(mended.len(), 3);
    }
}
