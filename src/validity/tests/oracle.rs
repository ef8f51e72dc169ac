//! The rules of the providers whose turns are strict, once more and slowly: an oracle, and the properties it is for.
//!
//! `U:t A:h,t,ca,cb U:ra,rb`: messages of system, user, assistant and tool, X the assistant's that is not sent; pieces: text, white space, (h) reasoning,
//! (c) call and (r) result with an id, (e) empty result, image; `!` behind a piece: half a surrogate pair, `?` bad arguments,
//! `*` a cache marker.

use proptest::prelude::*;

use super::{healthy, is_unsent, line};
use crate::model::{FixKind, Kind, Made, Piece, Place, Role};
use crate::validity::*;
use Provider::{Anthropic, Bedrock, DeepSeek, Gemini, Kimi, Mistral, OpenAiChat, OpenAiResponses};

/// Where the results of a provider's own format travel.
pub(super) fn inline(provider: Provider) -> bool {
    matches!(provider, Anthropic | Bedrock | Gemini)
}

pub(super) fn options(inline: bool) -> Options {
    Options { inline, as_placed: true, single: !inline, ..Options::default() }
}

pub(super) fn piece(word: &str, at: u32, provider: Provider) -> Piece {
    let (word, broken) = word.strip_suffix('!').map_or((word, false), |word| (word, true));
    let (word, bad) = word.strip_suffix('?').map_or((word, false), |word| (word, true));
    let (word, marks) = word.strip_suffix('*').map_or((word, 0), |word| (word, 1));
    let (kind, id) = word.split_at(1);
    let call = if provider == OpenAiChat { Place::Call(at) } else { Place::Item(at) };
    let (kind, place, blank) = match kind {
        "t" => (Kind::Text, Place::Item(at), false),
        "w" => (Kind::Text, Place::Item(at), true),
        "h" => (Kind::Thinking, Place::Item(at), false),
        "i" => (Kind::Image, Place::Item(at), false),
        "c" => (Kind::Call, call, false),
        "r" => (Kind::Result, Place::Item(at), false),
        "e" => (Kind::Result, Place::Item(at), true),
        _ => panic!("{word}"),
    };
    Piece {
        id: id.into(),
        blank,
        broken_unicode: broken,
        bad_arguments: bad,
        marks,
        images: u32::from(kind == Kind::Image),
        ..Piece::new(kind, place)
    }
}

pub(super) fn message(text: &str, provider: Provider) -> Outline {
    let (word, pieces) = text.split_once(':').unwrap();
    let role = match word {
        "S" => Role::System,
        "A" | "X" => Role::Assistant,
        // A tool says nothing but results: in every format a message of its own.
        "T" if pieces.split(',').all(|word| word.starts_with(['r', 'e'])) => Role::Tool,
        "U" | "T" => Role::User,
        _ => panic!("{text}"),
    };
    let words = pieces.split(',').filter(|word| !word.is_empty());
    let pieces = (0..).zip(words).map(|(at, text)| piece(text, at, provider));
    let pieces = pieces.map(|piece| Piece { unsent: word == "X", ..piece }).collect();
    Outline { role, pieces }
}

pub(super) fn transcript(text: &str, provider: Provider) -> Vec<Outline> {
    text.split_whitespace().map(|text| message(text, provider)).collect()
}

#[track_caller]
pub(super) fn mends(provider: Provider, text: &str, expected: &[&str]) {
    mends_as(provider, inline(provider), text, expected);
}

#[track_caller]
pub(super) fn mends_as(provider: Provider, inline: bool, text: &str, expected: &[&str]) {
    let outlines = transcript(text, provider);
    let fixes = mend_told(&outlines, provider, options(inline));
    assert_eq!(fixes.iter().map(line).collect::<Vec<_>>(), expected, "{text}");
    let mended = take_turns(apply(&outlines, &fixes), provider, inline);
    accept(&mended, provider, inline).unwrap();
    assert_eq!(check(&mended, provider, options(inline)), []);
}

