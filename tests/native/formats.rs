//! Every message of the shared sessions is read, whatever its host wrote around it.

use std::fs;
use std::path::{Path, PathBuf};

use plimsoll::format::Format;
use plimsoll::model::Kind;
use serde_json::value::RawValue;

fn sessions() -> Option<PathBuf> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/sessions"));
    if !path.is_dir() {
        println!("skipped: ../shared is absent");
        return None;
    }
    Some(path.into())
}

#[derive(serde::Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    message: Option<&'a RawValue>,
}

#[derive(serde::Deserialize)]
struct Holder<'a> {
    #[serde(borrow, alias = "traj")]
    messages: Vec<&'a RawValue>,
}

fn messages(text: &str, lines: bool) -> Vec<&str> {
    if lines {
        // Where an address was masked in the middle of an escape, a line is no JSON any more.
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Line<'_>>(line).ok());
        return lines.filter_map(|line| line.message).map(RawValue::get).collect();
    }
    let holders: Vec<Holder<'_>> = if text.trim_start().starts_with('[') {
        serde_json::from_str(text).unwrap()
    } else {
        vec![serde_json::from_str(text).unwrap()]
    };
    holders.iter().flat_map(|holder| &holder.messages).map(|raw| raw.get()).collect()
}

/// Reads every message of a folder's files and counts messages, calls, results, reasoning and images.
#[track_caller]
fn check(folder: &str, format: Format, expected: [usize; 5]) {
    let Some(root) = sessions() else { return };
    let mut seen = [0; 5];
    let files = fs::read_dir(root.join(folder)).unwrap();
    for file in files.map(|file| file.unwrap().path()) {
        let text = fs::read_to_string(&file).unwrap();
        let all = messages(&text, file.extension().is_some_and(|kind| kind == "jsonl"));
        let bytes: Vec<&[u8]> = all.iter().map(|message| message.as_bytes()).collect();
        assert_eq!(Format::detect(&bytes), Ok(format), "{}", file.display());
        for (index, json) in (0..).zip(&bytes) {
            let draft = format.read(json, index).unwrap_or_else(|error| panic!("{error}"));
            let of = |kind| draft.parts.iter().filter(|part| part.piece.kind == kind).count();
            seen[0] += 1;
            seen[1] += of(Kind::Call);
            seen[2] += of(Kind::Result);
            seen[3] += of(Kind::Thinking);
            seen[4] += draft.parts.iter().map(|part| part.images as usize).sum::<usize>();
        }
    }
    assert_eq!(seen, expected);
}

#[test]
fn every_message_of_recorded_pi_sessions_is_read() {
    check("pi", Format::Pi, [2414, 1128, 1101, 199, 2]);
}

#[test]
fn every_message_of_recorded_claude_code_sessions_is_read() {
    check("claude-code", Format::Anthropic, [2477, 911, 911, 270, 11]);
}

#[test]
fn every_message_of_recorded_anthropic_sessions_is_read() {
    check("anthropic-messages", Format::Anthropic, [32, 11, 11, 0, 0]);
}

#[test]
fn every_message_of_recorded_openai_sessions_is_read() {
    check("openai-messages", Format::OpenAiChat, [20, 8, 8, 0, 0]);
}

#[test]
fn every_message_of_recorded_tau_sessions_is_read() {
    check("tau-openai", Format::OpenAiChat, [5308, 1164, 1164, 0, 0]);
}
