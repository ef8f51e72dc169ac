#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test reads files, prints what it skipped, and may fail loudly"
)]
//! Real sessions, counted and held against the counts of their manifest.
//!
//! A figure that differs from the manifest's stands in `DIFFERENCES` with the reason; anything else must agree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use plimsoll::format::Format;
use plimsoll::model::Kind;
use plimsoll::session::{SessionFile, read_session};
use serde_json::Value;

const SHARED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared");
const FORMATS: [&str; 6] =
    ["pi", "claude-code", "codex", "anthropic-messages", "openai-messages", "tau-openai"];

const MERGED: &str =
    "what the user said is part of the message that holds the results before it, as the API saw it";
const SUMMARY: &str = "the compaction's summary is in the record, not in the conversation: less by its length exactly";
const ANSWER: &str =
    "the log's own answer is a call that saw all messages; the manifest looks into messages only";

/// File, figure, ours, and why it is not the manifest's.
const DIFFERENCES: [(&str, &str, u64, &str); 18] = [
    ("claude-code/cipherbox-images-18.jsonl", "messages", 164, MERGED),
    ("claude-code/cipherbox-images-18.jsonl", "user_messages", 6, MERGED),
    ("claude-code/cipherbox-images-18.jsonl", "text_chars", 36_325 - 13_693, SUMMARY),
    ("claude-code/entire-progress-2330.jsonl", "messages", 312, MERGED),
    ("claude-code/entire-progress-2330.jsonl", "user_messages", 7, MERGED),
    ("claude-code/entire-progress-2330.jsonl", "text_chars", 61_565 - 17_468, SUMMARY),
    ("claude-code/entire-small.jsonl", "messages", 70, MERGED),
    ("claude-code/omp-591-calls.jsonl", "messages", 1220, MERGED),
    ("claude-code/omp-591-calls.jsonl", "user_messages", 19, MERGED),
    ("claude-code/omp-591-calls.jsonl", "text_chars", 91_721 - 20_833, SUMMARY),
    (
        "claude-code/omp-591-calls.jsonl",
        "tool_result_chars",
        344_931 - 54,
        "a tool_reference of 54 characters is no text; the manifest counts its JSON",
    ),
    (
        "codex/agentv-4mb.jsonl",
        "tool_result_chars",
        2_732_214 + 36_136,
        "three tool searches have their list of tools as their output; the manifest takes them for empty",
    ),
    (
        "anthropic-messages/cline-session.json",
        "max_input_tokens",
        51_852,
        "inputTokens holds the cached tokens already; the manifest adds them again",
    ),
    (
        "anthropic-messages/cline-session.json",
        "tool_result_chars",
        10_752,
        "results of the agent's own shape ({query, result, success}) are no text; the manifest counts their JSON",
    ),
    ("openai-messages/oh-sdk-sonnet4-fncall.json", "usage_records", 1, ANSWER),
    ("openai-messages/oh-sdk-sonnet4-fncall.json", "max_input_tokens", 6729, ANSWER),
    ("openai-messages/oh-sdk-sonnet4-fncall-2.json", "usage_records", 1, ANSWER),
    ("openai-messages/oh-sdk-sonnet4-fncall-2.json", "max_input_tokens", 6277, ANSWER),
];

type Counts = BTreeMap<&'static str, u64>;

fn shared(path: &str) -> Option<PathBuf> {
    let full = Path::new(SHARED).join("data/sessions").join(path);
    if full.exists() {
        return Some(full);
    }
    println!("skipped: ../shared is absent");
    None
}

fn manifest() -> Vec<Value> {
    let Some(path) = shared("manifest.json") else { return Vec::new() };
    let text = std::fs::read_to_string(path).expect("readable");
    let manifest: Value = serde_json::from_str(&text).expect("JSON");
    let files = manifest["files"].as_array().expect("files").clone();
    files
        .into_iter()
        .filter(|file| FORMATS.contains(&file["format"].as_str().expect("format")))
        .collect()
}

fn load(file: &Value) -> Vec<u8> {
    let path = shared(file["file"].as_str().expect("file")).expect("there");
    std::fs::read(path).expect("readable")
}

/// Lone surrogates are no text for a tree; the counts do not look at text.
fn tree(json: &str) -> Value {
    serde_json::from_str(json).expect("messages of the shared files hold no lone surrogates")
}

