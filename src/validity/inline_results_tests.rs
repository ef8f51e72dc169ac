//! Results in the model's own messages and approvals, in the notation of the other tests.

use proptest::prelude::*;

use super::tests::{apply, line, sees, transcript};
use super::*;
use crate::model::Kind;

const PROVIDERS: [Provider; 2] = [Provider::Anthropic, Provider::OpenAiChat];

#[track_caller]
fn mends_for(provider: Provider, text: &str, expected: &[&str]) {
    let outlines = transcript(text, provider);
    let fixes = mend(&outlines, provider);
    assert_eq!(fixes.iter().map(line).collect::<Vec<_>>(), expected, "{text} {provider:?}");
    assert_eq!(check(&apply(&outlines, &fixes), provider, Options::default()), [], "{text}");
}

#[track_caller]
fn mends(text: &str, expected: &[&str]) {
    for provider in PROVIDERS {
        mends_for(provider, text, expected);
    }
}

#[test]
fn inline_results_stay_in_their_message() {
    mends("U:t A:ms,ns,t U:t", &[]);
    mends("U:t A:ms,ns,ca T:ra A:t U:t", &[]);
    mends("U:t A:da,oa,db,ob,t U:t", &[]);
    // A part that holds its result ends as a result.
    mends("U:t A:t,da,oa", &[]);
    mends("U:t A:ms,ns", &["I8 1 after user"]);
    // What a provider's tool finds later stands in a later message.
    mends("U:t A:ms,ca T:ra A:ns,t U:t", &[]);
    // The model goes on with a turn that waits for a provider's tool; once the user speaks, the call goes.
    mends("U:t A:ms", &[]);
    mends("U:t A:ms,ca T:ra", &[]);
    mends("U:t A:ms,t U:t", &["I1 1 drop 0"]);
    mends("U:t A:h,ms U:t", &["I1 1 drop 1", "I6 1 drop 0"]);
    mends("U:t A:ms,ca T:ra U:t", &["I1 1 drop 0"]);
    mends("U:t A:ms,ca T:ra A:t U:t", &["I1 1 drop 0"]);
    mends("U:t A:ms,ca T:ra A:t", &["I1 1 drop 0", "I8 3 after user"]);
}

#[test]
fn reasoning_at_the_end_of_a_turn_that_waits_for_the_host_is_removed() {
    let outlines = transcript("U:t A:ms,ca,h", Provider::Anthropic);
    let fixes = mend(&outlines, Provider::Anthropic);
    assert!(fixes.iter().map(line).any(|it| it == "I6 1 drop 2"));
    let mended = apply(&outlines, &fixes);
    assert_eq!(check(&mended, Provider::Anthropic, Options::default()), []);
}

#[test]
fn a_violation_names_the_part_it_is_in() {
    let none = "text 0 No result was recorded: the call was aborted.";
    mends("U:t A:da U:t", &[&format!("I1 1 {none}")]);
    mends("U:t A:da", &[&format!("I1 1 {none}")]);
    mends("U:t A:da,oa,da,oa U:t", &["I5 1 id 2 a_2", "I5 1 id 3 a_2"]);
}

#[test]
fn inline_results_without_their_call_are_dropped() {
    mends("U:t A:ns,t U:t", &["I2 1 drop 0"]);
    mends("U:t A:ms,ns,ns,t U:t", &["I2 1 drop 2"]);
    // A provider's result is no answer to a call of the host's, nor a host's to a provider's.
    mends("U:t A:ca,na U:t", &["I2 1 drop 1", "I1 1 after result a"]);
    mends("U:t A:ms,t T:rs U:t", &["I15 2 drop 0", "I1 1 drop 0"]);
    mends("U:t A:ms,as T:ys A:ns,t U:t", &[]);
}

#[test]
fn inline_results_find_their_call_in_any_order_and_however_often_an_id_is_used() {
    mends("U:t A:ms,mt,nt,ns,t U:t", &[]);
    mends("U:t A:ms,ms,ns,ns,t U:t", &["I5 1 id 1 s_2", "I5 1 id 3 s_2"]);
    // A part answers its own call, though an earlier one with the same id is open.
    let none = "text 0 No result was recorded: the call was aborted.";
    mends("U:t A:da,da,oa U:t", &["I5 1 id 1 a_2", "I5 1 id 2 a_2", &format!("I1 1 {none}")]);
    // The later turn takes the id over: it has one call, so one result.
    mends(
        "U:t A:da U:t A:da,oa,oa U:t",
        &["I2 3 drop 2", "I5 3 id 0 a_2", "I5 3 id 1 a_2", &format!("I1 1 {none}")],
    );
}

#[test]
fn steps_go_out_as_messages_of_their_own_where_the_provider_takes_them() {
    use Provider::{Anthropic, Gemini, Mistral, OpenAiChat};
    mends("U:t A:/,t,/,da,oa,/,t U:t", &[]);
    mends("U:t A:/,t,/,h U:t", &["I6 1 drop 1"]);
    mends_for(Anthropic, "U:t A:/,h,/,t U:t", &[]);
    mends_for(OpenAiChat, "U:t A:/,h,/,t,/,t U:t", &["I6 1 turn"]);
    // Neither is a step of reasoning alone once a call that the provider runs goes for want of a result.
    mends("U:t A:/,t,/,h,mx U:t", &["I1 1 drop 2", "I6 1 drop 1"]);
    mends_for(OpenAiChat, "U:t A:/,t,/,h,mx,/,t U:t", &["I6 1 turn", "I1 1 drop 2"]);
    // The results of a step stand between it and the next.
    mends_for(Mistral, "U:t A:/,dabcdefghi,oabcdefghi,/,t U:t", &[]);
    mends_for(Mistral, "U:t A:/,t,/,t U:t", &["I9 1 turn"]);
    mends_for(Gemini, "U:t A:/,da,oa,/,db,ob U:t", &[]);
    mends_for(Gemini, "U:t A:/,t,/,da,oa U:t", &["I18 1 turn"]);
}

