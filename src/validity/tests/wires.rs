//! Rules that only Responses and Gemini have.

use super::{apply, line, mends, sees, transcript};
use crate::model::Place;
use crate::validity::*;
use Provider::{Anthropic, Gemini, OpenAiResponses};

/// I14: reasoning goes with what it led to, and is never the end of its turn; I15: each kind of call has its results.
#[test]
fn responses_keeps_reasoning_with_its_calls_and_distinguishes_kinds_of_calls() {
    let responses = |text, expected: &[&str]| mends(OpenAiResponses, text, expected);
    responses("U:t A:h A:ca T:ra A:h A:t U:t", &[]);
    responses("U:t A:h A:h A:ca A:cb T:rb T:ra", &[]);
    responses("U:t A:h U:t", &["I14 1 drop 0"]);
    responses("U:t A:ca A:h T:ra", &["I14 2 drop 0"]);
    responses("U:t A:h", &["I14 1 drop 0"]);
    responses("U:t A:h A:t A:h A:w U:t", &["I6 4 drop 0", "I14 3 drop 0"]);
    responses("U:t A:h,w A:t U:t", &["I6 1 drop 1", "I6 1 drop 0"]);
    responses("U:t A:ca U:t T:ra", &["I3 3 drop 0", "I3 1 after 3.0 as a"]);
    responses("U:t A:h A:ca", &["I1 2 after result a"]);
    responses("U:t A:pa T:qa", &[]);
    responses("U:t A:pa T:ra", &["I15 2 drop 0", "I1 1 after result a"]);
    responses("U:t A:pa U:t T:ra", &["I1 3 drop 0", "I1 1 after result a"]);
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
    // A result of a call that we are not shown belongs to the reference.
    sees(OpenAiResponses, "U:t A:v T:ra U:t", "- 1 1 -", "y y n y", None);
}

/// What a running program calls is of the program's group, in whichever turn; so is what it says at its end.
#[test]
fn calls_of_a_program_are_of_its_group_until_it_ends() {
    let one = "U:t A:h,mp,ca@p U:ra A:cb@p,cd U:rb,rd A:np,t,ce U:re";
    sees(Anthropic, one, "- 1,1,1 1 1,1 1,1 1,5,5 5", "y y n y n y n", Some(1..2));
    let several = "U:t A:mp A:ca@p T:ra A:cb@p T:rb A:np A:mq A:cc@q T:rc A:nq A:t";
    sees(OpenAiResponses, several, "- 1 1 1 1 1 1 6 6 6 6 10", "y y n n y n y n n n y n", None);
    let unknown = "U:t A:ca@p U:ra A:mp,np,cb@p U:rb";
    sees(Anthropic, unknown, "- 1 1 3,3,3 3", "y y n y n", None);
}

/// A call that the provider runs goes if it has no result once the user has spoken. Calls that a program made would name what is not there.
#[test]
fn a_program_that_made_calls_is_not_dropped_before_it_ends() {
    for provider in [Anthropic, OpenAiResponses] {
        let fixes = |text: &str| {
            let fixes = mend(&transcript(text, provider), provider);
            fixes.iter().map(line).collect::<Vec<_>>()
        };
        assert!(fixes("U:t A:mp,ca@p U:ra U:t").is_empty(), "{provider:?}");
        assert!(fixes("U:t A:mp,ca@p U:ra A:cb@p U:rb U:t A:t U:t").is_empty());
        assert!(fixes("U:t A:mp,ca@p U:ra U:t A:np,t U:t").is_empty(), "its result may be late");
        let dropped: Vec<_> = fixes("U:t A:mp,ca@q U:ra U:t");
        assert!(dropped.iter().any(|fix| fix.ends_with("1 drop 0")), "{dropped:?}");
    }
}

/// I19: as many results as calls, in the one message after them.
#[test]
fn gemini_gets_the_results_of_a_turn_in_one_message() {
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

/// I18: a turn with calls stands directly after the user or results, and the request ends with one of them.
#[test]
fn gemini_calls_follow_a_user_message_or_results() {
    let gemini = |text, expected: &[&str]| mends(Gemini, text, expected);
    gemini("A:ka U:sa", &["I18 0 before user"]);
    gemini("U:t A:t A:ka U:sa", &["I18 2 before user"]);
    gemini("U:t A:ka A:kb U:sb", &["I19 1 after result "]);
    // Code that Gemini runs itself is what the model said, too.
    for text in ["U:t A:ma,na A:kb U:sb", "U:t A:t,ma,na A:kb U:sb"] {
        let found = check(&transcript(text, Gemini), Gemini, Options::default());
        let found = found.iter().map(|it| (it.rule, it.index)).collect::<Vec<_>>();
        assert_eq!(found, [("I18", 2)], "{text}");
    }
    gemini("U:t A:t", &["I18 1 after user"]);
    gemini("U:t U:sa", &["I18 1 drop 0"]);
    gemini("U:t A:t U:sa,t", &["I18 2 drop 0"]);
    gemini("U:t A:h U:t", &["I6 1 drop 0"]);
}

/// I20: the first call of each step of the current turn is signed; the sentinel where the host asks for it.
#[test]
fn gemini_requires_a_signature_on_the_first_call_of_each_step() {
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
    let fixes = mend_with(&outlines, Gemini, thinking);
    assert_eq!(fixes.iter().map(line).collect::<Vec<_>>(), ["I20 1 sign 0", "I20 5 sign 0"]);
    assert_eq!(check(&apply(&outlines, &fixes), Gemini, thinking), []);
    assert_eq!(mend(&outlines, Gemini), []);
}

/// Where a message of the host holds one result, and the host joins them, none is moved for that.
#[test]
fn results_for_a_single_host_may_stand_in_separate_messages() {
    let single = Options { single: true, ..Options::default() };
    let outlines = transcript("U:t A:ca,cb T:ra T:rb A:t U:t", Gemini);
    assert_eq!(check(&outlines, Gemini, single), []);
    // I18 holds whatever the host.
    let found = check(&transcript("U:t A:t A:ca T:ra", Gemini), Gemini, single);
    assert_eq!((found.len(), found[0].rule, found[0].index), (1, "I18", 2));
}

/// Such a host sends the name that stands with a result: it is made that of the call.
#[test]
fn results_of_a_single_host_have_the_names_of_their_calls() {
    let single = Options { single: true, ..Options::default() };
    let mut outlines = transcript("U:t A:ca,cb T:ra T:rb A:t U:t", Gemini);
    for (message, piece, name) in [(1, 0, "read"), (1, 1, "grep"), (2, 0, "read"), (3, 0, "edit")] {
        outlines[message].pieces[piece].name = name.into();
    }
    let fixes = mend_with(&outlines, Gemini, single);
    assert_eq!(
        fixes.iter().map(line).collect::<Vec<_>>(),
        ["I19 3 drop 0", "I19 3 after 3.0 as b"]
    );
    let mended = apply(&outlines, &fixes);
    assert_eq!(&*mended[3].pieces[0].name, "grep");
    assert_eq!(check(&mended, Gemini, single), []);
    // Elsewhere the id alone tells.
    assert_eq!(mend_with(&outlines, Provider::DeepSeek, single), []);
    // A part must have a name; a message of another format has one only if the host wrote it.
    for (place, name, fixes) in
        [(Place::Part(0), "", 2), (Place::Content, "edit", 2), (Place::Content, "", 0)]
    {
        let result = &mut outlines[3].pieces[0];
        (result.place, result.name) = (place, name.into());
        assert_eq!(mend_with(&outlines, Gemini, single).len(), fixes, "{place:?} {name}");
    }
}
