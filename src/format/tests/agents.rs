//! Golden cases of the Agents SDK's items, in the words of its protocol.

use serde_json::json;

use super::{edited, flawed, like, made, moved, ours, outline, reads, result, text};
use crate::format::{Format, What};
use crate::model::Place;

const A: Format = Format::OpenAiAgents;

#[test]
fn items_of_the_agents_sdk_are_read() {
    let message = json!({ "type": "message", "role": "assistant", "status": "completed", "content": [
        { "type": "output_text", "text": "so" }, { "type": "refusal", "refusal": "no" }, { "type": "image", "image": "AA" },
    ] });
    let lines = [
        "Assistant",
        "Text /content/0 \"so\"",
        "Text /content/1 \"no\" opaque",
        "Image /content/2 \"\" image",
    ];
    reads(A, &message, &lines);
    reads(A, &json!({ "role": "system", "content": "s" }), &["System", "Text /content \"s\""]);
    let call = json!({ "type": "function_call", "id": "fc_1", "callId": "c", "name": "read",
        "arguments": "{\"a\":1}", "status": "completed", "providerData": { "id": "fc_1" } });
    reads(A, &call, &["Assistant", "Call  \"{\\\"a\\\":1}\" c read"]);
    let output_item = |output: serde_json::Value| {
        json!({ "type": "function_call_result", "callId": "c", "name": "read",
        "status": "completed", "output": output })
    };
    for output in [
        json!("x"),
        json!({ "type": "text", "text": "x" }),
        json!([{ "type": "input_text", "text": "x" }]),
    ] {
        reads(A, &output_item(output), &["Tool", "Result  \"x\" c"]);
    }
    reads(A, &output_item(json!("")), &["Tool", "Result  \"\" blank c"]);
    let image = json!({ "type": "image", "image": { "data": "AA", "mediaType": "image/png" } });
    reads(A, &output_item(image), &["Tool", "Result  \"\" image c"]);
    let screen = json!({ "type": "computer_call_result", "callId": "c", "output": { "type": "computer_screenshot", "data": "AA" } });
    reads(A, &screen, &["Tool", "Result  \"\" opaque image c computer"]);
    let shell =
        json!({ "type": "shell_call_output", "callId": "c", "output": [{ "stdout": "a" }] });
    reads(A, &shell, &["Tool", "Result  \"{\\\"stdout\\\":\\\"a\\\"}\" c shell"]);
    let patch = json!({ "type": "apply_patch_call", "callId": "c", "status": "completed", "operation": { "type": "delete_file" } });
    let line = "Call  \"{\\\"type\\\":\\\"delete_file\\\"}\" opaque c apply_patch";
    reads(A, &patch, &["Assistant", line]);
}

#[test]
fn reasoning_of_the_agents_sdk_keeps_what_is_encrypted_in_its_provider_data() {
    let sealed = json!({ "type": "reasoning", "id": "rs_1", "content": [{ "type": "input_text", "text": "a" }],
        "rawContent": [{ "type": "reasoning_text", "text": "b" }], "providerData": { "encryptedContent": "gAAA" } });
    reads(A, &sealed, &["Assistant", "Thinking  \"a\\nb\""]);
    let bytes = sealed.to_string();
    assert_eq!(A.read(bytes.as_bytes(), 0).unwrap().parts[0].opaque, 4);
    assert!(!outline(A, &sealed).pieces[0].by_id);
    let kept = json!({ "type": "reasoning", "id": "rs_1", "content": [] });
    assert!(outline(A, &kept).pieces[0].by_id, "it stands for what the provider keeps");
}

