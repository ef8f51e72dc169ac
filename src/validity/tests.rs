//! The rules on transcripts in a small notation, and as properties over any transcript.
//!
//! `U:t A:h,t,ca,cb U:ra,rb`: messages of system, user, assistant and tool, X the assistant's that is not sent; pieces: text, white space, (h) reasoning,
//! (c) call and (r) result with an id, (k) call and (s) result with a name alone, (e) empty result, image, (v) reference;
//! a provider's call (m) and result (n), a call (d) and result (o) of one part, (a) a request for approval and (y) its response;
//! `!` behind a piece: half a surrogate pair, `?` bad arguments, `*` signed.

#![expect(clippy::arithmetic_side_effects, reason = "positions in transcripts of a few messages")]

mod oracle;
mod providers;

use std::ops::Range;

use proptest::prelude::*;

use super::*;
use crate::model::{FixKind, Kind, Made, NONE, Piece, Place, Role};
use Provider::{Anthropic, Bedrock, DeepSeek, Gemini, Kimi, Mistral, OpenAiChat, OpenAiResponses};

pub(super) fn piece(word: &str, at: u32, provider: Provider) -> Piece {
    let (word, broken) = word.strip_suffix('!').map_or((word, false), |word| (word, true));
    let (word, bad) = word.strip_suffix('?').map_or((word, false), |word| (word, true));
    let (word, opaque) = word.strip_suffix('*').map_or((word, false), |word| (word, true));
    let (kind, id) = word.split_at(1);
    let item = if provider == Gemini { Place::Part(at) } else { Place::Item(at) };
    let (call, result) = match provider {
        OpenAiChat => (Place::Call(at), item),
        OpenAiResponses => (Place::Whole("function_call"), Place::Whole("function_call_output")),
        Gemini | Anthropic | Bedrock | Mistral | DeepSeek | Kimi => (item, item),
    };
    let (id, name) = match kind {
        "k" | "s" | "y" => ("", id),
        "a" => (id, id),
        _ => (id, ""),
    };
    let within = matches!(kind, "m" | "n" | "o");
    let (kind, place, blank) = match kind {
        "v" => (Kind::Other, Place::Whole("item_reference"), false),
        "p" => (Kind::Call, Place::Whole("custom_tool_call"), false),
        "q" => (Kind::Result, Place::Whole("custom_tool_call_output"), false),
        "t" => (Kind::Text, Place::Item(at), false),
        "w" => (Kind::Text, Place::Item(at), true),
        "h" => (Kind::Thinking, Place::Item(at), false),
        "i" => (Kind::Image, Place::Item(at), false),
        "c" | "k" => (Kind::Call, call, false),
        "r" | "s" => (Kind::Result, result, false),
        "e" => (Kind::Result, result, true),
        "m" => (Kind::Call, item, false),
        "n" => (Kind::Result, item, false),
        "d" => (Kind::Call, Place::Tool(at), false),
        "o" => (Kind::Result, Place::Inner(at, "output"), false),
        "a" | "y" => (Kind::Other, item, false),
        _ => panic!("{word}"),
    };
    Piece {
        id: id.into(),
        name: name.into(),
        within,
        opaque,
        blank,
        broken_unicode: broken,
        bad_arguments: bad,
        ..Piece::new(kind, place)
    }
}

pub(super) fn message(text: &str, provider: Provider) -> Outline {
    let (word, pieces) = text.split_once(':').unwrap();
    let role = match word {
        "S" => Role::System,
        "U" => Role::User,
        "A" | "X" => Role::Assistant,
        "T" => Role::Tool,
        _ => panic!("{text}"),
    };
    let words = pieces.split(',').filter(|word| !word.is_empty());
    let pieces = (0..).zip(words).map(|(at, text)| piece(text, at, provider));
    let pieces = pieces.map(|piece| Piece { unsent: word == "X", ..piece });
    // Of all formats only Anthropic's could have a result there.
    let may = |piece: &Piece| role != Role::System || piece.kind != Kind::Result;
    Outline { role, pieces: pieces.filter(may).collect() }
}

pub(super) fn transcript(text: &str, provider: Provider) -> Vec<Outline> {
    text.split_whitespace().map(|text| message(text, provider)).collect()
}

