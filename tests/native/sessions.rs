//! Real sessions, counted and held against the counts of their manifest.
//!
//! A figure that differs from the manifest's stands in `DIFFERENCES` with the reason; anything else must agree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use plimsoll::compressed_texts::Text;
use plimsoll::format::Format;
use plimsoll::model::Kind;
use plimsoll::session_files::{SessionCall, SessionFile, read_session};
use serde_json::Value;
use serde_json::value::RawValue;

const SHARED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared");
const MERGED: &str =
    "what the user said is part of the message that holds the results before it, as the API saw it";
const SUMMARY: &str = "the compaction's summary is in the record, not in the conversation: less by its length exactly";
const QUEUED: &str = "less by the compaction's summary, more by seven prompts that were typed while the model worked: the manifest looks into messages only";
const ANSWER: &str =
    "the log's own answer is a call that saw all messages; the manifest looks into messages only";

const SYSTEM: &str = "the system prompt stands beside the messages; the manifest counts it as one";
const NOTIFIED: &str = "a notification of the system was sent to the model, as a user's; the system prompt stands beside";
const CANCELLED: &str =
    "two steps were cancelled before the model said anything: they left nothing in the history";
const NOTES: &str = "the agent's notes under its results were sent with them";
const FENCED: &str = "an action in its fence is a call, and no text beside";
const RESPONSES: &str = "usage stands in the response that each action carries";
const TASK: &str = "the task is the user's message, though the file calls it an observation";

const INSERTED: &str =
    "what extensions put among the messages was sent as the user's; the manifest leaves it out";