#[test]
fn provider_run_calls_are_kept_and_approvals_are_paired() {
    let hosted = json!({ "type": "hosted_tool_call", "id": "ws_1", "name": "web_search_call", "status": "completed" });
    reads(A, &hosted, &["Assistant", &format!("Other  {:?} opaque", hosted.to_string())]);
    let image = json!({ "type": "hosted_tool_call", "id": "ig", "name": "image_generation_call", "output": "AAAA" });
    reads(A, &image, &["Assistant", "Other  \"\" opaque image"]);
    let compaction = json!({ "type": "compaction", "encrypted_content": "g" });
    reads(A, &compaction, &["User", "Other  \"\" opaque"]);
    let asked = json!({ "type": "hosted_tool_call", "id": "m", "name": "mcp_approval_request", "providerData": { "id": "m" } });
    let line = "Call  \"{\\\"id\\\":\\\"m\\\"}\" opaque m mcp_approval_request";
    reads(A, &asked, &["Assistant", line]);
    let approval = json!({ "type": "hosted_tool_call", "name": "mcp_approval_response",
        "providerData": { "approval_request_id": "m" } });
    let line = "Result  \"{\\\"approval_request_id\\\":\\\"m\\\"}\" opaque m";
    reads(A, &approval, &["Tool", line]);
}

#[test]
fn items_of_the_agents_sdk_are_edited() {
    let call =
        json!({ "type": "function_call", "callId": "c", "name": "n", "arguments": "{\"a\":1}" });
    let changes =
        vec![(0, What::Id("d".into())), (0, What::Arguments(ours(json!({ "cut": "x" }))))];
    let expected = json!({ "type": "function_call", "callId": "d", "name": "n", "arguments": "{\"cut\":\"x\"}" });
    edited(A, call, changes, expected);
    let result_with = |output: serde_json::Value| {
        json!({ "type": "function_call_result", "callId": "c", "name": "n",
        "status": "completed", "output": output })
    };
    edited(
        A,
        result_with(json!("long")),
        vec![text(0, "stub")],
        result_with(json!({ "type": "text", "text": "stub" })),
    );
    let shell = |output: serde_json::Value| json!({ "type": "shell_call_output", "callId": "c", "output": [output] });
    let outcome = json!({ "type": "exit", "exitCode": 0 });
    let short = json!({ "stdout": "stub", "stderr": "", "outcome": outcome });
    edited(A, shell(json!({ "stdout": "long" })), vec![text(0, "stub")], shell(short));
    edited(
        A,
        json!({ "type": "reasoning", "content": [{ "type": "input_text", "text": "x" }], "providerData": { "a": 1 } }),
        vec![text(0, "y")],
        json!({ "type": "reasoning", "content": [{ "type": "input_text", "text": "y" }], "rawContent": [],
            "providerData": { "a": 1 } }),
    );
    let asked = |id: &str| json!({ "type": "hosted_tool_call", "name": "mcp_approval_request", "providerData": { "id": id } });
    edited(A, asked("m"), vec![(0, What::Id("n".into()))], asked("n"));
}

#[test]
fn synthetic_items_of_the_agents_sdk_have_its_form() {
    let ours = json!({ "type": "text", "text": "aborted" });
    let output = json!({ "type": "function_call_result", "callId": "c", "name": "bash", "status": "incomplete", "output": ours });
    made(A, result("c"), &[], output, &[]);
    let refused = json!({ "type": "hosted_tool_call", "name": "mcp_approval_response", "status": "completed",
        "providerData": { "approve": false, "approval_request_id": "c", "reason": "aborted" } });
    made(A, like("c", Place::Message("mcp_approval_request")), &[], refused, &[]);
    let hosts = [
        json!({ "type": "function_call_result", "callId": "x", "name": "read", "status": "completed", "output": "late" }),
    ];
    let late = json!({ "type": "function_call_result", "callId": "n", "name": "bash", "status": "completed", "output": null });
    made(A, moved(0, 0), &hosts, late, &[("/output", 0, "/output")]);
}

#[test]
fn a_call_without_an_id_is_malformed() {
    let expected = "a string: the id of the call";
    let responses = Format::OpenAiResponses;
    flawed(
        responses,
        r#"{"type":"function_call","callId":"c","name":"n","arguments":"{}"}"#,
        "/call_id",
        expected,
    );
    flawed(responses, r#"{"type":"function_call_output","output":"x"}"#, "/call_id", expected);
    flawed(A, r#"{"type":"function_call_result","call_id":"c","output":"x"}"#, "/callId", expected);
}
