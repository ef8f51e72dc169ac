//! Differences between providers: accepted by one, refused by another.

use Provider::{Anthropic, Bedrock, DeepSeek, Gemini, Kimi, Mistral, OpenAiChat, OpenAiResponses};

use super::turns::*;
use super::{apply, line};
use crate::validity::*;

const ID: &str = "abcdefghi";

fn with_id(text: &str) -> String {
    text.replace('#', ID)
}

#[test]
fn roles_alternate_on_bedrock() {
    mends(Bedrock, "U:t U:t A:t U:t U:t", &["I9 1 turn", "I9 4 turn"]);
    mends(Bedrock, "U:t A:ca U:ra U:t", &["I9 3 turn"]);
    mends(Bedrock, "U:t A:h A:t A:ca U:ra", &["I9 2 turn", "I9 3 turn"]);
    mends_as(Bedrock, false, "S:t S:t U:t X:t U:t", &["I9 4 turn"]);
    // What becomes of an open call stands between: that is one violation, not two.
    mends(Bedrock, "U:t A:ca U:t", &["I1 1 after result a"]);
    mends(Bedrock, "U:t A:h U:t", &["I6 1 drop 0", "I9 2 turn"]);
    // Reasoning at the end of a message goes once, whoever speaks next.
    mends_as(Bedrock, false, "U:t A:t,h U:t A:t U:t", &["I6 1 drop 1"]);
    for provider in [Anthropic, DeepSeek, Kimi] {
        mends(provider, "U:t U:t A:t A:t U:t U:t", &[]);
    }
}

#[test]
fn all_results_of_a_turn_stand_in_one_message_on_bedrock() {
    mends(Bedrock, "U:t A:ca,cb,cc U:ra U:rb U:rc,t", &["I21 3 turn", "I21 4 turn"]);
    mends(Bedrock, "U:t A:ca,cb U:ra,rb,t A:t U:t", &[]);
    mends(Bedrock, "U:t A:ca U:ea", &["I6 2 text 0 (no output)"]);
    // Where results are messages of their own, whoever writes Converse puts them together.
    mends_as(Bedrock, false, "U:t A:ca,cb T:ra T:rb U:t", &[]);
    mends_as(Bedrock, false, "U:t A:t A:ca T:ra U:t U:t", &["I9 2 turn", "I9 5 turn"]);
}

#[test]
fn mistral_wants_the_assistant_between_a_tool_and_the_user() {
    mends(Mistral, &with_id("U:t A:c# T:r# U:t A:t U:t"), &["I9 3 turn"]);
    mends(Mistral, &with_id("U:t A:c# T:r# A:t U:t"), &[]);
    mends(Mistral, &with_id("U:t A:c# T:r#"), &[]);
    mends(Mistral, "U:t U:t A:t A:t U:t", &["I9 1 turn", "I9 3 turn"]);
    let (moved, goes) = (format!("I3 1 after 3.0 as {ID}"), "I3 3 drop 0");
    mends(Mistral, &with_id("U:t A:c# U:t T:r#"), &[goes, &moved]);
    mends_as(Mistral, true, &with_id("U:t A:c# U:r#,t A:t U:t"), &["I9 2 turn"]);
    mends(Mistral, "U:t A:h U:t", &["I6 1 drop 0", "I9 2 turn"]);
}

#[test]
fn a_system_message_is_first_or_becomes_a_user_message() {
    let text = "S:t S:t U:t A:t S:t,t U:t";
    mends_as(Anthropic, false, text, &["I31 4 as user"]);
    mends_as(Gemini, false, text, &["I31 4 as user"]);
    mends_as(Bedrock, false, text, &["I31 4 as user", "I9 5 turn"]);
    mends(Mistral, text, &["I31 4 as user", "I9 5 turn"]);
    mends(Anthropic, "U:t A:ca S:t U:ra", &["I31 2 as user", "I3 3 drop 0", "I3 1 after 3.0 as a"]);
    for provider in [OpenAiChat, DeepSeek, Kimi] {
        mends(provider, text, &[]);
    }
}

