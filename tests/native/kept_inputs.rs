//! The inputs that fuzzing kept: each target does with them what it does with mutated ones.

use std::fs;
use std::str;

use super::targets;

/// What a target does with an input.
type Target = fn(&[u8]);

/// The inputs of a target: netstrings (length, colon, bytes, comma), a line each.
fn kept(name: &str) -> Vec<Vec<u8>> {
    let path = format!("{}/fuzz/kept/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let file = fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut rest = file.as_slice();
    let mut inputs = Vec::new();
    while !rest.is_empty() {
        let colon = rest.iter().position(|&byte| byte == b':').unwrap();
        let length: usize = str::from_utf8(&rest[..colon]).unwrap().parse().unwrap();
        let (input, after) = rest[colon + 1..].split_at(length);
        inputs.push(input.to_vec());
        rest = after.strip_prefix(b",\n").unwrap();
    }
    inputs
}

fn in_text(target: fn(&str), input: &[u8]) {
    if let Ok(text) = str::from_utf8(input) {
        target(text);
    }
}

#[test]
fn inputs_that_fuzzing_kept_find_nothing() {
    let all: [(&str, Target); 7] = [
        ("arguments", |input| in_text(targets::arguments, input)),
        ("candidates", targets::candidates),
        ("redaction", |input| in_text(targets::redaction, input)),
        ("repair", targets::repair),
        ("requests", targets::requests),
        ("restore", targets::restore),
        ("session_files", targets::session_files),
    ];
    let targets = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/targets")).unwrap();
    assert_eq!(targets.count(), all.len(), "each target is here");
    for (name, target) in all {
        let inputs = kept(name);
        assert!(inputs.len() >= 40, "{name}: {} inputs", inputs.len());
        println!("{name}: {} inputs", inputs.len());
        for input in &inputs {
            target(input);
        }
    }
}