/// File, figure, ours, and why it is not the manifest's.
const DIFFERENCES: &[(&str, &str, u64, &str)] = &[
    ("pi/gjc-awesome-ko.jsonl", "messages", 143 + 6, INSERTED),
    ("pi/gjc-awesome-ko.jsonl", "text_chars", 17_077 + 14_075, INSERTED),
    ("pi/gjc-youtube-ko.jsonl", "messages", 367 + 7, INSERTED),
    ("pi/gjc-youtube-ko.jsonl", "text_chars", 10_013 + 18_798, INSERTED),
    ("claude-code/cipherbox-images-18.jsonl", "messages", 164, MERGED),
    ("claude-code/cipherbox-images-18.jsonl", "user_messages", 6, MERGED),
    ("claude-code/cipherbox-images-18.jsonl", "text_chars", 36_325 - 13_693, SUMMARY),
    ("claude-code/entire-progress-2330.jsonl", "messages", 312, MERGED),
    ("claude-code/entire-progress-2330.jsonl", "user_messages", 7, MERGED),
    ("claude-code/entire-progress-2330.jsonl", "text_chars", 61_565 - 17_468, SUMMARY),
    ("claude-code/entire-small.jsonl", "messages", 70, MERGED),
    ("claude-code/omp-591-calls.jsonl", "messages", 1220, MERGED),
    ("claude-code/omp-591-calls.jsonl", "user_messages", 19, MERGED),
    ("claude-code/omp-591-calls.jsonl", "text_chars", 91_721 - 20_833 + 1_375, QUEUED),
    (
        "claude-code/omp-591-calls.jsonl",
        "tool_result_chars",
        344_931 - 54,
        "a tool_reference of 54 characters is no text; the manifest counts its JSON",
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
    ("copilot-cli/agentv-tiny.jsonl", "messages", 2, SYSTEM),
    ("copilot-cli/agentv-tiny.jsonl", "text_chars", 53_559 - 53_275, SYSTEM),
    // As many messages as the manifest's: one less for the system prompt, one more for the notification.
    ("copilot-cli/agentv-sonnet.jsonl", "user_messages", 2, NOTIFIED),
    ("copilot-cli/agentv-sonnet.jsonl", "text_chars", 49_223 - 46_217 + 194, NOTIFIED),
    (
        "copilot-cli/agentv-sonnet.jsonl",
        "tool_result_chars",
        40_918 - 6_953 + 6_781,
        "the model is told the message of an error; the manifest counts the JSON around it",
    ),
    (
        "inspect/browser.json",
        "records",
        10,
        "the messages of a sample; the manifest counts samples",
    ),
    (
        "inspect/browser.json",
        "usage_records",
        5,
        "each model event has its usage; the manifest takes the sample's last",
    ),
    ("kimi-wire/as-assistant-tools.jsonl", "messages", 54, CANCELLED),
    ("kimi-wire/as-assistant-tools.jsonl", "assistant_messages", 22, CANCELLED),
    ("kimi-wire/as-assistant-tools.jsonl", "tool_result_chars", 5_029 + 222, NOTES),
    ("kimi-wire/das-portal-zh.jsonl", "messages", 291, CANCELLED),
    ("kimi-wire/das-portal-zh.jsonl", "assistant_messages", 125, CANCELLED),
    ("kimi-wire/das-portal-zh.jsonl", "tool_result_chars", 390_175 + 5_047, NOTES),
    ("mini-swe-agent/github-issue.traj.json", "text_chars", 5_296 - 965, FENCED),
    ("swe-agent/pydicom-1458.traj", "text_chars", 34_967 - 2_809, FENCED),
    ("openhands/visualizer-demo1.json", "usage_records", 4, RESPONSES),
    ("openhands/visualizer-demo1.json", "max_input_tokens", 5_488, RESPONSES),
    ("swe-agent/marshmallow-function-calling.traj", "user_messages", 1, TASK),
    ("swe-agent/marshmallow-function-calling.traj", "tool_results", 11, TASK),
    ("swe-agent/marshmallow-function-calling.traj", "tool_result_chars", 23_363 - 3_661, TASK),
    ("swe-agent/marshmallow-function-calling.traj", "text_chars", 4_225 + 3_661, TASK),
];

/// Roles of `LangChain` in the words of the others.
const LANGCHAIN: [(&str, &str); 2] = [("human", "user"), ("ai", "assistant")];

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
    manifest["files"].as_array().expect("files").clone()
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
    let mut answering = false;
    for message in session.messages.iter().map(|raw| tree(&raw)) {
        if message["parts"].is_array() {
            count_content(&message, &mut add);
            continue;
        }
        if session.message_format == "openai-responses" {
            answering = count_item(&message, answering, &mut add);
            continue;
        }
        let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
        let of = |kinds: &[&str]| {
            blocks.iter().filter(|b| kinds.iter().any(|kind| b["type"] == *kind)).count()
        };
        let role = message["role"].as_str().or_else(|| message["type"].as_str()).expect("role");
        let role = LANGCHAIN.iter().find(|(theirs, _)| *theirs == role).map_or(role, |(_, it)| it);
        let parts = |kind: &str| blocks.iter().filter(|b| b["type"] == kind).collect::<Vec<_>>();
        let results = of(&["tool_result"]) + usize::from(matches!(role, "tool" | "toolResult"));
        add("messages", 1);
        add("user_messages", usize::from(role == "user" && of(&["tool_result"]) == 0));
        add("assistant_messages", usize::from(role == "assistant"));
        add("tool_calls", of(&["tool_use", "toolCall"]));
        add("tool_calls", message["tool_calls"].as_array().map_or(0, Vec::len));
        add("tool_results", results);
        let is_result = matches!(role, "tool" | "toolResult");
        let inner: usize = parts("tool_result").iter().map(|b| chars(&b["content"])).sum();
        let text = message["content"].as_str().map_or(0, |text| text.chars().count());
        let text = text + parts("text").iter().map(|b| chars(&b["text"])).sum::<usize>();
        add("tool_result_chars", if is_result { chars(&message["content"]) } else { inner });
        add("text_chars", if is_result { 0 } else { text + chars(&message["output"]) });
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

/// An item of Responses: neighbours of the model are one message, as the manifest counts them.
fn count_item(item: &Value, answering: bool, add: &mut impl FnMut(&'static str, usize)) -> bool {
    let kind = item["type"].as_str().expect("type");
    let is_message = kind == "message";
    let result = kind.ends_with("_output");
    let answer = if is_message { item["role"] == "assistant" } else { !result };
    add("messages", usize::from(!answer || !answering));
    add("assistant_messages", usize::from(answer && !answering));
    add("user_messages", usize::from(is_message && item["role"] == "user"));
    add("tool_calls", usize::from(kind.ends_with("_call")));
    add("tool_results", usize::from(result));
    let output = |it: &Value| chars(if it.is_object() { &it["content"] } else { it });
    add("tool_result_chars", if result { output(&item["output"]) } else { 0 });
    add("text_chars", if is_message { chars(&item["content"]) } else { 0 });
    add("images", images(&item["content"]) + images(&item["output"]));
    answer
}

/// A content of Gemini.
fn count_content(content: &Value, add: &mut impl FnMut(&'static str, usize)) {
    let parts = content["parts"].as_array().expect("parts");
    let of = |kind: &str| parts.iter().filter(|part| !part[kind].is_null()).collect::<Vec<_>>();
    let is_message: Vec<_> =
        of("text").into_iter().filter(|part| part["thought"] != true).collect();
    let results = of("functionResponse");
    let user = content["role"] == "user";
    add("messages", 1);
    add("user_messages", usize::from(user && results.is_empty()));
    add("assistant_messages", usize::from(content["role"] == "model"));
    add("tool_calls", of("functionCall").len());
    add("tool_results", results.len());
    add("text_chars", is_message.iter().map(|part| chars(&part["text"])).sum());
    for part in results {
        let response = &part["functionResponse"]["response"];
        let json = || serde_json::to_string(response).expect("JSON").replace("\":\"", "\": \"");
        let output = response["output"].as_str().map_or_else(json, ToOwned::to_owned);
        add("tool_result_chars", output.chars().count());
    }
    add("images", of("inlineData").len());
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
fn figures_of_each_session_equal_those_of_the_manifest() {
    let mut wrong = Vec::new();
    for file in manifest().iter().filter(|file| file["format"] != "tau-openai") {
        let name = file["file"].as_str().expect("file");
        let session = read_session(&load(file), None).expect(name);
        assert_eq!(session.format, file["format"], "{name}");
        let counts = count(&session);
        println!("{name}: {counts:?}");
        for (figure, ours) in &counts {
            let theirs = file[figure].as_u64().expect("a figure");
            let difference = DIFFERENCES.iter().find(|it| it.0 == name && it.1 == *figure);
            let (expected, why) = difference.map_or((theirs, ""), |it| (it.2, it.3));
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
    let runs: Vec<&RawValue> = serde_json::from_slice(&bytes).expect("a list");
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
        let messages: Vec<Value> = session.messages.iter().map(|raw| tree(&raw)).collect();
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
fn readers_find_usage_models_and_times_beside_the_messages() {
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
        let is_present = |part: &str| !receipt.absent.contains(&part);
        let expected = match session.format {
            "codex" => [true, false, true],
            "anthropic-messages" | "copilot-cli" => [true, false, false],
            "openai-messages" => [false, true, true],
            // One of the files was trimmed of its tools.
            "kimi-wire" => [true, name.contains("das-portal"), false],
            "inspect" => [false, true, false],
            _ => [false; 3],
        };
        assert_eq!(["system", "tools", "window"].map(is_present), expected, "{name}");
        let timed = matches!(
            session.format,
            "pi" | "claude-code"
                | "codex"
                | "anthropic-messages"
                | "copilot-cli"
                | "kimi-wire"
                | "openhands"
                | "inspect"
        );
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
            let least = if session.format == "kimi-wire" { 15_000 } else { 80_000 };
            assert!(record.tokens_before > least && !record.id.is_empty(), "{name}");
            assert_eq!(
                record.summary.is_empty(),
                session.format == "codex",
                "{name}: encrypted there"
            );
        }
    }
}

/// Of a file: its calls, and of the first and the last when it was, all that was sent, and how much of that was cached.
type Figures = (i64, u64, u64);
const CALLS: [(&str, usize, Figures, Figures); 6] = [
    ("copilot-cli/agentv-sonnet.jsonl", 54, (1_782_352_251_195, 0, 0), (1_782_352_948_874, 0, 0)),
    ("copilot-cli/agentv-tiny.jsonl", 1, (1_783_224_045_424, 0, 0), (1_783_224_045_424, 0, 0)),
    (
        "kimi-wire/as-assistant-tools.jsonl",
        22,
        (1_785_613_796_907, 24_279, 14_848),
        (1_785_618_986_034, 41_095, 40_448),
    ),
    (
        "kimi-wire/das-portal-zh.jsonl",
        125,
        (1_785_397_737_896, 23_512, 2_560),
        (1_785_467_338_053, 30_340, 2_560),
    ),
    (
        "openhands/visualizer-demo1.json",
        5,
        (1_737_404_975_040, 3_439, 0),
        (1_737_405_035_414, 0, 0),
    ),
    ("inspect/browser.json", 5, (1_747_096_058_462, 1_124, 0), (1_747_096_072_049, 5_915, 3_840)),
];

#[test]
fn calls_are_timed_and_counted() {
    for file in &manifest() {
        let name = file["file"].as_str().expect("file");
        let Some((_, calls, first, last)) = CALLS.iter().find(|it| it.0 == name) else { continue };
        let session = read_session(&load(file), None).expect(name);
        let difference = |call: Option<&SessionCall>| {
            let call = call.expect("a call");
            let usage = call.usage.unwrap_or_default();
            (call.at.expect("a time"), usage.input_tokens, usage.cache_read_tokens)
        };
        assert_eq!(session.calls.len(), *calls, "{name}");
        assert_eq!(
            (difference(session.calls.first()), difference(session.calls.last())),
            (*first, *last),
            "{name}"
        );
        for call in &session.calls {
            let answer = tree(&session.messages.get(call.sent as usize).expect("a message"));
            assert_eq!(answer["role"], "assistant", "{name} {}", call.sent);
        }
    }
}

#[test]
fn every_message_is_one_of_the_format_that_is_named() {
    for file in &manifest() {
        let name = file["file"].as_str().expect("file");
        let session = read_session(&load(file), None).expect(name);
        let format = Format::parse(session.message_format).expect(name);
        let first = session.messages.get(0);
        let first = first.as_ref().map(|raw| format.read(raw.as_bytes(), 0));
        if let Some(Err(error)) = first
            && error.to_string().contains("a format that is built")
        {
            println!("skipped: {name}: {} is not built yet", session.message_format);
            continue;
        }
        let counts = count(&session);
        let (mut calls, mut results, mut bad) = (0, 0, 0);
        for (index, message) in (0..).zip(session.messages.iter()) {
            let draft = format.read(message.as_bytes(), index).expect(name);
            let kinds: Vec<Kind> = draft.parts.iter().map(|part| part.piece.kind).collect();
            calls += kinds.iter().filter(|kind| **kind == Kind::Call).count() as u64;
            results += kinds.iter().filter(|kind| **kind == Kind::Result).count() as u64;
            bad += draft.parts.iter().filter(|part| part.piece.bad_arguments).count();
        }
        // What the provider carried out itself is called and answered in one item, and is read as neither.
        let own = |raw: &Text| raw.contains("\"type\":\"web_search_call\"");
        let own = session.messages.iter().filter(own).count() as u64;
        let expected = (counts["tool_calls"] - own, counts["tool_results"]);
        assert_eq!((calls, results), expected, "{name}");
        println!("{name}: arguments that are no object {bad}");
    }
}