#[test]
fn anthropic_bedrock_and_gemini_have_no_system_role_in_their_own_messages() {
    mends(Anthropic, "S:t U:t", &["I31 0 as user"]);
    mends(Anthropic, "S:t", &["I31 0 as user"]);
    mends(Anthropic, "U:w U:ra S:t U:t", &["I6 0 drop 0", "I2 1 drop 0", "I31 2 as user"]);
    mends(Bedrock, "S:t U:t", &["I31 0 as user", "I9 1 turn"]);
    mends(Gemini, "S:t U:t A:t S:t U:t", &["I31 0 as user", "I31 3 as user"]);
}

#[test]
fn at_most_four_cache_markers_are_sent_and_none_on_reasoning() {
    mends(Anthropic, "U:t*,t* A:t* U:t*", &[]);
    mends(Anthropic, "U:t*,t* A:t* U:t*,t*,t*", &["I13 0 unmark 0 1", "I13 0 unmark 1 1"]);
    mends(Bedrock, "U:t A:h*,t* U:t", &["I13 1 unmark 0 1"]);
    mends(OpenAiChat, "U:t*,t*,t*,t*,t*", &[]);
    let outlines = transcript("U:t* A:t U:t*,t*", Anthropic);
    let beside = Options { marks: 2, ..options(true) };
    let found = check(&outlines, Anthropic, beside);
    assert_eq!(found.iter().map(|it| (it.rule, it.index)).collect::<Vec<_>>(), [("I13", 0)]);
    assert_eq!(check(&outlines, Anthropic, Options { marks: 5, ..beside }).len(), 4);
}

#[test]
fn only_cache_markers_that_go_out_count() {
    mends(Anthropic, "U:t*,w* A:t* U:t*,t*", &["I6 0 drop 1"]);
    mends(Anthropic, "U:t*,t* X:t* A:t* U:t*", &[]);
    // An empty result gets a text, and keeps its marker.
    let fixes = ["I6 2 text 0 (no output)", "I13 0 unmark 0 1"];
    mends(Anthropic, "U:t*,t* A:t*,ca U:ea*,t*", &fixes);
    let all = |text| {
        let outline = message(text, Anthropic);
        (is_marked(&outline), markers_of(&outline), most_sent(&outline))
    };
    assert_eq!(all("A:h*,t*,t*"), (true, 3, 2));
    assert_eq!(all("A:h,t"), (false, 0, 0));
}

#[test]
fn markers_in_a_result_are_removed_one_by_one() {
    let mut outlines = transcript("U:t A:ca U:ra,t*,t*,t*", Anthropic);
    outlines[2].pieces[0].marks = 0b1010;
    let fixes = mend_with(&outlines, Anthropic, options(true));
    assert_eq!(fixes.iter().map(line).collect::<Vec<_>>(), ["I13 2 unmark 0 2"]);
    let mended = apply(&outlines, &fixes);
    assert_eq!(mended[2].pieces[0].marks, 0b1000);
}

#[test]
fn tools_that_were_used_are_declared_on_bedrock() {
    let outlines = transcript("U:t A:ca U:ra", Bedrock);
    let rules = |provider, tools| {
        let found = check(&outlines, provider, Options { tools, ..options(true) });
        found.into_iter().map(|it| it.rule).collect::<Vec<_>>()
    };
    assert_eq!(rules(Bedrock, Some(false)), ["I29"]);
    assert_eq!(rules(Bedrock, Some(true)), [""; 0]);
    assert_eq!(rules(Bedrock, None), [""; 0], "what is not known is not claimed");
    assert_eq!(rules(Anthropic, Some(false)), [""; 0]);
}

