//! The rules on transcripts in a small notation, and as properties over any transcript.
//!
//! `U:t A:h,t,ca,cb U:ra,rb`: messages of system, user, assistant and tool, X the assistant's that is not sent; pieces: text, white space, (h) reasoning,
//! (c) call and (r) result with an id, (k) call and (s) result with a name alone, (e) empty result, image, (v) reference;
//! a provider's call (m) and result (n), a call (d) and result (o) of one part, (a) a request for approval and (y) its response;
//! a step of the assistant's starts at `/`;
//! `!` after a piece: half a surrogate pair, `?` bad arguments, `*` signed, `@p` called by the program `p`.

#![expect(clippy::arithmetic_side_effects, reason = "positions in transcripts of a few messages")]

mod oracle;
mod properties;
mod providers;
mod rules;
mod sent;
mod turns;
mod wires;

use std::ops::Range;

use oracle::accept;
pub(super) use sent::{apply, take_turns};

use super::*;
use crate::model::{FixKind, GroupId, Kind, Made, NONE, Piece, Place, Role, Traits};
use Provider::{Anthropic, Bedrock, DeepSeek, Gemini, Kimi, Mistral, OpenAiChat, OpenAiResponses};

pub(super) fn piece(word: &str, at: u32, provider: Provider) -> Piece {
    let (word, caller) = word.split_once('@').unwrap_or((word, ""));
    let (word, broken) = word.strip_suffix('!').map_or((word, false), |word| (word, true));
    let (word, bad) = word.strip_suffix('?').map_or((word, false), |word| (word, true));
    let (word, opaque) = word.strip_suffix('*').map_or((word, false), |word| (word, true));
    let (kind, id) = word.split_at(1);
    let item = if provider == Gemini { Place::Part(at) } else { Place::Item(at) };
    let (call, result) = match provider {
        OpenAiChat => (Place::Call(at), item),
        OpenAiResponses => {
            (Place::Message("function_call"), Place::Message("function_call_output"))
        }
        Gemini | Anthropic | Bedrock | Mistral | DeepSeek | Kimi => (item, item),
    };
    let (id, name) = match kind {
        "k" | "s" | "y" => ("", id),
        "a" => (id, id),
        _ => (id, ""),
    };
    let within = matches!(kind, "m" | "n" | "o");
    let (kind, place, blank) = match kind {
        "v" => (Kind::Other, Place::Message("item_reference"), false),
        "p" => (Kind::Call, Place::Message("custom_tool_call"), false),
        "q" => (Kind::Result, Place::Message("custom_tool_call_output"), false),
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
    let traits = Traits {
        name: name.into(),
        caller: caller.into(),
        within,
        opaque,
        blank,
        broken_unicode: broken,
        bad_arguments: bad,
        ..Traits::new(kind, place)
    };
    traits.piece(id)
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
    let (mut step, mut all) = ((0, 0), Vec::<Piece>::new());
    for (at, text) in (0..).zip(pieces.split(',').filter(|word| !word.is_empty())) {
        if text == "/" {
            step = (at, at + 1);
            continue;
        }
        let mut piece = piece(text, at, provider);
        (piece.unsent, piece.step) = (word == "X", step);
        // A result after the call of its part stands in that part.
        if let (Place::Inner(_, name), Some(call)) = (piece.place, all.last())
            && let Place::Tool(own) = call.place
            && call.id == piece.id
        {
            piece.place = Place::Inner(own, name);
        }
        all.push(piece);
    }
    // Of all formats only Anthropic's could have a result there.
    let may = |piece: &Piece| role != Role::System || piece.kind != Kind::Result;
    Outline { role, pieces: all.into_iter().filter(may).collect() }
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
        FixKind::Text { piece, text: None } => format!("hollow {piece}"),
        FixKind::Unicode { piece } => format!("unicode {piece}"),
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
pub(super) fn mends(provider: Provider, text: &str, expected: &[&str]) {
    let outlines = transcript(text, provider);
    let fixes = mend(&outlines, provider);
    assert_eq!(fixes.iter().map(line).collect::<Vec<_>>(), expected, "{text}");
    let mended = apply(&outlines, &fixes);
    accept(&mended, provider, Options::default()).unwrap();
    assert_eq!(check(&mended, provider, Options::default()), []);
}

#[track_caller]
pub(super) fn both(text: &str, expected: &[&str]) {
    mends(Anthropic, text, expected);
    mends(OpenAiChat, text, expected);
}

#[track_caller]
pub(super) fn sees(
    provider: Provider,
    text: &str,
    groups: &str,
    cuts: &str,
    intact: Option<Range<u32>>,
) {
    let mut repairer = Repairer::new(provider);
    let mut seen_groups = Vec::new();
    let mut seen_cuts = Vec::new();
    for (index, outline) in (0..).zip(transcript(text, provider)) {
        let seen = repairer.push(index.into(), &outline);
        let show = |group: &GroupId| if group.is_none() { "-".into() } else { group.to_string() };
        seen_groups.push(seen.groups.iter().map(show).collect::<Vec<_>>().join(","));
        for (piece, pair) in outline.pieces.iter().zip(&seen.pairs) {
            assert!(pair.is_none() || piece.kind == Kind::Result || piece.is_approval());
        }
        seen_cuts.push(if seen.may_cut { "y" } else { "n" });
    }
    assert_eq!((seen_groups.join(" ").as_str(), seen_cuts.join(" ").as_str()), (groups, cuts));
    let seen = repairer.intact().map(|it| it.start.get()..it.end.get());
    assert_eq!(seen, intact);
}

fn is_unsent(outline: &Outline) -> bool {
    outline.pieces.iter().any(|piece| piece.unsent)
}