pub(super) fn show(made: &Made) -> String {
    match made {
        Made::User(_) => "user".into(),
        Made::Results(results) => results.iter().map(show).collect::<Vec<_>>().join(" + "),
        Made::Result { id, .. } => format!("result {id}"),
        Made::Moved { id, message, piece, .. } => format!("{message}.{piece} as {id}"),
    }
}

/// A fix in one line: rule, message, what is done.
pub(super) fn line(fix: &Fix) -> String {
    let at = |piece: &u32| if *piece == NONE { "all".to_owned() } else { piece.to_string() };
    let what = match &fix.kind {
        FixKind::Drop { piece } => format!("drop {}", at(piece)),
        FixKind::Rename { piece, id } => format!("id {piece} {id}"),
        FixKind::Text { piece, text: Some(text) } => format!("text {piece} {text}"),
        FixKind::Text { piece, text: None } => format!("unicode {piece}"),
        FixKind::Arguments { piece } => format!("arguments {piece}"),
        FixKind::Sign { piece } => format!("sign {piece}"),
        FixKind::Unmark { piece, marks } => format!("unmark {piece} {marks}"),
        FixKind::AsUser => "as user".into(),
        FixKind::Turn => "turn".into(),
        FixKind::Before(made) => format!("before {}", show(made)),
        FixKind::After(made) => format!("after {}", show(made)),
    };
    format!("{} {} {what}", fix.violation.rule, fix.index)
}

#[track_caller]
fn mends(provider: Provider, text: &str, expected: &[&str]) {
    let outlines = transcript(text, provider);
    let fixes = mend(&outlines, provider);
    assert_eq!(fixes.iter().map(line).collect::<Vec<_>>(), expected, "{text}");
    let mended = apply(&outlines, &fixes);
    accept(&mended, provider).unwrap();
    assert_eq!(check(&mended, provider, Options::default()), []);
}

#[track_caller]
fn both(text: &str, expected: &[&str]) {
    mends(Anthropic, text, expected);
    mends(OpenAiChat, text, expected);
}

#[test]
fn valid_transcripts_are_left_alone() {
    both("U:t A:t,ca,cb U:ra,rb A:t U:t", &[]);
    both("S:t U:t A:h,t,ca T:ra A:t,cb,cc T:rc T:rb,i U:t", &[]);
    both("S:t S:t U:t,i", &[]);
    both("", &[]);
    mends(Anthropic, "U:t A:h A:t A:ca A:cb U:rb U:ra", &[]);
}

#[test]
fn open_calls_get_a_result_that_tells_of_none() {
    both("U:t A:ca", &["I1 1 after result a"]);
    both("U:t A:ca,cb U:rb", &["I1 1 after result a"]);
    both("U:t A:ca,cb U:rb,t", &["I1 1 after result a"]);
    both("U:t A:ca U:t A:cb U:t", &["I1 1 after result a", "I1 3 after result b"]);
    mends(Anthropic, "U:t A:ca A:t U:t", &["I1 2 after result a"]);
    mends(OpenAiChat, "U:t A:ca A:t U:t", &["I1 1 after result a"]);
}

#[test]
fn late_results_move_up_to_their_call() {
    both("U:t A:ca U:t U:ra", &["I3 3 drop 0", "I3 1 after 3.0 as a"]);
    both("U:t A:ca U:t,ra", &["I3 2 drop 1", "I3 1 after 2.1 as a"]);
    both("U:t A:ca,cb U:ra,t,rb U:t", &["I3 2 drop 2", "I3 1 after 2.2 as b"]);
    both("U:t A:ca U:t A:t U:ra,t", &["I3 4 drop 0", "I3 1 after 4.0 as a"]);
    both("U:t A:ca U:t U:ra!", &["I3 3 drop 0", "I1 1 after result a"]);
}

#[test]
fn orphans_and_second_answers_go() {
    both("U:t,rx", &["I2 0 drop 1"]);
    both("U:t A:ca U:ra,ra U:t", &["I1 2 drop 1"]);
    both("U:t A:ca T:rb T:ra U:t", &["I2 2 drop 0"]);
    both("U:t,ca A:ra,t U:t", &["I1 0 drop 1", "I2 1 drop 0"]);
}

