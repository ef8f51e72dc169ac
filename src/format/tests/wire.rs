//! Golden cases of Responses' items and Gemini's contents.

use serde_json::json;

use super::{
    drop_all, edited, flawed, like, made, moved, ours, outline, reads, result, text, tree,
};
use crate::format::{Change, Format, What, fingerprint};
use crate::model::{Made, MadePart, Place};

const R: Format = Format::OpenAiResponses;
const G: Format = Format::Gemini;

#[test]
fn responses_items_are_read() {
    reads(R, &json!({ "role": "user", "content": "hi" }), &["User", "Text /content \"hi\""]);
    reads(
        R,
        &json!({ "type": "message", "role": "developer", "content": "s" }),
        &["System", "Text /content \"s\""],
    );
    let parts = json!({ "type": "message", "role": "user", "content": [
        { "type": "input_text", "text": "see" }, { "type": "input_image", "image_url": "data:," }, { "type": "new" },
    ] });
    let new = "Other /content/2 \"{\\\"type\\\":\\\"new\\\"}\" opaque";
    reads(R, &parts, &["User", "Text /content/0 \"see\"", "Image /content/1 \"\" image", new]);
    let message = json!({ "type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [
        { "type": "output_text", "text": "so", "annotations": [] }, { "type": "refusal", "refusal": "no" },
    ] });
    reads(R, &message, &["Assistant", "Text /content/0 \"so\"", "Text /content/1 \"no\" opaque"]);
    let reasoning = json!({ "type": "reasoning", "id": "rs_1", "encrypted_content": "gAAA",
        "summary": [{ "type": "summary_text", "text": "a" }, { "type": "summary_text", "text": "b" }] });
    reads(R, &reasoning, &["Assistant", "Thinking  \"a\\nb\""]);
    // I16: an id alone may stand for what the provider keeps.
    reads(
        R,
        &json!({ "type": "reasoning", "id": "rs_1", "summary": [] }),
        &["Assistant", "Thinking  \"\""],
    );
    let call = json!({ "type": "function_call", "id": "fc_1", "call_id": "c1", "name": "read", "arguments": "{\"a\":1}" });
    reads(R, &call, &["Assistant", "Call  \"{\\\"a\\\":1}\" c1 read"]);
    // I30
    let bad = json!({ "type": "function_call", "call_id": "c1", "name": "read", "arguments": "{" });
    reads(R, &bad, &["Assistant", "Call  \"{\" bad c1 read"]);
    let output = json!({ "type": "function_call_output", "call_id": "c1", "output": [
        { "type": "input_text", "text": "x" }, { "type": "input_image", "file_id": "f" },
    ] });
    reads(R, &output, &["Tool", "Result  \"x\" image c1"]);
    // Settings for all that follows are the developer's.
    for settings in [
        json!({ "type": "additional_tools", "role": "developer", "tools": [] }),
        json!({ "type": "configuration_update", "text": { "format": {} } }),
    ] {
        let as_text = serde_json::to_string(&settings.to_string()).unwrap();
        reads(R, &settings, &["System", &format!("Other  {as_text} opaque")]);
    }
    let named = json!({ "type": "function_call_output", "name": "spawn", "output": "x" });
    let expected = r#"Other  "{\"name\":\"spawn\",\"output\":\"x\",\"type\":\"function_call_output\"}" opaque"#;
    reads(R, &named, &["Assistant", expected]);
    let empty = json!({ "type": "function_call_output", "call_id": "c1", "output": "" });
    reads(R, &empty, &["Tool", "Result  \"\" blank c1"]);
}

/// I14: what is there by its id alone asks for the id of what follows.
#[test]
fn responses_reasoning_is_known_by_id_unless_it_has_content() {
    let by_id = |item: serde_json::Value| outline(R, &item).pieces[0].by_id;
    assert!(by_id(json!({ "type": "reasoning", "id": "rs_1", "summary": [] })));
    assert!(!by_id(
        json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "g" })
    ));
    let shown = json!([{ "type": "reasoning_text", "text": "hm" }]);
    assert!(!by_id(json!({ "type": "reasoning", "id": "rs_1", "summary": [], "content": shown })));
    assert!(by_id(
        json!({ "type": "function_call", "id": "fc_1", "call_id": "c", "name": "n", "arguments": "{}" })
    ));
    assert!(!by_id(
        json!({ "type": "function_call", "call_id": "c", "name": "n", "arguments": "{}" })
    ));
    assert!(by_id(
        json!({ "type": "message", "id": "msg_1", "role": "assistant", "content": "a" })
    ));
    assert!(!by_id(json!({ "role": "assistant", "content": "a" })));
    assert!(by_id(json!({ "type": "web_search_call", "id": "ws_1" })));
}