fn count(session: &SessionFile) -> Counts {
    let mut counts = Counts::new();
    let mut add = |name, by: usize| *counts.entry(name).or_default() += by as u64;
    for message in session.messages.iter().map(|raw| tree(raw)) {
        let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
        let of = |kinds: &[&str]| {
            blocks.iter().filter(|b| kinds.iter().any(|kind| b["type"] == *kind)).count()
        };
        let role = message["role"].as_str().expect("role");
        let parts = |kind: &str| blocks.iter().filter(|b| b["type"] == kind).collect::<Vec<_>>();
        let results = of(&["tool_result"]) + usize::from(matches!(role, "tool" | "toolResult"));
        add("messages", 1);
        add("user_messages", usize::from(role == "user" && of(&["tool_result"]) == 0));
        add("assistant_messages", usize::from(role == "assistant"));
        add("tool_calls", of(&["tool_use", "toolCall"]));
        add("tool_calls", message["tool_calls"].as_array().map_or(0, Vec::len));
        add("tool_results", results);
        let whole = matches!(role, "tool" | "toolResult");
        let inner: usize = parts("tool_result").iter().map(|b| chars(&b["content"])).sum();
        let text = message["content"].as_str().map_or(0, |text| text.chars().count());
        let text = text + parts("text").iter().map(|b| chars(&b["text"])).sum::<usize>();
        add("tool_result_chars", if whole { chars(&message["content"]) } else { inner });
        add("text_chars", if whole { 0 } else { text + chars(&message["output"]) });
        add("images", images(&message["content"]));
    }
    let reported: Vec<u64> =
        session.calls.iter().filter_map(|call| Some(call.usage?.input_tokens)).collect();
    add("usage_records", reported.len());
    counts.insert("max_input_tokens", reported.into_iter().max().unwrap_or(0));
    counts.insert("compaction_records", session.compactions.len() as u64);
    counts.insert("bad_lines", session.receipt.broken.len() as u64);
    counts.insert("records", u64::from(session.receipt.lines));
    counts
}

