//! Messages known by their measures make the session that their texts make.

use proptest::prelude::*;

use super::*;
use crate::context::session::snapshot::{resync, snapshot_bytes};
use crate::context::session::{Append, keeps, next_is_summary, truncate};
use crate::context::{Options, restore_from};
use crate::format::Format;
use crate::model::{MessageId, Span};

const HISTORY: [&str; 5] = [
    r#"{"role":"user","content":"fix src/a/lexer.rs and README.md"}"#,
    r#"{"role":"assistant","content":[{"type":"text","text":"I read it"},
        {"type":"tool_use","id":"t1","name":"read","input":{"path":"src/a/lexer.rs"}}]}"#,
    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1",
        "content":"fn lex_all(input: &str) { parse_tokens(input) } // see src/b/parser.rs:120"}]}"#,
    r#"{"role":"assistant","content":"src/b/parser.rs calls lex_all"}"#,
    r#"{"role":"user","content":"then parse_tokens, at 2026-01-02"}"#,
];

fn session(more: &str) -> Session {
    let window = r#""window":{"contextTokens":100000}"#;
    let options = format!(r#"{{{window},"format":"anthropic"{more}}}"#);
    Session::new(Options::parse(&options).unwrap(), Format::Anthropic)
}

fn of_texts<T: AsRef<str>>(messages: &[T]) -> Session {
    let mut session = session("");
    push_all(&mut session, messages);
    session
}

fn push_all<T: AsRef<str>>(session: &mut Session, messages: &[T]) {
    for message in messages {
        assert_eq!(session.push(message.as_ref().as_bytes()), Ok(Append::Appended));
    }
}

fn all(session: &Session) -> Span<MessageId> {
    MessageId::FIRST.to(session.transcript.ledger.next_message())
}

fn from(index: usize, count: usize) -> Span<MessageId> {
    MessageId::at(index).to(MessageId::at(index.saturating_add(count)))
}

/// Same request, same snapshot, same identifiers under the same numbers, same measures for the next.
fn check_same(one: &mut Session, other: &mut Session) {
    assert_eq!(one.transcript.outlines, other.transcript.outlines);
    let ids = |it: &Session| -> Vec<Vec<u32>> {
        let blocks = 0..it.transcript.ledger.block_count();
        blocks.map(|at| it.transcript.ledger.ranks(at.into()).to_vec()).collect()
    };
    assert_eq!(ids(one), ids(other));
    let words = |it: &Session| -> Vec<(String, u16, u8)> {
        let known = &it.transcript.ledger.identifiers;
        known.iter().map(|(id, it)| (known.text(id).to_owned(), it.tokens, it.uses)).collect()
    };
    assert_eq!(words(one), words(other));
    assert_eq!(one.request(0).to_json(), other.request(0).to_json());
    assert_eq!(snapshot_bytes(one), snapshot_bytes(other));
}

#[test]
fn a_session_of_measures_is_the_session_of_the_texts() {
    let mut fresh = of_texts(&HISTORY);
    let bytes = measures_of(&fresh, all(&fresh), "").unwrap();
    let mut known = session("");
    assert_eq!(append_known(&mut known, &bytes, all(&fresh)), Appended::UpTo(5));
    assert_eq!(known.counters().bytes_measured, 0);
    assert_eq!(measures_of(&known, all(&known), ""), Some(bytes));
    check_same(&mut known, &mut fresh);
}

/// More kinds of pieces than are compared, each of them twice.
#[test]
fn pieces_of_many_kinds_are_read_as_they_were_written() {
    let call = |at: usize| {
        let (tool, id) = (at / 2, at);
        format!(
            r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"c{id}","name":"tool{tool}","input":{{}}}}]}}"#
        )
    };
    let result = |at: usize| {
        format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c{at}","content":"ok"}}]}}"#
        )
    };
    let messages: Vec<String> = (0..200).flat_map(|at| [call(at), result(at)]).collect();
    let mut fresh = of_texts(&messages);
    let bytes = measures_of(&fresh, all(&fresh), "").unwrap();
    let mut known = session("");
    assert_eq!(append_known(&mut known, &bytes, all(&fresh)), Appended::UpTo(400));
    assert_eq!(measures_of(&known, all(&known), ""), Some(bytes));
    let traits = |at: u32| &known.transcript.outline(at.into()).unwrap().pieces[0].traits;
    assert!(std::rc::Rc::ptr_eq(traits(0), traits(2)) && traits(0).name.as_ref() == "tool0");
    assert!(std::rc::Rc::ptr_eq(traits(1), traits(3)));
    check_same(&mut known, &mut fresh);
}

