//! Which format the first messages are of.

use std::borrow::Cow;

use litemap::LiteMap;

use super::Format;
use super::json::kind_of;
use crate::error::{Error, Result};
use crate::json::{self, Content, RawValue, Shape, Want, may};

/// The members by which a message shows its format.
const PROBE: Shape = Shape {
    what: "a message",
    members: &[
        may("role", Want::Text),
        may("content", Want::Raw),
        may("tool_calls", Want::Raw),
        may("tool_call_id", Want::Raw),
        may("stopReason", Want::Raw),
        may("parts", Want::Raw),
    ],
    closed: false,
};

/// An image as pi has it.
const IMAGE: Shape =
    Shape { what: "an image", members: &[may("mimeType", Want::Raw)], closed: false };

/// What a message's look says.
enum Look {
    /// This format and no other.
    Shows(Format),
    /// Plain text, which all formats write alike.
    Plain,
    /// Something that none of the formats has.
    Foreign(String),
}

pub(super) fn detect(messages: &[&[u8]]) -> Result<Format> {
    let mut foreign = LiteMap::<String, ()>::new();
    for message in messages {
        match look(message) {
            Look::Shows(format) => return Ok(format),
            Look::Plain => {}
            Look::Foreign(saw) => drop(foreign.insert(saw, ())),
        }
    }
    if foreign.is_empty() {
        return Ok(Format::Anthropic);
    }
    let saw: Vec<_> = foreign.into_iter().map(|(saw, ())| saw).collect();
    Err(Error::UnknownFormat { saw: saw.join(", ") })
}

pub(super) fn shown_by(message: &[u8]) -> Option<Format> {
    match look(message) {
        Look::Shows(format) => Some(format),
        Look::Plain | Look::Foreign(_) => None,
    }
}

fn look(message: &[u8]) -> Look {
    let probe = std::str::from_utf8(message).ok();
    let Some(mut probe) = probe.and_then(|text| PROBE.read(text).ok()) else {
        return Look::Foreign("no object with a role".into());
    };
    let role = probe.text("role").unwrap_or_default();
    let kinds = probe.raw("content").map(kinds).unwrap_or_default();
    let mut shows = |name| probe.raw(name).is_some();
    let (parts, stopped) = (shows("parts"), shows("stopReason"));
    let calls = shows("tool_calls") | shows("tool_call_id");
    let has = |any: &[&str]| kinds.iter().any(|kind| any.contains(&&**kind));
    match &*role {
        "toolResult" | "bashExecution" | "compactionSummary" | "branchSummary" | "custom" => {
            Look::Shows(Format::Pi)
        }
        "user" | "assistant" | "system" | "developer" | "tool" | "function"
            if has(&["tool-call", "tool-result", "reasoning", "input_text", "output_text"]) =>
        {
            let kinds: Vec<_> = kinds.iter().map(|kind| format!("\"{kind}\"")).collect();
            Look::Foreign(format!("role \"{role}\" with blocks of type {}", kinds.join(", ")))
        }
        "user" | "assistant" | "system" if parts => {
            Look::Foreign(format!("role \"{role}\" with `parts`"))
        }
        "system" | "developer" | "tool" | "function" => Look::Shows(Format::OpenAiChat),
        _ if calls => Look::Shows(Format::OpenAiChat),
        "user" | "assistant" if has(&["toolCall", "image with mimeType"]) || stopped => {
            Look::Shows(Format::Pi)
        }
        "user" | "assistant" if has(&["image_url", "input_audio", "refusal"]) => {
            Look::Shows(Format::OpenAiChat)
        }
        "user" | "assistant" if kinds.iter().any(|kind| kind != "text") => {
            Look::Shows(Format::Anthropic)
        }
        "user" | "assistant" => Look::Plain,
        "" => Look::Foreign("a message without a role".into()),
        role => Look::Foreign(format!("role \"{role}\"")),
    }
}

fn kinds(content: &RawValue) -> Vec<Cow<'_, str>> {
    match json::content(content) {
        Ok(Some(Content::Blocks(blocks))) => blocks.into_iter().filter_map(kind).collect(),
        Ok(_) | Err(_) => Vec::new(),
    }
}

fn kind(block: &str) -> Option<Cow<'_, str>> {
    let kind = kind_of(block)?;
    let pi = kind == "image" && IMAGE.read(block).is_ok_and(|mut it| it.raw("mimeType").is_some());
    Some(if pi { Cow::Borrowed("image with mimeType") } else { kind })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(messages: &[&str], expected: &str) {
        let bytes: Vec<&[u8]> = messages.iter().map(|message| message.as_bytes()).collect();
        let seen = match detect(&bytes) {
            Ok(format) => format.name().to_owned(),
            Err(error) => error.to_string(),
        };
        assert!(seen.contains(expected), "{seen}");
    }

    #[test]
    fn the_first_sign_decides() {
        let plain = r#"{"role":"user","content":"hi"}"#;
        check(&[], "anthropic");
        check(&[plain], "anthropic");
        check(
            &[plain, r#"{"role":"assistant","content":[{"type":"tool_use","id":"a"}]}"#],
            "anthropic",
        );
        check(&[plain, r#"{"role":"user","content":[{"type":"image","source":{}}]}"#], "anthropic");
        check(&[r#"{"role":"system","content":"s"}"#, plain], "openai-chat");
        check(&[plain, r#"{"role":"assistant","content":null,"tool_calls":[]}"#], "openai-chat");
        check(&[r#"{"role":"user","content":[{"type":"image_url"}]}"#], "openai-chat");
        check(
            &[r#"{"role":"user","content":[{"type":"image","data":"","mimeType":"image/png"}]}"#],
            "pi",
        );
        check(&[plain, r#"{"role":"assistant","content":[],"stopReason":"stop"}"#], "pi");
        check(&[plain, r#"{"role":"toolResult","content":[]}"#], "pi");
    }

    #[test]
    fn what_no_format_has_is_named() {
        check(&[r#"{"role":"model","parts":[{"text":"hi"}]}"#], "saw role \"model\"");
        check(&[r#"{"role":"user","parts":[{"text":"hi"}]}"#], "saw role \"user\" with `parts`");
        check(&[r#"{"role":"tool","content":[{"type":"tool-result"}]}"#], "\"tool-result\"");
        check(&["[1]"], "no object with a role");
        check(&[r#"{"type":"human"}"#], "without a role");
    }
}