/// I15: every kind of call and its result.
#[test]
fn all_kinds_of_responses_calls_are_read() {
    let custom = json!({ "type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "*** Begin" });
    reads(R, &custom, &["Assistant", "Call  \"*** Begin\" c patch"]);
    let custom = json!({ "type": "custom_tool_call_output", "call_id": "c", "output": "ok" });
    reads(R, &custom, &["Tool", "Result  \"ok\" c"]);
    let shell =
        json!({ "type": "local_shell_call", "call_id": "c", "action": { "command": ["ls"] } });
    reads(
        R,
        &shell,
        &["Assistant", "Call  \"{\\\"command\\\":[\\\"ls\\\"]}\" opaque c local_shell"],
    );
    let shell = json!({ "type": "shell_call_output", "call_id": "c", "output": [{ "stdout": "a", "stderr": "" }] });
    reads(
        R,
        &shell,
        &["Tool", "Result  \"{\\\"stderr\\\":\\\"\\\",\\\"stdout\\\":\\\"a\\\"}\" c shell"],
    );
    let patch = json!({ "type": "apply_patch_call_output", "call_id": "c", "status": "failed" });
    reads(R, &patch, &["Tool", "Result  \"\" error c apply_patch"]);
    let screen = json!({ "type": "computer_call_output", "call_id": "c",
        "output": { "type": "computer_screenshot", "image_url": "data:," } });
    reads(R, &screen, &["Tool", "Result  \"\" opaque image c computer"]);
    let asked = json!({ "type": "mcp_approval_request", "id": "m", "name": "do", "arguments": "{}", "server_label": "s" });
    reads(R, &asked, &["Assistant", "Call  \"\\\"{}\\\"\" opaque m do"]);
    let item =
        json!({ "type": "mcp_approval_response", "approval_request_id": "m", "approve": true });
    reads(R, &item, &["Tool", "Result  \"\" opaque m"]);
    // What the provider runs itself needs no result of ours.
    let search = json!({ "type": "tool_search_call", "execution": "server", "call_id": null, "arguments": {} });
    let line = format!("Other  {:?} opaque", search.to_string());
    reads(R, &search, &["Assistant", &line]);
    let search = json!({ "type": "tool_search_call", "execution": "client", "call_id": "c", "arguments": {} });
    reads(R, &search, &["Assistant", "Call  \"{}\" opaque c tool_search"]);
    let image = json!({ "type": "image_generation_call", "id": "ig", "result": "AAAA" });
    reads(R, &image, &["Assistant", "Other  \"\" opaque image"]);
    let unknown = json!({ "type": "new", "content": {}, "role": 7 });
    reads(R, &unknown, &["Assistant", &format!("Other  {:?} opaque", unknown.to_string())]);
    reads(
        R,
        &json!({ "id": "msg_1" }),
        &["Assistant", "Other  \"{\\\"id\\\":\\\"msg_1\\\"}\" opaque"],
    );
}

/// I17: a compaction item is the user's as far as turns go, opaque, and stays where it is.
#[test]
fn a_compaction_item_is_never_edited() {
    let item = json!({ "type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAAA" });
    let bytes = item.to_string();
    let draft = R.read(bytes.as_bytes(), 0).unwrap();
    assert_eq!((draft.parts[0].opaque, draft.parts[0].piece.fixed), (6, true));
    reads(R, &item, &["User", "Other  \"\" opaque"]);
}

#[test]
fn flaws_of_responses_items_are_named() {
    let roles = "\"user\", \"assistant\", \"system\" or \"developer\"";
    flawed(R, r#"{"role":"model","content":"x"}"#, "/role", roles);
    flawed(R, r#"{"role":"user"}"#, "/content", "a string or an array of parts");
    flawed(R, r#"{"x":1}"#, "/", "an item: { type, .. } or { role, content }");
    flawed(R, r#"{"type":"function_call","call_id":"c","arguments":{}}"#, "/arguments", "a string");
    flawed(
        R,
        r#"{"role":"user","content":[{"type":"input_text"}]}"#,
        "/content/0/text",
        "a string",
    );
}

#[test]
fn responses_items_are_edited() {
    // I16: ids and encrypted content stay.
    let call = json!({ "type": "function_call", "id": "fc_1", "call_id": "c1", "name": "read", "arguments": "{\"a\":1}" });
    edited(
        R,
        call,
        vec![(0, What::Id("c1_2".into())), (0, What::Arguments(ours(json!({ "cut": "x" }))))],
        json!({ "type": "function_call", "id": "fc_1", "call_id": "c1_2", "name": "read", "arguments": "{\"cut\":\"x\"}" }),
    );
    edited(
        R,
        json!({ "type": "custom_tool_call", "call_id": "c", "name": "n", "input": "long" }),
        vec![(0, What::Arguments(ours(json!({ "cut": "short" }))))],
        json!({ "type": "custom_tool_call", "call_id": "c", "name": "n", "input": "short" }),
    );
    edited(
        R,
        json!({ "type": "function_call_output", "call_id": "c", "output": [{ "type": "input_text", "text": "long" }] }),
        vec![text(0, "stub"), (0, What::Id("d".into()))],
        json!({ "type": "function_call_output", "call_id": "d", "output": "stub" }),
    );
    edited(
        R,
        json!({ "type": "shell_call_output", "call_id": "c", "output": [{ "stdout": "long" }] }),
        vec![text(0, "stub")],
        json!({ "type": "shell_call_output", "call_id": "c",
            "output": [{ "stdout": "stub", "stderr": "", "outcome": { "type": "exit", "exit_code": 0 } }] }),
    );
    let message = json!({ "role": "user", "content": [{ "type": "input_text", "text": "a" }, { "type": "input_image", "image_url": "u" }] });
    edited(
        R,
        message.clone(),
        vec![(0, What::Drop), text(1, "[image cut]")],
        json!({ "role": "user", "content": [{ "type": "input_text", "text": "[image cut]" }] }),
    );
    edited(
        R,
        message,
        drop_all(&[0, 1]),
        json!({ "role": "user", "content": [{ "type": "input_text", "text": "(omitted)" }] }),
    );
    // I26: the summary is mended; what it stands for is not touched.
    edited(
        R,
        json!({ "type": "reasoning", "id": "rs_1", "summary": [{ "type": "summary_text", "text": "x" }], "encrypted_content": "g" }),
        vec![text(0, "y")],
        json!({ "type": "reasoning", "id": "rs_1", "summary": [{ "type": "summary_text", "text": "y" }], "encrypted_content": "g",
            "content": [] }),
    );
}

#[test]
fn synthetic_items_of_responses_have_its_form() {
    let of = |kind| like("c", Place::Message(kind));
    let output = json!({ "type": "function_call_output", "call_id": "c", "output": "aborted" });
    made(R, result("c"), &[], output, &[]);
    made(
        R,
        of("local_shell_call"),
        &[],
        json!({ "type": "local_shell_call_output", "call_id": "c", "output": "aborted" }),
        &[],
    );
    made(
        R,
        of("custom_tool_call"),
        &[],
        json!({ "type": "custom_tool_call_output", "call_id": "c", "output": "aborted" }),
        &[],
    );
    let failed = json!({ "type": "apply_patch_call_output", "call_id": "c", "status": "failed", "output": "aborted" });
    made(R, of("apply_patch_call"), &[], failed, &[]);
    let refused = json!({ "type": "mcp_approval_response", "approval_request_id": "c", "approve": false, "reason": "aborted" });
    made(R, of("mcp_approval_request"), &[], refused, &[]);
    let none = json!({ "type": "tool_search_output", "call_id": "c", "execution": "client", "status": "completed", "tools": [] });
    made(R, of("tool_search_call"), &[], none, &[]);
    let (shown, _) = R.make(&of("computer_call"), |_| None);
    let shown = tree(&shown);
    assert!(
        shown["output"]["image_url"].as_str().is_some_and(|url| url.starts_with("data:image/png"))
    );
    let hosts = [json!({ "type": "custom_tool_call_output", "call_id": "x", "output": "late" })];
    let late = json!({ "type": "custom_tool_call_output", "call_id": "n", "output": null });
    made(R, moved(0, 0), &hosts, late, &[("/output", 0, "/output")]);
    let hosts = [
        json!({ "role": "user", "content": "first" }),
        json!({ "role": "user", "content": [{ "type": "input_text", "text": "a" }, { "type": "input_text", "text": "b" }] }),
    ];
    let content = json!([{ "type": "input_text", "text": "head" }, { "type": "input_text", "text": null }, null]);
    let places = [("/content/1/text", 0, "/content"), ("/content/2", 1, "/content/1")];
    made(
        R,
        super::head(),
        &hosts,
        json!({ "type": "message", "role": "user", "content": content }),
        &places,
    );
}

fn turn() -> serde_json::Value {
    json!({ "role": "model", "parts": [
        { "text": "hm", "thought": true },
        { "text": "I look." },
        { "functionCall": { "name": "read", "args": { "path": "a" } }, "thoughtSignature": "s" },
        { "function_call": { "id": "x", "name": "read" } },
        { "executableCode": { "code": "1" } },
        { "text": "", "thoughtSignature": "s" },
    ] })
}

fn results() -> serde_json::Value {
    json!({ "role": "user", "parts": [
        { "functionResponse": { "name": "read", "response": { "output": "one" } } },
        { "function_response": { "id": "x", "name": "read", "response": { "error": "no" } } },
        { "functionResponse": { "name": "see", "response": { "a": 1, "b": 2 }, "parts": [{ "inlineData": { "data": "AA" } }] } },
        { "inlineData": { "mimeType": "image/png", "data": "AA" } },
        { "text": "go on" },
    ] })
}

#[test]
fn gemini_contents_are_read() {
    reads(
        G,
        &turn(),
        &[
            "Assistant",
            "Thinking /parts/0 \"hm\"",
            "Text /parts/1 \"I look.\"",
            "Call /parts/2 \"{\\\"path\\\":\\\"a\\\"}\" opaque read",
            "Call /parts/3 \"{}\" x read",
            "Call /parts/4 \"{\\\"executableCode\\\":{\\\"code\\\":\\\"1\\\"}}\" opaque",
            "Text /parts/5 \"\" opaque",
        ],
    );
    reads(
        G,
        &results(),
        &[
            "User",
            "Result /parts/0 \"one\" read",
            "Result /parts/1 \"no\" error x read",
            "Result /parts/2 \"{\\\"a\\\":1,\\\"b\\\":2}\" image see",
            "Image /parts/3 \"\" image",
            "Text /parts/4 \"go on\"",
        ],
    );
    // Tools that Gemini runs itself.
    let served = json!({ "role": "model", "parts": [
        { "toolCall": { "id": "s", "toolType": "GOOGLE_SEARCH_WEB", "args": {} }, "thoughtSignature": "s" },
        { "tool_response": { "id": "s", "tool_type": "GOOGLE_SEARCH_WEB" } },
    ] });
    let raw = |at: usize| serde_json::to_string(&served["parts"][at].to_string()).unwrap();
    let read = [
        format!("Call /parts/0 {} opaque s GOOGLE_SEARCH_WEB", raw(0)),
        format!("Result /parts/1 {} opaque s GOOGLE_SEARCH_WEB", raw(1)),
    ];
    reads(G, &served, &["Assistant", &read[0], &read[1]]);
    let mut renamed = served.clone();
    renamed["parts"][0]["toolCall"]["id"] = "n".into();
    renamed["parts"][1]["tool_response"]["id"] = "n".into();
    edited(G, served, vec![(0, What::Id("n".into())), (1, What::Id("n".into()))], renamed);
    // The dumps of Python clients: other members are null.
    let dumped =
        json!({ "role": null, "parts": [{ "text": " ", "thought": null, "function_call": null }] });
    reads(G, &dumped, &["User", "Text /parts/0 \" \" blank"]);
    // I30
    let bad =
        json!({ "role": "model", "parts": [{ "functionCall": { "name": "n", "args": "{" } }] });
    reads(G, &bad, &["Assistant", "Call /parts/0 \"\\\"{\\\"\" bad n"]);
    reads(G, &json!({ "role": "function", "parts": [] }), &["Tool"]);
}

#[test]
fn flaws_of_gemini_contents_are_named() {
    let roles = "\"user\", \"model\", \"function\" or \"tool\"";
    flawed(G, r#"{"role":"assistant","parts":[]}"#, "/role", roles);
    flawed(G, r#"{"role":"user","content":"x"}"#, "/", "a member `parts`");
    reads(G, &json!({ "role": "model" }), &["Assistant"]);
    flawed(G, r#"{"role":"user","parts":[{"text":5}]}"#, "/parts/0/text", "a string");
    let call = r#"{"role":"model","parts":[{"function_call":{"name":5}}]}"#;
    flawed(G, call, "/parts/0/function_call/name", "a string");
    flawed(G, r#"{"parts":["x"]}"#, "/parts/0", "a part: { text }, { functionCall }, ..");
}

#[test]
fn gemini_contents_are_edited() {
    edited(
        G,
        turn(),
        vec![
            (0, What::Drop),
            (2, What::Arguments(ours(json!({ "cut": "x" })))),
            (3, What::Id("x_2".into())),
            (3, What::Sign),
            (4, What::Drop),
            (5, What::Drop),
        ],
        json!({ "role": "model", "parts": [
            { "text": "I look." },
            { "functionCall": { "name": "read", "args": { "cut": "x" } }, "thoughtSignature": "s" },
            { "function_call": { "id": "x_2", "name": "read" }, "thought_signature": "skip_thought_signature_validator" },
        ] }),
    );
    edited(
        G,
        results(),
        vec![
            text(0, "stub"),
            text(1, "stub"),
            (1, What::Id("y".into())),
            text(2, "stub"),
            text(3, "[image cut]"),
        ],
        json!({ "role": "user", "parts": [
            { "functionResponse": { "name": "read", "response": { "output": "stub" } } },
            { "function_response": { "id": "y", "name": "read", "response": { "error": "stub" } } },
            { "functionResponse": { "name": "see", "response": { "output": "stub" } } },
            { "text": "[image cut]" },
            { "text": "go on" },
        ] }),
    );
    edited(
        G,
        turn(),
        drop_all(&[1, 2, 3, 4, 5]),
        json!({ "role": "model", "parts": [{ "text": "hm", "thought": true }, { "text": "(omitted)" }] }),
    );
    let changes =
        [Change { piece: 2, what: What::Drop }, Change { piece: 2, what: What::Text("x".into()) }];
    let ops = G.edit(&outline(G, &results()), &changes);
    assert_eq!(ops.len(), 1, "{ops:?}");
}

/// I19: several results, of the host's and ours, in one content.
#[test]
fn synthetic_contents_of_gemini_have_its_form() {
    let hosts = [json!({ "role": "user", "parts": [{ "text": "first" }] }), results()];
    let of = |id: &str, piece| Made::Moved {
        id: id.into(),
        name: "read".into(),
        message: 1.into(),
        piece,
    };
    let ours = Made::Result {
        id: String::new(),
        name: "bash".into(),
        text: "aborted".into(),
        error: true,
        like: Place::Part(0),
        toolset: String::new(),
    };
    let all = Made::Results(vec![of("", 0), ours, of("x_2", 1)]);
    let response = |part: serde_json::Value| json!({ "functionResponse": part });
    let expected = json!({ "role": "user", "parts": [
        null,
        response(json!({ "name": "bash", "response": { "error": "aborted" } })),
        response(json!({ "id": "x_2", "name": "read", "response": null })),
    ] });
    let copies = [
        ("/parts/0", 1, "/parts/0"),
        ("/parts/2/functionResponse/response", 1, "/parts/1/function_response/response"),
    ];
    made(G, all, &hosts, expected, &copies);
    let head = Made::User(vec![
        MadePart::Text("head".into()),
        MadePart::Host(0.into(), 0),
        MadePart::Host(1.into(), 4),
    ]);
    let expected = json!({ "role": "user", "parts": [{ "text": "head" }, null, null] });
    made(G, head, &hosts, expected, &[("/parts/1", 0, "/parts/0"), ("/parts/2", 1, "/parts/4")]);
}

#[test]
fn fingerprints_cover_content_and_ignore_ids() {
    let of = |format: Format, json: serde_json::Value| {
        fingerprint(&format.read(json.to_string().as_bytes(), 0).unwrap())
    };
    let output = |id: &str, text: &str| json!({ "type": "function_call_output", "id": id, "call_id": id, "output": text });
    assert_eq!(of(R, output("a", "x")), of(R, output("b", "x")));
    assert_ne!(of(R, output("a", "x")), of(R, output("a", "y")));
    let sealed = |text: &str| json!({ "type": "reasoning", "id": "r", "summary": [], "encrypted_content": text });
    assert_ne!(of(R, sealed("a")), of(R, sealed("b")));
    let call = |id: &str, args: i32| json!({ "role": "model", "parts": [{ "functionCall": { "id": id, "name": "n", "args": { "a": args } } }] });
    assert_eq!(of(G, call("a", 1)), of(G, call("b", 1)));
    assert_ne!(of(G, call("a", 1)), of(G, call("a", 2)));
}