/// Who made a call says whether its result may be cut.
#[test]
fn callers_are_read_as_they_were_written() {
    let messages = [
        HISTORY[0],
        r#"{"role":"assistant","content":[{"type":"server_tool_use","id":"s1","name":"code_execution","input":{}},
            {"type":"tool_use","id":"t1","name":"rows","input":{},"caller":{"type":"code_execution_20250825","tool_id":"s1"}}]}"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"[1]"}]}"#,
    ];
    let mut fresh = of_texts(&messages);
    let bytes = measures_of(&fresh, all(&fresh), "").unwrap();
    let mut known = session("");
    assert_eq!(append_known(&mut known, &bytes, all(&fresh)), Appended::UpTo(3));
    assert_eq!(&*known.transcript.outline(1.into()).unwrap().pieces[1].caller, "s1");
    check_same(&mut known, &mut fresh);
    let masks = known.transcript.ledger.blocks.iter().map(|it| it.mask.may_edit);
    assert_eq!(masks.collect::<Vec<_>>(), [false; 4]);
}

#[test]
fn a_session_without_a_window_takes_measures_of_one_with_it_and_not_the_other_way() {
    let fresh = of_texts(&HISTORY);
    let bytes = measures_of(&fresh, all(&fresh), "").unwrap();
    let options = || Options::parse(r#"{"format":"anthropic"}"#).unwrap();
    let mut plain = Session::new(options(), Format::Anthropic);
    assert_eq!(append_known(&mut plain, &bytes, all(&fresh)), Appended::UpTo(5));
    let mut other = Session::new(options(), Format::Anthropic);
    for message in HISTORY {
        other.push(message.as_bytes()).unwrap();
    }
    assert_eq!(plain.request(0).to_json(), other.request(0).to_json());
    let bytes = measures_of(&plain, all(&plain), "").unwrap();
    assert_eq!(append_known(&mut session(""), &bytes, all(&fresh)), Appended::UpTo(0));
}

#[test]
fn a_word_that_was_known_before_is_looked_at_where_it_is_new() {
    let messages = ["see lexer_99", "lexer_99 again"]
        .map(|text| format!(r#"{{"role":"user","content":"{text}"}}"#));
    let fresh = of_texts(&messages);
    let bytes = measures_of(&fresh, all(&fresh), "").unwrap();
    let mut known = session("");
    assert_eq!(append_known(&mut known, &bytes, from(1, 1)), Appended::UpTo(0));
}

#[test]
fn a_secret_is_in_no_measure() {
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let messages =
        [HISTORY[0].to_owned(), format!(r#"{{"role":"user","content":"push with {token} now"}}"#)];
    let fresh = of_texts(&messages);
    assert!((0..fresh.transcript.ledger.identifiers.len()).any(|id| {
        fresh.transcript.ledger.identifiers.get(id).is_some_and(|it| it.tokens == 0)
    }));
    let bytes = measures_of(&fresh, all(&fresh), "").unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains("abcdefghij"));
    let mut known = session("");
    assert_eq!(append_known(&mut known, &bytes, from(0, 2)), Appended::UpTo(1));
}

#[test]
fn other_bytes_and_other_settings_are_left_to_the_texts() {
    let fresh = of_texts(&HISTORY);
    let bytes = measures_of(&fresh, all(&fresh), "").unwrap();
    for end in 0..bytes.len() {
        assert_eq!(append_known(&mut session(""), &bytes[..end], all(&fresh)), Appended::UpTo(0));
    }
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x55;
        assert_eq!(append_known(&mut session(""), &changed, all(&fresh)), Appended::UpTo(0));
    }
    for more in
        [r#","estimator":"chars/4""#, r#","imageTokens":9"#, r#","summary":{"redact":false}"#]
    {
        let mut other = session(more);
        assert_eq!(append_known(&mut other, &bytes, all(&fresh)), Appended::UpTo(0), "{more}");
    }
    let options = Options::parse(r#"{"window":{"contextTokens":100000}}"#).unwrap();
    let mut uncertain = Session::new(options, Format::Anthropic);
    assert_eq!(append_known(&mut uncertain, &bytes, all(&fresh)), Appended::UpTo(0));
    assert_eq!(append_known(&mut session(""), &bytes, from(5, 3)), Appended::UpTo(0));
    assert_eq!(append_known(&mut session(""), &bytes, from(0, 9)), Appended::UpTo(5));
}

#[test]
fn a_snapshot_is_taken_up_by_measures() {
    let mut fresh = of_texts(&HISTORY);
    fresh.request(0);
    let (snapshot, bytes) = (snapshot_bytes(&fresh), measures_of(&fresh, all(&fresh), "").unwrap());
    let (mut known, mut other) = (session(""), session(""));
    restore_from(&mut known, &snapshot).unwrap();
    restore_from(&mut other, &snapshot).unwrap();
    for message in HISTORY {
        other.push(message.as_bytes()).unwrap();
    }
    assert_eq!(append_known(&mut known, &bytes, all(&fresh)), Appended::UpTo(5));
    check_same(&mut known, &mut other);
}

#[test]
fn the_message_behind_a_snapshot_is_left_to_its_text() {
    let mut short = of_texts(&HISTORY[..3]);
    short.request(0);
    let snapshot = snapshot_bytes(&short);
    let fresh = of_texts(&HISTORY);
    let bytes = measures_of(&fresh, all(&fresh), "").unwrap();
    let mut known = session("");
    restore_from(&mut known, &snapshot).unwrap();
    assert_eq!(append_known(&mut known, &bytes, all(&fresh)), Appended::UpTo(3));
    known.push(HISTORY[3].as_bytes()).unwrap();
    assert_eq!(append_known(&mut known, &bytes, from(4, 1)), Appended::UpTo(1));
}

/// Parts the history after its first `same` messages and hands over what the session does not keep. Returns how many it keeps.
fn part<T: AsRef<str>>(session: &mut Session, messages: &[T], same: usize) -> usize {
    let expected = keeps(session, MessageId::at(same));
    let kept = truncate(session, MessageId::at(same), true);
    assert_eq!(kept, expected);
    push_all(session, &messages[kept.index()..]);
    kept.index()
}

#[test]
fn a_history_that_parts_late_is_read_from_there_on() {
    let user = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
    let mut messages: Vec<String> = HISTORY.map(str::to_owned).to_vec();
    let mut known = of_texts(&messages);
    known.request(0);
    // The second time a copy is there, which a place before it does not help.
    for (at, (same, kept)) in [(4, 4), (4, 4), (5, 5), (2, 1), (1, 1)].into_iter().enumerate() {
        messages.truncate(same);
        messages.push(user(&format!("instead of {same}, see src/c/{at}.rs")));
        let mut other = known.clone();
        resync(&mut other);
        push_all(&mut other, &messages);
        let read = known.counters().bytes_measured;
        assert_eq!(part(&mut known, &messages, same), kept);
        let new: usize = messages[kept..].iter().map(String::len).sum();
        assert_eq!(known.counters().bytes_measured, read + new as u64);
        check_same(&mut known, &mut other);
    }
}

#[test]
fn a_message_that_is_looked_at_as_a_text_ends_what_is_kept() {
    let user = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    for (text, is_summary) in [(token, false), (r"half \ud83d", false), ("all is done", true)] {
        let messages = [user("one"), user(text), user("two"), user("three")];
        let mut known = session("");
        for message in &messages {
            if is_summary && message.contains(text) {
                next_is_summary(&mut known);
            }
            known.push(message.as_bytes()).unwrap();
        }
        known.request(0);
        assert_eq!(keeps(&known, 3.into()), 1.into(), "{text}");
        assert_eq!(truncate(&mut known, 3.into(), true), 1.into(), "{text}");
    }
}

fn message() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "[a-c]{1,2}/[a-c]{1,2}\\.rs",
        "[a-c]{1,3}_[0-9]{1,3}",
        "plain|text|of|words",
        Just("Bearer ab_12".to_owned()),
        Just("x".repeat(150)),
    ];
    let text = proptest::collection::vec(word, 1..12).prop_map(|words| words.join(" "));
    (any::<bool>(), text).prop_map(|(user, text)| {
        let role = if user { "user" } else { "assistant" };
        format!(r#"{{"role":"{role}","content":"{text}"}}"#)
    })
}

proptest! {
    /// Any messages, known or not, in any order: each that its measure stands for is as its text would make it.
    #[test]
    fn measures_of_one_history_stand_for_its_messages_in_another(
        messages in proptest::collection::vec(message(), 1..10),
        order in proptest::collection::vec((any::<proptest::sample::Index>(), any::<bool>()), 1..14),
    ) {
        let fresh = of_texts(&messages);
        let bytes = measures_of(&fresh, all(&fresh), "").unwrap();
        let (mut known, mut other) = (session(""), session(""));
        for (index, is_known) in order {
            let index = index.index(messages.len());
            other.push(messages[index].as_bytes()).unwrap();
            let taken = is_known
                && append_known(&mut known, &bytes, from(index, 1)) == Appended::UpTo(1);
            if !taken {
                known.push(messages[index].as_bytes()).unwrap();
            }
        }
        check_same(&mut known, &mut other);
    }

    #[test]
    fn messages_that_are_appended_again_are_as_their_texts(
        messages in proptest::collection::vec(message(), 2..12),
        cut in any::<proptest::sample::Index>(),
        more in proptest::collection::vec(message(), 1..4),
        asked in any::<bool>(),
    ) {
        let mut known = of_texts(&messages);
        if asked {
            known.request(0);
        }
        let same = cut.index(messages.len()).max(1);
        prop_assume!(messages[same] != more[0]);
        let next = [&messages[..same], &more].concat();
        let mut other = known.clone();
        resync(&mut other);
        push_all(&mut other, &next);
        part(&mut known, &next, same);
        check_same(&mut known, &mut other);
    }
}