/// The rules once more, slowly, as a provider would apply them: an oracle for the properties.
fn accept(outlines: &[Outline], provider: Provider, inline: bool) -> Result<(), String> {
    roles_take_turns(outlines, provider, inline)?;
    let sent = || outlines.iter().filter(|it| !is_unsent(it)).flat_map(|it| &it.pieces);
    let marks: u32 = sent().map(|it| it.marks.count_ones()).sum();
    let mut marked = sent().filter(|piece| piece.kind == Kind::Thinking && piece.marks > 0);
    if matches!(provider, Anthropic | Bedrock) && (marks > 4 || marked.next().is_some()) {
        return Err("cache markers".into());
    }
    let mut turns: Vec<(bool, Vec<&Piece>)> = Vec::new();
    for outline in outlines.iter().filter(|outline| !is_unsent(outline)) {
        if outline.pieces.is_empty() {
            return Err("an empty message".into());
        }
        let assistant = outline.role == Role::Assistant;
        match turns.last_mut() {
            Some((last, pieces)) if *last == assistant && (!assistant || provider == Anthropic) => {
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
            let results = pieces.iter().filter(|piece| piece.kind == Kind::Result).count();
            if provider == Mistral && results > 0 && results < pieces.len() {
                return Err("the user behind a tool".into());
            }
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
        if pieces.iter().all(thinking)
            || matches!(provider, Anthropic | Bedrock) && pieces.last().is_some_and(thinking)
        {
            return Err("reasoning at the end".into());
        }
        for call in pieces.iter().filter(|piece| piece.kind == Kind::Call) {
            let legal = match provider {
                Anthropic => call.id.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)),
                Bedrock => {
                    call.id.len() <= 64
                        && call.id.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:".contains(c))
                }
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
        return Err("nothing but the system's".into());
    }
    Ok(())
}

/// Who follows whom, seen alone.
fn roles_take_turns(outlines: &[Outline], provider: Provider, inline: bool) -> Result<(), String> {
    let sent: Vec<_> = outlines.iter().filter(|it| !is_unsent(it)).collect();
    let mut begun = false;
    for (at, it) in sent.iter().enumerate() {
        let strict = matches!(provider, Anthropic | Bedrock | Gemini | Mistral);
        if it.role == Role::System && begun && strict {
            return Err("the system in the middle".into());
        }
        begun |= it.role != Role::System;
        let Some(before) = at.checked_sub(1).map(|at| sent[at]) else { continue };
        let answers = |it: &Outline| it.pieces.iter().any(|piece| piece.kind == Kind::Result);
        let users = |it: &Outline| it.role == Role::User || inline && it.role == Role::Tool;
        let wrong = match provider {
            Bedrock => {
                users(before) && users(it)
                    || before.role == Role::Assistant && it.role == Role::Assistant
            }
            Mistral => {
                let user = |it: &Outline| it.role == Role::User && !answers(it);
                user(it) && (user(before) || answers(before))
                    || before.role == Role::Assistant && it.role == Role::Assistant
            }
            Anthropic | OpenAiChat | OpenAiResponses | Gemini | DeepSeek | Kimi => false,
        };
        if wrong {
            return Err(format!("{:?} behind {:?}", it.role, before.role));
        }
    }
    Ok(())
}

/// A provider, and whether results travel in the user's messages.
fn any_provider() -> impl Strategy<Value = (Provider, bool)> {
    prop_oneof![
        Just((Anthropic, true)),
        Just((OpenAiChat, false)),
        Just((Bedrock, true)),
        Just((Bedrock, false)),
        Just((Mistral, false)),
        Just((Mistral, true)),
        Just((DeepSeek, false)),
        Just((Kimi, false)),
    ]
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
        2..=4 => format!("{word}*"),
        1 if word.starts_with('c') => format!("{word}?"),
        _ => word,
    });
    let role =
        prop_oneof![1 => Just("S"), 1 => Just("X"), 4 => Just("U"), 6 => Just("A"), 4 => Just("T")];
    let message = (role, prop::collection::vec(word, 0..5))
        .prop_map(|(role, words)| format!("{role}:{}", words.join(",")));
    prop::collection::vec(message, 0..14).prop_map(|messages| messages.join(" "))
}