/// Code points of a content's text, as the manifest counts them.
fn chars(content: &Value) -> usize {
    match content {
        Value::String(text) => text.chars().count(),
        Value::Array(parts) => parts.iter().map(chars).sum(),
        Value::Object(part) if part.contains_key("text") => chars(&part["text"]),
        Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn images(content: &Value) -> usize {
    let Value::Array(parts) = content else { return 0 };
    let image = |part: &Value| matches!(part["type"].as_str(), Some("image" | "image_url"));
    parts.iter().map(|part| usize::from(image(part)) + images(&part["content"])).sum()
}

#[test]
fn counts_are_the_manifests() {
    let mut wrong = Vec::new();
    for file in manifest().iter().filter(|file| file["format"] != "tau-openai") {
        let name = file["file"].as_str().expect("file");
        let session = read_session(&load(file), None).expect(name);
        assert_eq!(session.format, file["format"], "{name}");
        let counts = count(&session);
        println!("{name}: {counts:?}");
        for (figure, ours) in &counts {
            let theirs = file[figure].as_u64().expect("a figure");
            let told = DIFFERENCES.iter().find(|it| it.0 == name && it.1 == *figure);
            let (expected, why) = told.map_or((theirs, ""), |it| (it.2, it.3));
            if expected != *ours {
                wrong.push(format!(
                    "{name} {figure}: {ours}, expected {expected}, manifest {theirs} {why}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_run_of_the_benchmark_is_read() {
    let Some(file) = manifest().into_iter().find(|file| file["format"] == "tau-openai") else {
        return;
    };
    let bytes = load(&file);
    let runs: Vec<&serde_json::value::RawValue> = serde_json::from_slice(&bytes).expect("a list");
    let mut sum = Counts::new();
    for run in &runs {
        let session = read_session(format!("[{}]", run.get()).as_bytes(), None).expect("a run");
        assert_eq!(session.format, "tau-openai");
        for (figure, count) in count(&session) {
            *sum.entry(figure).or_default() += count;
        }
    }
    for figure in [
        "messages",
        "user_messages",
        "assistant_messages",
        "tool_calls",
        "tool_results",
        "text_chars",
    ] {
        assert_eq!(Some(sum[figure]), file[figure].as_u64(), "{figure}");
    }
    let last = read_session(&bytes, Some("199")).expect("the last run");
    assert_eq!(last.receipt.branches.len(), 200);
    let alone = read_session(format!("[{}]", runs[199].get()).as_bytes(), None).expect("the same");
    assert_eq!(count(&last), count(&alone));
    assert!(read_session(&bytes, Some("200")).is_err());
}

#[test]
fn claude_code_messages_alternate_and_results_follow_their_calls() {
    for file in manifest().iter().filter(|file| file["format"] == "claude-code") {
        let name = file["file"].as_str().expect("file");
        let session = read_session(&load(file), None).expect(name);
        assert_eq!(
            session.receipt.dead_ends, 0,
            "{name}: parallel calls fork, but are no branches"
        );
        let ids = |message: &Value, kind: &str, id: &str| -> Vec<String> {
            let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
            let of = blocks.iter().filter(|block| block["type"] == kind);
            of.map(|block| block[id].as_str().expect("id").to_owned()).collect()
        };
        let messages: Vec<Value> = session.messages.iter().map(|raw| tree(raw)).collect();
        for (index, pair) in messages.windows(2).enumerate() {
            assert_ne!(pair[0]["role"], pair[1]["role"], "{name} message {index}");
            let (mut calls, mut results) =
                (ids(&pair[0], "tool_use", "id"), ids(&pair[1], "tool_result", "tool_use_id"));
            calls.sort();
            results.sort();
            assert_eq!(calls, results, "{name} message {index}");
        }
        for call in &session.calls {
            assert_eq!(messages[call.sent as usize]["role"], "assistant", "{name}");
        }
    }
}

#[test]
fn what_the_files_tell_beside_messages() {
    for file in &manifest() {
        let name = file["file"].as_str().expect("file");
        let session = read_session(&load(file), None).expect(name);
        let receipt = &session.receipt;
        println!(
            "{name}: unknown {}, repeated {}, bridged {}, absent {:?}",
            receipt.unknown, receipt.repeated, receipt.bridged, receipt.absent
        );
        assert_eq!((receipt.unknown, receipt.repeated, receipt.lossy), (0, 0, 0), "{name}");
        // A broken line of the tree keeps its place; where a file starts in the middle nothing is there to bridge to.
        assert_eq!(receipt.bridged, 0, "{name}");
        let held = |part: &str| !receipt.absent.contains(&part);
        let expected = match session.format {
            "codex" => [true, false, true],
            "anthropic-messages" => [true, false, false],
            "openai-messages" => [false, true, true],
            _ => [false; 3],
        };
        assert_eq!(["system", "tools", "window"].map(held), expected, "{name}");
        let timed = matches!(session.format, "pi" | "claude-code" | "codex" | "anthropic-messages");
        let in_2025_or_26 = |at: i64| (1_735_689_600_000..1_798_761_600_000).contains(&at);
        assert!(
            !timed || session.calls.iter().all(|call| call.at.is_some_and(in_2025_or_26)),
            "{name}"
        );
        for record in &session.compactions {
            println!(
                "  {} before {} kept from {}",
                record.id, record.tokens_before, record.first_kept_index
            );
            assert!(record.tokens_before > 80_000 && !record.id.is_empty(), "{name}");
            assert_eq!(
                record.summary.is_empty(),
                session.format == "codex",
                "{name}: encrypted there"
            );
        }
    }
}

#[test]
fn every_message_is_one_of_the_format_that_is_named() {
    for file in &manifest() {
        let name = file["file"].as_str().expect("file");
        let session = read_session(&load(file), None).expect(name);
        let format = Format::parse(session.message_format).expect(name);
        let counts = count(&session);
        let (mut calls, mut results, mut bad) = (0, 0, 0);
        for (index, message) in (0..).zip(&session.messages) {
            let draft = format.read(message.as_bytes(), index).expect(name);
            let kinds: Vec<Kind> = draft.parts.iter().map(|part| part.piece.kind).collect();
            calls += kinds.iter().filter(|kind| **kind == Kind::Call).count() as u64;
            results += kinds.iter().filter(|kind| **kind == Kind::Result).count() as u64;
            bad += draft.parts.iter().filter(|part| part.piece.bad_arguments).count();
        }
        assert_eq!((calls, results), (counts["tool_calls"], counts["tool_results"]), "{name}");
        println!("{name}: arguments that are no object {bad}");
    }
}