#[test]
fn ids_are_paired_by_occurrence_and_renamed_on_both_sides() {
    both(
        "U:t A:ca U:ra A:ca U:ra A:ca U:ra",
        &["I5 3 id 0 a_2", "I5 4 id 0 a_2", "I5 5 id 0 a_3", "I5 6 id 0 a_3"],
    );
    both("U:t A:ca,ca T:ra T:ra", &["I5 1 id 1 a_2", "I5 3 id 0 a_2"]);
    both("U:t A:c U:r", &["I5 1 id 0 call", "I5 2 id 0 call"]);
    mends(
        Anthropic,
        "U:t A:ca.b,ca_b U:ra_b,ra.b",
        &["I5 1 id 0 a_b", "I5 1 id 1 a_b_2", "I5 2 id 0 a_b_2", "I5 2 id 1 a_b"],
    );
    mends(OpenAiChat, "U:t A:ca.b,ca_b U:ra_b,ra.b", &[]);
    both(
        "U:t A:ca U:t A:ca U:ra A:t U:ra,t",
        &["I5 3 id 0 a_2", "I5 4 id 0 a_2", "I1 6 drop 0", "I1 1 after result a"],
    );
    // The second `a` takes the name over: no result is the first one's any more.
    both(
        "U:t A:ca U:t A:ca U:ra U:ra,t",
        &["I5 3 id 0 a_2", "I5 4 id 0 a_2", "I1 5 drop 0", "I1 1 after result a"],
    );
}

#[test]
fn what_the_host_leaves_out_is_as_if_it_were_not_there() {
    both("U:t A:ca X:t,cb U:ra X:w U:t", &[]);
    both("U:t X:ca U:ra,t", &["I2 2 drop 0"]);
    both("U:t X:ca", &[]);
}

#[test]
fn nothing_empty_goes_out() {
    both("U:w,t A:t,w U:t", &["I6 0 drop 0", "I6 1 drop 1"]);
    both("U:t A: U:t", &["I6 1 drop all"]);
    both("U:t A:w U:t", &["I6 1 drop 0"]);
    both("U:t A:ca A: U:ra", &["I6 2 drop all"]);
    both("U:t A:ca U:w U:ra", &["I6 2 drop 0"]);
    both("U:t A:ca U:ea", &["I6 2 text 0 (no output)"]);
    both("U:t A:h U:t", &["I6 1 drop 0"]);
    mends(Anthropic, "U:t A:t,h U:t", &["I6 1 drop 1"]);
    mends(Anthropic, "U:t A:t A:h,h", &["I6 2 drop 0", "I6 2 drop 1", "I8 2 after user"]);
    mends(Anthropic, "U:t A:h", &["I6 1 drop 0"]);
    mends(Anthropic, "A:h U:t A:t U:t", &["I6 0 drop 0"]);
}

#[test]
fn a_request_begins_and_ends_with_the_user() {
    both("A:t U:t", &["I7 0 before user"]);
    both("S:t A:ca U:ra A:t", &["I7 1 before user", "I8 3 after user"]);
    both("U:rx A:t U:t", &["I2 0 drop 0", "I7 1 before user"]);
    both("U:t A:t", &["I8 1 after user"]);
    both("S:t S:t", &["I7 1 after user"]);
    both("U:t S:t", &[]);
}

#[test]
fn half_characters_and_bad_arguments_are_mended() {
    both(
        "U:t! A:h,t!,ca! U:ra!",
        &["I26 0 unicode 0", "I26 1 unicode 1", "I26 1 arguments 2", "I26 2 unicode 0"],
    );
    both("U:t A:ca? U:ra", &["I30 1 arguments 0"]);
}

#[test]
fn reasoning_in_an_open_loop_comes_first() {
    let thinking = Options { thinking: true, ..Options::default() };
    let rules = |text, options| {
        let found = check(&transcript(text, Anthropic), Anthropic, options);
        found.into_iter().map(|violation| (violation.rule, violation.index)).collect::<Vec<_>>()
    };
    assert_eq!(rules("U:t A:t,ca U:ra", thinking), [("I11", 1)]);
    assert_eq!(rules("U:t A:t,ca U:ra", Options::default()), []);
    assert_eq!(rules("U:t A:h,ca U:ra", thinking), []);
    assert_eq!(rules("U:t A:ca U:ra A:t U:t", thinking), []);
    assert_eq!(rules("U:t A:ca U:ra U:t", thinking), []);
}

