//! Requests under the rules of each provider, through edits, folds and what a host does between.

use super::*;
use crate::context::report::estimate::check_history;
use crate::context::report::explain::explain;
use crate::context::request::build_request::violations_sent;
use crate::context::request::builder::Builder;
use crate::context::session::snapshot::restore_session;
use crate::context::session::snapshot::snapshot_bytes;
use crate::context::session::understood::understood;
use crate::model::{Item, Made, MadePart};
use crate::validity::Provider;

pub(super) fn host(provider: &str, format: &str, tokens: u32) -> Host {
    let mut options = window(tokens);
    options["provider"] = provider.into();
    options["format"] = format.into();
    Host::new(&options)
}

pub(super) fn written(answer: &Answer) -> Value {
    serde_json::from_str(&crate::json::write(&answer.items)).unwrap()
}

pub(super) fn image(bytes: &str) -> Value {
    json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": bytes } })
}

#[test]
fn a_message_that_joins_the_last_one_sent_opens_an_epoch_and_reports_it() {
    let mut host = host("bedrock", "anthropic", 0);
    host.ask("first");
    let epoch = host.request().epoch;
    host.ask("second");
    let answer = host.request();
    assert_eq!((answer.epoch, answer.first_changed, answer.keep), (epoch + 1, Some(0), 0));
    let block = json!({ "type": "text", "text": null });
    let joined = json!([{
        "make": { "role": "user", "content": [block, block] },
        "copies": [
            { "path": "/content/0/text", "index": 0, "from": "/content" },
            { "path": "/content/1/text", "index": 1, "from": "/content" },
        ],
        "content": "/content",
        "role": "user",
        "about": 0,
    }]);
    assert_eq!(written(&answer), joined);
    assert_eq!(answer.repairs.iter().map(|it| it.rule).collect::<Vec<_>>(), ["I9"]);
    host.say("both");
    host.ask("third");
    let answer = host.request();
    assert_eq!((answer.keep, answer.first_changed), (1, None), "then it only grows");
    assert_eq!(written(&answer), json!([{ "index": 2 }, { "index": 3 }]));
}

#[test]
fn a_message_goes_out_as_the_users_or_joins_them_without_a_call_that_it_may_not_hold() {
    for (provider, role) in [("mistral", "system"), ("gemini", "system"), ("mistral", "user")] {
        let mut host = host(provider, "openai-chat", 0);
        host.ask("first");
        let call = json!({ "id": "c", "type": "function", "function": { "name": "read", "arguments": "{}" } });
        host.append(json!({ "role": role, "content": "second", "tool_calls": [call] }));
        host.request();
        assert_eq!(violations_sent(&host.session), [], "{provider}, {role}");
    }
}

/// Gemini has instructions beside the contents, and refuses contents of the system's.
#[test]
fn contents_of_the_system_go_to_gemini_as_the_users() {
    let mut host =
        Host::new(&json!({ "window": { "contextTokens": 100_000 }, "format": "gemini" }));
    for (role, text) in [("system", "be brief"), ("user", "a"), ("model", "b"), ("system", "c")] {
        host.append(json!({ "role": role, "parts": [{ "text": text }] }));
    }
    let answer = host.request();
    let repairs: Vec<_> = answer.repairs.iter().map(|it| (it.rule, it.index)).collect();
    assert_eq!(repairs, [("I31", 0), ("I31", 3)]);
    let sent = written(&answer);
    for (at, index) in [(0, 0), (3, 3)] {
        let made = &sent[at];
        assert_eq!(made["make"]["role"], "user");
        let copied = json!([{ "from": "/parts/0", "index": index, "path": "/parts/1" }]);
        assert_eq!(made["copies"], copied);
    }
    assert_eq!(violations_sent(&host.session), []);
}

