#![expect(clippy::arithmetic_side_effects, reason = "small numbers of a test")]
//! No bytes reach a panic, and what is counted adds up.

use proptest::prelude::*;

use super::testing::json;
use super::{SessionReader, read_session};

const SEEDS: [&str; 17] = [
    "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"x\\ud83d\\ude00\\ud800\"}],\"usage\":{\"input\":1}}}\n{\"type\":\"compaction\",\"id\":\"b\",\"parentId\":\"a\",\"firstKeptEntryId\":\"a\",\"summary\":\"s\",\"systemMessage\":{}}\n{\"type\":\"context_edit\",\"id\":\"c\",\"parentId\":\"b\",\"targetId\":\"a\",\"replacement\":{\"content\":\"y\"}}",
    "{\"type\":\"user\",\"uuid\":\"1\",\"parentUuid\":null,\"timestamp\":\"2026-01-01T00:00:00.1Z\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n{\"type\":\"assistant\",\"uuid\":\"2\",\"parentUuid\":\"1\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"n\",\"input\":{}}]}}\n{\"type\":\"user\",\"uuid\":\"3\",\"parentUuid\":\"2\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c\",\"content\":\"r\"}]}}\n{\"type\":\"attachment\",\"uuid\":\"9\",\"parentUuid\":\"2\",\"attachment\":{\"type\":\"date\"},\"rendered\":[{\"content\":\"d\"}],\"renderedRole\":\"system\"}",
    "{\"timestamp\":\"t\",\"type\":\"session_meta\",\"payload\":{\"id\":\"s\"}}\n{\"type\":\"response_item\",\"payload\":{\"type\":\"custom_tool_call\",\"name\":\"n\",\"input\":\"i\",\"call_id\":\"c\"}}\n{\"type\":\"response_item\",\"payload\":{\"type\":\"custom_tool_call_output\",\"call_id\":\"c\",\"output\":[{\"type\":\"input_text\",\"text\":\"x\"}]}}\n{\"type\":\"event_msg\",\"payload\":{\"type\":\"token_count\",\"info\":{\"last_token_usage\":{\"input_tokens\":5}}}}",
    "{\"sessionId\":\"s\",\"projectHash\":\"h\",\"kind\":\"main\"}\n{\"id\":\"u\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"type\":\"user\",\"content\":[{\"text\":\"hi\"}]}\n{\"id\":\"m\",\"timestamp\":\"2026-01-01T00:00:01Z\",\"type\":\"gemini\",\"content\":\"x\",\"model\":\"g\",\"tokens\":{\"input\":9,\"output\":1,\"cached\":0},\"toolCalls\":[{\"id\":\"c\",\"name\":\"f\",\"args\":{},\"result\":[{\"functionResponse\":{\"id\":\"c\",\"name\":\"f\",\"response\":{\"output\":\"r\"}}}]}]}\n{\"id\":\"v\",\"type\":\"user\",\"content\":\"more\"}\n{\"$set\":{\"messages\":[{\"id\":\"s\",\"type\":\"user\",\"content\":\"so far\"},{\"id\":\"t\",\"type\":\"gemini\",\"content\":\"ok\"},{\"id\":\"v\",\"type\":\"user\",\"content\":\"more\"}]}}\n{\"id\":\"w\",\"type\":\"user\",\"content\":\"again\"}\n{\"$rewindTo\":\"w\"}",
    "{\"uuid\":\"1\",\"parentUuid\":null,\"sessionId\":\"s\",\"cwd\":\"/\",\"type\":\"user\",\"message\":{\"role\":\"user\",\"parts\":[{\"text\":\"hi\"}]}}\n{\"uuid\":\"2\",\"parentUuid\":\"1\",\"sessionId\":\"s\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"type\":\"assistant\",\"model\":\"q\",\"message\":{\"role\":\"model\",\"parts\":[{\"text\":\"t\",\"thought\":true},{\"functionCall\":{\"id\":\"c\",\"name\":\"f\",\"args\":{}}}]},\"usageMetadata\":{\"promptTokenCount\":9,\"totalTokenCount\":11},\"contextWindowSize\":99}\n{\"uuid\":\"3\",\"parentUuid\":\"2\",\"sessionId\":\"s\",\"type\":\"tool_result\",\"message\":{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"id\":\"c\",\"name\":\"f\",\"response\":{\"output\":\"r\"}}}]}}\n{\"uuid\":\"4\",\"parentUuid\":\"3\",\"sessionId\":\"s\",\"type\":\"system\",\"subtype\":\"chat_compression\",\"systemPayload\":{\"info\":{\"originalTokenCount\":9,\"newTokenCount\":3},\"compressedHistory\":[{\"role\":\"user\",\"parts\":[{\"text\":\"so far\"}]},{\"role\":\"model\",\"parts\":[{\"text\":\"ok\"},{\"functionCall\":{\"id\":\"c\",\"name\":\"f\",\"args\":{}}}]}]}}\n{\"uuid\":\"5\",\"parentUuid\":\"4\",\"sessionId\":\"s\",\"type\":\"user\",\"message\":{\"role\":\"user\",\"parts\":[{\"text\":\"/x\"}]}}\n{\"uuid\":\"6\",\"parentUuid\":\"5\",\"sessionId\":\"s\",\"type\":\"system\",\"subtype\":\"slash_command\",\"systemPayload\":{\"phase\":\"result\",\"rawCommand\":\"/x\",\"outputHistoryItems\":[{\"type\":\"assistant\"}]}}",
    "[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":\"n\",\"arguments\":\"{}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":[{\"type\":\"text\",\"text\":\"r\"}]}]",
    "{\"type\":\"session.start\",\"data\":{\"version\":1}}\n{\"type\":\"user.message\",\"data\":{\"content\":\"hi\"}}\n{\"type\":\"assistant.message\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"data\":{\"content\":\"\",\"apiCallId\":\"m\",\"toolRequests\":[{\"toolCallId\":\"c\",\"name\":\"n\",\"arguments\":{}}]}}\n{\"type\":\"tool.execution_complete\",\"data\":{\"toolCallId\":\"c\",\"result\":{\"content\":\"r\"}}}\n{\"type\":\"session.compaction_complete\",\"data\":{\"summaryContent\":\"s\",\"preCompactionTokens\":9}}",
    "{\"type\":\"metadata\",\"protocol_version\":\"1.4\"}\n{\"type\":\"context.append_message\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}}\n{\"type\":\"context.append_loop_event\",\"event\":{\"type\":\"step.begin\",\"uuid\":\"1\"},\"time\":1}\n{\"type\":\"context.append_loop_event\",\"event\":{\"type\":\"content.part\",\"part\":{\"type\":\"think\",\"think\":\"t\"}}}\n{\"type\":\"context.append_loop_event\",\"event\":{\"type\":\"tool.call\",\"toolCallId\":\"c\",\"name\":\"n\",\"args\":{}}}\n{\"type\":\"context.append_loop_event\",\"event\":{\"type\":\"tool.result\",\"toolCallId\":\"c\",\"result\":{\"output\":\"r\",\"note\":\"n\"}}}\n{\"type\":\"context.append_loop_event\",\"event\":{\"type\":\"step.end\",\"usage\":{\"inputOther\":1,\"output\":2}}}\n{\"type\":\"context.apply_compaction\",\"summary\":\"s\",\"tokensBefore\":9}",
    "[{\"id\":1,\"source\":\"user\",\"action\":\"message\",\"args\":{\"content\":\"hi\"}},{\"id\":2,\"source\":\"agent\",\"action\":\"run\",\"args\":{\"thought\":\"t\"},\"tool_call_metadata\":{\"tool_call_id\":\"c\",\"function_name\":\"f\",\"model_response\":{\"id\":\"r\",\"usage\":{\"prompt_tokens\":3},\"choices\":[{\"message\":{\"content\":\"t\",\"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}}]}}},{\"id\":3,\"source\":\"agent\",\"observation\":\"run\",\"content\":\"o\",\"cause\":2,\"tool_call_metadata\":{\"tool_call_id\":\"c\"}}]",
    "[{\"kind\":\"MessageEvent\",\"source\":\"user\",\"llm_message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}},{\"kind\":\"ActionEvent\",\"source\":\"agent\",\"thought\":[],\"tool_name\":\"t\",\"tool_call_id\":\"a\",\"tool_call\":{\"arguments\":\"{}\"},\"llm_response_id\":\"r\"},{\"kind\":\"ObservationEvent\",\"source\":\"environment\",\"tool_call_id\":\"a\",\"observation\":{\"content\":[]}},{\"kind\":\"Condensation\",\"source\":\"environment\",\"summary\":\"s\"}]",
    "{\"trajectory\":[],\"history\":[{\"role\":\"user\",\"content\":\"do\",\"agent\":\"main\"},{\"role\":\"assistant\",\"content\":\"I look.\\n```\\nls\\n```\",\"action\":\"ls\\n\",\"agent\":\"main\"},{\"role\":\"user\",\"content\":\"a.py\"},{\"role\":\"assistant\",\"content\":\"t\",\"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":\"n\",\"arguments\":\"{}\"}}]},{\"role\":\"tool\",\"content\":\"o\",\"tool_call_ids\":[\"c\"]}]}",
    "[{\"role\":\"user\",\"content\":\"do\"},{\"role\":\"assistant\",\"content\":\"so ```mswea_bash_command\\nls\\n```\"},{\"role\":\"user\",\"content\":\"<returncode>0\"}]",
    "{\"version\":2,\"eval\":{\"task\":\"t\"},\"samples\":[{\"messages\":[{\"id\":\"u\",\"role\":\"user\",\"content\":\"attachment://h\"},{\"id\":\"m\",\"role\":\"assistant\",\"content\":[{\"type\":\"reasoning\",\"reasoning\":\"r\"}],\"tool_calls\":[{\"id\":\"c\",\"function\":\"f\",\"arguments\":{}}]},{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"r\"}],\"attachments\":{\"h\":\"x\"},\"events\":[{\"event\":\"model\",\"timestamp\":1,\"output\":{\"choices\":[{\"message\":{\"id\":\"m\"}}],\"usage\":{\"input_tokens\":7}}}]}]}",
    "{\"info\":{\"id\":\"s\",\"revert\":{\"messageID\":\"z\"}},\"messages\":[{\"info\":{\"id\":\"u\",\"role\":\"user\"},\"parts\":[{\"type\":\"text\",\"text\":\"hi\"},{\"type\":\"file\",\"url\":\"u\"}]},{\"info\":{\"id\":\"m\",\"role\":\"assistant\",\"tokens\":{\"input\":1}},\"parts\":[{\"type\":\"step-start\"},{\"type\":\"tool\",\"callID\":\"a\",\"tool\":\"t\",\"state\":{\"input\":{},\"output\":\"o\"}},{\"type\":\"step-finish\",\"tokens\":{\"input\":2}}]},{\"info\":{\"role\":\"assistant\",\"summary\":true},\"parts\":[{\"type\":\"text\",\"text\":\"s\"}]}]}",
    "{\"values\":{\"messages\":[{\"type\":\"human\",\"content\":\"a\"},{\"type\":\"ai\",\"data\":{\"content\":\"\",\"tool_calls\":[]}},{\"lc\":1,\"type\":\"constructor\",\"id\":[\"m\",\"ToolMessage\"],\"kwargs\":{\"content\":\"r\",\"tool_call_id\":\"c\"}}]}}",
    "{\"systemInstruction\":{\"parts\":[{\"text\":\"s\"}]},\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"a\"}]},{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"f\",\"args\":{}}}],\"usageMetadata\":{\"promptTokenCount\":4}}],\"input\":[{\"type\":\"reasoning\",\"summary\":[]},{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":\"{}\"}]}",
    "[{\"id\":\"1\",\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"text\":\"hi\"}]},{\"id\":\"2\",\"role\":\"assistant\",\"metadata\":{\"createdAt\":2500,\"usage\":{\"inputTokens\":8}},\"parts\":[{\"type\":\"step-start\"},{\"type\":\"tool-ls\",\"toolCallId\":\"c\",\"state\":\"output-available\",\"input\":{},\"output\":\"a\"}]},{\"role\":\"tool\",\"content\":[{\"type\":\"tool-result\",\"toolCallId\":\"c\"}]}]",
];

fn check(bytes: &[u8], leaf: Option<&str>) {
    let Ok(file) = read_session(bytes, leaf) else { return };
    let receipt = &file.receipt;
    let broken = u32::try_from(receipt.broken.len()).expect("few");
    assert_eq!(receipt.lines, receipt.read + receipt.unknown + broken);
    let messages = u32::try_from(file.messages.len()).expect("few");
    assert!(file.calls.is_sorted_by_key(|call| call.sent));
    assert!(file.calls.iter().all(|call| call.sent <= messages));
    assert!(file.compactions.iter().all(|record| record.first_kept_index <= messages));
    assert!(crate::json::parse(&crate::json::write(&file)).is_ok());
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), leaf in prop::option::of("[0-9a-c]{0,2}")) {
        check(&bytes, leaf.as_deref());
    }

    #[test]
    fn mutated_session_files_are_read_or_refused_without_a_panic(
        seed in prop::sample::select(&SEEDS[..]),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..4),
        puts in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(&b"\"\\{}[]:,\n\0u0\xffnull-1.e"[..])), 0..6),
        leaf in prop::option::of("[0-9a-c]"),
    ) {
        let mut bytes = seed.as_bytes().to_vec();
        for (from, to) in cuts {
            let (from, to) = (from.index(bytes.len() + 1), to.index(bytes.len() + 1));
            // What stands between is moved to the end: lines in another order, values in other places.
            let moved: Vec<u8> = bytes.drain(from.min(to)..from.max(to)).collect();
            bytes.extend(moved);
        }
        for (at, byte) in puts {
            let at = at.index(bytes.len() + 1);
            bytes.insert(at, byte);
        }
        check(&bytes, leaf.as_deref());
    }
}