/// A healthy session as this provider has it: ids that it takes, results in one message or in one each, and an answer of the
/// model's before the user speaks again.
fn native(text: &str, (provider, inline): (Provider, bool)) -> String {
    let mut out: Vec<String> = Vec::new();
    for message in text.split(' ') {
        let results = message.contains(":r");
        let last = out.last().cloned().unwrap_or_default();
        if matches!(provider, Bedrock | Mistral) && message == "U:t" && last.contains(":r") {
            out.push("A:t".into());
        }
        if matches!(provider, Bedrock | Mistral) && message.starts_with("A:") && last == "A:t" {
            out.push("U:t".into());
        }
        match out.last_mut() {
            Some(last) if results && inline && last.contains(":r") => {
                last.push(',');
                last.push_str(message.split_once(':').unwrap().1);
            }
            _ if results && inline => out.push(message.replacen("T:", "U:", 1)),
            _ if results => {
                let ids = message.split_once(':').unwrap().1.split(',');
                out.extend(ids.map(|id| format!("T:{id}")));
            }
            _ => out.push(message.into()),
        }
    }
    let text = out.join(" ");
    if provider != Mistral {
        return text;
    }
    // n0_1 and the like, in nine letters and digits.
    let digits = |word: &str| format!("{word}abcde").replace('_', "x");
    let word = |word: &str| if word.contains('_') { digits(word) } else { word.into() };
    let message = |message: &str| message.split(',').map(word).collect::<Vec<_>>().join(",");
    text.split(' ').map(message).collect::<Vec<_>>().join(" ")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_mended_is_valid(text in any_transcript(), (provider, inline) in any_provider()) {
        let outlines = transcript(&text, provider);
        let fixes = mend_told(&outlines, provider, options(inline));
        let mended = take_turns(apply(&outlines, &fixes), provider, inline);
        prop_assert_eq!(accept(&mended, provider, inline), Ok(()), "{:?} {:?}", fixes, mended);
        prop_assert_eq!(check(&mended, provider, options(inline)), []);
        prop_assert_eq!(mend_told(&mended, provider, options(inline)), []);
        prop_assert_eq!(&fixes, &mend_told(&outlines, provider, options(inline)), "the same for the same");
        prop_assert_eq!(fixes.is_empty(), accept(&outlines, provider, inline).is_ok(), "{:?}", fixes);
        for fix in &fixes {
            if let FixKind::After(Made::Result { text, .. }) = &fix.kind {
                prop_assert_eq!(text, NO_RESULT);
            }
        }
    }

    #[test]
    fn healthy_sessions_are_left_alone(text in healthy(), provider in any_provider()) {
        let text = native(&text, provider);
        let outlines = transcript(&text, provider.0);
        prop_assert_eq!(mend_told(&outlines, provider.0, options(provider.1)), [], "{}", text);
    }

    #[test]
    fn a_session_cut_off_anywhere_is_mended_at_its_end_only(text in healthy(), cut in 0..30usize, provider in any_provider()) {
        let mut outlines = transcript(&native(&text, provider), provider.0);
        outlines.truncate(cut.max(1));
        let (provider, inline) = provider;
        let fixes = mend_told(&outlines, provider, options(inline));
        prop_assert_eq!(accept(&take_turns(apply(&outlines, &fixes), provider, inline), provider, inline), Ok(()));
        let newest = (0..).zip(&outlines).filter(|(_, outline)| outline.role == Role::Assistant).last();
        for fix in &fixes {
            prop_assert!(matches!(fix.kind, FixKind::After(_)), "{:?}", fix);
            prop_assert_eq!(Some(fix.index), newest.map(|(at, _)| at));
        }
    }

    #[test]
    fn a_cut_never_parts_a_call_from_its_result(text in any_transcript(), (provider, inline) in any_provider()) {
        let outlines = transcript(&text, provider);
        let mut mender = Mender::new(provider).told(options(inline));
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
