//! The shared sessions and the programs that the references run in.

use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

use serde_json::Value;

const SHARED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared");

/// A path within the shared folder.
pub(crate) fn shared(path: &str) -> String {
    format!("{SHARED}/{path}")
}

/// A line for whoever reads the test's output.
#[expect(clippy::print_stdout, reason = "figures are what this test is read for")]
pub(crate) fn show(line: impl Display) {
    println!("{line}");
}

/// What `program` prints when it is fed `input`; `None`, with a reason, where there is no such program.
pub(crate) fn run(program: &str, args: &[&str], input: &str) -> Option<String> {
    let command = Command::new(program)
        .args(args)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = match command {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            show(format_args!("skipped: {program} is absent"));
            return None;
        }
        other => other.unwrap(),
    };
    let stdin = child.stdin.take();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.unwrap().write_all(input.as_bytes()).unwrap());
        child.wait_with_output().unwrap()
    });
    assert!(output.status.success(), "{program} failed");
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Every string of every shared session, each once; `None`, with a reason, where there are no sessions.
pub(crate) fn session_texts() -> Option<Vec<String>> {
    let mut files = Vec::new();
    collect_files(Path::new(&shared("data/sessions")), &mut files);
    if files.is_empty() {
        show("skipped: ../shared is absent");
        return None;
    }
    let mut texts = Vec::new();
    for file in files {
        #[expect(clippy::disallowed_methods, reason = "tests read the shared sessions")]
        let text = fs::read_to_string(file).unwrap();
        match serde_json::from_str(&text) {
            Ok(document) => collect_strings(document, &mut texts),
            Err(_) => text
                .lines()
                .filter_map(|line| serde_json::from_str(line).ok())
                .for_each(|record| collect_strings(record, &mut texts)),
        }
    }
    texts.sort();
    texts.dedup();
    Some(texts)
}

fn collect_files(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() { collect_files(&path, files) } else { files.push(path) }
    }
}

fn collect_strings(value: Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.into_iter().for_each(|item| collect_strings(item, texts)),
        Value::Object(members) => members.into_iter().for_each(|(_, v)| collect_strings(v, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