#[track_caller]
pub(super) fn sees(
    provider: Provider,
    text: &str,
    groups: &str,
    cuts: &str,
    held: Option<Range<u32>>,
) {
    let mut mender = Mender::new(provider);
    let mut seen_groups = Vec::new();
    let mut seen_cuts = Vec::new();
    for (index, outline) in (0..).zip(transcript(text, provider)) {
        let seen = mender.push(index, &outline);
        let show = |group: &u32| if *group == NONE { "-".into() } else { group.to_string() };
        seen_groups.push(seen.groups.iter().map(show).collect::<Vec<_>>().join(","));
        for (piece, pair) in outline.pieces.iter().zip(&seen.pairs) {
            assert!(pair.is_none() || piece.kind == Kind::Result || piece.is_approval());
        }
        seen_cuts.push(if seen.may_cut { "y" } else { "n" });
    }
    assert_eq!((seen_groups.join(" ").as_str(), seen_cuts.join(" ").as_str()), (groups, cuts));
    assert_eq!(mender.held(), held);
}

#[test]
fn groups_and_cuts_follow_the_calls() {
    sees(
        Anthropic,
        "S:t U:t A:h,ca,cb U:ra U:rb,t A:t U:t",
        "- - 2,2,2 2 2,- 5 -",
        "n y y n n y y",
        Some(2..3),
    );
    sees(
        OpenAiChat,
        "S:t U:t A:h,ca,cb T:ra T:rb A:t U:t",
        "- - 2,2,2 2 2 5 -",
        "n y y n n y y",
        None,
    );
    sees(Anthropic, "U:t A:h A:ca A:cb U:rb U:ra", "- 1 1 1 1 1", "y y n n n n", Some(1..4));
    sees(Anthropic, "U:t A:h,t U:t A:h U:t", "- 1,1 - 3 -", "y y y y y", Some(1..2));
    sees(Anthropic, "U:t A:ca U:t A:t U:ra,t", "- 1 - 3 1,-", "y y n y n", None);
}

#[test]
fn a_provider_is_known_by_its_name_and_an_unknown_one_is_refused_with_what_is_allowed() {
    for provider in Provider::ALL {
        assert_eq!(Provider::parse(provider.name()), Ok(provider));
    }
    let error = Provider::parse("azure").unwrap_err().to_string();
    assert!(error.contains("\"anthropic\", \"openai-chat\""), "{error}");
}

fn is_unsent(outline: &Outline) -> bool {
    outline.pieces.iter().any(|piece| piece.unsent)
}

/// The rules once more, slowly, as a provider would apply them: an oracle for the properties.
fn accept(outlines: &[Outline], provider: Provider) -> Result<(), String> {
    if provider == Gemini {
        return accept_contents(outlines);
    }
    let merges = matches!(provider, Anthropic | OpenAiResponses);
    let mut turns: Vec<(bool, Vec<&Piece>)> = Vec::new();
    for outline in outlines.iter().filter(|outline| !is_unsent(outline)) {
        if outline.pieces.is_empty() {
            return Err("an empty message".into());
        }
        let assistant = outline.role == Role::Assistant;
        match turns.last_mut() {
            Some((last, pieces)) if *last == assistant && (!assistant || merges) => {
                pieces.extend(&outline.pieces);
            }
            _ => turns.push((assistant, outline.pieces.iter().collect())),
        }
    }
    let mut used = Vec::new();
    for (at, (assistant, pieces)) in turns.iter().enumerate() {
        for piece in pieces {
            let wrong = if *assistant { Kind::Result } else { Kind::Call };
            if piece.kind == wrong || piece.blank || piece.broken_unicode || piece.bad_arguments {
                return Err(format!("{piece:?}"));
            }
        }
        if !assistant {
            let before = if at == 0 { [].as_slice() } else { turns[at - 1].1.as_slice() };
            let calls = before.iter().filter(|piece| piece.kind == Kind::Call);
            let mut calls: Vec<&str> = calls.map(|piece| &*piece.id).collect();
            let zone = pieces.iter().take_while(|piece| piece.kind == Kind::Result);
            let mut results: Vec<&str> = zone.map(|piece| &*piece.id).collect();
            if results.len() != pieces.iter().filter(|piece| piece.kind == Kind::Result).count() {
                return Err("a result behind something else".into());
            }
            calls.sort_unstable();
            results.sort_unstable();
            if calls != results {
                return Err(format!("calls {calls:?}, results {results:?}"));
            }
            continue;
        }
        let thinking = |piece: &&Piece| piece.kind == Kind::Thinking;
        if pieces.iter().all(thinking) || merges && pieces.last().is_some_and(thinking) {
            return Err("reasoning at the end".into());
        }
        for call in pieces.iter().filter(|piece| piece.kind == Kind::Call) {
            let legal = match provider {
                Anthropic => call.id.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)),
                Bedrock => call.id.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:".contains(c)),
                Mistral => call.id.chars().all(|c| c.is_ascii_alphanumeric()) && call.id.len() == 9,
                OpenAiChat | OpenAiResponses | Gemini | DeepSeek | Kimi => {
                    call.id.chars().count() <= 64 && call.id.trim() == &*call.id
                }
            };
            if !legal || call.id.is_empty() || used.contains(&&call.id) {
                return Err(format!("id {:?}", call.id));
            }
            used.push(&call.id);
        }
        if at + 1 == turns.len() {
            return Err("the assistant is last".into());
        }
        let answered = turns.get(at + 1).is_some_and(|(assistant, _)| !assistant);
        if !answered && pieces.iter().any(|piece| piece.kind == Kind::Call) {
            return Err("calls without results".into());
        }
    }
    let first = outlines.iter().find(|it| it.role != Role::System && !is_unsent(it));
    if first.is_some_and(|first| first.role != Role::User) {
        return Err("the first is not the user's".into());
    }
    if first.is_none() && outlines.iter().any(|it| !is_unsent(it)) {
        return Err("only the system".into());
    }
    Ok(())
}

