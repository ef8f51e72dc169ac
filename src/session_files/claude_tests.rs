//! Claude Code sessions, trap by trap.

use super::file::SessionFile;
use super::read_session;
use super::testing::json;

/// A line: type, uuid, parent, and the rest of its members.
fn line(kind: &str, uuid: &str, parent: &str, rest: &str) -> String {
    format!(r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":{parent},"sessionId":"s",{rest}}}"#)
}

fn user(uuid: &str, parent: &str, content: &str) -> String {
    line("user", uuid, parent, &format!(r#""message":{{"role":"user","content":{content}}}"#))
}

fn model(uuid: &str, parent: &str, id: &str, block: &str) -> String {
    let usage = r#""usage":{"input_tokens":1,"cache_read_input_tokens":9,"output_tokens":2}"#;
    let message = format!(r#"{{"id":"{id}","role":"assistant","content":[{block}],{usage}}}"#);
    line("assistant", uuid, parent, &format!(r#""message":{message}"#))
}

fn call(id: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":"x","input":{{}}}}"#)
}

fn result(id: &str) -> String {
    format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"r"}}"#)
}

fn answer(id: &str) -> String {
    format!("[{}]", result(id))
}

fn text(text: &str) -> String {
    format!(r#"{{"type":"text","text":"{text}"}}"#)
}

fn read(lines: &[String], leaf: Option<&str>) -> SessionFile {
    read_session(lines.join("\r\n").as_bytes(), leaf).expect("read")
}

fn message(role: &str, blocks: &[String]) -> String {
    format!(r#"{{"role":"{role}","content":[{}]}}"#, blocks.join(","))
}

#[test]
fn lines_of_one_message_are_one_and_its_results_follow_it() {
    let file = read(
        &[
            user("1", "null", r#""go \ud800""#),
            model("2", "\"1\"", "m", &text("a")),
            model("3", "\"2\"", "m", &call("c1")),
            user("4", "\"3\"", &answer("c1")),
            model("5", "\"3\"", "m", &call("c2")),
            user("6", "\"5\"", r#""wait""#),
            user("7", "\"6\"", &answer("c2")),
            model("8", "\"7\"", "n", &text("b")),
        ],
        None,
    );
    assert_eq!(
        json(&file),
        [
            r#"{"role":"user","content":"go \ud800"}"#.into(),
            message("assistant", &[text("a"), call("c1"), call("c2")]),
            message("user", &[result("c1"), result("c2"), text("wait")]),
            message("assistant", &[text("b")]),
        ]
    );
    let sent: Vec<u32> = file.calls.iter().map(|call| call.sent).collect();
    assert_eq!(sent, [1, 3]);
    assert_eq!(file.calls[0].usage.map(|usage| usage.input_tokens), Some(10));
    assert_eq!((file.receipt.dead_ends, file.receipt.lines), (0, 8));
}

#[test]
fn a_late_result_goes_to_its_call() {
    let file = read(
        &[
            model("1", "null", "m", &call("c1")),
            model("2", "\"1\"", "n", &call("c2")),
            user("3", "\"2\"", &answer("c2")),
            user("4", "\"3\"", &answer("c1")),
        ],
        None,
    );
    assert_eq!(json(&file)[1], message("user", &[result("c1")]));
    assert_eq!(json(&file)[3], message("user", &[result("c2")]));
}

#[test]
fn what_was_taken_back_is_a_dead_end_and_can_be_asked_for() {
    let lines = [
        user("1", "null", "\"one\""),
        model("2", "\"1\"", "m", &text("a")),
        user("3", "\"2\"", "\"left\""),
        model("4", "\"3\"", "n", &text("left too")),
        user("5", "\"2\"", "\"other\""),
    ];
    let file = read(&lines, None);
    assert_eq!(file.messages.len(), 3);
    assert!(json(&file)[2].contains("other"));
    assert_eq!((file.receipt.dead_ends, file.receipt.branches), (2, vec!["4".into(), "5".into()]));
    let left = read(&lines, Some("4"));
    assert_eq!(left.messages.len(), 4);
    assert!(json(&left)[2].contains("left"));
    assert!(read_session(lines.join("\n").as_bytes(), Some("9")).is_err());
}

#[test]
fn a_parent_never_written_and_an_unlinked_tree_do_not_lose_lines() {
    let file = read(
        &[
            user("1", "null", "\"one\""),
            model("2", "\"1\"", "m", &text("a")),
            user("3", "null", "\"new tree\""),
            model("4", "\"lost\"", "n", &text("b")),
            r#"{"type":"user","message":{"role":"user","content":"no uuid"}}"#.into(),
            model("5", "\"4\"", "o", &text("c")),
        ],
        None,
    );
    assert_eq!((file.messages.len(), file.receipt.bridged), (6, 1));
}

#[test]
fn a_content_that_is_neither_a_text_nor_a_list_is_a_broken_line() {
    let lines = [
        user("1", "null", "\"go\""),
        user("2", "\"1\"", "7"),
        user("3", "\"2\"", r#"{"text":"a"}"#),
        user("4", "\"3\"", "null"),
    ];
    let file = read(&lines, None);
    let broken: Vec<u32> = file.receipt.broken.iter().map(|it| it.line).collect();
    assert_eq!((file.receipt.read, broken), (2, vec![2, 3]));
}

#[test]
fn a_leaf_that_is_asked_for_brings_no_other_tree() {
    let lines = [
        user("1", "null", "\"one\""),
        user("2", "null", "\"another tree\""),
        model("3", "\"2\"", "m", &text("a")),
    ];
    assert_eq!(read(&lines, None).messages.len(), 2, "both texts are one message");
    assert!(json(&read(&lines, None))[0].contains("one"));
    assert!(!json(&read(&lines, Some("3")))[0].contains("one"));
}

#[test]
fn records_that_are_no_context_are_counted_and_left_out() {
    let aside = r#""isSidechain":true,"message":{"role":"user","content":"sub"}"#;
    let failed = r#""isApiErrorMessage":true,"message":{"id":"e","role":"assistant","content":[]}"#;
    let meta = r#""isMeta":true,"message":{"role":"user","content":"skill"}"#;
    let file = read(
        &[
            r#"{"type":"file-history-snapshot","snapshot":{}}"#.into(),
            user("1", "null", "\"one\""),
            line("progress", "p", "\"1\"", r#""data":{}"#),
            line("user", "s", "null", aside),
            line("assistant", "e", "\"p\"", failed),
            line("user", "k", "\"e\"", meta),
            line("novelty", "n", "\"k\"", r#""x":1"#),
            line("user", "b", "\"k\"", r#""message":3"#),
            "{\"type\":\"user\",\"uuid\":".into(),
        ],
        None,
    );
    assert_eq!(json(&file), [message("user", &[text("one"), text("skill")])]);
    assert_eq!((file.receipt.sidechain, file.receipt.unknown, file.receipt.read), (1, 1, 6));
    let broken: Vec<u32> = file.receipt.broken.iter().map(|broken| broken.line).collect();
    assert_eq!((broken, file.receipt.lines), (vec![8, 9], 9));
    assert_eq!(file.receipt.absent, ["system", "tools", "window"]);
}

#[test]
fn a_file_of_a_subagent_is_its_conversation() {
    let rest = r#""isSidechain":true,"message":{"role":"user","content":"sub"}"#;
    let file = read(&[line("user", "1", "null", rest)], None);
    assert_eq!((file.messages.len(), file.receipt.sidechain), (1, 0));
}

#[test]
fn history_written_twice_is_read_once() {
    let once = [user("1", "null", "\"one\""), model("2", "\"1\"", "m", &text("a"))];
    let again = [once[0].clone(), model("9", "\"1\"", "m", &text("a"))];
    let file = read(&[once, again].concat(), None);
    assert_eq!((file.messages.len(), file.receipt.repeated), (2, 2));
}

#[test]
fn a_compaction_is_a_record_with_its_summary() {
    let boundary = r#""subtype":"compact_boundary","logicalParentUuid":"2","timestamp":"t","compactMetadata":{"preTokens":77}"#;
    let summary = r#""isCompactSummary":true,"message":{"role":"user","content":"so far"}"#;
    let file = read(
        &[
            user("1", "null", "\"one\""),
            model("2", "\"1\"", "m", &text("a")),
            line("system", "3", "null", boundary),
            line("user", "4", "\"3\"", summary),
            user("5", "\"4\"", "\"two\""),
            model("6", "\"5\"", "n", &text("b")),
            line("user", "7", "\"6\"", summary),
        ],
        None,
    );
    assert_eq!(file.messages.len(), 4);
    let found: Vec<_> = file
        .compactions
        .iter()
        .map(|it| (it.id.as_str(), it.summary.as_str(), it.tokens_before, it.first_kept_index))
        .collect();
    assert_eq!(found, [("3", "so far", 77, 2), ("7", "so far", 0, 4)]);
}

#[test]
fn a_compaction_inside_a_turn_keeps_what_comes_after_the_results() {
    let boundary = r#""subtype":"compact_boundary","logicalParentUuid":"2""#;
    let summary =
        |text| format!(r#""isCompactSummary":true,"message":{{"role":"user","content":"{text}"}}"#);
    let file = read(
        &[
            model("1", "null", "m", &call("c1")),
            user("2", "\"1\"", &answer("c1")),
            line("system", "3", "null", boundary),
            line("user", "4", "\"3\"", &summary("first")),
            line("user", "5", "\"4\"", &summary("second")),
            model("6", "\"5\"", "n", &text("b")),
        ],
        None,
    );
    let found: Vec<_> =
        file.compactions.iter().map(|it| (it.summary.as_str(), it.first_kept_index)).collect();
    assert_eq!((found, file.messages.len()), (vec![("first", 2), ("second", 2)], 3));
}

fn queued(uuid: &str, parent: &str, prompt: &str, more: &str) -> String {
    let attachment = format!(r#"{{"type":"queued_command","prompt":{prompt}{more}}}"#);
    line("attachment", uuid, parent, &format!(r#""attachment":{attachment}"#))
}

#[test]
fn a_prompt_typed_while_the_model_works_is_the_users() {
    let picture = r#"{"type":"image","source":{}}"#;
    let file = read(
        &[
            user("1", "null", "\"go\""),
            model("2", "\"1\"", "m", &call("c1")),
            user("3", "\"2\"", &answer("c1")),
            queued("4", "\"3\"", "\"not there\"", r#","commandMode":"prompt","source_uuid":"q""#),
            user("q", "\"4\"", "\"not there\""),
            queued("5", "\"q\"", &format!("[{},{picture}]", text("see")), ""),
            model("6", "\"5\"", "n", &text("a")),
            line("attachment", "7", "\"6\"", r#""attachment":{"type":"file","prompt":"no"}"#),
            queued("8", "\"6\"", "\"left\"", ""),
            queued("9", "\"6\"", "\"job done\"", r#","commandMode":"task-notification""#),
        ],
        None,
    );
    assert_eq!(
        json(&file)[2..],
        [
            message("user", &[result("c1"), text("not there"), text("see"), picture.into()]),
            message("assistant", &[text("a")]),
            r#"{"role":"user","content":"job done"}"#.into(),
        ]
    );
    let receipt = &file.receipt;
    assert_eq!((receipt.read, receipt.repeated, receipt.dead_ends), (10, 1, 1));
    assert_eq!(receipt.leaf.as_deref(), Some("9"), "the newest line is a prompt");
    assert_eq!(receipt.attachments, 0, "one that the conversation left is not counted");
}

#[test]
fn what_a_compaction_preserved_was_sent_after_it() {
    let boundary = |uuids: &str| {
        let meta = format!(r#""compactMetadata":{{"preservedMessages":{{"uuids":{uuids}}}}}"#);
        line("system", "6", "null", &format!(r#""subtype":"compact_boundary",{meta}"#))
    };
    let summary = r#""isCompactSummary":true,"message":{"role":"user","content":"so far"}"#;
    let compacted = |uuids: &str| {
        let file = read(
            &[
                user("1", "null", "\"one\""),
                model("2", "\"1\"", "m", &call("c1")),
                user("3", "\"2\"", &answer("c1")),
                model("4", "\"3\"", "n", &text("a")),
                user("5", "\"4\"", "\"two\""),
                boundary(uuids),
                line("user", "7", "\"6\"", summary),
                model("8", "\"7\"", "o", &text("b")),
            ],
            None,
        );
        let record = &file.compactions[0];
        assert_eq!((record.at, record.call), (5, 2));
        record.first_kept_index
    };
    assert_eq!(compacted(r#"["2","3","4","5"]"#), 1);
    assert_eq!(compacted(r#"["3","4","5"]"#), 2);
    assert_eq!(compacted(r#"["4","5"]"#), 3);
    for others in ["[]", r#"["6"]"#, r#"["1","2"]"#, r#"["lost","5"]"#, r#"["2","lost"]"#] {
        assert_eq!(compacted(others), 5, "{others}");
    }
}

#[test]
fn messages_of_a_call_are_a_subagents() {
    let of = |parent: &str, line: String| {
        line.replacen('{', &format!(r#"{{"parent_tool_use_id":{parent},"#), 1)
    };
    let file = read(
        &[
            of("null", model("1", "null", "m", &call("c1"))),
            of("\"c1\"", user("2", "null", "\"look\"")),
            of("\"c1\"", model("3", "null", "n", &text("found"))),
            of("null", user("4", "null", &answer("c1"))),
        ],
        None,
    );
    assert_eq!((file.messages.len(), file.receipt.sidechain), (2, 2));
}

#[test]
fn a_result_that_was_replaced_is_what_was_sent() {
    let replaced = r#"{"type":"content-replacement","sessionId":"s","replacements":[{"kind":"tool-result","toolUseId":"c1","replacement":"saved \"it\""},{"kind":"other","toolUseId":"c2"}]}"#;
    let file = read(
        &[
            model("1", "null", "m", &format!("{},{}", call("c1"), call("c2"))),
            user("2", "\"1\"", &answer("c1")),
            user("3", "\"1\"", &answer("c2")),
            replaced.into(),
            model("4", "\"3\"", "n", &text("a")),
        ],
        Some("4"),
    );
    let sent = result("c1").replace("\"r\"", r#""saved \"it\"""#);
    assert_eq!(json(&file)[1], message("user", &[sent, result("c2")]));
    assert_eq!((file.receipt.read, file.receipt.unknown), (5, 0));
}

#[test]
fn attachments_that_are_left_out_are_counted_by_their_type() {
    let attachment = |uuid: &str, parent: &str, kind: &str| {
        line("attachment", uuid, parent, &format!(r#""attachment":{{"type":"{kind}"}}"#))
    };
    let file = read(
        &[
            user("1", "null", "\"go\""),
            attachment("2", "\"1\"", "file"),
            attachment("3", "\"2\"", "skill_listing"),
            attachment("4", "\"3\"", "file"),
            queued("5", "\"4\"", "\"and\"", ""),
            model("6", "\"5\"", "m", &text("a")),
        ],
        None,
    );
    let kinds = &file.receipt.kinds;
    let counts = ["/file", "/skill_listing", "/queued_command", ""]
        .map(|kind| kinds.get(&*format!("attachment{kind}")).copied());
    assert_eq!(counts, [Some(2), Some(1), None, Some(4)]);
    assert_eq!((file.receipt.attachments, file.receipt.read), (3, 6));
}

#[test]
fn texts_of_attachments_were_sent_and_after_a_compaction_stand_for_what_is_gone() {
    let attachment = |uuid: &str, parent: &str, role: &str, texts: &[&str]| {
        let texts: Vec<_> = texts.iter().map(|text| format!(r#"{{"content":"{text}"}}"#)).collect();
        let more = format!(
            r#""attachment":{{"type":"file"}},"rendered":[{}],"renderedRole":"{role}""#,
            texts.join(",")
        );
        line("attachment", uuid, parent, &more)
    };
    let shape = |system: &str| {
        format!(
            r#"{{"type":"api-request-shape","shape":{{"system":[{},{}],"tools":[{{"name":"x"}}]}}}}"#,
            text(system),
            text("rules")
        )
    };
    let lines = [
        user("1", "null", r#""go""#),
        attachment("2", "\"1\"", "system", &["skills", "date"]),
        attachment("3", "\"2\"", "user", &["file"]),
        r#"{"type":"attachment","attachment":{"type":"prompt_snapshot","systemPrompt":["x"]}}"#
            .into(),
        shape("prompt"),
        model("4", "\"3\"", "m", &call("c1")),
        user("5", "\"4\"", &answer("c1")),
        line("system", "6", "null", r#""subtype":"compact_boundary""#),
        line("user", "7", "\"6\"", r#""isCompactSummary":true,"message":{"content":"sum"}"#),
        attachment("8", "\"7\"", "user", &["file again"]),
        user("9", "\"8\"", r#""go on""#),
        attachment("10", "\"9\"", "system", &["skills again"]),
        shape("another"),
        model("11", "\"10\"", "n", &text("b")),
        attachment("12", "\"11\"", "system", &["reminder"]),
        user("13", "\"12\"", r#""more""#),
    ];
    let file = read(&lines, None);
    let words = |words: &[&str]| words.iter().map(|word| text(word)).collect::<Vec<_>>();
    assert_eq!(
        json(&file),
        [
            message("user", &words(&["go", "file"])),
            message("system", &words(&["skills", "date"])),
            message("assistant", &[call("c1")]),
            message("user", &[result("c1")]),
            r#"{"role":"user","content":"go on"}"#.into(),
            message("assistant", &words(&["b"])),
            r#"{"role":"user","content":"more"}"#.into(),
            r#"{"role":"system","content":"reminder"}"#.into(),
        ]
    );
    let record = &file.compactions[0];
    assert_eq!((record.at, record.first_kept_index), (4, 4));
    assert_eq!(record.head, "sum\n\nfile again\n\nskills again");
    assert_eq!(file.system.as_deref(), Some("prompt\nrules"));
    assert_eq!(file.tools, Some(vec![r#"{"name":"x"}"#.into()]));
    assert_eq!((file.receipt.attachments, file.receipt.unknown), (1, 0));
}