/// What a file is read to, or why it is not.
fn outcome(read: crate::error::Result<super::SessionFile>) -> Result<String, String> {
    read.map(|file| crate::json::write(&file)).map_err(|error| error.to_string())
}

fn in_pieces(bytes: &[u8], sizes: &[usize], leaf: Option<&str>) -> Result<String, String> {
    let mut reader = SessionReader::default();
    let (mut rest, mut sizes) = (bytes, sizes.iter().cycle());
    while !rest.is_empty() {
        let size = sizes.next().map_or(1, |size| (*size).max(1)).min(rest.len());
        let (piece, behind) = rest.split_at(size);
        reader.push(piece);
        rest = behind;
    }
    assert_eq!(reader.bytes(), bytes.len());
    outcome(reader.end(leaf))
}

/// A file read at once, as it was before there was a reader in pieces.
fn at_once(bytes: &[u8], leaf: Option<&str>) -> Result<String, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes);
    if super::detect::sealed(bytes).is_some() || text.trim().is_empty() {
        return outcome(read_session(bytes, leaf));
    }
    outcome(super::of_document(&text, leaf).map(|mut file| {
        let bad = bytes.split(|byte| *byte == b'\n').filter(|line| str::from_utf8(line).is_err());
        file.receipt.lossy = crate::number::count(bad.count());
        let broken = u32::try_from(file.receipt.broken.len()).expect("few");
        file.receipt.lines = file.receipt.read + file.receipt.unknown + broken;
        file
    }))
}