/// Gemini's: each content is a turn, and the next one has as many results as it has calls.
fn accept_contents(outlines: &[Outline]) -> Result<(), String> {
    let sent: Vec<_> = outlines.iter().filter(|outline| !is_unsent(outline)).collect();
    let of = |at: usize, kind| -> Vec<&Piece> {
        let outline = sent.get(at);
        outline.iter().flat_map(|it| &it.pieces).filter(|piece| piece.kind == kind).collect()
    };
    let speaks = |at: usize| sent.get(at).map(|outline| outline.role == Role::Assistant);
    let mut used = Vec::new();
    for (at, outline) in sent.iter().enumerate() {
        let model = outline.role == Role::Assistant;
        let wrong = if model { Kind::Result } else { Kind::Call };
        if outline.pieces.iter().all(|it| model && it.kind == Kind::Thinking) {
            return Err("nothing said".into());
        }
        for piece in &outline.pieces {
            if piece.kind == wrong || piece.blank || piece.broken_unicode || piece.bad_arguments {
                return Err(format!("{piece:?}"));
            }
        }
        let calls = of(at, Kind::Call);
        let before = sent[..at].iter().rev().find(|it| it.role != Role::System);
        if !calls.is_empty() && before.is_none_or(|it| it.role == Role::Assistant) {
            return Err("a turn with calls behind none of the user's".into());
        }
        for call in calls.iter().filter(|call| !call.id.is_empty()) {
            if call.id.trim() != &*call.id
                || call.id.chars().count() > 64
                || used.contains(&&call.id)
            {
                return Err(format!("id {:?}", call.id));
            }
            used.push(&call.id);
        }
        let mut results = of(at + 1, Kind::Result);
        if speaks(at + 1) != Some(false) {
            results.clear();
        }
        for call in calls.iter().filter(|call| !call.id.is_empty()) {
            if let Some(at) = results.iter().position(|result| result.id == call.id) {
                results.remove(at);
            } else if let Some(at) =
                results.iter().position(|it| it.id.is_empty() && it.name == call.name)
            {
                results.remove(at);
            } else {
                return Err(format!("no result for {:?}", call.id));
            }
        }
        for call in calls.iter().filter(|call| call.id.is_empty()) {
            let Some(at) = results.iter().position(|result| result.name == call.name) else {
                return Err(format!("no result for {:?}", call.name));
            };
            results.remove(at);
        }
        if !results.is_empty() {
            return Err("more results than calls".into());
        }
        if at == 0 && !of(0, Kind::Result).is_empty() {
            return Err("results first".into());
        }
    }
    let first = sent.iter().find(|it| it.role != Role::System);
    if first.is_some_and(|first| first.role != Role::User) {
        return Err("the first is not the user's".into());
    }
    if first.is_none() && !sent.is_empty() {
        return Err("only the system".into());
    }
    if sent.last().is_some_and(|last| last.role == Role::Assistant) {
        return Err("the model is last".into());
    }
    Ok(())
}

