//! Sessions in Responses' items and Gemini's contents, in small.

use serde_json::{Value, json};

use super::*;
use crate::context::request::build_request::violations_sent;
use crate::context::request::written::Written;
use crate::format::Format;
use crate::model::{GroupId, Mask};

fn host(format: &str, messages: &[Value]) -> Session {
    let options = json!({ "window": { "contextTokens": 100_000 }, "format": format }).to_string();
    let mut state = Session::new(Options::parse(&options).unwrap(), Format::Anthropic);
    for message in messages {
        assert_eq!(state.push(message.to_string().as_bytes()), Ok(Append::Appended));
    }
    state
}

fn request(state: &mut Session) -> Answer {
    match state.request(1000) {
        Step::Done(answer) => *answer,
        Step::Need(_) => panic!("no text is needed"),
    }
}

/// Indexes of the host's messages that go out, and what is made.
fn sent(answer: &Answer) -> Vec<String> {
    let show = |item: &Written| match item {
        Written::Keep { index } => index.to_string(),
        Written::Edit { index, .. } => format!("{index}!"),
        Written::Make { make, .. } => make.to_string(),
        Written::Same(messages) => format!("={messages}"),
    };
    answer.items.iter().map(show).collect()
}

fn run() -> Vec<Value> {
    vec![
        json!({ "role": "user", "content": "go" }),
        json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "g" }),
        json!({ "type": "message", "role": "assistant", "content": "I look." }),
        json!({ "type": "function_call", "call_id": "a", "name": "n", "arguments": "{}" }),
        json!({ "type": "function_call", "call_id": "b", "name": "n", "arguments": "{}" }),
        json!({ "type": "function_call_output", "call_id": "b", "output": "two" }),
        json!({ "type": "function_call_output", "call_id": "a", "output": "one" }),
        json!({ "type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "h" }),
        json!({ "type": "function_call", "call_id": "c", "name": "n", "arguments": "{}" }),
        json!({ "type": "function_call_output", "call_id": "c", "output": "three" }),
    ]
}

#[test]
fn a_run_of_items_is_one_call() {
    let state = host("openai-responses", &run());
    assert_eq!(state.transcript.call, 2);
    let calls: Vec<u32> =
        state.transcript.ledger.messages.iter().map(|message| message.call).collect();
    assert_eq!(calls, [0, 0, 0, 0, 0, 1, 1, 1, 1, 2]);
    let last: Vec<u32> = state.transcript.ledger.blocks.iter().map(|block| block.last).collect();
    assert_eq!(last, [0, 1, 1, 1, 1, 1, 1, 2, 2, 2]);
    // What Chat writes as one message is one call there too.
    let chat = json!({ "role": "assistant", "content": "x" });
    let chat =
        host("openai-chat", &[json!({ "role": "user", "content": "go" }), chat.clone(), chat]);
    assert_eq!(chat.transcript.call, 2);
}

#[test]
fn the_last_group_of_items_begins_with_its_run() {
    let mut items = run();
    let mut state = host("openai-responses", &items);
    assert_eq!(request(&mut state).last_group, 7);
    items.truncate(7);
    assert_eq!(request(&mut host("openai-responses", &items)).last_group, 1);
}

/// I14: reasoning stays or goes with its turn.
#[test]
fn reasoning_belongs_to_its_group_and_is_not_edited() {
    let state = host("openai-responses", &run());
    let blocks = state.transcript.ledger.blocks.iter();
    let groups: Vec<u32> = blocks.map(|block| block.group.get()).collect();
    let none = GroupId::NONE.get();
    assert_eq!(groups, [none, 1, 1, 1, 1, 1, 1, 7, 7, 7]);
    assert_eq!(
        state.transcript.ledger.blocks[1].mask,
        Mask { may_edit: false, may_drop: true, atomic: false }
    );
}

/// I14: what a request ends with is judged as it ends; after it the item may still come.
#[test]
fn reasoning_at_the_end_of_a_request_waits_for_what_it_leads_to() {
    let mut items = run();
    items.truncate(2);
    let mut state = host("openai-responses", &items);
    let answer = request(&mut state);
    assert_eq!((sent(&answer), answer.repairs.len()), (vec!["0".to_owned()], 1));
    state.push(run()[3].to_string().as_bytes()).unwrap();
    state.push(run()[6].to_string().as_bytes()).unwrap();
    let answer = request(&mut state);
    assert_eq!((answer.keep, sent(&answer)), (1, vec!["1".into(), "2".into(), "3".into()]));
    assert_eq!((answer.first_changed, answer.repairs.len()), (None, 0));
}

