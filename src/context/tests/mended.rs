//! Repairs of a history: valid in the request, no dearer than they must be, and reported to the host once.

use super::providers::{host, image, written};
use super::*;
use crate::context::report::estimate::check_history;
use crate::context::request::build_request::violations_sent;
use crate::context::request::builder::Builder;
use crate::context::session::arrival::is_same_message;
use crate::context::session::pinning::bring_back_pins;
use crate::model::{BlockId, Item, Joint, Made, MadePart, Voice};

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn half(message: &Value) -> String {
    message.to_string().replace("HALF", "\\ud83d")
}

/// A signature binds every letter of its reasoning: where there is no room for it, it goes, and is not cut.
#[test]
fn signed_reasoning_is_dropped_as_one_piece() {
    let is_kept = |signature: &str| {
        let mut host = host("openai-chat", "anthropic", 3000);
        host.ask("go");
        let thinking =
            json!({ "type": "thinking", "thinking": words(3000, "h"), "signature": signature });
        host.append(json!({ "role": "assistant", "content": [thinking, text("so"), call("a")] }));
        host.append(json!({ "role": "user", "content": [result("a", "done".into())] }));
        let answer = host.request();
        assert!(answer.fits, "{answer:?}");
        let block = &host.session.transcript.ledger.blocks[1];
        assert!(!block.mask.atomic || block.form == Form::Gone, "{block:?}");
        block.mask.atomic
    };
    assert_eq!((is_kept("c2ln"), is_kept("")), (true, false));
}

/// Chat Completions and pi write the name of a result's tool beside its content.
#[test]
fn half_a_character_in_the_name_of_a_results_tool_is_replaced() {
    let sent = |format: &str, messages: [Value; 2]| {
        let mut host = host("openai-chat", format, 0);
        host.ask("go");
        for message in messages {
            host.session.push(half(&message).as_bytes()).unwrap();
        }
        let answer = host.request();
        assert_eq!(violations_sent(&host.session), []);
        written(&answer)[2]["ops"].clone()
    };
    let function = json!({ "name": "reHALF", "arguments": "{}" });
    let chat = [
        json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": "a", "type": "function", "function": function }] }),
        json!({ "role": "tool", "tool_call_id": "a", "name": "reHALF", "content": "found" }),
    ];
    let renamed = |path: &str| json!([{ "op": "replace", "path": path, "value": "re\u{fffd}" }]);
    assert_eq!(sent("openai-chat", chat), renamed("/name"));
    let pi = [
        json!({ "role": "assistant", "content": [{ "type": "toolCall", "id": "a", "name": "reHALF", "arguments": {} }] }),
        json!({ "role": "toolResult", "toolCallId": "a", "toolName": "reHALF", "content": [text("found")], "isError": false }),
    ];
    assert_eq!(sent("pi", pi), renamed("/toolName"));
}

/// The stub takes the place of the arguments, so only the name is replaced beside it.
#[test]
fn half_a_character_in_the_name_of_a_stubbed_call_is_replaced() {
    let mut host = host("anthropic", "anthropic", 12_000);
    host.ask("go");
    let (mut stubbed, mut unstubbed) = (0, 0);
    for at in 0..30 {
        let input = json!({ "text": format!("HALF{}", words(300, "in")) });
        let call = json!({ "type": "tool_use", "id": format!("c{at}"), "name": "writeHALF", "input": input });
        let call = json!({ "role": "assistant", "content": [call] });
        host.session.push(half(&call).as_bytes()).unwrap();
        let answer =
            json!({ "role": "user", "content": [result(&format!("c{at}"), "done".into())] });
        host.session.push(answer.to_string().as_bytes()).unwrap();
        let items = written(&host.request());
        assert_eq!(violations_sent(&host.session), []);
        for ops in items.as_array().unwrap().iter().filter_map(|it| it["ops"].as_array()) {
            let paths: Vec<_> = ops.iter().map(|op| op["path"].as_str().unwrap()).collect();
            assert!(paths.contains(&"/content/0/name") && paths.len() == 2, "{paths:?}");
            stubbed += i32::from(paths.contains(&"/content/0/input"));
            unstubbed += i32::from(paths.contains(&"/content/0/input/text"));
        }
    }
    assert!(stubbed > 0 && unstubbed > 0, "{stubbed} {unstubbed}");
}