fn any_provider() -> impl Strategy<Value = Provider> {
    prop_oneof![Just(Anthropic), Just(OpenAiChat), Just(OpenAiResponses), Just(Gemini)]
}

/// Any pieces in any order, with few ids, so that they meet.
fn any_transcript() -> impl Strategy<Value = String> {
    let ids = || {
        prop_oneof![
            Just("a"),
            Just("b"),
            Just("a_2"),
            Just("a.b"),
            Just("a_b"),
            Just("é"),
            Just("")
        ]
    };
    let word = prop_oneof![
        4 => Just("t".to_owned()),
        1 => Just("w".to_owned()),
        2 => Just("h".to_owned()),
        1 => Just("i".to_owned()),
        6 => ids().prop_map(|id| format!("c{id}")),
        8 => ids().prop_map(|id| format!("r{id}")),
        1 => ids().prop_map(|id| format!("e{id}")),
    ];
    let word = (word, 0..20u8).prop_map(|(word, flaw)| match flaw {
        0 => format!("{word}!"),
        1 if word.starts_with('c') => format!("{word}?"),
        _ => word,
    });
    let role =
        prop_oneof![1 => Just("S"), 1 => Just("X"), 4 => Just("U"), 6 => Just("A"), 4 => Just("T")];
    let message = (role, prop::collection::vec(word, 0..5))
        .prop_map(|(role, words)| format!("{role}:{}", words.join(",")));
    prop::collection::vec(message, 0..14).prop_map(|messages| messages.join(" "))
}

/// A healthy session: groups of parallel calls, ids that may come again in another case, steering between groups.
fn healthy() -> impl Strategy<Value = String> {
    let group = (0..4usize, any::<bool>(), any::<bool>(), any::<bool>());
    prop::collection::vec(group, 0..8).prop_map(|groups| {
        let mut messages = vec!["U:t".to_owned()];
        for (number, (calls, split, thinks, asks)) in groups.into_iter().enumerate() {
            let ids: Vec<_> = (0..calls).map(|call| format!("n{number}_{call}")).collect();
            let of = |kind: &str| ids.iter().map(|id| format!("{kind}{id}")).collect::<Vec<_>>();
            let think = if thinks { "h,t" } else { "t" };
            messages
                .push([vec![think.to_owned()], of("c")].concat().join(",").replacen("", "A:", 1));
            let results = of("r");
            if split {
                messages.extend(results.iter().map(|result| format!("T:{result}")));
            } else if calls > 0 {
                messages.push(format!("U:{}", results.join(",")));
            }
            if asks || calls == 0 {
                messages.push("U:t".into());
            }
        }
        messages.join(" ")
    })
}

/// The results of a turn in one message where the provider wants them so.
fn as_sent(text: &str, provider: Provider) -> String {
    let mut messages: Vec<String> = Vec::new();
    for message in text.split_whitespace() {
        match (message.strip_prefix("T:"), messages.last_mut()) {
            (Some(result), Some(last)) if provider == Gemini && last.starts_with("T:") => {
                last.push(',');
                last.push_str(result);
            }
            _ => messages.push(message.into()),
        }
    }
    messages.join(" ")
}

/// I14: reasoning goes with what it led to, and is never the end of its turn; I15: each kind of call has its results.
#[test]
fn responses_ties_reasoning_and_tells_kinds_of_calls_apart() {
    let responses = |text, expected: &[&str]| mends(OpenAiResponses, text, expected);
    responses("U:t A:h A:ca T:ra A:h A:t U:t", &[]);
    responses("U:t A:h A:h A:ca A:cb T:rb T:ra", &[]);
    responses("U:t A:h U:t", &["I14 1 drop 0"]);
    responses("U:t A:ca A:h T:ra", &["I14 2 drop 0"]);
    responses("U:t A:h", &["I14 1 drop 0"]);
    responses("U:t A:h A:t A:h A:w U:t", &["I6 4 drop 0", "I14 3 drop 0"]);
    responses("U:t A:ca U:t T:ra", &["I3 3 drop 0", "I3 1 after 3.0 as a"]);
    responses("U:t A:h A:ca", &["I1 2 after result a"]);
    responses("U:t A:pa T:qa", &[]);
    responses("U:t A:pa T:ra", &["I15 2 drop 0", "I1 1 after result a"]);
    responses("U:t A:pa A:ca T:ra T:qa", &["I5 2 id 0 a_2", "I5 3 id 0 a_2"]);
    // A reference may stand for a call that we are not shown: so many results are taken, and no more.
    let outlines = transcript("U:t A:v A:v T:ra T:rb T:rc U:t", OpenAiResponses);
    let fixes = mend(&outlines, OpenAiResponses);
    assert_eq!(fixes.iter().map(line).collect::<Vec<_>>(), ["I2 5 drop 0"]);
}

