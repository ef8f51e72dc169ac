//! Golden cases of programs of the model's that call tools of the host's, in every format that has them.

use serde_json::{Value, json};

use super::{edited, made, moved, outline, reads};
use crate::format::{Format, What};
use crate::model::Kind;

/// Id and caller of each call and result of a message.
#[track_caller]
fn callers(format: Format, message: &Value, expected: &[(&str, &str)]) {
    let outline = outline(format, message);
    let named = outline.pieces.iter().filter(|it| matches!(it.kind, Kind::Call | Kind::Result));
    assert_eq!(named.map(|it| (&*it.id, &*it.caller)).collect::<Vec<_>>(), expected);
}

#[test]
fn callers_of_anthropics_blocks_are_read() {
    let call = |id: &str, caller: Value| json!({ "type": "tool_use", "id": id, "name": "rows", "input": {}, "caller": caller });
    let content = json!([
        { "type": "server_tool_use", "id": "srvtoolu_1", "name": "code_execution", "input": { "code": "await rows()" } },
        call("a", json!({ "type": "code_execution_20250825", "tool_id": "srvtoolu_1" })),
        call("b", json!({ "type": "direct" })),
        call("c", json!(null)),
        call("d", json!({ "type": "code_execution_20260120", "tool_id": 1 })),
        call("e", json!("direct")),
    ]);
    callers(
        Format::Anthropic,
        &json!({ "role": "assistant", "content": content }),
        &[("srvtoolu_1", ""), ("a", "srvtoolu_1"), ("b", ""), ("c", ""), ("d", ""), ("e", "")],
    );
}

#[test]
fn programs_and_their_callers_are_read_from_items() {
    for (format, id, caller_id, output, result) in [
        (Format::OpenAiResponses, "call_id", "caller_id", "result", "function_call_output"),
        (Format::OpenAiAgents, "callId", "callerId", "output", "function_call_result"),
    ] {
        let program = json!({ "type": "program", "id": "pr_1", id: "p", "code": "await tools.rows()", "fingerprint": "f" });
        let text = format!("{:?}", program.to_string());
        reads(format, &program, &["Assistant", &format!("Call  {text} opaque p program")]);
        let ended = json!({ "type": "program_output", "id": "po_1", id: "p", output: "sum", "status": "completed" });
        let text = format!("{:?}", ended.to_string());
        reads(format, &ended, &["Assistant", &format!("Result  {text} opaque p program")]);
        for item in [&program, &ended] {
            let piece = &outline(format, item).pieces[0];
            assert!(piece.is_provider_run() && piece.by_id && piece.caller.is_empty());
            let bytes = item.to_string();
            assert_eq!(Format::detect(&[bytes.as_bytes()]), Ok(format));
            edited(format, item.clone(), vec![(0, What::Text("cut".into()))], item.clone());
        }
        let caller = json!({ "type": "program", caller_id: "p" });
        let call = json!({ "type": "function_call", id: "c", "name": "rows", "arguments": "{}", "caller": caller });
        callers(format, &call, &[("c", "p")]);
        let answer = json!({ "type": result, id: "c", "output": "[]", "caller": caller });
        callers(format, &answer, &[("c", "p")]);
        let direct =
            json!({ "type": result, id: "c", "output": "[]", "caller": { "type": "direct" } });
        callers(format, &direct, &[("c", "")]);
        // Without an id it is an item like any other.
        let nameless = json!({ "type": "program", "code": "" });
        let text = format!("{:?}", nameless.to_string());
        reads(format, &nameless, &["Assistant", &format!("Other  {text} opaque")]);
    }
}

/// A result that moves to its call says again which program reads it.
#[test]
fn a_result_of_a_program_moves_with_its_caller() {
    let caller = json!({ "type": "program", "caller_id": "p" });
    let hosts = [
        json!({ "type": "function_call_output", "call_id": "c", "output": "late", "caller": caller }),
    ];
    let late =
        json!({ "type": "function_call_output", "call_id": "n", "output": null, "caller": null });
    let copies = [("/output", 0, "/output"), ("/caller", 0, "/caller")];
    made(Format::OpenAiResponses, moved(0, 0), &hosts, late, &copies);
}

#[test]
fn callers_in_the_options_of_ai_sdk_calls_are_read() {
    let options =
        json!({ "anthropic": { "caller": { "type": "code_execution_20250825", "toolId": "s" } } });
    for member in ["providerOptions", "callProviderMetadata", "providerMetadata"] {
        let call = json!({ "type": "tool-call", "toolCallId": "c", "toolName": "rows", "input": {}, member: options });
        callers(Format::AiSdk, &json!({ "role": "assistant", "content": [call] }), &[("c", "s")]);
    }
    let shown = json!({ "type": "tool-rows", "toolCallId": "c", "state": "output-available", "input": {}, "output": [1],
        "callProviderMetadata": options });
    let message = json!({ "role": "assistant", "parts": [shown] });
    callers(Format::AiSdk, &message, &[("c", "s"), ("c", "s")]);
    let direct = json!({ "type": "tool-call", "toolCallId": "c", "toolName": "rows", "input": {},
        "providerOptions": { "anthropic": { "caller": { "type": "direct" } }, "openai": 1 } });
    callers(Format::AiSdk, &json!({ "role": "assistant", "content": [direct] }), &[("c", "")]);
}

#[test]
fn callers_in_content_blocks_of_langchain_are_those_of_the_calls() {
    let caller = json!({ "type": "code_execution_20250825", "tool_id": "s" });
    let block =
        json!({ "type": "tool_use", "id": "c", "name": "rows", "input": {}, "caller": caller });
    let listed = |id: &str| json!({ "id": id, "name": "rows", "args": {}, "type": "tool_call" });
    let message =
        json!({ "type": "ai", "content": [block], "tool_calls": [listed("b"), listed("c")] });
    callers(Format::LangChain, &message, &[("b", ""), ("c", "s")]);
    callers(Format::LangChain, &json!({ "type": "ai", "content": [block] }), &[("c", "s")]);
    let program =
        json!({ "type": "server_tool_use", "id": "s", "name": "code_execution", "input": {} });
    let ended = json!({ "type": "code_execution_tool_result", "tool_use_id": "s", "content": {} });
    let both = json!({ "type": "ai", "content": [program, ended] });
    callers(Format::LangChain, &both, &[("s", ""), ("s", "")]);
    let named = |id: &str| {
        let mut both = both.clone();
        both["content"][0]["id"] = id.into();
        both["content"][1]["tool_use_id"] = id.into();
        both
    };
    let renamed = vec![(0, What::Id("s_2".into())), (1, What::Id("s_2".into()))];
    edited(Format::LangChain, both.clone(), renamed, named("s_2"));
    let asked = json!({ "type": "human", "content": [program] });
    callers(Format::LangChain, &asked, &[]);
}
