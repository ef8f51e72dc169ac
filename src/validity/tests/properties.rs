//! Properties that hold for any transcript.

use proptest::prelude::*;

use super::oracle::accept;
use super::{apply, transcript};
use crate::model::{FixKind, Made, Role};
use crate::validity::*;
use Provider::{Anthropic, Gemini, OpenAiChat, OpenAiResponses};

fn any_provider() -> impl Strategy<Value = Provider> {
    prop_oneof![Just(Anthropic), Just(OpenAiChat), Just(OpenAiResponses), Just(Gemini)]
}

/// Any pieces in any order, with few ids, so that they meet; where `signed`, some bear what a provider signed.
pub(super) fn any_transcript(signed: bool) -> impl Strategy<Value = String> {
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
    let word = (word, 0..20u8).prop_map(move |(word, flaw)| match flaw {
        0 => format!("{word}!"),
        2..=4 if signed => format!("{word}*"),
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
pub(super) fn healthy() -> impl Strategy<Value = String> {
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn every_repaired_history_is_valid(text in any_transcript(false), provider in any_provider()) {
        let outlines = transcript(&text, provider);
        let fixes = mend(&outlines, provider);
        let mended = apply(&outlines, &fixes);
        prop_assert_eq!(accept(&mended, provider, Options::default()), Ok(()), "{:?}", mended);
        prop_assert_eq!(check(&mended, provider, Options::default()), []);
        prop_assert_eq!(fixes.is_empty(), accept(&outlines, provider, Options::default()).is_ok());
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
    fn a_request_checked_as_it_grows_breaks_the_same_rules_as_one_checked_at_once(text in any_transcript(true), provider in any_provider()) {
        let outlines = transcript(&text, provider);
        let options = Options { thinking: true, tools: Some(false), ..Options::default() };
        let mut checker = Checker::new(provider, options);
        for (at, outline) in outlines.iter().enumerate() {
            checker.push(outline);
            let full = check(&outlines[..=at], provider, options);
            prop_assert_eq!(checker.count(), full.len(), "{:?}", full);
            prop_assert_eq!(checker.violations(), full);
        }
    }

    #[test]
    fn valid_sessions_are_not_changed(text in healthy(), provider in any_provider()) {
        let outlines = transcript(&as_sent(&text, provider), provider);
        prop_assert_eq!(mend(&outlines, provider), []);
    }

    #[test]
    fn a_session_cut_off_anywhere_is_repaired_only_at_its_end(text in healthy(), cut in 0..30usize, provider in any_provider()) {
        let mut outlines = transcript(&as_sent(&text, provider), provider);
        outlines.truncate(cut.max(1));
        let fixes = mend(&outlines, provider);
        prop_assert_eq!(accept(&apply(&outlines, &fixes), provider, Options::default()), Ok(()));
        let newest = (0..).zip(&outlines).filter(|(_, outline)| outline.role == Role::Assistant).last();
        for fix in &fixes {
            // Gemini's results that are there go along into the one message of all.
            let moves = provider == Gemini && matches!(fix.kind, FixKind::Drop { .. });
            prop_assert!(moves || matches!(fix.kind, FixKind::After(_)), "{:?}", fix);
            prop_assert!(moves || Some(fix.index.get()) == newest.map(|(at, _)| at));
        }
    }

    #[test]
    fn a_cut_never_separates_a_call_from_its_result(text in any_transcript(false), provider in any_provider()) {
        let outlines = transcript(&text, provider);
        let mut repairer = Repairer::new(provider);
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