proptest! {
    #[test]
    fn pieces_of_any_size_give_the_same_session(
        seed in prop::sample::select(&SEEDS[..]),
        before in prop::sample::select(&["", "\n", "\u{feff}", "\u{feff} \r\n\n", "{\"cut", "{\"a\":\n"][..]),
        after in prop::sample::select(&["", "\n", "\r\n\n {\"x\":1}", "\n{\"type\":", "\n\u{e9}"][..]),
        puts in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(&b"\"\\{}[]:,\n\0\xff\xc3 "[..])), 0..4),
        sizes in prop::collection::vec(1_usize..200, 1..6),
        leaf in prop::option::of("[0-9a-c]"),
    ) {
        let mut bytes = format!("{before}{seed}{after}").into_bytes();
        for (at, byte) in puts {
            let at = at.index(bytes.len() + 1);
            bytes.insert(at, byte);
        }
        let leaf = leaf.as_deref();
        let read = at_once(&bytes, leaf);
        prop_assert_eq!(&in_pieces(&bytes, &[bytes.len()], leaf), &read);
        prop_assert_eq!(&in_pieces(&bytes, &sizes, leaf), &read);
        prop_assert_eq!(&in_pieces(&bytes, &[1], leaf), &read);
    }
}

#[test]
fn a_file_that_is_no_session_is_a_typed_error() {
    let say = |text: &str| read_session(text.as_bytes(), None).expect_err(text).to_string();
    assert_eq!(say("\u{feff} \r\n"), "session: expected a session file, got an empty file");
    let cut = say("[{\"role\":\"user\",\n\"content\":\"a");
    assert!(cut.contains("EOF while parsing a string at line 2 column 12"), "{cut}");
    let object = say("{\"messages\":[{\"role\":\"user\"");
    assert!(object.contains("EOF while parsing an object at line 1"), "{object}");
    assert!(say("hello").contains("text that starts with \"hello\""));
    assert!(say("[]").contains("an empty JSON list"));
    assert!(say("{\"a\":1}").contains("a JSON object with a"));
    assert!(say("{}").contains("a JSON object with no members ("));
    let other = say("{\"type\":\"step.start\",\"data\":{}}\n{\"type\":\"x\",\"data\":{}}");
    assert!(other.contains("\"step.start\" with type, data") && other.contains("Codex"), "{other}");
    let deep = format!(
        "[{{\"role\":\"user\",\"content\":{}{}}}]",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert!(say(&deep).contains("nested 100002 levels deep"));
}

#[test]
fn byte_order_marks_line_ends_and_bad_utf8_are_taken() {
    let mut bytes = b"\xef\xbb\xbf{\"type\":\"session\",\"version\":3}\r\n".to_vec();
    bytes.extend(
        b"{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"\xff\xfe\"}}\r\n\r\n",
    );
    let file = read_session(&bytes, None).expect("read");
    assert_eq!((file.messages.len(), file.receipt.lossy, file.receipt.lines), (1, 1, 2));
    assert_eq!(json(&file)[0], "{\"role\":\"user\",\"content\":\"\u{fffd}\u{fffd}\"}");
}

#[test]
fn a_long_line_is_read() {
    let line = format!(
        "{{\"type\":\"message\",\"message\":{{\"role\":\"user\",\"content\":\"{}\"}}}}",
        "x".repeat(8_000_000)
    );
    assert_eq!(read_session(line.as_bytes(), None).expect("read").messages.len(), 1);
}

#[test]
fn every_kind_of_file_survives_deep_nesting_and_any_cut() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for seed in SEEDS {
        let intact = read_session(seed.as_bytes(), None).expect("read");
        assert!(!intact.messages.is_empty() && intact.receipt.broken.is_empty(), "{seed}");
        for cut in (0..seed.len()).filter(|at| seed.is_char_boundary(*at)) {
            check(&seed.as_bytes()[..cut], None);
        }
        let lines: Vec<&str> = seed.split('\n').collect();
        let [first, rest @ ..] = lines.as_slice() else { continue };
        let odd = first.replacen('{', &format!("{{\"deep\":{deep},"), 1);
        let result = read_session([&[odd.as_str()], rest].concat().join("\n").as_bytes(), None);
        match result {
            // Beside the messages of a document it costs nothing.
            Ok(file) if seed.starts_with('{') && lines.len() == 1 => {
                assert_eq!(file.messages.len(), intact.messages.len(), "{seed}");
            }
            Ok(file) => assert_eq!(
                file.receipt.broken.first().map(|it| it.reason.as_str()),
                Some("nested deeper than 127 levels"),
                "{seed}"
            ),
            Err(error) => assert!(error.to_string().contains("levels deep"), "{error}"),
        }
    }
}

#[test]
fn a_line_of_fifty_megabytes_and_a_hundred_thousand_calls_are_read() {
    let long = format!(
        "{{\"type\":\"user.message\",\"data\":{{\"content\":\"{}\"}}}}",
        "x".repeat(50_000_000)
    );
    let file = read_session(long.as_bytes(), None).expect("read");
    assert_eq!((file.format, file.messages.len()), ("copilot-cli", 1));
    let call = |n: u32| format!("{{\"toolCallId\":\"{n}\",\"name\":\"n\",\"arguments\":{{}}}}");
    let calls: Vec<String> = (0..100_000).map(call).collect();
    let mut many = format!(
        "{{\"type\":\"assistant.message\",\"data\":{{\"content\":\"\",\"toolRequests\":[{}]}}}}",
        calls.join(",")
    );
    let result = |n: u32| {
        format!(
            "\n{{\"type\":\"tool.execution_complete\",\"data\":{{\"toolCallId\":\"{n}\",\"result\":{{\"content\":\"r\"}}}}}}"
        )
    };
    many.extend((0..100_000).map(result));
    let file = read_session(many.as_bytes(), None).expect("read");
    assert_eq!((file.messages.len(), file.calls.len()), (100_001, 1));
}