#[test]
fn a_synthetic_message_is_recognized_by_its_text_whichever_message_it_was_copied_from() {
    let mut host = host("bedrock", "anthropic", 0);
    for bytes in ["AAAA", "AAAA", "BBBB"] {
        host.append(json!({ "role": "user", "content": [image(bytes)] }));
        host.say("so");
    }
    let beside = json!({ "type": "text", "text": "look" });
    host.append(json!({ "role": "user", "content": [beside, image("AAAA")] }));
    let key = |message, piece| {
        let made = Made::User(vec![MadePart::Text("head".into()), MadePart::Host(message, piece)]);
        Builder::new(&host.session).entry(Item::Make(made), 0.into()).key
    };
    assert_eq!(key(0.into(), 0), key(2.into(), 0));
    assert_eq!(key(0.into(), 0), key(6.into(), 1), "beside a text or alone");
    assert_ne!(key(0.into(), 0), key(4.into(), 0));
    assert_ne!(key(0.into(), 0), key(6.into(), 0));
}

#[test]
fn a_result_that_shows_another_image_repeats_nothing() {
    let mut host = host("anthropic", "anthropic", 30_000);
    for (at, bytes) in ["AAAA", "BBBB", "BBBB"].into_iter().enumerate() {
        host.work(&format!("c{at}"), &json!({ "at": at }), "");
        let label = json!({ "type": "text", "text": words(100, "screen") });
        let shown = json!([label, image(bytes)]);
        let id = format!("s{at}");
        let call = json!({ "type": "tool_use", "id": id, "name": "look", "input": { "at": at } });
        host.append(json!({ "role": "assistant", "content": [call] }));
        let result = json!({ "type": "tool_result", "tool_use_id": id, "content": shown });
        host.append(json!({ "role": "user", "content": [result] }));
    }
    let repeated: Vec<bool> =
        host.session.transcript.ledger.blocks.iter().map(|it| it.repeated).collect();
    assert_eq!(repeated.iter().filter(|&&it| it).count(), 1);
}

#[test]
fn messages_that_are_joined_before_they_were_sent_open_no_epoch() {
    let mut host = host("bedrock", "anthropic", 0);
    host.ask("go");
    let epoch = host.request().epoch;
    host.work("a", &json!({}), "done");
    host.ask("and?");
    let answer = host.request();
    assert_eq!((answer.epoch, answer.first_changed, answer.items.len()), (epoch, None, 2));
    assert_eq!(violations_sent(&host.session), []);
}

#[test]
fn a_line_between_a_tool_and_the_user_only_grows_the_request() {
    let mut host = host("mistral", "openai-chat", 0);
    host.ask("go");
    let call = json!({ "id": "abcdefghi", "type": "function", "function": { "name": "ls", "arguments": "{}" } });
    host.append(json!({ "role": "assistant", "content": "", "tool_calls": [call] }));
    host.append(json!({ "role": "tool", "tool_call_id": "abcdefghi", "content": "x" }));
    host.request();
    host.ask("rather not");
    let answer = host.request();
    let line = json!({ "role": "assistant", "content": crate::validity::GAP });
    let expected = json!([{ "make": line, "copies": [], "content": "/content", "role": "assistant", "about": 2 }, { "index": 3 }]);
    assert_eq!((written(&answer), answer.first_changed), (expected, None));
    assert_eq!(violations_sent(&host.session), []);
}

/// A prompt that a middleware of the AI SDK sees has lists only, which the SDK's providers walk.
#[test]
fn a_line_in_the_assistants_name_is_a_list_for_the_ai_sdk() {
    let mut host = host("mistral", "ai-sdk", 0);
    let of = |kind: &str| json!({ "type": kind, "toolCallId": "abcdefghi", "toolName": "ls", "input": {}, "output": { "type": "text", "value": "x" } });
    host.append(json!({ "role": "user", "content": [{ "type": "text", "text": "go" }] }));
    host.append(json!({ "role": "assistant", "content": [of("tool-call")] }));
    host.append(json!({ "role": "tool", "content": [of("tool-result")] }));
    host.append(json!({ "role": "user", "content": [{ "type": "text", "text": "stop" }] }));
    let items = written(&host.request());
    let line = json!([{ "type": "text", "text": crate::validity::GAP }]);
    assert_eq!((&items[3]["make"]["content"], &items[4]), (&line, &json!({ "index": 3 })));
}

