//! Rules that all providers share, one by one.

use super::{both, line, mends, message, sees, transcript};
use crate::model::{MessageId, Role};
use crate::validity::*;
use Provider::{Anthropic, Bedrock, DeepSeek, Gemini, OpenAiChat, OpenAiResponses};

#[test]
fn valid_transcripts_are_not_changed() {
    both("U:t A:t,ca,cb U:ra,rb A:t U:t", &[]);
    both("S:t U:t A:h,t,ca T:ra A:t,cb,cc T:rc T:rb,i U:t", &[]);
    both("S:t S:t U:t,i", &[]);
    both("", &[]);
    mends(Anthropic, "U:t A:h A:t A:ca A:cb U:rb U:ra", &[]);
}

#[test]
fn open_calls_get_a_result_that_states_there_was_none() {
    both("U:t A:ca", &["I1 1 after result a"]);
    both("U:t A:ca,cb U:rb", &["I1 1 after result a"]);
    both("U:t A:ca,cb U:rb,t", &["I1 1 after result a"]);
    both("U:t A:ca U:t A:cb U:t", &["I1 1 after result a", "I1 3 after result b"]);
    mends(Anthropic, "U:t A:ca A:t U:t", &["I1 2 after result a"]);
    mends(OpenAiChat, "U:t A:ca A:t U:t", &["I1 1 after result a"]);
}

#[test]
fn reasoning_behind_a_message_of_the_model_that_is_not_known_counts_as_that_of_a_turn_with_calls() {
    let ties = |provider, passed: &[Role]| {
        let mut repairer = Repairer::new(provider);
        for (index, role) in (0..).zip(passed) {
            repairer.pass(MessageId::from(index), *role);
        }
        let next = u32::try_from(passed.len()).unwrap();
        repairer.push(next.into(), &message("A:h,t", provider)).ties_reasoning
    };
    let by_calls = |it: &Provider| it.ties_reasoning(true) && !it.ties_reasoning(false);
    let providers: Vec<_> = Provider::ALL.into_iter().filter(by_calls).collect();
    assert!(providers.contains(&DeepSeek), "{providers:?}");
    for provider in providers {
        assert!(!ties(provider, &[Role::User]));
        assert!(ties(provider, &[Role::User, Role::Assistant]));
        assert!(ties(provider, &[Role::User, Role::Assistant, Role::Tool]));
    }
}

#[test]
fn nothing_is_missing_at_the_end_of_a_history_that_goes_on() {
    let open = Options { open: true, ..Options::default() };
    for provider in [Anthropic, OpenAiChat] {
        let outlines = transcript("U:t A:ca,cb U:ra", provider);
        assert_eq!(mend_with(&outlines, provider, open), []);
        assert_eq!(check(&outlines, provider, open), []);
        assert_eq!(
            mend(&outlines, provider).iter().map(line).next().unwrap(),
            "I1 1 after result b"
        );
    }
}

#[test]
fn late_results_move_to_their_call() {
    both("U:t A:ca U:t U:ra", &["I3 3 drop 0", "I3 1 after 3.0 as a"]);
    both("U:t A:ca U:t,ra", &["I3 2 drop 1", "I3 1 after 2.1 as a"]);
    both("U:t A:ca,cb U:ra,t,rb U:t", &["I3 2 drop 2", "I3 1 after 2.2 as b"]);
    both("U:t A:ca U:t A:t U:ra,t", &["I3 4 drop 0", "I3 1 after 4.0 as a"]);
    // Where it goes, its text is mended.
    both("U:t A:ca U:t U:ra!", &["I3 3 drop 0", "I3 1 after 3.0 as a"]);
}

