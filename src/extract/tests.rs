use super::*;
use crate::model::Place;

fn part(kind: Kind, name: &str, text: &'static str) -> Part<'static> {
    let mut part = Part::new(kind, Place::Content, text);
    part.piece.name = name.into();
    part
}

fn of_calls(calls: &[(&str, &'static str)]) -> Extracted {
    let mut found = Extracted::default();
    for (name, text) in calls {
        found.take(&part(Kind::Call, name, text));
    }
    found
}

#[test]
fn arguments_are_decoded_and_a_command_keeps_its_quotes() {
    let found = of_calls(&[
        ("bash", r#"{"command":"grep \"x\\ty\" src/\u00e9t\u00e9.rs"}"#),
        ("Edit", r#"{"old_string":"\"file_path\":\"no.rs\"","file_path":"a \"b\".rs"}"#),
    ]);
    assert_eq!(found.commands, [r#"grep "x\ty" src/été.rs"#]);
    assert_eq!(found.modified_files, [r#"a "b".rs"#]);
}

#[test]
fn a_change_of_folder_before_a_command_is_kept_and_one_alone_is_not() {
    let found = of_calls(&[
        ("bash", r#"{"command":"cd x && make"}"#),
        ("bash", r#"{"command":"cd /some/where/else"}"#),
        ("bash", r#"{"command":"ls -la /some/where"}"#),
        ("bash", r#"{"command":"lsof -i :8080"}"#),
        ("bash", r#"{"command":"git status"}"#),
        ("shell", r#"{"command":["bash","-lc","cargo test --all"]}"#),
        ("exec", r#"{"cmd":["cargo","build","--release"]}"#),
    ]);
    let kept = ["cd x && make", "lsof -i :8080", "cargo test --all", "cargo build --release"];
    assert_eq!(found.commands, kept);
}

#[test]
fn each_file_of_a_call_is_listed_once() {
    let found = of_calls(&[
        ("read_file", r#"{"file_path":"a.rs"}"#),
        ("Read", r#"{"file_path":"a.rs","limit":3}"#),
        ("read_many_files", r#"{"paths":["b.rs","c.rs"]}"#),
        ("write_file", r#"{"file_path":"d.rs","content":"x"}"#),
        ("str_replace_based_edit_tool", r#"{"command":"view","path":"e.rs"}"#),
        ("str_replace_based_edit_tool", r#"{"command":"create","path":"f.rs"}"#),
        ("apply_patch", "*** Begin Patch\n*** Update File: g.rs\n@@\n*** Add File: h.rs\n"),
        ("search", r#"{"path":"src"}"#),
        ("read_file", "no JSON"),
    ]);
    assert_eq!(found.read_files, ["a.rs", "b.rs", "c.rs", "e.rs"]);
    assert_eq!(found.modified_files, ["d.rs", "f.rs", "g.rs", "h.rs"]);
    assert_eq!(found.commands, [""; 0]);
}

#[test]
fn long_facts_are_cut_and_successful_results_are_not_listed_as_errors() {
    let mut found = Extracted::default();
    let mut failed = part(Kind::Result, "bash", "");
    failed.text = "e".repeat(300).into();
    found.take(&failed);
    assert_eq!(found.errors, [""; 0]);
    failed.piece.error = true;
    found.take(&failed);
    found.take(&failed);
    assert_eq!(found.errors, [format!("{}...", "e".repeat(200))]);
    let long = format!(r#"{{"command":"echo {}"}}"#, "y".repeat(200));
    found.call("bash", &long);
    assert_eq!(found.commands, [format!("echo {}...", "y".repeat(95))]);
}

#[test]
fn a_list_has_a_limit_and_keeps_the_newest_entries() {
    let mut found = Extracted::default();
    for at in 0..1000 {
        found.call("read", &format!(r#"{{"path":"{at}.rs"}}"#));
    }
    assert_eq!(found.read_files.len(), ENTRIES);
    assert_eq!(found.read_files.last().map(String::as_str), Some("999.rs"));
}