#[test]
fn a_system_message_in_the_middle_keeps_its_text_and_its_place() {
    let mut host = host("anthropic", "anthropic", 0);
    host.ask("a");
    host.say("b");
    host.append(json!({ "role": "system", "content": [{ "type": "text", "text": "be brief" }] }));
    host.ask("c");
    let answer = host.request();
    let items = written(&answer);
    assert_eq!(items[2]["make"]["content"][0]["text"], crate::validity::SYSTEM);
    assert_eq!(
        items[2]["copies"][0],
        json!({ "path": "/content/1", "index": 2, "from": "/content/0" })
    );
    assert_eq!(items[3], json!({ "index": 3 }));
    assert_eq!(violations_sent(&host.session), []);
}

#[test]
fn the_system_prompt_precedes_the_head_of_a_fold() {
    let mut host = host("openai-chat", "openai-chat", 600);
    host.append(json!({ "role": "system", "content": "be kind" }));
    host.ask("task");
    host.append(json!({ "role": "system", "content": "be brief" }));
    for at in 0..4 {
        host.say(&words(200, &format!("x{at}y")));
    }
    host.append(json!({ "role": "system", "content": "be quick" }));
    let answer = host.request();
    assert!(answer.fold.is_some());
    let items = written(&answer);
    assert_eq!((&items[0], &items[2]), (&json!({ "index": 0 }), &json!({ "index": 2 })));
    assert_eq!(items[1]["about"], 1, "the head replaces the user's messages");
}

#[test]
fn a_system_message_after_a_fold_follows_its_head_however_often_the_request_is_built() {
    let mut host = host("openai-chat", "openai-chat", 600);
    for at in 0..4 {
        host.say(&words(200, &format!("x{at}y")));
    }
    host.append(json!({ "role": "system", "content": "be kind" }));
    assert!(host.request().fold.is_some());
    host.append(json!({ "role": "system", "content": "be brief" }));
    host.request();
    let before = host.session.request.last.items.clone();
    host.session.request.last.rebuild = true;
    host.ask("go on");
    host.request();
    assert_eq!(host.session.request.last.items.get(..before.len()), Some(&before[..]));
}

#[test]
fn a_stub_in_a_joined_message_is_what_it_is_elsewhere() {
    let mut host = host("bedrock", "anthropic", 30_000);
    host.ask("find it");
    let mut items = String::new();
    for at in 0..25 {
        host.work(&format!("c.{at}"), &json!({ "path": at }), &words(500, &format!("x{at}y")));
        host.ask("and?");
        let answer = host.request();
        assert_eq!(violations_sent(&host.session), [], "{at}");
        items.push_str(&written(&answer).to_string());
        for edit in &answer.edits {
            assert!(edit.tokens_after < edit.tokens_before, "{edit:?}");
        }
    }
    assert!(host.forms().contains(&Form::Stubbed));
    let stub = r#""ops":[{"op":"add","path":"/content/0/content","value":"[result cut"#;
    assert!(items.contains(stub), "{items}");
}

#[test]
fn the_rules_hold_through_edits_and_folds_under_every_provider() {
    for provider in Provider::ALL {
        for steers in [1, 3, 100] {
            let mut host = host(provider.name(), "anthropic", 6000);
            host.ask("find it");
            for at in 0..60 {
                let id = format!("call.{}", at % 7);
                host.work(&id, &json!({ "path": at }), &words(120, &format!("x{at}y")));
                if at % steers == 0 {
                    host.ask(&words(30, "and"));
                }
                if at % 11 == 0 {
                    host.say("so far");
                    host.ask("more");
                }
                let answer = host.request();
                assert_eq!(violations_sent(&host.session), [], "{} at {at}", provider.name());
                let beyond =
                    answer.repairs.iter().filter(|it| it.message.contains("has no result"));
                assert_eq!(beyond.count(), 0, "{}", provider.name());
            }
            assert!(host.session.decisions.pruner.head.is_some(), "{}: no fold", provider.name());
        }
    }
}

