//! The way of `hermes`.

use super::*;
use crate::context::request::build_request::violations_sent;
use crate::model::Kind;

/// Row H16.
#[test]
fn hermes_replaces_results_by_a_line_notes_repetitions_and_cuts_leaves() {
    let mut host = preset("hermes", 20_000, &json!({ "format": "anthropic" }));
    host.ask("go");
    let output = |at: usize| format!("{}\nexit code: {at}", text(at, 5000));
    let mut work = |id: &str, name: &str, input: Value, result: &str| {
        let call = json!({ "type": "tool_use", "id": id, "name": name, "input": input });
        host.append(json!({ "role": "assistant", "content": [call] }));
        let result = json!({ "type": "tool_result", "tool_use_id": id, "content": result });
        host.append(json!({ "role": "user", "content": [result] }));
    };
    work("h0", "ls", json!({}), "kept: among the first");
    work("c1", "terminal", json!({ "command": "cargo test src/main.rs" }), &output(3));
    let long = json!({ "path": "src/a.rs", "content": text(7, 6000), "mode": 1 });
    work("c2", "write_file", long, "ok");
    for at in 0..8 {
        work(&format!("r{at}"), "read", json!({ "path": "src/b.rs" }), &text(9, 9000));
    }
    for at in 0..10 {
        work(&format!("s{at}"), "ls", json!({ "at": at }), "short");
    }
    host.ask("and now?");
    let answer = host.request();
    let stubs = results(&answer);
    let stub =
        |at: u32| stubs.iter().find(|(index, _)| *index == at).map(|(_, stub)| stub.as_str());
    assert_eq!(stub(4), Some("[terminal] ran cargo test src/main.rs -> exit 3, 2 lines"));
    assert_eq!(stub(8), Some("[Duplicate tool output: the same content as a more recent call]"));
    assert_eq!(stub(22), None, "F066: the newest is kept");
    let edit = answer.edits.iter().find(|edit| edit.index == 5).unwrap();
    let op: Value = serde_json::from_str(&crate::json::write(&edit.ops[0])).unwrap();
    assert_eq!(op["path"], "/content/0/input");
    assert_eq!((&op["value"]["path"], &op["value"]["mode"]), (&json!("src/a.rs"), &json!(1)));
    let cut = op["value"]["content"].as_str().unwrap();
    assert_eq!(cut, text(7, 200) + "...[truncated]");
    assert_eq!(violations_sent(&host.session), []);
}

/// What has no long string is no shorter with its leaves cut: the message is the host's own, and no epoch opens.
/// Row H16.
#[test]
fn hermes_keeps_arguments_without_a_long_string() {
    let mut host = preset("hermes", 12_000, &json!({ "minimumGainTokens": 0, "protectFirst": 0 }));
    host.ask("go");
    let many: Vec<usize> = (0..2000).collect();
    host.work("many", &json!({ "n": many }), "ok");
    for at in 0..12 {
        host.ask("more");
        host.say(&text(at, 1200));
    }
    host.ask("so?");
    let answer = host.request();
    assert!(
        answer.tokens > 0 && answer.edits.iter().all(|edit| edit.index != 1),
        "{:?}",
        answer.edits
    );
    let call = &host.session.transcript.ledger.blocks[1];
    assert_eq!((call.kind, call.now), (Kind::Call, call.tokens));
}

/// F068: bodies in an end that is too large go too, but for the last three messages.
/// Row H16.
#[test]
fn hermes_shortens_results_of_a_protected_end_that_is_too_large() {
    let mut host = preset("hermes", 20_000, &json!({}));
    worked(&mut host, 2, 400);
    for at in 0..4 {
        host.work(&format!("big{at}"), &json!({ "at": at }), &text(at, 20_000));
    }
    host.say("done");
    host.ask("and?");
    let answer = host.request();
    let last = host.messages.len() - 8;
    let inside = answer.edits.iter().filter(|edit| edit.index as usize >= last);
    assert!(inside.count() == 2 && answer.fits, "{:?}", answer.edits);
}

/// F069: the oldest images go, the newest stays.
/// Row H18.
#[test]
fn hermes_replaces_images_before_the_newest_user_message_by_a_word() {
    let image = |data: &str| json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": data } });
    let mut host = preset(
        "hermes",
        16_000,
        &json!({ "minimumGainTokens": 0, "protectLast": 1, "protectFirst": 0, "format": "anthropic" }),
    );
    for at in 0..3 {
        host.append(json!({ "role": "user", "content": [image(&format!("aGk{at}")), { "type": "text", "text": "see" }] }));
        host.say(&text(at, 6000));
    }
    for at in 0..6 {
        host.ask("more");
        host.say(&text(at, 4000));
    }
    host.ask("so?");
    let answer = host.request();
    let images = host.session.transcript.ledger.blocks.iter().filter(|it| it.kind == Kind::Image);
    let forms: Vec<_> = images.map(|it| it.form).collect();
    assert_eq!(forms, [Form::Stubbed, Form::Stubbed, Form::Full]);
    let edited: Vec<_> = answer.edits.iter().map(|edit| edit.index).collect();
    assert_eq!(edited, [0, 2], "nothing else goes");
    for edit in &answer.edits {
        assert!(crate::json::write(&edit.ops).contains("[image cut]"), "{:?}", edit.ops);
    }
}

/// F070: what gains less than 4,096 tokens waits.
/// Row H19.
#[test]
fn hermes_waits_until_a_prune_gains_enough() {
    for (options, edits) in [(json!({}), false), (json!({ "minimumGainTokens": 0 }), true)] {
        let mut host = preset("hermes", 12_000, &options);
        worked(&mut host, 2, 3000);
        for at in 0..60 {
            host.ask("more");
            host.say(&text(at, 640));
        }
        host.ask("so?");
        let answer = host.request();
        let pruned = answer.edits.iter().any(|edit| edit.rule == "prune");
        assert_eq!(pruned, edits, "{options}");
    }
}

/// F081: the first messages are protected until the first fold only.
/// Row H10.
#[test]
fn hermes_protects_the_start_until_the_second_fold() {
    let mut host = preset("hermes", 12_000, &json!({}));
    let mut kept = Vec::new();
    for at in 0..150 {
        host.ask(&format!("question {at}"));
        host.say(&text(at, 1200));
        let answer = host.request();
        if let Some(fold) = &answer.fold {
            let first = host.session.transcript.ledger.blocks[1].form;
            kept.push((fold.id.clone(), first == Form::Full));
        }
        assert!(answer.fits);
    }
    assert!(kept.is_sorted(), "ids sort as the folds came: {kept:?}");
    assert!(kept[0].0.ends_with("_000001-fold") && kept[1].0.ends_with("_000002-fold"));
    assert_eq!((kept[0].1, kept[1].1), (true, false));
}
