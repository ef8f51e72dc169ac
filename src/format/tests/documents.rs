//! Documents that are text cost their text; pictures and documents inside blocks that are carried cost their images.

use serde_json::{Value, json};

use crate::format::Format;
use crate::model::{Kind, Part};

/// `first line`, in base64.
const DATA: &str = "Zmlyc3QgbGluZQ==";

#[track_caller]
fn part(format: Format, message: &Value, at: usize) -> Part<'static> {
    let bytes = message.to_string();
    let draft = format.read(bytes.as_bytes(), 0).unwrap();
    draft.parts.into_iter().nth(at).unwrap().into_owned()
}

#[test]
fn a_document_of_text_has_its_text_and_no_image() {
    let url = format!("data:text/plain;base64,{DATA}");
    let blocks = json!([{ "type": "text", "text": "first line" }]);
    let documents = [
        (
            Format::Anthropic,
            "content",
            json!({ "type": "document", "source": { "type": "content", "content": blocks } }),
        ),
        (
            Format::Anthropic,
            "content",
            json!({ "type": "document", "source": { "type": "content", "content": "first line" } }),
        ),
        (
            Format::AiSdk,
            "content",
            json!({ "type": "file", "mediaType": "text/plain", "data": { "type": "text", "text": "first line" } }),
        ),
        (
            Format::AiSdk,
            "content",
            json!({ "type": "file", "mediaType": "text/markdown", "data": DATA }),
        ),
        (
            Format::AiSdk,
            "content",
            json!({ "type": "file", "mediaType": "text/plain", "data": url }),
        ),
        (
            Format::Gemini,
            "parts",
            json!({ "inlineData": { "mimeType": "text/plain", "data": DATA } }),
        ),
        (
            Format::OpenAiResponses,
            "content",
            json!({ "type": "input_file", "filename": "a.txt", "file_data": url }),
        ),
        (
            Format::OpenAiChat,
            "content",
            json!({ "type": "file", "file": { "filename": "a.txt", "file_data": url } }),
        ),
        (
            Format::LangChain,
            "content",
            json!({ "type": "file", "source_type": "text", "text": "first line" }),
        ),
        (
            Format::LangChain,
            "content",
            json!({ "type": "file", "source_type": "base64", "mime_type": "text/plain", "data": DATA }),
        ),
        (
            Format::LangChain,
            "content",
            json!({ "type": "document", "source": { "type": "text", "media_type": "text/plain", "data": "first line" } }),
        ),
    ];
    for (format, member, document) in documents {
        let part = part(format, &json!({ "role": "user", member: [document] }), 0);
        let seen = (part.piece.kind, &*part.text, part.images, part.piece.blank);
        assert_eq!(seen, (Kind::Image, "first line", 0, false), "{document}");
    }
}

#[test]
fn a_document_that_is_no_text_is_an_image() {
    for data in [json!("https://a/b.txt"), json!("Zm9v*"), json!("//79"), json!({ "type": "url" })]
    {
        let file = json!({ "type": "file", "mediaType": "text/plain", "data": data });
        let part = part(Format::AiSdk, &json!({ "role": "user", "content": [file] }), 0);
        assert_eq!((&*part.text, part.images), ("", 1), "{data}");
    }
    let file = json!({ "type": "file", "mediaType": "application/pdf", "data": DATA });
    let part = part(Format::AiSdk, &json!({ "role": "user", "content": [file] }), 0);
    assert_eq!((&*part.text, part.images), ("", 1));
}