#[test]
fn images_beyond_the_limit_are_removed_oldest_first_and_many_at_once() {
    let mut host = host("anthropic", "anthropic", 0);
    let (mut epoch, mut opened) = (0, 0);
    for at in 0..230 {
        let text = json!({ "type": "text", "text": format!("shot {at}") });
        host.append(json!({ "role": "user", "content": [image("iVBORw0KGgo"), text] }));
        let answer = host.request();
        opened += u32::from(answer.epoch > epoch);
        epoch = answer.epoch;
        assert_eq!(violations_sent(&host.session), [], "{at}");
        host.say("seen");
    }
    assert_eq!(opened, 3);
    assert_eq!(explain(&host.session, 0.into()).unwrap().rule, "provider-limit");
    assert_eq!(host.forms().iter().filter(|form| **form == Form::Stubbed).count(), 153);
}

#[test]
fn bytes_beyond_the_limit_are_removed_oldest_first() {
    let mut host = host("anthropic", "anthropic", 0);
    host.ask("watch");
    let data = "A".repeat(3_000_000);
    for at in 0..12 {
        let id = format!("c{at}");
        let call = json!({ "type": "tool_use", "id": id, "name": "look", "input": {} });
        host.append(json!({ "role": "assistant", "content": [call] }));
        let result = json!({ "type": "tool_result", "tool_use_id": id, "content": [image(&data)] });
        host.append(json!({ "role": "user", "content": [result] }));
        let answer = host.request();
        assert_eq!(answer.repairs, [], "{at}");
    }
    assert_eq!(
        check_history(&host.session, false).iter().map(|it| it.rule).collect::<Vec<_>>(),
        ["I28"]
    );
    let gone = host.forms().iter().filter(|form| **form == Form::Stubbed).count();
    assert_eq!(gone, 4, "down to three quarters of 32 MB when the eleventh came");
    host.ask(&"a".repeat(33_000_000));
    assert_eq!(host.request().repairs.iter().map(|it| it.rule).collect::<Vec<_>>(), ["I28"]);
}

#[test]
fn bedrock_gets_the_hint_of_unbound_reasoning_in_the_body_of_invoke_model() {
    let thought = |at: u32| {
        let thinking =
            json!({ "type": "thinking", "thinking": "hm", "signature": format!("s{at}") });
        let call =
            json!({ "type": "tool_use", "id": format!("c{at}"), "name": "read", "input": {} });
        json!({ "role": "assistant", "content": [thinking, call] })
    };
    for (provider, pointer) in
        [("anthropic", "/headers/anthropic-beta"), ("bedrock", "/body/anthropic_beta/0")]
    {
        let mut host = host(provider, "anthropic", 10_000);
        host.ask("go");
        let mut hints = None;
        for at in 0..30 {
            host.append(thought(at));
            let result = json!({ "type": "tool_result", "tool_use_id": format!("c{at}"), "content": words(200, &format!("x{at}y")) });
            host.append(json!({ "role": "user", "content": [result] }));
            hints = host.request().hints.or(hints);
        }
        let hints: Value = serde_json::from_str(hints.unwrap()).unwrap();
        let beta = "thinking-binding-controls-2026-08-01";
        assert_eq!(hints.pointer(pointer), Some(&beta.into()), "{provider}: {hints}");
    }
}

