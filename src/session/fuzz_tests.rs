#![expect(clippy::arithmetic_side_effects, reason = "small numbers of a test")]
//! No bytes reach a panic, and what is counted adds up.

use proptest::prelude::*;

use super::read_session;

const SEEDS: [&str; 4] = [
    "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"x\\ud83d\\ude00\\ud800\"}],\"usage\":{\"input\":1}}}\n{\"type\":\"compaction\",\"id\":\"b\",\"parentId\":\"a\",\"firstKeptEntryId\":\"a\",\"summary\":\"s\"}",
    "{\"type\":\"user\",\"uuid\":\"1\",\"parentUuid\":null,\"timestamp\":\"2026-01-01T00:00:00.1Z\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n{\"type\":\"assistant\",\"uuid\":\"2\",\"parentUuid\":\"1\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"n\",\"input\":{}}]}}\n{\"type\":\"user\",\"uuid\":\"3\",\"parentUuid\":\"2\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c\",\"content\":\"r\"}]}}",
    "{\"timestamp\":\"t\",\"type\":\"session_meta\",\"payload\":{\"id\":\"s\"}}\n{\"type\":\"response_item\",\"payload\":{\"type\":\"custom_tool_call\",\"name\":\"n\",\"input\":\"i\",\"call_id\":\"c\"}}\n{\"type\":\"response_item\",\"payload\":{\"type\":\"custom_tool_call_output\",\"call_id\":\"c\",\"output\":[{\"type\":\"input_text\",\"text\":\"x\"}]}}\n{\"type\":\"event_msg\",\"payload\":{\"type\":\"token_count\",\"info\":{\"last_token_usage\":{\"input_tokens\":5}}}}",
    "[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":\"n\",\"arguments\":\"{}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":[{\"type\":\"text\",\"text\":\"r\"}]}]",
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
    assert!(crate::json::whole(&crate::json::write(&file)).is_ok());
}

proptest! {
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400), leaf in prop::option::of("[0-9a-c]{0,2}")) {
        check(&bytes, leaf.as_deref());
    }

    #[test]
    fn mutated_files(
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

#[test]
fn what_is_no_session_is_a_typed_error() {
    let say = |text: &str| read_session(text.as_bytes(), None).expect_err(text).to_string();
    assert_eq!(say("\u{feff} \r\n"), "session: expected a session file, got an empty file");
    let cut = say("[{\"role\":\"user\",\n\"content\":\"a");
    assert!(cut.contains("EOF while parsing a string at line 2 column 12"), "{cut}");
    let object = say("{\"messages\":[{\"role\":\"user\"");
    assert!(object.contains("EOF while parsing an object at line 1"), "{object}");
    assert!(say("hello").contains("text that starts with \"hello\""));
    assert!(say("[]").contains("an empty JSON list"));
    assert!(say("{\"a\":1}").contains("a JSON object with a"));
    let other = say("{\"type\":\"session.start\",\"data\":{}}\n{\"type\":\"x\",\"data\":{}}");
    assert!(
        other.contains("\"session.start\" with type, data") && other.contains("Codex"),
        "{other}"
    );
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
    assert_eq!(file.messages[0], "{\"role\":\"user\",\"content\":\"\u{fffd}\u{fffd}\"}");
}

#[test]
fn a_long_line_is_read() {
    let line = format!(
        "{{\"type\":\"message\",\"message\":{{\"role\":\"user\",\"content\":\"{}\"}}}}",
        "x".repeat(8_000_000)
    );
    assert_eq!(read_session(line.as_bytes(), None).expect("read").messages.len(), 1);
}