/// I17: whatever goes, a compaction item stays.
#[test]
fn a_compaction_item_is_never_removed() {
    let mut items = run();
    items.insert(0, json!({ "type": "compaction", "id": "cmp_1", "encrypted_content": "g" }));
    let mut state = host("openai-responses", &items);
    assert_eq!(state.transcript.ledger.blocks[0].mask, Mask::FIXED);
    assert_eq!(request(&mut state).repairs, []);
}

/// Settings between reasoning and its call, or between a call and its result, end no turn.
#[test]
fn settings_in_a_turn_part_nothing() {
    let update = json!({ "type": "configuration_update", "reasoning": { "effort": "low" } });
    for at in 0..=run().len() {
        let mut items = run();
        items.insert(at, update.clone());
        let mut state = host("openai-responses", &items);
        let all: Vec<String> = (0..items.len()).map(|index| index.to_string()).collect();
        let answer = request(&mut state);
        assert_eq!((sent(&answer), answer.repairs.len()), (all, 0), "{at}");
        let block = &state.transcript.ledger.blocks[at];
        assert_eq!((block.mask, block.group), (Mask::FIXED, GroupId::NONE), "{at}");
    }
}

fn made_of(make: &crate::json::Value) -> Value {
    serde_json::from_str(make.json()).unwrap()
}

fn text(text: &str) -> Value {
    json!({ "role": "user", "parts": [{ "text": text }] })
}

fn calls(names: &[&str], signature: Option<&str>) -> Value {
    let part = |name: &&str| json!({ "functionCall": { "name": name, "args": { "a": 1 } } });
    let mut parts: Vec<Value> = names.iter().map(part).collect();
    if let Some(signature) = signature {
        parts[0]["thoughtSignature"] = signature.into();
    }
    json!({ "role": "model", "parts": parts })
}

fn results(names: &[&str]) -> Value {
    let part = |name: &&str| json!({ "functionResponse": { "name": name, "response": { "output": "x" } } });
    json!({ "role": "user", "parts": names.iter().map(part).collect::<Vec<_>>() })
}

/// I20: what is signed in the current turn is not edited; after it, it may be.
#[test]
fn signed_calls_may_be_edited_once_their_turn_is_over() {
    let mut messages = vec![text("go"), calls(&["a", "b"], Some("s")), results(&["a", "b"])];
    let mut state = host("gemini", &messages);
    let edits = |state: &Session| -> Vec<bool> {
        state.transcript.ledger.blocks.iter().map(|block| block.mask.may_edit).collect()
    };
    assert_eq!(edits(&state), [false, false, true, true, true]);
    messages.push(text("and now?"));
    state.push(messages[3].to_string().as_bytes()).unwrap();
    assert_eq!(edits(&state), [false, true, true, true, true, false]);
}

/// I19: results come one by one; each request has all of them in one content, the host's own once it is whole.
#[test]
fn results_of_a_turn_are_sent_in_one_content() {
    let mut state = host(
        "gemini",
        &[text("go"), calls(&["a", "a", "b"], None), results(&["a"]), results(&["b"])],
    );
    let answer = request(&mut state);
    let Written::Make { make, copies, role, .. } = &answer.items[2] else { panic!("made") };
    let copied: Vec<_> =
        copies.iter().map(|copy| (&*copy.path, copy.index.get(), &*copy.from)).collect();
    assert_eq!(copied, [("/parts/0", 2, "/parts/0"), ("/parts/1", 3, "/parts/0")]);
    let ours = json!({ "name": "a", "response": { "error": crate::validity::NO_RESULT } });
    assert_eq!(made_of(make)["parts"][2]["functionResponse"], ours);
    assert_eq!((answer.items.len(), *role), (3, "tool"));
    let mut unchanged =
        host("gemini", &[text("go"), calls(&["a", "b"], None), results(&["a", "b"])]);
    assert_eq!(sent(&request(&mut unchanged)), ["0", "1", "2"]);
}

