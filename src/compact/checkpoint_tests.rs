use super::*;
use crate::compact::options::Ahead;

const NONCE: &str = "0123456789abcdef";

fn options(more: &str) -> Options {
    Options::parse(&format!(r#"{{"nonce":"{NONCE}","room":9000{more}}}"#)).unwrap()
}

fn read(answer: &str) -> Checkpoint {
    Checkpoint::read(answer, &options(""))
}

/// The figures of a session, in parts of 100,000 usable tokens.
fn due(used: u32, turns: u32, folds: u32, state: &str) -> (bool, String) {
    let more = if state.is_empty() { String::new() } else { format!(r#","state":{state}"#) };
    let figures =
        format!(r#"{{"used":{used},"usable":100000,"turns":{turns},"folds":{folds}{more}}}"#);
    let answer = checkpoint_due(&figures).unwrap();
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    (answer["due"].as_bool().unwrap(), answer["state"].to_string())
}

/// Row F123.
#[test]
fn a_checkpoint_answer_is_json_contains_json_or_is_the_summary() {
    let object = r#"{"summary":"They built it.","topics":["a","b"],"keyDecisions":["use Rust"],"openQuestions":["when?"]}"#;
    let plain = read(object);
    assert_eq!(plain.summary, "They built it.");
    assert_eq!((plain.topics.len(), &*plain.key_decisions[0]), (2, "use Rust"));
    for mixed in [
        format!("Here it is:\n```json\n{object}\n```\nDone."),
        format!("Set {{1}} and {{\"x\": \"}}\"}} first. {object} {{\"summary\":\"another\"}}"),
        format!("{{\"note\":\"a {{ brace\"}} then {object}"),
    ] {
        assert_eq!(read(&mixed), plain, "{mixed}");
    }
    for raw in ["They built it.", "{\"summary\": \"cut", "{\"topics\":[]}", "{{{{"] {
        let answer = read(raw);
        assert_eq!((answer.summary.as_str(), answer.topics.len()), (raw, 0));
    }
    assert_eq!(read(&"é".repeat(5_000)).summary, format!("{}...", "é".repeat(4_000)));
}

/// Row F123.
#[test]
fn texts_of_a_checkpoint_are_inert_and_bounded() {
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let many = vec![format!("\"{secret} {}\"", "x".repeat(900)); 30].join(",");
    let answer = read(&format!(r#"{{"summary":"key {secret}","topics":[{many}]}}"#));
    assert_eq!(answer.summary, "key [redacted]");
    assert_eq!((answer.topics.len(), answer.topics[0].len()), (20, 500));
    assert!(!json::write(&answer).contains(&secret));
}

#[test]
fn a_text_of_braces_alone_is_read_in_linear_time() {
    for piece in ["{", "}", "{}", "{\"", "\\\"{"] {
        assert!(!read(&piece.repeat(200_000)).summary.is_empty());
    }
}

/// Rows F123, F125.
#[test]
fn a_checkpoint_is_due_once_for_each_threshold_and_every_fifteen_turns() {
    let (is, state) = due(24_999, 1, 0, "");
    assert!(!is);
    let (is, state) = due(25_000, 2, 0, &state);
    assert!(is);
    let (is, state) = due(49_999, 3, 0, &state);
    assert!(!is, "it was asked for, whatever became of it");
    let (is, state) = due(80_000, 4, 0, &state);
    assert!(is, "50 and 75 at once");
    let (is, state) = due(99_000, 5, 0, &state);
    assert!(!is);
    let (is, _) = due(99_000, 18, 0, &state);
    assert!(!is);
    let (is, state) = due(99_000, 19, 0, &state);
    assert!(is, "15 turns");
    // A fold begins anew: what the window holds after it was summarized with it.
    let (is, state) = due(40_000, 20, 1, &state);
    assert!(!is);
    let (is, state) = due(50_000, 21, 1, &state);
    assert!(is);
    let (is, _) = due(60_000, 35, 1, &state);
    assert!(!is, "turns are counted from the last, over a fold too");
    assert!(due(60_000, 36, 1, &state).0);
}

/// Row F123.
#[test]
fn no_checkpoint_is_due_under_ten_thousand_tokens_or_without_a_window() {
    for (used, usable, is) in [(9_999, 10_000, false), (10_000, 10_000, true), (50_000, 0, false)] {
        let answer =
            checkpoint_due(&format!(r#"{{"used":{used},"usable":{usable},"turns":40,"folds":0}}"#));
        assert_eq!(answer.unwrap().starts_with(r#"{"due":true"#), is, "{used} of {usable}");
    }
    let error = checkpoint_due(r#"{"used":1,"usable":2,"turns":0,"folds":0,"thresholds":[0]}"#);
    let error = error.unwrap_err().to_string();
    assert_eq!(error, "summary.checkpoints.thresholds: expected percents from 1 to 100, got 0");
}

/// A state with a checkpoint of 40 messages and 30,000 tokens, made before any fold.
fn taken() -> String {
    let (_, state) = due(30_000, 1, 0, "");
    let answer = r#"{\"summary\":\"They built it.\",\"topics\":[\"a\",\"b\"],\"keyDecisions\":[\"use Rust\"],\"openQuestions\":[\"when?\"]}"#;
    checkpoint_taken(&format!(
        r#"{{"state":{state},"folds":0,"tokens":30000,"messages":40,"summary":"{answer}"}}"#
    ))
    .unwrap()
}

/// Row G32.
#[test]
fn a_checkpoint_serves_as_a_summary_until_the_next_fold() {
    let state = taken();
    let answer = last(Some(&state), 0, &options("")).unwrap();
    assert_eq!((answer.messages, answer.tokens), (40, 30_000));
    assert_eq!(
        answer.text,
        "They built it.\n\nTopics discussed: a, b\n\nKey decisions:\n- use Rust\n\nOpen questions:\n- when?"
    );
    assert!(last(Some(&state), 1, &options("")).is_none(), "the fold's head is newer");
    let (_, later) = due(60_000, 2, 0, &state);
    assert!(last(Some(&later), 0, &options("")).is_some());
}

/// Row F124.
#[test]
fn a_request_that_must_wait_uses_a_checkpoint_of_half_its_tokens() {
    for (request, waits, ahead) in
        [(60_000, true, true), (60_001, true, false), (10_000, false, false)]
    {
        let options = options(&format!(
            r#","checkpoints":{},"folds":0,"requestTokens":{request},"waits":{waits}"#,
            taken()
        ));
        let Ahead { covers, is_enough, .. } = options.checkpoint;
        assert_eq!((is_enough, covers), (ahead, 40), "{request}");
        assert!(options.previous.unwrap().starts_with("They built it."));
    }
}
