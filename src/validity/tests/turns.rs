//! The providers whose turns are strict, each with the results where its formats have them: the notation, and properties.
//!
//! `U:t A:h,t,ca,cb U:ra,rb`: messages of system, user, assistant and tool, X the assistant's that is not sent; pieces: text, white space, (h) reasoning,
//! (c) call and (r) result with an id, (e) empty result, image; `!` after a piece: half a surrogate pair, `?` bad arguments,
//! `*` a cache marker.

use proptest::prelude::*;

use super::oracle::accept;
use super::properties::{any_transcript, healthy};
use super::{apply, line, take_turns};
use crate::model::{FixKind, Kind, Made, Piece, Place, Role, Traits};
use crate::validity::*;
use Provider::{Anthropic, Bedrock, DeepSeek, Gemini, Kimi, Mistral, OpenAiChat};

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
    let traits = Traits {
        blank,
        broken_unicode: broken,
        bad_arguments: bad,
        marks,
        images: u32::from(kind == Kind::Image),
        ..Traits::new(kind, place)
    };
    traits.piece(id)
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
    let pieces = pieces.map(|mut piece| {
        piece.unsent = word == "X";
        piece
    });
    Outline { role, pieces: pieces.collect() }
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
    let fixes = mend_with(&outlines, provider, options(inline));
    assert_eq!(fixes.iter().map(line).collect::<Vec<_>>(), expected, "{text}");
    let mended = take_turns(apply(&outlines, &fixes), provider, inline);
    accept(&mended, provider, options(inline)).unwrap();
    assert_eq!(check(&mended, provider, options(inline)), []);
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
    fn every_repaired_history_is_valid(text in any_transcript(true), (provider, inline) in any_provider()) {
        let outlines = transcript(&text, provider);
        let fixes = mend_with(&outlines, provider, options(inline));
        let mended = take_turns(apply(&outlines, &fixes), provider, inline);
        prop_assert_eq!(accept(&mended, provider, options(inline)), Ok(()), "{:?} {:?}", fixes, mended);
        prop_assert_eq!(check(&mended, provider, options(inline)), []);
        prop_assert_eq!(mend_with(&mended, provider, options(inline)), []);
        prop_assert_eq!(&fixes, &mend_with(&outlines, provider, options(inline)), "the same for the same");
        prop_assert_eq!(fixes.is_empty(), accept(&outlines, provider, options(inline)).is_ok(), "{:?}", fixes);
        for fix in &fixes {
            if let FixKind::After(Made::Result { text, .. }) = &fix.kind {
                prop_assert_eq!(text, NO_RESULT);
            }
        }
    }

    #[test]
    fn valid_sessions_are_not_changed(text in healthy(), provider in any_provider()) {
        let text = native(&text, provider);
        let outlines = transcript(&text, provider.0);
        prop_assert_eq!(mend_with(&outlines, provider.0, options(provider.1)), [], "{}", text);
    }

    #[test]
    fn a_session_cut_off_anywhere_is_repaired_only_at_its_end(text in healthy(), cut in 0..30usize, provider in any_provider()) {
        let mut outlines = transcript(&native(&text, provider), provider.0);
        outlines.truncate(cut.max(1));
        let (provider, inline) = provider;
        let fixes = mend_with(&outlines, provider, options(inline));
        prop_assert_eq!(accept(&take_turns(apply(&outlines, &fixes), provider, inline), provider, options(inline)), Ok(()));
        let newest = (0..).zip(&outlines).filter(|(_, outline)| outline.role == Role::Assistant).last();
        for fix in &fixes {
            prop_assert!(matches!(fix.kind, FixKind::After(_)), "{:?}", fix);
            prop_assert_eq!(Some(fix.index.get()), newest.map(|(at, _)| at));
        }
    }

    #[test]
    fn a_cut_never_separates_a_call_from_its_result(text in any_transcript(true), (provider, inline) in any_provider()) {
        let outlines = transcript(&text, provider);
        let mut repairer = Repairer::new(provider).with_options(options(inline));
        let seen: Vec<_> = (0..).zip(&outlines).map(|(at, outline)| repairer.push(at.into(), outline)).collect();
        for (at, cut) in seen.iter().enumerate().filter(|(_, seen)| seen.may_cut) {
            let moved = |fix: &Fix| matches!(fix.kind, FixKind::Drop { .. });
            for later in seen.iter().skip(at) {
                for (number, pair) in (0..).zip(&later.pairs) {
                    let stays = !later.fixes.iter().any(|fix| moved(fix) && fix.kind == (FixKind::Drop { piece: number }));
                    if let Some((call, _)) = pair && stays {
                        prop_assert!(call.index() >= at, "{text}: {at} {cut:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_result_of_ours_is_outlined_with_its_name_and_as_an_error() {
    let (id, name, text) = ("c1".into(), "read".into(), "no".into());
    let (like, toolset) = (Place::Item(0), String::new());
    let made = Made::Result { id, name, text, error: true, like, toolset };
    let outline = outline_of(&made, &|_| None);
    let piece = &outline.pieces[0];
    assert_eq!((&*piece.id, &*piece.name, piece.error), ("c1", "read", true));
}

/// The provider's own call waits after other calls: it goes once, whether the user speaks next or its id comes again.
#[test]
fn a_call_of_the_providers_that_waits_goes_once() {
    let fixes = |text: &str| {
        let fixes = mend_with(&super::transcript(text, Anthropic), Anthropic, options(true));
        fixes.iter().map(line).collect::<Vec<_>>()
    };
    assert_eq!(fixes("U:t A:ma,cb U:rb A:t U:t A:t U:t"), ["I1 1 drop 0"]);
    let again = ["I5 3 id 0 a_2", "I1 1 drop 0", "I1 3 drop 0", "I8 5 after user"];
    assert_eq!(fixes("U:t A:ma,cb U:rb A:ma,cc U:rc A:t"), again);
    // A call of the host's that waits with it keeps its late result.
    let late = fixes("U:t A:ma,cb,cc U:rb A:t U:t U:rc");
    assert_eq!(late, ["I1 1 drop 0", "I3 5 drop 0", "I3 1 after 5.0 as c"]);
}