#[test]
fn a_turn_is_open_while_it_waits_and_paused_while_only_the_provider_is_to_answer() {
    let state = |text| {
        let mut repairer = Repairer::new(Provider::Anthropic);
        for (index, outline) in (0..).zip(transcript(text, Provider::Anthropic)) {
            repairer.push(index.into(), &outline);
        }
        (repairer.is_open(), repairer.is_paused())
    };
    assert_eq!(state("U:t A:t"), (false, false));
    assert_eq!(state("U:t A:ca"), (true, false));
    assert_eq!(state("U:t A:ca U:ra"), (false, false));
    assert_eq!(state("U:t A:ca U:t"), (false, false));
    assert_eq!(state("U:t A:ms"), (true, true));
    assert_eq!(state("U:t A:ms,ca U:ra"), (true, false));
}

#[test]
fn approvals_stay_with_their_call() {
    mends("U:t A:ca,aa T:ya T:ra A:t U:t", &[]);
    mends("U:t A:ca,aa T:ya,ra A:t U:t", &[]);
    // The SDK runs or refuses it at the next call.
    mends("U:t A:ca,cb,aa T:rb,ya", &[]);
    mends("U:t A:ca,cb,aa T:ya T:rb", &["I1 1 after result a"]);
    mends("U:t A:ca,aa T:ya U:t", &["I1 1 after result a"]);
    mends("U:t A:ca,aa U:t", &["I1 1 after result a"]);
    mends("U:t A:t,aa T:ya U:t", &["I4 1 drop 1", "I4 2 drop 0"]);
    mends("U:t A:t U:t T:ya U:t", &["I4 3 drop 0"]);
    mends(
        "U:t A:ca U:ra A:ca,aa U:ya,ra U:t",
        &["I5 3 id 0 a_2", "I5 3 id 1 a_2", "I5 4 id 1 a_2"],
    );
    // A request for approval between two calls of one id asks for the first.
    mends("U:t A:ca,aa,ca T:ya,ra,ra A:t U:t", &["I5 1 id 2 a_2", "I5 2 id 2 a_2"]);
    // A piece that asks for nothing is not renamed with a call that has no id either.
    mends("U:t A:c,v T:r U:t", &["I5 1 id 0 call", "I5 2 id 0 call"]);
    mends("U:t A:v,c T:r U:t", &["I5 1 id 1 call", "I5 2 id 0 call"]);
}

#[test]
fn approvals_and_inline_results_belong_to_the_group_of_their_call() {
    let text = "U:t A:ca,aa T:ya T:ra A:t U:t";
    sees(Provider::Anthropic, text, "- 1,1 1 1 4 -", "y y n n y y", None);
    let text = "U:t A:ms,ca T:ra A:ns,t U:t";
    sees(Provider::Anthropic, text, "- 1,1 1 1,3 -", "y y n y y", None);
}

/// Any pieces in any order, with few ids, so that they meet.
fn any_transcript() -> impl Strategy<Value = String> {
    let word = (
        prop::sample::select(vec!["t", "h", "c", "r", "m", "n", "d", "o", "do", "a", "y", "/"]),
        0..3u8,
    );
    let word = word.prop_map(|(kind, id)| match kind {
        "t" | "h" | "/" => kind.to_owned(),
        "do" => ["dx,ox", "dy,oy", "dz,oz"][usize::from(id)].to_owned(),
        _ => format!("{kind}{}", ["x", "y", "z"][usize::from(id)]),
    });
    let role = prop_oneof![2 => Just("U"), 6 => Just("A"), 4 => Just("T")];
    let message = (role, prop::collection::vec(word, 0..5)).prop_map(|(role, words)| {
        let words = words.join(",");
        // Only a message of the model's holds results within, and steps.
        let words =
            if role == "A" { words } else { words.replace(['n', 'o'], "r").replace('/', "") };
        format!("{role}:{words}")
    });
    prop::collection::vec(message, 0..12).prop_map(|messages| messages.join(" "))
}

/// Every result follows its call, once, and every approval its request, its request a call.
fn pairs(outlines: &[Outline]) -> Result<(), String> {
    let (mut open, mut asked) = (Vec::new(), Vec::new());
    for piece in outlines.iter().flat_map(|outline| &outline.pieces) {
        match piece.kind {
            Kind::Call => open.push((&piece.id, piece.within)),
            Kind::Result => {
                let at = open.iter().position(|(id, _)| **id == piece.id);
                let (_, theirs) = open.remove(at.ok_or_else(|| format!("no call for {piece:?}"))?);
                let is_part = matches!(piece.place, crate::model::Place::Inner(..));
                if !is_part && theirs != piece.within {
                    return Err(format!("the wrong call for {piece:?}"));
                }
            }
            Kind::Other if piece.id.is_empty() && !asked.contains(&&piece.name) => {
                return Err(format!("nobody asked {piece:?}"));
            }
            Kind::Other => asked.push(&piece.name),
            Kind::Text | Kind::Thinking | Kind::Image => {}
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn every_repaired_history_is_valid(text in any_transcript(), at in 0..2usize) {
        let provider = PROVIDERS[at];
        let outlines = transcript(&text, provider);
        let mended = apply(&outlines, &mend(&outlines, provider));
        prop_assert_eq!(check(&mended, provider, Options::default()), [], "{}\n{:?}", text, mended);
        prop_assert_eq!(pairs(&mended), Ok(()));
    }
}