#[test]
fn results_without_a_call_and_second_results_are_removed() {
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

/// Hosts that name the tool with its result mean that call.
#[test]
fn a_result_with_a_name_answers_the_call_of_that_tool() {
    let lines = |names: [&str; 4]| {
        let mut outlines = transcript("U:t A:ca,ca T:ra T:ra U:t", DeepSeek);
        for ((message, piece), name) in [(1, 0), (1, 1), (2, 0), (3, 0)].into_iter().zip(names) {
            outlines[message].pieces[piece].name = name.into();
        }
        mend(&outlines, DeepSeek).iter().map(line).collect::<Vec<_>>()
    };
    assert_eq!(lines(["read", "grep", "grep", "read"]), ["I5 1 id 1 a_2", "I5 2 id 0 a_2"]);
    // One without a name answers the first, also where the second call has none either.
    assert_eq!(lines(["read", "", "", ""]), ["I5 1 id 1 a_2", "I5 3 id 0 a_2"]);
}

#[test]
fn a_violation_names_the_call_that_it_is_about() {
    for (provider, text, message) in [
        (OpenAiChat, "U:t A:ca", "the call \"a\" has no result"),
        (OpenAiChat, "U:t T:rx", "no call before it has the id \"x\""),
        (Gemini, "U:t T:sls", "no call before it has the id \"ls\""),
        (
            OpenAiChat,
            "U:t A:ca T:ra T:ra",
            "the call \"a\" is answered already, or its id was used again",
        ),
        (
            OpenAiResponses,
            "U:t A:pa U:t T:qa",
            "the result of \"a\" does not stand directly after its call",
        ),
        (OpenAiResponses, "U:t A:pa T:ra", "the call \"a\" is of another kind than this result"),
        (Anthropic, "U:t A:ms,t U:t", "the provider's own call \"s\" has no result"),
        (
            Anthropic,
            "U:t A:ns,t U:t",
            "no call before it has the id \"s\", or it is answered already",
        ),
    ] {
        let found = check(&transcript(text, provider), provider, Options::default());
        assert!(found.iter().any(|it| it.message == message), "{text}: {found:?}");
    }
}

#[test]
fn messages_that_an_adapter_leaves_out_are_ignored() {
    both("U:t A:ca X:t,cb U:ra X:w U:t", &[]);
    both("U:t X:ca U:ra,t", &["I2 2 drop 0"]);
    both("U:t X:ca", &[]);
}

#[test]
fn empty_texts_and_messages_are_not_sent() {
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
    mends(Anthropic, "A:h", &["I6 0 drop 0"]);
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
fn half_characters_and_malformed_arguments_are_repaired() {
    both(
        "U:t! A:h,t!,ca! U:ra!",
        &["I26 0 unicode 0", "I26 1 unicode 1", "I26 1 unicode 2", "I26 2 unicode 0"],
    );
    both("U:t A:ca? U:ra", &["I30 1 arguments 0"]);
    // What is signed is signed as it was; reasoning without its signature is none.
    both("U:t A:h*!,t U:t", &["I26 1 drop 0"]);
    both("U:t A:h!,t*! U:t", &["I26 1 unicode 0", "I26 1 unicode 1"]);
}

#[test]
fn reasoning_in_an_open_tool_loop_comes_first() {
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

/// Where each message is a turn of its own, the provider may still read neighbours as one.
#[test]
fn neighbours_of_the_newest_reasoning_are_kept_with_it() {
    let intact = |text: &str, provider| {
        let mut repairer =
            Repairer::new(provider).with_options(Options { apart: true, ..Options::default() });
        for (index, outline) in (0..).zip(transcript(text, provider)) {
            repairer.push(index.into(), &outline);
        }
        repairer.intact().map(|it| (it.start.get(), it.end.get()))
    };
    for provider in [Anthropic, Bedrock] {
        assert_eq!(intact("U:t A:h,ca A:h,cb U:rb", provider), Some((1, 3)));
        assert_eq!(intact("U:t A:h,t A:t A:ca U:ra", provider), Some((1, 4)));
        assert_eq!(intact("U:t A:t A:h,ca U:ra A:h,cb", provider), Some((4, 5)));
        assert_eq!(intact("U:t A:h,t U:t", provider), Some((1, 2)));
        assert_eq!(
            intact("U:t A:h,t U:t A:t", provider),
            None,
            "a turn without reasoning followed"
        );
        assert_eq!(intact("U:t A:h,t U:t A:h,t", provider), Some((3, 4)));
        assert_eq!(
            intact("U:t A:h,t U:t A:h U:t", provider),
            Some((1, 2)),
            "reasoning alone is not sent"
        );
        assert_eq!(intact("U:t A:h,t U:t A:t U:t A:h,t", provider), Some((5, 6)));
        // The turn goes on: results, also with words of the user's beside or after them.
        assert_eq!(intact("U:t A:h,ca U:ra A:t", provider), Some((1, 2)));
        assert_eq!(intact("U:t A:h,ca U:ra,t A:cb U:rb A:t", provider), Some((1, 2)));
        assert_eq!(intact("U:t A:h,ca U:ra U:t A:t", provider), Some((1, 2)));
    }
}

#[test]
fn neighbours_that_stay_apart_may_be_cut_between() {
    let may_cut = |apart| {
        let options = Options { apart, ..Options::default() };
        let mut repairer = Repairer::new(Anthropic).with_options(options);
        let found = (0..).zip(transcript("U:t A:t A:t", Anthropic));
        let found = found.map(|(index, outline)| repairer.push(index.into(), &outline).may_cut);
        found.collect::<Vec<bool>>()
    };
    assert_eq!(may_cut(false), [true, true, false]);
    assert_eq!(may_cut(true), [true, true, true]);
}