/// A fold that writes the words of a joined message once more changes nothing of it.
#[test]
fn joined_texts_have_one_fingerprint_however_they_were_joined() {
    let mut host = host("mistral", "openai-chat", 0);
    for content in ["one", "cut HALF"] {
        let message = json!({ "role": "user", "content": [text(content)] });
        host.session.push(half(&message).as_bytes()).unwrap();
    }
    let joined = vec![Joint::Host(0.into(), 0), Joint::Host(1.into(), 0)];
    let joined = Builder::new(&host.session).entry(Item::Join(Voice::User, joined), 0.into()).key;
    let made = |last: MadePart| {
        Builder::new(&host.session)
            .entry(Item::Make(Made::User(vec![MadePart::Host(0.into(), 0), last])), 0.into())
            .key
    };
    assert_eq!(made(MadePart::Host(1.into(), 0)), joined);
    assert_ne!(made(MadePart::Text("cut".into())), joined);
}

/// Calls do not stand in a message of the user's. Without them such a message would go out with an empty text.
#[test]
fn a_user_message_with_calls_alone_is_left_out() {
    let call =
        json!({ "id": "a", "type": "function", "function": { "name": "see", "arguments": "{}" } });
    let mut host = host("kimi", "langchain", 0);
    host.append(json!({ "role": "user", "content": "", "tool_calls": [call] }));
    let answer = host.request();
    assert_eq!(violations_sent(&host.session), [], "{:?}", answer.items);
    let items = written(&answer);
    assert!(items[0]["make"].is_object() && items.as_array().unwrap().len() == 1, "{items}");
}

/// A call that stands in the user's content does not go out with the text beside it, when two messages of the user's become one.
#[test]
fn a_joined_user_message_copies_no_call() {
    let mut host = host("bedrock", "langchain", 0);
    let text = json!({ "type": "text", "text": "look" });
    host.append(json!({ "role": "user", "content": [text, call("toolu_1")] }));
    host.append(json!({ "role": "user", "content": "and here" }));
    let items = written(&host.request());
    let from: Vec<_> =
        items[0]["copies"].as_array().unwrap().iter().map(|it| &it["from"]).collect();
    assert_eq!(from, ["/content/0", "/content"], "{items}");
}

/// An empty text is a repair; that the image beside it goes, is an edit.
#[test]
fn what_goes_beside_a_repair_is_reported() {
    let mut host = host("openai-chat", "openai-chat", 1000);
    let image =
        json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA" } });
    let empty = json!({ "type": "text", "text": "" });
    host.append(json!({ "role": "user", "content": [empty, image] }));
    host.ask("fine");
    let answer = host.request();
    let edits: Vec<_> = answer.edits.iter().map(|it| (it.index, it.rule)).collect();
    assert_eq!((edits, answer.fits), (vec![(0, "capacity")], true));
}

pub(super) fn call(id: &str) -> Value {
    json!({ "type": "tool_use", "id": id, "name": "see", "input": {} })
}

pub(super) fn result(id: &str, content: Value) -> Value {
    json!({ "type": "tool_result", "tool_use_id": id, "content": content })
}

/// A result that is dropped at one place and made at another is one repair.
#[test]
fn a_result_that_moves_is_reported_once() {
    let mut host = host("anthropic", "anthropic", 0);
    host.ask("go");
    host.append(json!({ "role": "assistant", "content": [call("a")] }));
    host.ask("wait");
    host.append(json!({ "role": "user", "content": [result("a", "done".into())] }));
    let answer = host.request();
    let rules: Vec<_> = answer.repairs.iter().map(|it| (it.rule, it.index)).collect();
    assert_eq!(rules, [("I3", 3)]);
}

/// I3, I6, I26: a late result is mended where it goes to, and keeps its image.
#[test]
fn a_result_that_moves_keeps_its_image_beside_its_repaired_text() {
    let moved = |texts: [&str; 2]| {
        let mut host = host("anthropic", "anthropic", 0);
        let content = json!([text(texts[0]), image("aaaa"), text(texts[1])]);
        let messages = [
            json!({ "role": "user", "content": "go" }),
            json!({ "role": "assistant", "content": [call("a")] }),
            json!({ "role": "user", "content": "wait" }),
            json!({ "role": "user", "content": [result("a", content)] }),
        ];
        for message in messages {
            host.session.push(half(&message).as_bytes()).unwrap();
        }
        let answer = host.request();
        assert_eq!(violations_sent(&host.session), []);
        let items = written(&answer);
        (items[2]["copies"].clone(), items[2]["ops"].clone())
    };
    let list = "/content/0/content";
    let is_kept = json!([{ "path": list, "index": 3, "from": list }]);
    let gone = json!([{ "op": "remove", "path": "/content/0/content/0" }]);
    let (copies, ops) = moved([" ", "said"]);
    assert_eq!((copies, ops), (is_kept.clone(), gone));
    // Alone with its image.
    let gone = [2, 0].map(|at| json!({ "op": "remove", "path": format!("{list}/{at}") }));
    let (copies, ops) = moved([" ", "\n"]);
    assert_eq!((copies, ops), (is_kept.clone(), json!(gone)));
    let first =
        json!({ "op": "replace", "path": "/content/0/content/0/text", "value": "cut \u{fffd}" });
    let (copies, ops) = moved(["cut HALF", "said"]);
    assert_eq!((copies, ops), (is_kept, json!([first])));
}