/// A file may nest them as deeply as it likes.
#[test]
fn documents_inside_documents_are_not_read() {
    let nested = |open: &str, close: &str| {
        format!("{}\"first line\"{}", open.repeat(100_000), close.repeat(100_000))
    };
    let blocks = nested(r#"[{"type":"document","source":{"type":"content","content":"#, "}}]");
    let message = format!(r#"{{"role":"user","content":{blocks}}}"#);
    let draft = Format::Anthropic.read(message.as_bytes(), 0).unwrap();
    assert_eq!((draft.parts.len(), draft.parts[0].text.len() > 100_000), (1, true));
    let data = nested(r#"{"data":"#, "}");
    let message = format!(
        r#"{{"role":"user","content":[{{"type":"file","mediaType":"text/plain","data":{data}}}]}}"#
    );
    let draft = Format::AiSdk.read(message.as_bytes(), 0).unwrap();
    assert_eq!((&*draft.parts[0].text, draft.parts[0].images), ("", 1));
}

/// Each level was read again for every level above it: a file of 5 MB took minutes.
#[test]
fn results_inside_results_are_not_read() {
    let open = r#"[{"type":"tool_result","tool_use_id":"a","content":"#;
    let blocks = format!("{}\"last line\"{}", open.repeat(100_000), "}]".repeat(100_000));
    let message = format!(r#"{{"role":"user","content":{blocks}}}"#);
    let draft = Format::Anthropic.read(message.as_bytes(), 0).unwrap();
    assert_eq!(draft.parts.len(), 1);
    assert!(draft.parts[0].text.starts_with(r#"{"type":"tool_result","#));
}

#[test]
fn data_of_a_picture_in_a_block_that_is_carried_is_no_text() {
    let data = |start: &str| format!("{start}{}", "A".repeat(90_000));
    let pdf =
        json!({ "type": "base64", "media_type": "application/pdf", "data": data("JVBERi0x") });
    let fetched = json!({ "type": "web_fetch_tool_result", "tool_use_id": "s", "content": {
        "type": "web_fetch_result", "url": "u", "content": { "type": "document", "source": pdf } } });
    let call = json!({ "type": "server_tool_use", "id": "s", "name": "web_fetch", "input": {} });
    let message = json!({ "role": "assistant", "content": [call, fetched] });
    let result = part(Format::Anthropic, &message, 1);
    assert_eq!((result.piece.kind, result.images), (Kind::Result, 3));
    assert!(result.piece.within && result.media_bytes > 90_000 && result.text.len() < 300);
    assert!(
        result.text.ends_with(r#""tool_use_id":"s","type":"web_fetch_tool_result"}"#),
        "{}",
        result.text
    );

    let url = data("data:image/png;base64,iVBORw0KGgo");
    let ran = |url: &str| {
        let outputs = json!([{ "type": "image", "url": url }, { "type": "logs", "logs": "done" }]);
        json!({ "type": "code_interpreter_call", "id": "c", "code": "x", "outputs": outputs })
    };
    let shown = part(Format::OpenAiResponses, &ran(&url), 0);
    assert_eq!(
        (shown.images, shown.text.contains("done"), shown.text.len() < 200),
        (1, true, true)
    );
    let other = part(Format::OpenAiResponses, &ran(&data("data:image/png;base64,iVBORw0KGgoB")), 0);
    assert_eq!((&other.text, other.media == shown.media), (&shown.text, false));

    let inline = json!({ "type": "inlineData", "inlineData": { "mimeType": "image/jpeg", "data": data("/9j/") } });
    let shown = part(Format::LangChain, &json!({ "role": "user", "content": [inline] }), 0);
    assert_eq!((shown.images, shown.text.len() < 200), (1, true));
}

/// The model reads the text behind it: a tokenizer, which sees random letters, would count some two times more.
#[test]
fn encrypted_results_of_a_search_are_no_text() {
    let page = |title: &str, hidden: &str| {
        json!({ "type": "web_search_result", "title": title, "url": "https://a.example", "page_age": null,
            "encrypted_content": hidden })
    };
    let pages = |start: &str| {
        json!([
            page("first", &format!("{start}{}==", "A".repeat(30_000))),
            page("second", "EqA/b+c_d-")
        ])
    };
    let call = json!({ "type": "server_tool_use", "id": "s", "name": "web_search", "input": { "query": "x" } });
    let found = |pages: &Value| {
        let found =
            json!({ "type": "web_search_tool_result", "tool_use_id": "s", "content": pages });
        part(Format::Anthropic, &json!({ "role": "assistant", "content": [call, found] }), 1)
    };
    let result = found(&pages("Eo8"));
    assert_eq!((result.piece.kind, result.images, result.encrypted), (Kind::Result, 0, 30_015));
    assert!(result.text.contains("second") && result.text.len() < 400, "{}", result.text);
    assert!(result.media_bytes >= 30_015);
    let other = found(&pages("Eo9"));
    assert_eq!((&other.text, other.media == result.media), (&result.text, false));

    // Only what is base64, in members of these names.
    let shown = json!([{ "encrypted_content": "words, no base64" }, { "title": "encrypted_content", "url": "AAAA" }]);
    let shown = found(&shown);
    assert_eq!(
        (shown.encrypted, shown.text.contains("words, no base64") && shown.text.contains("AAAA")),
        (0, true)
    );

    let ran = json!({ "type": "code_execution_tool_result", "tool_use_id": "s", "content": {
        "type": "encrypted_code_execution_result", "encrypted_stdout": "Eo8A", "return_code": 0, "stderr": "" } });
    let ran = part(Format::Anthropic, &json!({ "role": "assistant", "content": [call, ran] }), 1);
    assert_eq!(ran.encrypted, 4);

    // The AI SDK has the same in its own names.
    let value = json!([{ "type": "web_search_result", "title": "first", "encryptedContent": "Eo8A".repeat(99) }]);
    let result = json!({ "type": "tool-result", "toolCallId": "s", "toolName": "web_search",
        "output": { "type": "json", "value": value } });
    let theirs = part(Format::AiSdk, &json!({ "role": "assistant", "content": [result] }), 0);
    assert_eq!((theirs.encrypted, theirs.text.contains("Eo8A")), (396, false));
    // The host's own tools may say what they like.
    let ours = part(Format::AiSdk, &json!({ "role": "tool", "content": [result] }), 0);
    assert_eq!((ours.encrypted, ours.text.contains("Eo8A")), (0, true));
    let tool = json!({ "type": "tool-web_search", "toolCallId": "s", "state": "output-available", "input": {},
        "output": value, "providerExecuted": true });
    let shown = part(Format::AiSdk, &json!({ "id": "1", "role": "assistant", "parts": [tool] }), 1);
    assert_eq!((shown.encrypted, shown.text.contains("Eo8A")), (396, false));
}

#[test]
fn what_a_chat_model_spoke_is_part_of_its_message() {
    let message = json!({ "role": "assistant", "content": null, "audio": { "id": "audio_1" } });
    let part = part(Format::OpenAiChat, &message, 0);
    assert_eq!(
        (part.piece.kind, part.piece.opaque, part.piece.place.pointer()),
        (Kind::Other, true, "/audio".into())
    );
    assert_eq!(part.text, r#"{"id":"audio_1"}"#);
    let message = json!({ "role": "assistant", "content": "a", "audio": null });
    let bytes = message.to_string();
    assert_eq!(Format::OpenAiChat.read(bytes.as_bytes(), 0).unwrap().parts.len(), 1);
}