/// A turn's reasoning and all that it led to are one group, and no message of it is held.
#[test]
fn responses_groups_are_runs() {
    sees(
        OpenAiResponses,
        "U:t A:h A:t A:ca A:cb T:ra T:rb A:h A:t U:t",
        "- 1 1 1 1 1 1 7 7 -",
        "y y n n n n n y n y",
        None,
    );
}

/// I19: as many results as calls, in the one message behind them.
#[test]
fn gemini_has_the_results_of_a_turn_in_one_message() {
    let gemini = |text, expected: &[&str]| mends(Gemini, text, expected);
    gemini("U:t A:t,ka,kb U:sa,sb A:t U:t", &[]);
    gemini("U:t A:ka,ka U:sa,sa,t A:t U:t", &[]);
    gemini("U:t A:ca,cb U:t,ra,rb", &[]);
    gemini(
        "U:t A:ka,ka U:sa U:sa",
        &["I19 2 drop 0", "I19 1 after 2.0 as  + 3.0 as ", "I19 3 drop 0"],
    );
    gemini("U:t A:ka,ka U:sa", &["I19 2 drop 0", "I19 1 after 2.0 as  + result "]);
    gemini("U:t A:ka,kb U:sb,t U:t", &["I19 2 drop 0", "I19 1 after 2.0 as  + result "]);
    gemini("U:t A:ka U:t", &["I19 1 after result "]);
    gemini("U:t A:ka U:t U:sa", &["I19 3 drop 0", "I19 1 after 3.0 as "]);
    gemini("U:t A:ka U:sa,sa U:t", &["I19 2 drop 1"]);
    gemini("U:t A:ka,kb U:sa A:kc U:sc", &["I19 2 drop 0", "I19 1 after 2.0 as  + result "]);
    gemini(
        "U:t A:ka,kb U:sa A:kc U:sc U:sb",
        &["I19 2 drop 0", "I19 1 after 2.0 as  + 5.0 as ", "I19 5 drop 0"],
    );
    // A result goes by its call's name, and two calls of one id are told apart by name.
    gemini("U:t A:ka U:sa A:t U:t", &[]);
    // Ids where the host has them, names where one side has none; no id is ever added.
    gemini("U:t A:ca U:ra A:ca U:ra", &["I5 3 id 0 a_2", "I5 4 id 0 a_2"]);
    gemini("U:t A:c U:r A:c U:r", &[]);
    gemini("U:t A:ca,cb U:s,s", &[]);
    gemini("U:t A:k,k U:ra,rb", &[]);
}

/// I18: a turn with calls stands directly behind the user or results, and the request ends with one of them.
#[test]
fn gemini_wants_calls_behind_the_user_or_results() {
    let gemini = |text, expected: &[&str]| mends(Gemini, text, expected);
    gemini("A:ka U:sa", &["I18 0 before user"]);
    gemini("U:t A:t A:ka U:sa", &["I18 2 before user"]);
    gemini("U:t A:ka A:kb U:sb", &["I19 1 after result "]);
    gemini("U:t A:t", &["I18 1 after user"]);
    gemini("U:t U:sa", &["I18 1 drop 0"]);
    gemini("U:t A:t U:sa,t", &["I18 2 drop 0"]);
    gemini("U:t A:h U:t", &["I6 1 drop 0"]);
}