/// The same where it goes into one message with others.
#[test]
fn a_result_that_moves_into_a_joined_message_is_repaired_there() {
    let mut host = host("bedrock", "anthropic", 0);
    host.ask("go");
    host.append(json!({ "role": "assistant", "content": [call("a"), call("b")] }));
    host.append(json!({ "role": "user", "content": [result("b", "done".into())] }));
    host.ask("wait");
    let late = result("a", json!([text(" "), image("aaaa")]));
    host.append(json!({ "role": "user", "content": [late] }));
    let answer = host.request();
    let items = written(&answer);
    let copies = items[2]["copies"].as_array().unwrap();
    let list = copies.iter().find(|copy| copy["index"] == 4).unwrap();
    let blank = format!("{}/0", list["path"].as_str().unwrap());
    assert_eq!(items[2]["ops"], json!([{ "op": "remove", "path": blank }]), "{items}");
}

/// A cut leaves no result without a word: one of nothing but images says what was cut.
#[test]
fn a_cut_result_of_nothing_but_images_gets_a_line_about_them() {
    let mut host = host("anthropic", "anthropic", 4000);
    host.ask("go");
    host.append(json!({ "role": "assistant", "content": [call("a")] }));
    host.append(json!({ "role": "user", "content": [result("a", json!([image("aaaa")]))] }));
    let answer = host.request();
    assert_eq!(host.forms()[2], Form::Capped);
    let expected = json!([{ "op": "add", "path": "/content/0/content", "value": "[image cut]" }]);
    assert_eq!(written(&answer)[2]["ops"], expected);
}

/// I6, I9: the steps of a `UIMessage` go out as messages of their own, and where those could not stand, as one.
#[test]
fn steps_that_may_not_be_separate_messages_are_joined() {
    let ops = |provider: &str, first: Value| {
        let mut host = host(provider, "ai-sdk", 0);
        let start = json!({ "type": "step-start" });
        let parts = json!([start, first, start, text("b")]);
        host.append(json!({ "id": "0", "role": "user", "parts": [text("go")] }));
        host.append(json!({ "id": "1", "role": "assistant", "parts": parts }));
        host.append(json!({ "id": "2", "role": "user", "parts": [text("and?")] }));
        let answer = host.request();
        assert_eq!(violations_sent(&host.session), []);
        let rules: Vec<_> = answer.repairs.iter().map(|it| it.rule).collect();
        (rules, written(&answer)[1]["ops"].clone())
    };
    let joined = json!([{ "op": "remove", "path": "/parts/2" }]);
    let thinks = || json!({ "type": "reasoning", "text": "hm" });
    assert_eq!(ops("mistral", text("a")), (vec!["I9"], joined.clone()));
    assert_eq!(ops("openai-chat", thinks()), (vec!["I6"], joined));
    assert_eq!(ops("openai-chat", text("a")), (vec![], Value::Null));
    assert_eq!(ops("anthropic", thinks()), (vec![], Value::Null));
}

/// A message that went out joined says the same, and is another: what joined it must not be done to it once more.
#[test]
fn joined_steps_have_another_fingerprint() {
    let mut host = host("mistral", "ai-sdk", 0);
    let start = json!({ "type": "step-start" });
    let answer_of = |parts: Value| json!({ "id": "1", "role": "assistant", "parts": parts });
    host.append(json!({ "id": "0", "role": "user", "parts": [text("go")] }));
    host.append(answer_of(json!([start, text("a"), start, text("b")])));
    host.request();
    let mut same = |message: &Value| {
        is_same_message(&mut host.session, 1.into(), message.to_string().as_bytes()).unwrap()
    };
    assert!(same(&answer_of(json!([start, text("a"), start, text("b")]))));
    assert!(!same(&answer_of(json!([start, text("a"), text("b")]))));
}

/// I7: of a history that its host leaves out whole, nothing goes out; no provider takes a request of nothing.
#[test]
fn a_request_of_aborted_turns_alone_starts_with_a_placeholder() {
    let mut host = host("kimi", "pi", 0);
    let aborted = json!({ "role": "assistant", "content": [text("so")], "stopReason": "aborted", "timestamp": 0 });
    host.append(aborted);
    let found = check_history(&host.session, false);
    assert_eq!(found.iter().map(|it| (it.rule, it.index)).collect::<Vec<_>>(), [("I7", 0)]);
    let answer = host.request();
    assert_eq!(answer.repairs, found);
    assert_eq!(written(&answer)[1]["make"]["role"], json!("user"));
    assert_eq!(violations_sent(&host.session), []);
    host.append(json!({ "role": "user", "content": "go", "timestamp": 1 }));
    assert_eq!((host.request().repairs, violations_sent(&host.session)), (vec![], vec![]));
}

