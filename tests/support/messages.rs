//! Messages of the shared sessions, as trees.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// The messages of each session in a folder of `../shared/data/sessions`; none, and a line that says so, where it is absent.
pub(crate) fn sessions(folder: &str) -> Vec<Vec<Value>> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/sessions"));
    if !root.is_dir() {
        println!("skipped: ../shared is absent");
        return Vec::new();
    }
    let files = fs::read_dir(root.join(folder)).unwrap().map(|file| file.unwrap().path());
    let texts = files.map(|file| fs::read_to_string(file).unwrap());
    let messages = texts.flat_map(|text| {
        if let Ok(value) = serde_json::from_str::<Value>(&text) {
            let holders = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
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

/// The same cut off at the end, at the start and at both, and with every seventh message missing.
pub(crate) fn pieces(messages: &[Value]) -> Vec<Vec<Value>> {
    let third = messages.len() / 3;
    let mut all: Vec<_> = [&messages[..2 * third], &messages[third + 1..], &messages[1..third]]
        .map(<[Value]>::to_vec)
        .into();
    for skipped in [1, 4] {
        let numbered = messages.iter().enumerate().filter(|(at, _)| at % 7 != skipped);
        all.push(numbered.map(|(_, message)| message.clone()).collect());
    }
    all
}