/// I20: the first call of each step of the current turn is signed; the sentinel where the host asks for it.
#[test]
fn gemini_signs_the_first_call_of_each_step() {
    let thinking = Options { thinking: true, ..Options::default() };
    let found = |text: &str| {
        let found = check(&transcript(text, Gemini), Gemini, thinking);
        found.into_iter().map(|violation| (violation.rule, violation.index)).collect::<Vec<_>>()
    };
    assert_eq!(found("U:t A:ka*,kb U:sa,sb A:kc* U:sc"), []);
    assert_eq!(found("U:t A:ka,kb* U:sa,sb A:kc U:sc"), [("I20", 1), ("I20", 3)]);
    assert_eq!(found("U:t A:ka U:sa A:t U:t A:kb* U:sb"), []);
    assert_eq!(found("U:t A:ka U:sa,t"), []);
    let outlines = transcript("U:t A:ka,kb U:sa,sb A:kc* U:sc A:kd U:sd", Gemini);
    let fixes = mend_told(&outlines, Gemini, thinking);
    assert_eq!(fixes.iter().map(line).collect::<Vec<_>>(), ["I20 1 sign 0", "I20 5 sign 0"]);
    assert_eq!(check(&apply(&outlines, &fixes), Gemini, thinking), []);
    assert_eq!(mend(&outlines, Gemini), []);
}

/// Where a message of the host holds one result, and the host joins them, none is moved for that.
#[test]
fn results_of_a_single_host_are_left_apart() {
    let single = Options { single: true, ..Options::default() };
    let outlines = transcript("U:t A:ca,cb T:ra T:rb A:t U:t", Gemini);
    assert_eq!(check(&outlines, Gemini, single), []);
    // I18 holds whatever the host.
    let found = check(&transcript("U:t A:t A:ca T:ra", Gemini), Gemini, single);
    assert_eq!((found.len(), found[0].rule, found[0].index), (1, "I18", 2));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_mended_is_valid(text in any_transcript(), provider in any_provider()) {
        let outlines = transcript(&text, provider);
        let fixes = mend(&outlines, provider);
        let mended = apply(&outlines, &fixes);
        prop_assert_eq!(accept(&mended, provider), Ok(()), "{:?}", mended);
        prop_assert_eq!(check(&mended, provider, Options::default()), []);
        prop_assert_eq!(fixes.is_empty(), accept(&outlines, provider).is_ok());
        for fix in &fixes {
            let FixKind::After(made) = &fix.kind else { continue };
            let made = if let Made::Results(made) = made { made.clone() } else { vec![made.clone()] };
            for made in made {
                if let Made::Result { text, .. } = made {
                    prop_assert_eq!(text, NO_RESULT);
                }
            }
        }
    }

    #[test]
    fn healthy_sessions_are_left_alone(text in healthy(), provider in any_provider()) {
        let outlines = transcript(&as_sent(&text, provider), provider);
        prop_assert_eq!(mend(&outlines, provider), []);
    }

    #[test]
    fn a_session_cut_off_anywhere_is_mended_at_its_end_only(text in healthy(), cut in 0..30usize, provider in any_provider()) {
        let mut outlines = transcript(&as_sent(&text, provider), provider);
        outlines.truncate(cut.max(1));
        let fixes = mend(&outlines, provider);
        prop_assert_eq!(accept(&apply(&outlines, &fixes), provider), Ok(()));
        let newest = (0..).zip(&outlines).filter(|(_, outline)| outline.role == Role::Assistant).last();
        for fix in &fixes {
            // Gemini's results that are there go along into the one message of all.
            let moves = provider == Gemini && matches!(fix.kind, FixKind::Drop { .. });
            prop_assert!(moves || matches!(fix.kind, FixKind::After(_)), "{:?}", fix);
            prop_assert!(moves || Some(fix.index) == newest.map(|(at, _)| at));
        }
    }

    #[test]
    fn a_cut_never_parts_a_call_from_its_result(text in any_transcript(), provider in any_provider()) {
        let outlines = transcript(&text, provider);
        let mut mender = Mender::new(provider);
        let seen: Vec<_> = (0..).zip(&outlines).map(|(at, outline)| mender.push(at, outline)).collect();
        for (at, cut) in seen.iter().enumerate().filter(|(_, seen)| seen.may_cut) {
            let moved = |fix: &Fix| matches!(fix.kind, FixKind::Drop { .. });
            for later in seen.iter().skip(at) {
                for (number, pair) in (0..).zip(&later.pairs) {
                    let stays = !later.fixes.iter().any(|fix| moved(fix) && fix.kind == (FixKind::Drop { piece: number }));
                    if let Some((call, _)) = pair && stays {
                        prop_assert!(*call as usize >= at, "{text}: {at} {cut:?}");
                    }
                }
            }
        }
    }
}