/// The results of a step go out after all of its parts; the SDK runs an approved tool only if they end the request.
#[test]
fn text_behind_the_calls_of_a_step_of_the_ai_sdk_needs_no_line_of_ours() {
    let tool = |state: Value| {
        let mut part = json!({ "type": "tool-rm", "toolCallId": "c", "input": { "path": "a" } });
        part.as_object_mut().unwrap().extend(state.as_object().unwrap().clone());
        part
    };
    let approved =
        json!({ "state": "approval-responded", "approval": { "id": "x", "approved": true } });
    let done = json!({ "state": "output-available", "output": "gone" });
    for (state, wanted) in [(approved, 2), (done, 2), (Value::Null, 3)] {
        let mut host = host("anthropic", "ai-sdk", 0);
        host.append(json!({ "id": "u", "role": "user", "parts": [text("delete a")] }));
        let part = if state.is_null() { text("I may not") } else { tool(state) };
        let parts = json!([{ "type": "step-start" }, part, text("say yes")]);
        host.append(json!({ "id": "a", "role": "assistant", "parts": parts }));
        let answer = host.request();
        assert_eq!(written(&answer).as_array().unwrap().len(), wanted, "{answer:?}");
    }
}

/// `OpenAI` refuses a list of calls without one.
#[test]
fn an_empty_list_of_calls_is_taken_away() {
    let mut host = host("openai-chat", "openai-chat", 0);
    host.ask("go");
    host.append(json!({ "role": "assistant", "content": "yes", "tool_calls": [] }));
    host.ask("on");
    let ops = &written(&host.request())[1]["ops"];
    assert_eq!(*ops, json!([{ "op": "remove", "path": "/tool_calls" }]));
}

/// What the provider itself answered stays as it is.
#[test]
fn an_empty_result_of_the_provider_is_not_reported_as_mended() {
    let mut host = host("anthropic", "ai-sdk", 0);
    host.append(json!({ "id": "u", "role": "user", "parts": [text("go")] }));
    let tool = json!({ "type": "tool-read", "toolCallId": "c", "input": {}, "state": "output-available", "output": "", "providerExecuted": true });
    host.append(json!({ "id": "a", "role": "assistant", "parts": [tool, text("so")] }));
    host.append(json!({ "id": "e", "role": "user", "parts": [text("on")] }));
    host.request();
    assert_eq!(host.session.repairs.fixes.len(), 0);
}

/// A provider whose messages are joined takes the new id of a result, also where the old one held half a character.
#[test]
fn a_result_that_is_joined_with_the_next_message_has_the_id_of_its_call() {
    let mut host = host("bedrock", "anthropic", 0);
    host.ask("go");
    for message in [
        json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "toolu_HALF", "name": "read", "input": {} }] }),
        json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "toolu_HALF", "content": "r" }] }),
    ] {
        host.session.push(half(&message).as_bytes()).unwrap();
        host.messages.push(message);
    }
    host.ask("on");
    let written = written(&host.request());
    let last = |of: &Value, path: &str| {
        let mut ops = of["ops"].as_array().unwrap().iter();
        ops.rfind(|op| op["path"].as_str().unwrap().ends_with(path)).unwrap()["value"].clone()
    };
    let ids = (last(&written[1], "/id"), last(&written[2], "/tool_use_id"));
    assert_eq!(ids.0, ids.1, "{written:#}");
}

/// Our text in place of an empty result is counted, also once a pin has brought it back.
#[test]
fn a_mended_result_that_a_pin_brings_back_is_counted_with_what_was_put_in_its_place() {
    let mut host = host("anthropic", "anthropic", 0);
    host.ask("go");
    host.append(json!({ "role": "assistant", "content": [call("a")] }));
    host.append(json!({ "role": "user", "content": [result("a", "".into())] }));
    host.request();
    let at = BlockId::from(2);
    let tokens = |host: &Host| host.session.transcript.ledger.block(at).unwrap().now;
    let mended = tokens(&host);
    assert!(mended > host.session.transcript.ledger.block(at).unwrap().tokens);
    host.session.transcript.ledger.set_form(at, Form::Gone, 0);
    host.pin(2);
    assert!(bring_back_pins(&mut host.session));
    assert_eq!(tokens(&host), mended);
}
