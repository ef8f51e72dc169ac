//! Golden cases of settings, of providers' own summaries, and of other kinds that newer SDKs have.

use serde_json::json;

use super::{outline, reads};
use crate::format::Format;
use crate::model::{Kind, Role};

const A: Format = Format::Anthropic;

#[test]
fn settings_of_anthropic_are_one_piece_each() {
    let tool = json!({ "type": "tool_reference", "name": "grep" });
    let change = json!({ "type": "tool_removal", "tool": tool });
    let as_text = serde_json::to_string(&change.to_string()).unwrap();
    let tools = json!({ "role": "system", "content": [change] });
    reads(A, &tools, &["System", &format!("Other  {as_text} opaque")]);
    let both =
        json!({ "role": "system", "content": "be brief", "output_config": { "effort": "low" } });
    reads(A, &both, &["System", "Other  \"be brief\" opaque"]);
    let reminder = json!({ "role": "system", "content": "now", "clear_at": "next_user_message" });
    reads(A, &reminder, &["System", "Other  \"now\" opaque"]);
    for effort in [
        json!({ "role": "system", "output_config": { "effort": "low" } }),
        json!({ "role": "system", "content": [], "output_config": { "effort": "low" } }),
    ] {
        reads(A, &effort, &["System", "Other  \"\" opaque"]);
        assert!(outline(A, &effort).is_silent());
    }
    // A plain text of the system's is a text.
    let plain = json!({ "role": "system", "content": "\"tool_removal\"", "output_config": null, "clear_at": "never" });
    reads(A, &plain, &["System", "Text /content \"\\\"tool_removal\\\"\""]);
    assert_eq!(outline(A, &plain).setting(), None);
}

#[test]
fn efforts_differ_in_their_fingerprints() {
    let of = |effort: &str| {
        let message = json!({ "role": "system", "output_config": { "effort": effort } });
        crate::format::fingerprint(&A.read(message.to_string().as_bytes(), 0).unwrap())
    };
    assert_ne!(of("low"), of("high"));
}

#[test]
fn a_compaction_counts_its_summary_and_stays_if_it_is_alone() {
    let block = json!({ "type": "compaction", "content": "done", "signature": "c2lnbmVk", "cache_control": {} });
    let alone = json!({ "role": "assistant", "content": [block] });
    reads(A, &alone, &["System", "Other  \"done\" opaque"]);
    assert!(outline(A, &alone).is_silent());
    assert_eq!(outline(A, &alone).pieces[0].marks, 0b10);
    let beside =
        json!({ "role": "assistant", "content": [block, { "type": "text", "text": "on" }] });
    let expected = ["Assistant", "Other /content/0 \"done\" opaque", "Text /content/1 \"on\""];
    reads(A, &beside, &expected);
    let options = json!({ "anthropic": { "type": "compaction", "signature": "s" } });
    let text = json!({ "type": "text", "text": "done", "providerOptions": options });
    let of_sdk = json!({ "role": "assistant", "content": [text] });
    reads(Format::AiSdk, &of_sdk, &["System", "Other  \"done\" opaque"]);
    assert!(outline(Format::AiSdk, &of_sdk).is_silent());
    let input = json!({ "type": "compaction" });
    let call = json!({ "type": "tool-call", "toolCallId": "c", "toolName": "run", "input": input });
    let called = outline(Format::AiSdk, &json!({ "role": "assistant", "content": [call] }));
    assert_eq!((called.role, called.pieces[0].kind), (Role::Assistant, Kind::Call));
}

#[test]
fn parts_of_the_ai_sdk_that_no_model_sees_count_nothing_and_openais_compaction_stays() {
    let data = json!({ "type": "data-chart", "data": { "rows": [1, 2, 3] } });
    let kind = "openai.compaction";
    let options = json!({ "openai": { "itemId": "cmp_1", "encryptedContent": "x" } });
    let custom = json!({ "type": "custom", "kind": kind, "providerOptions": options });
    let shown = json!({ "role": "assistant", "parts": [data, custom] });
    let pieces = outline(Format::AiSdk, &shown).pieces;
    assert_eq!(pieces.iter().map(|it| it.fixed).collect::<Vec<_>>(), [false, true]);
    let draft = shown.to_string();
    let draft = Format::AiSdk.read(draft.as_bytes(), 0).unwrap();
    assert_eq!((&*draft.parts[0].text, draft.parts[1].text.is_empty()), ("", false));
}

#[test]
fn a_custom_output_of_the_ai_sdk_is_no_image() {
    let options = json!({ "anthropic": { "type": "tool-reference", "toolName": "grep" } });
    let found = json!({ "type": "custom", "providerOptions": options });
    let output = json!({ "type": "content", "value": [found] });
    let result =
        json!({ "type": "tool-result", "toolCallId": "c", "toolName": "find", "output": output });
    let message = json!({ "role": "tool", "content": [result] }).to_string();
    let draft = Format::AiSdk.read(message.as_bytes(), 0).unwrap();
    assert_eq!((draft.parts[0].images, draft.parts[0].text.contains("grep")), (0, true));
}

#[test]
fn calls_of_other_agents_go_with_their_outputs() {
    let call = json!({ "type": "multi_agent_call", "id": "ma_1", "call_id": "m", "action": "spawn_agent", "arguments": "{}" });
    let output = json!({ "type": "multi_agent_call_output", "id": "mo_1", "call_id": "m", "action": "spawn_agent",
        "output": [{ "type": "output_text", "text": "ready" }] });
    for (item, kind) in [(&call, Kind::Call), (&output, Kind::Result)] {
        let piece = &outline(Format::OpenAiResponses, item).pieces[0];
        assert_eq!((piece.kind, &*piece.id, piece.is_provider_run()), (kind, "m", true));
        let bytes = item.to_string();
        assert_eq!(Format::detect(&[bytes.as_bytes()]), Ok(Format::OpenAiResponses));
    }
}

#[test]
fn a_plain_text_document_of_langchain_counts_its_text() {
    let text =
        json!({ "type": "text-plain", "mimeType": "text/plain", "data": "Zmlyc3QgbGluZQ==" });
    let message = json!({ "type": "human", "content": [text] }).to_string();
    let draft = Format::LangChain.read(message.as_bytes(), 0).unwrap();
    assert_eq!((draft.parts[0].piece.kind, &*draft.parts[0].text), (Kind::Image, "first line"));
}

#[test]
fn blocks_that_take_no_cache_marker_get_none() {
    for kind in ["fallback", "mcp_tool_listing"] {
        let blocks = json!([{ "type": "text", "text": "on" }, { "type": kind }]);
        let message = json!({ "role": "assistant", "content": blocks }).to_string();
        let ops = crate::json::write(&A.mark(&message, false));
        assert!(ops.contains("/content/0/cache_control"), "{ops}");
    }
}