/// I19 and I26: a result of another tool's name goes by its call's; a broken one that moves goes mended.
#[test]
fn a_moved_result_keeps_its_calls_name_and_is_repaired() {
    let mut call = calls(&["a"], None);
    call["parts"][0]["functionCall"]["id"] = "x".into();
    let mut result = results(&["b"]);
    result["parts"][0]["functionResponse"]["id"] = "x".into();
    let answer = request(&mut host("gemini", &[text("go"), call, result]));
    let Written::Make { make, copies, .. } = &answer.items[2] else { panic!("made") };
    let expected =
        r#"{"role":"user","parts":[{"functionResponse":{"id":"x","name":"a","response":null}}]}"#;
    assert_eq!(made_of(make), serde_json::from_str::<Value>(expected).unwrap());
    assert_eq!(copies[0].path, "/parts/0/functionResponse/response");
    let broken = results(&["a"]).to_string().replace("\"x\"", "\"cut \\ud83d\"");
    let options = json!({ "window": { "contextTokens": 0 }, "format": "gemini" }).to_string();
    let mut state = Session::new(Options::parse(&options).unwrap(), Format::Anthropic);
    for message in [text("go").to_string(), calls(&["a", "b"], None).to_string(), broken] {
        state.push(message.as_bytes()).unwrap();
    }
    let answer = request(&mut state);
    let Written::Make { copies, ops, .. } = &answer.items[2] else { panic!("made") };
    let path = format!("{}/functionResponse/response/output", copies[0].path);
    let value = crate::json::Value::raw(r#""cut \ufffd""#.into());
    assert_eq!(*ops, [crate::model::Op::Replace { path, value }]);
}

#[test]
fn a_dummy_signature_is_sent_only_if_requested() {
    let options =
        json!({ "window": { "contextTokens": 0 }, "format": "gemini", "signCalls": true });
    let mut state = Session::new(Options::parse(&options.to_string()).unwrap(), Format::Anthropic);
    for message in [text("go"), calls(&["a", "b"], None), results(&["a", "b"])] {
        state.push(message.to_string().as_bytes()).unwrap();
    }
    let answer = request(&mut state);
    assert_eq!(sent(&answer), ["0", "1!", "2"]);
    assert_eq!(answer.repairs[0].rule, "I20");
    let mut plain = host("gemini", &[text("go"), calls(&["a"], None), results(&["a"])]);
    assert_eq!(request(&mut plain).repairs, []);
}

/// A call of a tool that Gemini runs itself and its response, in two contents.
#[test]
fn server_tools_of_gemini_stay_or_go_with_their_responses() {
    let call =
        |id: &str| json!({ "toolCall": { "id": id, "toolType": "GOOGLE_SEARCH_WEB", "args": {} } });
    let response = |id: &str| json!({ "toolResponse": { "id": id, "toolType": "GOOGLE_SEARCH_WEB", "response": {} } });
    let mut contents = vec![
        json!({ "role": "user", "parts": [{ "text": "go" }] }),
        json!({ "role": "model", "parts": [call("a"), call("b"), { "functionCall": { "name": "n", "args": {} }, "thoughtSignature": "s" }] }),
        results(&["n"]),
        json!({ "role": "model", "parts": [response("b"), response("a"), { "text": "so" }] }),
        json!({ "role": "user", "parts": [{ "text": "and on" }] }),
    ];
    let mut state = host("gemini", &contents);
    let answer = request(&mut state);
    assert_eq!((sent(&answer).len(), &*answer.repairs), (5, &[][..]));
    let ledger = &state.transcript.ledger;
    let of = |message: u32| ledger.blocks_of(message.into()).map(|at| ledger.block(at).unwrap());
    let first: Vec<_> = of(1).map(|it| it.group).collect();
    let later: Vec<_> = of(3).map(|it| it.group).collect();
    assert_eq!((later[0], later[1]), (first[0], first[0]));
    assert!(of(1).take(2).chain(of(3).take(2)).all(|it| !it.mask.may_edit));
    // One that has no response goes, once the user has spoken.
    contents[3] = json!({ "role": "model", "parts": [response("a"), { "text": "so" }] });
    let answer = request(&mut host("gemini", &contents));
    let repairs: Vec<_> = answer.repairs.iter().map(|it| (it.index, it.path.as_deref())).collect();
    assert_eq!(repairs, [(1, Some("/parts/1"))]);
}

/// A host may keep what is streamed in several contents: no line of ours is put between the two.
#[test]
fn nothing_parts_a_server_tool_of_gemini_from_its_response() {
    let pairs = [("toolCall", "toolResponse"), ("executableCode", "codeExecutionResult")];
    for (call, response) in pairs {
        let function =
            json!({ "functionCall": { "name": "n", "args": {} }, "thoughtSignature": "s" });
        let contents = [
            json!({ "role": "user", "parts": [{ "text": "go" }] }),
            json!({ "role": "model", "parts": [{ call: { "id": "a" } }] }),
            json!({ "role": "model", "parts": [{ response: { "id": "a" } }, function] }),
            results(&["n"]),
        ];
        let mut state = host("gemini", &contents);
        let answer = request(&mut state);
        assert_eq!(
            (sent(&answer), &*answer.repairs),
            (["0", "1", "2", "3"].map(String::from).to_vec(), &[][..])
        );
        assert_eq!(violations_sent(&state), []);
    }
}