#[test]
fn markers_are_counted_in_every_request_as_the_host_has_them_then() {
    let marked = |text: &str| {
        let block =
            json!({ "type": "text", "text": text, "cache_control": { "type": "ephemeral" } });
        json!({ "role": "user", "content": [block] })
    };
    let mut host = host("anthropic", "anthropic", 0);
    for at in 0..3 {
        host.append(marked(&format!("q{at}")));
        host.say("a");
    }
    host.append(marked("q"));
    host.session
        .set_parts(r#"{"tools":[{"name":"read","cache_control":{"type":"ephemeral"}}]}"#)
        .unwrap();
    let answer = host.request();
    let unmarked =
        json!({ "index": 0, "ops": [{ "op": "remove", "path": "/content/0/cache_control" }] });
    assert_eq!(written(&answer)[0], unmarked);
    host.say("a");
    host.append(marked("next"));
    let answer = host.request();
    assert_eq!((answer.first_changed, answer.keep, answer.repairs.len()), (None, 2, 1));
    let unmarked =
        json!({ "index": 2, "ops": [{ "op": "remove", "path": "/content/0/cache_control" }] });
    assert_eq!(written(&answer)[0], unmarked);
    // A host that moves a marker to its newest message has no more of them.
    host.say("a");
    host.messages[4] = json!({ "role": "user", "content": [{ "type": "text", "text": "q2" }] });
    host.append(marked("newest"));
    let answer = host.request();
    assert_eq!(written(&answer), json!([{ "index": 9 }, { "index": 10 }]));
    assert_eq!(answer.repairs[0].index, 2, "{:?}", answer.repairs);
}

#[test]
fn what_is_sent_from_a_marker_on_is_handed_over_again_and_nothing_before_it() {
    let mut host = host("anthropic", "anthropic", 0);
    let block = json!({ "type": "text", "text": "q", "cache_control": { "type": "ephemeral" } });
    let mut written = 0;
    for at in 0..200 {
        host.append(json!({ "role": "user", "content": [block] }));
        let answer = host.request();
        assert_eq!((answer.epoch, answer.first_changed), (0, None));
        assert!(answer.items.len() < 12, "{at}: {}", answer.items.len());
        written += answer.items.len();
        host.say("a");
    }
    assert!(written < 200 * 12);
}

#[test]
fn each_place_for_a_cache_marker_of_ours_is_reported_once() {
    let mut host = Host::new(&window(1_000_000));
    host.session.set_parts(r#"{"system":"one"}"#).unwrap();
    host.ask("go");
    assert_eq!(host.request().cache_breakpoints, [0]);
    host.work("a", &json!({}), "found");
    assert_eq!(host.request().cache_breakpoints, [0, 2]);
    host.session.set_parts(r#"{"system":"two"}"#).unwrap();
    assert_eq!(host.request().cache_breakpoints, [2]);
}

/// What the host marks itself, in system and tools, leaves less room for ours (I13).
#[test]
fn cache_markers_of_ours_and_the_hosts_are_at_most_four() {
    for (system, tools, most) in [(0, 0, 3), (1, 0, 3), (1, 1, 2), (2, 1, 1), (2, 2, 0)] {
        let marked =
            |at, count| if at < count { json!({ "type": "ephemeral" }) } else { json!(null) };
        let block =
            |at| json!({ "type": "text", "text": "be brief", "cache_control": marked(at, system) });
        let tool = |at| json!({ "name": format!("t{at}"), "cache_control": marked(at, tools) });
        let parts = json!({ "system": [block(0), block(1)], "tools": [tool(0), tool(1)] });
        let mut host = Host::new(&window(30_000));
        host.session.set_parts(&parts.to_string()).unwrap();
        let mut seen = 0;
        for at in 0..250 {
            host.ask(&format!("question {at}"));
            let answer = host.request();
            let [.., last] = answer.cache_breakpoints[..] else {
                assert_eq!(most, 0);
                continue;
            };
            assert_eq!(
                last as usize + 1,
                host.session.request.last.items.len(),
                "the end first of all"
            );
            seen = seen.max(answer.cache_breakpoints.len());
            host.say(&words(200, &format!("a{at}b")));
        }
        assert_eq!(seen, most, "{system} {tools}");
    }
}

#[test]
fn only_reasoning_of_turns_with_calls_is_tied_to_them() {
    let mut host = host("deepseek", "openai-chat", 0);
    host.ask("a");
    host.append(json!({ "role": "assistant", "content": "b", "reasoning_content": "hm" }));
    host.ask("c");
    let call =
        json!({ "id": "c1", "type": "function", "function": { "name": "ls", "arguments": "{}" } });
    host.append(json!({ "role": "assistant", "content": "", "tool_calls": [call], "reasoning_content": "hm" }));
    host.append(json!({ "role": "tool", "tool_call_id": "c1", "content": "x" }));
    host.append(json!({ "role": "assistant", "content": "d", "reasoning_content": "so" }));
    host.ask("e");
    host.request();
    let blocks = host.session.transcript.ledger.blocks.iter();
    let thinking = blocks.filter(|block| block.kind == crate::model::Kind::Thinking);
    let tied: Vec<_> = thinking.map(|it| (it.mask.may_edit, it.group.is_some())).collect();
    assert_eq!(tied, [(true, false), (false, true), (false, true)]);
}

/// I6, I26: what is wrong with a text of a result is mended there; its image stays.
#[test]
fn the_texts_of_a_result_are_repaired_beside_its_image() {
    let call = json!({ "type": "tool_use", "id": "a", "name": "see", "input": {} });
    let mended = |texts: [&str; 2]| {
        let text = |text: &str| json!({ "type": "text", "text": text });
        let content = [text(texts[0]), image("aaaa"), text(texts[1])];
        let result = json!({ "type": "tool_result", "tool_use_id": "a", "content": content });
        let messages = [
            json!({ "role": "user", "content": "go" }),
            json!({ "role": "assistant", "content": [call] }),
            json!({ "role": "user", "content": [result] }),
        ];
        let mut host = host("anthropic", "anthropic", 0);
        for message in messages {
            let json = message.to_string().replace("HALF", "\\ud83d");
            host.session.push(json.as_bytes()).unwrap();
        }
        let answer = host.request();
        assert_eq!(violations_sent(&host.session), []);
        written(&answer)[2]["ops"].clone()
    };
    let gone = json!({ "op": "remove", "path": "/content/0/content/0" });
    assert_eq!(mended([" ", "said"]), json!([gone]));
    let first =
        json!({ "op": "replace", "path": "/content/0/content/0/text", "value": "cut \u{fffd}" });
    assert_eq!(mended(["cut HALF", "said"]), json!([first]));
}

#[test]
fn system_messages_of_pi_are_sent_unchanged_anywhere() {
    for provider in ["anthropic", "bedrock", "mistral", "openai-chat", "gemini"] {
        let mut host = host(provider, "pi", 4_000);
        let empty = json!({ "role": "system", "content": "", "toolsAdded": [], "timestamp": 1 });
        host.append(empty);
        for at in 0..40 {
            host.append(json!({ "role": "user", "content": words(60, "ask"), "timestamp": at }));
            let label = [json!({ "type": "text", "text": words(60, "say") })];
            host.append(json!({ "role": "assistant", "content": label, "stopReason": "stop", "timestamp": at }));
            if at == 20 {
                // Half a character: the host's own converter cleans it.
                let broken = r#"{"role":"system","content":"\ud83d","sections":{"a":"\udc00 b"}}"#;
                assert_eq!(host.session.push(broken.as_bytes()), Ok(Append::Appended));
                host.messages.push(json!(null));
            }
        }
        host.append(json!({ "role": "user", "content": "end", "timestamp": 99 }));
        let answer = host.request();
        let items = written(&answer);
        let kept = |index: u32| items.as_array().unwrap().contains(&json!({ "index": index }));
        assert!(kept(0) && kept(43), "{provider}: {items}");
        assert!(
            host.session.transcript.ledger.live().len() < 80,
            "{provider}: something was folded"
        );
        let rules: Vec<_> = answer.repairs.iter().map(|it| (it.rule, it.index)).collect();
        assert_eq!(rules, [], "{provider}");
    }
}

#[test]
fn a_history_of_which_a_quarter_would_be_lost_is_refused_unless_its_format_is_named() {
    let history = |options: &Value, lost: usize| {
        let mut host = Host::new(options);
        for at in 0..8 {
            host.ask("go");
            host.say(if at < lost { "" } else { "so" });
        }
        understood(&host.session)
    };
    assert_eq!(history(&window(1000), 2), Ok(()));
    let error = history(&window(1000), 4).unwrap_err().to_string();
    assert!(error.contains("16 messages, of which 4 would be lost"), "{error}");
    assert_eq!(history(&window(1000), 3), Ok(()), "less than a quarter");
    let mut named = window(1000);
    named["format"] = "anthropic".into();
    assert_eq!(history(&named, 8), Ok(()));
}

#[test]
fn an_open_prefix_gets_no_synthetic_end_and_a_closed_one_only_that() {
    let mut host = host("anthropic", "anthropic", 0);
    host.session.set_parts(r#"{"open":true}"#).unwrap();
    host.ask("go");
    host.say("so");
    let open = host.request();
    assert_eq!(written(&open), json!([{ "index": 0 }, { "index": 1 }]));
    assert_eq!((open.repairs, violations_sent(&host.session)), (vec![], vec![]));
    let parked = snapshot_bytes(&host.session);
    let options = Options::parse(&window(0).to_string()).unwrap();
    for open in [true, false] {
        let mut woken = Host {
            session: restore_session(options.clone(), &parked).unwrap(),
            messages: vec![],
            now_ms: 0,
        };
        woken.session.set_parts(&json!({ "open": open }).to_string()).unwrap();
        woken.ask("go");
        woken.say("so");
        let answer = woken.request();
        assert_eq!((answer.first_changed, answer.epoch), (None, 0), "{open}");
        assert_eq!(answer.items.len(), if open { 2 } else { 3 });
    }
    host.session.set_parts("{}").unwrap();
    let closed = host.request();
    assert_eq!((closed.keep, closed.first_changed, closed.items.len()), (2, None, 1));
}

/// Tools and settings among the items hold for all that follows.
#[test]
fn items_that_set_what_follows_outlive_every_fold() {
    for preset in ["balanced", "economy", "capacity", "openclaw"] {
        let mut options = window(16_000);
        (options["provider"], options["format"], options["preset"]) =
            ("openai-responses".into(), "openai-responses".into(), preset.into());
        let mut host = Host::new(&options);
        let tool = json!({ "type": "function", "name": "read", "parameters": {} });
        let tools =
            json!({ "type": "additional_tools", "id": null, "role": "developer", "tools": [tool] });
        let update = json!({ "type": "configuration_update", "reasoning": { "effort": "low" } });
        host.append(tools);
        host.ask("find it");
        let mut sent = vec![];
        let mut settings = vec![0];
        for at in 0..40 {
            let id = format!("c{at}");
            let arguments = json!({ "path": words(100, &id) }).to_string();
            host.append(json!({ "type": "function_call", "call_id": id, "name": "read", "arguments": arguments }));
            host.append(
                json!({ "type": "function_call_output", "call_id": id, "output": words(300, &id) }),
            );
            if at % 5 == 0 {
                settings.push(u32::try_from(host.messages.len()).unwrap());
                host.append(update.clone());
                host.ask(&format!("and step {at}"));
            }
            sent = sent_after(&sent, &host.request());
            assert_eq!(violations_sent(&host.session), [], "{preset}");
            let kept = |index: &u32| sent.contains(&Written::Keep { index: (*index).into() });
            assert!(settings.iter().all(kept), "{preset}: {at}");
            assert_eq!(sent[0], Written::Keep { index: 0.into() }, "{preset}: {at}");
        }
        assert!(host.forms().contains(&Form::Gone), "{preset}");
    }
}

/// Anthropic refuses the result of a toolset's tool that does not name the toolset as its call does.
#[test]
fn results_of_ours_name_the_toolset_of_their_call() {
    let call = |id: &str, more: &Value| {
        let mut call = json!({ "type": "tool_use", "id": id, "name": "screenshot", "input": {} });
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call
    };
    let (of_set, none) = (json!({ "toolset_name": "computer" }), json!({ "toolset_name": null }));
    // The large one is capped, so that all of the message is ours.
    for text in ["late", &words(6_000, "row")] {
        let mut host = host("anthropic", "anthropic", 16_000);
        host.ask("look");
        let calls = [call("a", &of_set), call("b", &of_set), call("c", &none)];
        host.append(json!({ "role": "assistant", "content": calls }));
        host.ask("go on");
        let late = json!({ "type": "tool_result", "tool_use_id": "b", "toolset_name": "computer", "content": text });
        host.append(json!({ "role": "user", "content": [late] }));
        let sent = written(&host.request());
        let made = |id: &str| {
            let messages = sent.as_array().unwrap().iter();
            let all = messages.filter_map(|it| it["make"]["content"].as_array());
            all.flatten().find(|block| block["tool_use_id"] == id).unwrap()
        };
        assert_eq!(made("a")["toolset_name"], "computer", "{sent}");
        assert_eq!(made("b")["toolset_name"], "computer", "{sent}");
        assert_eq!(made("b")["content"].is_string(), text != "late", "{sent}");
        assert_eq!(made("c").get("toolset_name"), None, "{sent}");
        assert_eq!(violations_sent(&host.session), []);
    }
}