#[test]
fn reasoning_of_turns_with_calls_is_sent_back() {
    let thinking = Options { thinking: true, ..Options::default() };
    let rules = |text, provider| {
        let found = check(&transcript(text, provider), provider, thinking);
        found.into_iter().map(|it| (it.rule, it.index)).collect::<Vec<_>>()
    };
    for provider in [DeepSeek, Kimi] {
        assert_eq!(rules("U:t A:t,ca T:ra A:h,cb T:rb A:t U:t", provider), [("I23", 1)]);
        assert_eq!(rules("U:t X:ca A:t U:t", provider), []);
    }
    assert_eq!(rules("U:t A:t,ca T:ra A:t U:t", OpenAiChat), []);

    let ties = |text, provider| {
        let mut repairer = Repairer::new(provider);
        let seen = (0..).zip(transcript(text, provider));
        seen.map(|(at, outline)| repairer.push(at.into(), &outline).ties_reasoning)
            .collect::<Vec<_>>()
    };
    // Calls tie what follows in the turn too: its answer is sent back with the rest.
    let text = "U:t A:h,t U:t A:h,ca T:ra A:h,t U:t A:h,t";
    assert_eq!(ties(text, DeepSeek), [false, false, false, true, false, true, false, false]);
    // Results in a message of the user's, and what the system says, end no turn.
    assert_eq!(ties("U:t A:h,ca U:ra S:t A:h,t", DeepSeek), [false, true, false, false, true]);
    assert!(ties(text, OpenAiChat).iter().all(|tie| !tie));
    assert!(ties(text, OpenAiResponses)[1], "an item of reasoning needs the next one");
}

#[test]
fn images_are_counted_and_measured() {
    let of = |count: usize, widest: u32| {
        let mut outlines = transcript(&format!("U:t{}", ",i".repeat(count)), Anthropic);
        outlines[0].pieces[1].widest = widest;
        let found = check(&outlines, Anthropic, options(true));
        found.into_iter().map(|it| (it.rule, it.path.unwrap())).collect::<Vec<_>>()
    };
    let at = |place: &str| vec![("I27", place.to_owned())];
    assert_eq!(of(20, 8000), []);
    assert_eq!(of(1, 8001), at("/content/1"));
    assert_eq!(of(21, 2000), []);
    assert_eq!(of(21, 2001), at("/content/1"));
    assert_eq!(of(100, 100), []);
    assert_eq!(of(101, 100), at("/content/101"));
    let many = transcript(&format!("U:t{}", ",i".repeat(200)), OpenAiChat);
    assert_eq!(check(&many, OpenAiChat, options(false)), [], "nothing is known of its limits");
}

#[test]
fn a_violation_names_the_fault_and_the_fix() {
    let text = "U:t A:ca,cb U:ra U:rb S:t A:t*,h* U:t*,t*,t*,t*";
    let outlines = transcript(text, Bedrock);
    let found = check(&outlines, Bedrock, Options { tools: Some(false), ..options(true) });
    let messages: Vec<_> = found.iter().map(|it| (it.rule, it.message.as_str())).collect();
    assert_eq!(
        messages,
        [
            (
                "I29",
                "the history has tool calls and the request declares no tools; send the tools too"
            ),
            ("I21", "the results of a turn stand in several messages; they must all be in one"),
            (
                "I31",
                "a message has the role \"system\", which this provider does not know: pass its text as `system`; here it goes out as the user's"
            ),
            ("I9", "two messages of one role follow each other; roles must alternate"),
            ("I6", "reasoning stands at the end of the assistant's turn, with nothing after it"),
            (
                "I13",
                "the request has 5 cache markers; at most 4 may be in system, tools and messages"
            ),
            ("I13", "reasoning has a cache marker; it may have none"),
        ]
    );
}

#[test]
fn claude_takes_the_same_images_everywhere_but_fewer_bytes_on_bedrock() {
    let (own, bedrock) = (Anthropic.limits(), Bedrock.limits());
    assert_eq!((own.bytes, bedrock.bytes), (32_000_000, 20_000_000));
    assert_eq!(Limits { bytes: own.bytes, ..bedrock }, own);
    assert_eq!(OpenAiChat.limits(), Limits::default());
}
